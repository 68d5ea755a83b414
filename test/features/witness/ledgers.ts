// Ledgers elsewhere, for tests of witnesses: trees that one key signs, honest and forked, and the requests about them.

import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { type Note, signNote } from '../../../src/libraries/ledger/note.ts'
import type { TreeHead } from '../../../src/libraries/ledger/tree.ts'
import { addCheckpointBody } from '../../../src/libraries/ledger/witness.ts'
import { keyText, signer } from '../../libraries/ledger/keys.ts'
import { sha256, slowProof, slowRoot } from '../../libraries/ledger/rfc6962.ts'

export const foreignOrigin = 'foreign.example/ledger'
const logKey = 1
/** A policy with that ledger. */
export const foreignPolicy = `log ${keyText(foreignOrigin, logKey, 1)}\nquorum none\n`
/** SHA-256 of its name. */
export const foreignHash = Buffer.from(sha256(utf8(foreignOrigin))).toString('hex')

/** A history of the ledger: that of branch 0 from the beginning up to the fork, and its own from there on. */
export class Branch {
  readonly #name: string
  readonly #leaves: readonly Uint8Array[]

  constructor(name: string, forkAt: number, length = 64) {
    this.#name = `witness ${name} ${forkAt} ${length}`
    this.#leaves = Array.from({ length }, (_, i) => sha256(utf8(i < forkAt ? `leaf ${i}` : `${name} ${i}`)))
  }

  tree(size: number): TreeHead {
    return { size, root: slowRoot(this.#leaves, this.#name, 0, size) }
  }

  /** The head of a size, signed by the ledger. */
  note(size: number): Note {
    const text = headText({ origin: foreignOrigin, ...this.tree(size) })
    return { text, signatures: [signNote(text, foreignOrigin, signer(logKey))] }
  }

  proof(oldSize: number, size: number): readonly Uint8Array[] {
    return oldSize === 0 || oldSize >= size ? [] : slowProof(oldSize, this.#leaves, this.#name, size)
  }

  /** The body of a request. */
  body(oldSize: number, size: number): Uint8Array {
    return addCheckpointBody({ oldSize, proof: this.proof(oldSize, size), note: this.note(size) })
  }
}

const honest = new Branch('a', 64)
const good = Buffer.from(honest.body(0, 5)).toString()
const noise = { name: 'noise', keyId: 1, signature: new Uint8Array(4_900) }
const ofOther = good.replaceAll('foreign.example', 'other.example')

/** Requests to a witness that has cosigned nothing, and the status that the specification has for each. */
export const refused: readonly (readonly [what: string, status: number, body: Uint8Array | string])[] = [
  ['nothing', 400, ''],
  ['no text', 400, Uint8Array.of(0xff, 0xfe)],
  ['no head', 400, 'old 0\n\n'],
  ['an old size above the head', 400, honest.body(6, 5)],
  ['64 hashes', 400, good.replace('old 0\n', `old 0\n${`${'A'.repeat(43)}=\n`.repeat(64)}`)],
  ['101 signatures', 400, good + `— x ${Buffer.alloc(72, 1).toString('base64')}\n`.repeat(100)],
  ['a carriage return', 400, good.replace('\n', '\r\n')],
  ['a ledger that the policy has not', 404, ofOther],
  ['a signature of another head', 403, good.replace(/\n5\n.*\n/, `\n5\n${Buffer.alloc(32).toString('base64')}\n`)],
  ['no signature of the ledger', 403, good.replace(/— foreign\.example/, '— stranger.example')],
  ['an old size that it has not cosigned', 409, honest.body(3, 5)],
  ['a proof where none belongs', 422, good.replace('old 0\n', `old 0\n${'A'.repeat(43)}=\n`)],
  ['more than 128 KiB', 413, good.padEnd(131_073, '\n')],
]

/** A request with all the noise that a witness has to pass over: sixteen signatures of 5 kB. */
export const noisy = addCheckpointBody({
  oldSize: 0,
  proof: [],
  note: { ...honest.note(5), signatures: [...Array.from({ length: 16 }, () => noise), ...honest.note(5).signatures] },
})
