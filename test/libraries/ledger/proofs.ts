// A small ledger whose every entry can be proven, as a block, a batch or a row: what tests of proofs, ours and foreign, judge.

import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { blockTag, datasetTag, entryBytes } from '../../../src/libraries/ledger/entry.ts'
import type { BlockDocument, RecordDocument } from '../../../src/libraries/ledger/proof-document.ts'
import { batchSalt, recordLeaf, recordsRoot, rowSalt } from '../../../src/libraries/ledger/roots.ts'
import { allSecrets, blockSalt, datasetSaltOf, secretOf } from '../../../src/libraries/ledger/secrets.ts'
import { inclusionProof } from '../../../src/libraries/ledger/tile-proofs.ts'
import { hashesByLevel, recordPlace } from '../../../src/libraries/ledger/tiled-tree.ts'
import { documentBytes } from '../../../src/libraries/ledger/proof-document.ts'
import { type TlogProof, tlogProofText } from '../../../src/libraries/ledger/tlog-proof.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { signedHead } from './keys.ts'
import { sha256 } from './rfc6962.ts'

export const kinds = ['block', 'batch', 'row'] as const
type Kind = (typeof kinds)[number]

const recordsOf = (kind: string, sequence: number, count: number): JsonObject[] =>
  Array.from(
    { length: count },
    (_, i) =>
      // An object becomes a JSON object.
      fromPlain({ kind, offset: 10 * sequence + i, text: `Zürich "${i}" \u{1f30d} \u0000`, at: 1.5 * i }) as JsonObject,
  )

interface Block {
  readonly entry: Uint8Array
  readonly documents: { readonly block: BlockDocument } & Readonly<Record<'batch' | 'row', RecordDocument>>
}

/** Entry and documents of block `sequence` of dataset `number`. */
function blockOf(number: number, sequence: number, row?: JsonObject): Block {
  const ledgerKey = sha256(utf8(`key ${number}`))
  const secret = secretOf(allSecrets(ledgerKey), sequence)!
  const salt = datasetSaltOf(ledgerKey)
  const id = `did:odf:fed01${Buffer.from(sha256(utf8(`dataset ${number}`))).toString('hex')}`
  const hash = `f1620${Buffer.from(sha256(utf8(`block ${number} ${sequence}`))).toString('hex')}`
  const listed = (kind: 'batch' | 'row') => {
    const count = 1 + ((7 * sequence + kind.length) % 9)
    const records = kind === 'row' && row !== undefined ? [row] : recordsOf(kind, sequence, count)
    const salts = records.map((_, i) => (kind === 'batch' ? batchSalt(secret, i) : rowSalt(secret, 10 * sequence + i)))
    const leaves = records.map((record, i) => recordLeaf(salts[i]!, record))
    const index = sequence % records.length
    return {
      root: recordsRoot(leaves),
      document: { kind, record: records[index]!, salt: salts[index]!, ...recordPlace(leaves, index) },
    }
  }
  const [batches, rows] = [listed('batch'), listed('row')]
  const entry = entryBytes({
    kind: 'block',
    datasetTag: datasetTag(salt, id),
    sequence,
    blockTag: blockTag(blockSalt(secret), hash),
    batchRoot: batches.root,
    rowRoot: rows.root,
  })
  const any = { entry, dataset: { id, salt } }
  return {
    entry,
    documents: {
      block: { ...any, kind: 'block', block: { hash, salt: blockSalt(secret) } },
      batch: { ...any, ...batches.document },
      row: { ...any, ...rows.document },
    },
  }
}

/** So many entries of three datasets, one after another. */
export class SmallLedger {
  readonly blocks: readonly Block[]
  readonly #leaves: readonly Uint8Array[]

  /** `row` is the only one of each block, where it is given. */
  constructor(size: number, row?: JsonObject) {
    this.blocks = Array.from({ length: size }, (_, i) => blockOf(i % 3, Math.floor(i / 3), row))
    this.#leaves = this.blocks.map(({ entry }) => leafHash(entry))
  }

  root(size: number): Uint8Array {
    return treeRoot(this.#leaves.slice(0, size))
  }

  /** The proof of an entry under the head of a size; `signed` as `signedHead` takes it. */
  proof(index: number, size: number, kind: Kind, signed: Parameters<typeof signedHead>[1] = {}): TlogProof {
    const leaves = this.#leaves.slice(0, size)
    return {
      extra: documentBytes(this.blocks[index]!.documents[kind]),
      index,
      hashes: inclusionProof(index, size, hashesByLevel(leaves)),
      head: signedHead({ size, root: treeRoot(leaves) }, signed),
    }
  }

  text(...of: Parameters<SmallLedger['proof']>): Uint8Array {
    return tlogProofText(this.proof(...of))!
  }
}
