// What the vectors of the ledger are made of: a node that keeps ledgers, the trust of readers, and the list to which each is added.

import { decodeUtf8 } from '../../src/libraries/base/bytes.ts'
import { jsonText } from '../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../src/libraries/base/json/value.ts'
import { signatureTypes } from '../../src/libraries/ledger/verifier-key.ts'
import { keyText, witnessName } from '../../test/libraries/ledger/keys.ts'
import { blockOf, didOf, SmallTree, statementOf } from '../../test/libraries/ledger/small-node.ts'

/** The first file is judged, the others are beside it. `policy` is the text of one, `signer` whom the reader names. */
export interface Vector {
  readonly name: string
  readonly files: readonly { readonly name: string; readonly text: string }[]
  readonly policy?: string
  readonly signer?: string
  readonly now: string
  /** `policy refused`: it cannot be read. */
  readonly verdict: string
  /** Exit code of `verify`. */
  readonly code: number
  readonly missing?: string
  /** What a verdict on a receipt names, where it is not the verdict that matters alone. */
  readonly boundBy?: 'reader' | { readonly ledger: string; readonly index: number; readonly size: number }
  readonly retired?: { readonly at: string; readonly why: string }
  readonly shown?: readonly string[]
}

const codes: Readonly<Record<string, number>> = {
  included: 0,
  signed: 0,
  'promised, not yet due': 0,
  altered: 10,
  impossible: 11,
  'promise broken': 12,
  'witness quorum not met': 13,
  'not judged': 14,
  'policy refused': 5,
}

export const [originA, originB, originC] = ['node.example/ledger', 'node.example/ledger/2', 'other.example/ledger']
export const log = (origin: string, key: number): string => `log ${keyText(origin, key, signatureTypes.ed25519)}`
export const witnessLine = (n: number): string => `witness W${n} ${keyText(witnessName(n), 10 + n)}`
export const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
export const three = [1, 2, 3].map(witnessLine)
const twoOfThree = lines(log(originA, 1), ...three, 'group G 2 W1 W2 W3', 'quorum G')
export const nobody = lines(log(originA, 1), 'quorum none')
export const ofOthers = lines(log(originC, 3), 'quorum none')
export const ofBoth = lines(log(originA, 1), log(originB, 2), ...three, 'group G 2 W1 W2 W3', 'quorum G')

export const [atLeak, beforeLeak, afterAll] = [
  '2026-05-28T20:25:00.000Z',
  '2026-05-28T20:19:00.000Z',
  '2026-05-28T21:00:00.000Z',
]
export const A = { origin: originA, key: 1 }
export const first = statementOf(7, A)
export const rotated = statementOf(8, { ...A, retired: [{ node: 7, at: atLeak, why: 'rotated' }] })
export const leaked = statementOf(8, { ...A, retired: [{ node: 7, at: atLeak, why: 'leaked' }] })
const leakedBefore = statementOf(8, { ...A, retired: [{ node: 7, at: beforeLeak, why: 'leaked' }] })
export const rotatedBefore = statementOf(8, { ...A, retired: [{ node: 7, at: beforeLeak, why: 'rotated' }] })
export const rotatedAgain = statementOf(9, {
  ...A,
  retired: [
    { node: 7, at: atLeak, why: 'rotated' },
    { node: 8, at: afterAll, why: 'rotated' },
  ],
})
export const blocks = [blockOf(0, 0), blockOf(1, 0), blockOf(0, 1)]
export const [block, other, next] = blocks as [(typeof blocks)[0], (typeof blocks)[0], (typeof blocks)[0]]
/** Another block with the sequence of `next`. */
export const instead = blockOf(0, 1, ' forged')
export const tree = new SmallTree(originA, 1, [first, ...blocks])
export const swapped = new SmallTree(originA, 1, [first, block, other, instead])
export const keys = new SmallTree(originA, 1, [
  first,
  ...blocks,
  rotated,
  leaked,
  leakedBefore,
  rotatedBefore,
  rotatedAgain,
])
export const short = new SmallTree(originA, 1, [first, block])
export const renewed = statementOf(7, { origin: originB, key: 2, previous: short.previous() })
export const renewedLeaked = statementOf(8, {
  origin: originB,
  key: 2,
  previous: short.previous(),
  retired: [{ node: 7, at: beforeLeak, why: 'leaked' }],
})
export const renewedByStranger = statementOf(66, { origin: originB, key: 2, previous: short.previous() })
export const treeB = new SmallTree(originB, 2, [renewed, renewedLeaked, renewedByStranger, ...blocks])
export const misplaced = statementOf(7, { origin: originB, key: 2 })
export const foreign = statementOf(66, { origin: originC, key: 3 })
export const treeC = new SmallTree(originC, 3, [foreign, ...blocks])
export const odd = new SmallTree(originA, 1, [misplaced, first, ...blocks])

export type Text = Uint8Array | string | JsonObject
export const text = (one: Text): string => {
  if (typeof one === 'string') return one
  return one instanceof Map ? jsonText(one) : decodeUtf8(one)
}
export const vectors: Vector[] = []
const fileNames: Readonly<Record<string, string>> = { '{': '.json', c: '.tlog-proof' }

export function add(
  name: string,
  verdict: string,
  files: readonly Text[],
  more: Partial<Omit<Vector, 'name' | 'files' | 'verdict' | 'code'>> = {},
): void {
  const named = files.map(text).map((one, at) => ({ name: `${at + 1}${fileNames[one[0] ?? ''] ?? ''}`, text: one }))
  const [word = '', missing] = verdict.split(': ')
  const code = codes[word]
  if (code === undefined) throw new TypeError(`no verdict: ${word}`)
  const by = { policy: twoOfThree, now: '2026-06-01T00:00:00.000Z', ...more }
  vectors.push({ name, files: named, ...by, verdict: word, code, ...(missing && { missing }) })
}

export const none = { policy: undefined } as unknown as { policy: string } // left out of the file
export const proofs = {
  first: tree.text(first.documents.statement),
  batch: tree.text(next.documents.batch),
  block: tree.text(next.documents.block),
}
/** Whom a verdict names. */
export const bound = {
  first: { boundBy: { ledger: originA, index: 0, size: 4 } },
  reader: { signer: didOf(7), boundBy: 'reader' },
} as const
export const allShown = { shown: ['dataset', 'block', 'bodyHash', 'status', 'offsets'] }
export const blockShown = { shown: ['dataset', 'block'] }
