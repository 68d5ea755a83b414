// A ledger that keeps every promise, of a statement and the blocks of two datasets, as the history checker sees it; and the
// same of other entries, with heads and tiles that follow from them.

import { createHash } from 'node:crypto'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { sha3Hash } from '../../src/libraries/base/ids/identifiers.ts'
import {
  allSecrets,
  blockSalt,
  blockTag,
  datasetSaltOf,
  datasetTag,
  entryBytes,
  headText,
  leafHash,
  noRoot,
  noteOf,
  signNote,
  secretOf,
  TiledTree,
  entryBundle,
  tileName,
  treeRoot,
} from '../../src/libraries/ledger/ledger.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { nodeKeyFromSeed } from '../../src/libraries/proof/sign.ts'
import { toHex } from '../../src/libraries/base/bytes.ts'
import type { LedgerDataset, LedgerSeen } from '../history/ledger.ts'

const signer = nodeKeyFromSeed(new Uint8Array(32).fill(7))
const origin = 'data.example/ledger'

export const ledgerDatasets: readonly LedgerDataset[] = [1, 2].map((at) => ({
  id: `did:odf:fed01${String(at).repeat(64)}`,
  key: new Uint8Array(32).fill(40 + at),
  blocks: [0, 1, 2].map((sequence) => sha3Hash(utf8(`block ${sequence} of ${at}`))),
  isWhole: true,
}))

const statement = utf8('a statement')
const statementHash = createHash('sha256').update(statement).digest()

/** The entry of a block; `hash` is that of another block. */
export function blockEntry(at: number, sequence: number, hash?: string): Uint8Array {
  const { id, blocks } = must(ledgerDatasets[at], 'a dataset')
  const key = must(ledgerDatasets[at]?.key, 'a key')
  const salt = blockSalt(must(secretOf(allSecrets(key), sequence), 'a secret'))
  return entryBytes({
    kind: 'block',
    datasetTag: datasetTag(datasetSaltOf(key), id),
    sequence,
    blockTag: blockTag(salt, hash ?? must(blocks[sequence], 'a block')),
    batchRoot: noRoot,
    rowRoot: noRoot,
  })
}

export const statementOfIt = entryBytes({ kind: 'statement', hash: statementHash })
const all = [0, 1, 2].flatMap((sequence) => [blockEntry(0, sequence), blockEntry(1, sequence)])

export const soundEntries: readonly Uint8Array[] = [statementOfIt, ...all]

/** A ledger of these entries, of which the first three had a head of their own. */
export function ledgerOf(entries: readonly Uint8Array[] = soundEntries): LedgerSeen {
  const headAt = (size: number) => ({ size, root: treeRoot(entries.slice(0, size).map(leafHash)) })
  const head = headAt(entries.length)
  const text = headText({ origin, ...head })
  const note = noteOf({ text, signatures: [signNote(text, origin, signer)] })
  const tree = new TiledTree()
  const files = new Map<string, Uint8Array>([['checkpoint', utf8(note)]])
  files.set(`statements/${toHex(statementHash)}`, statement)
  for (const entry of entries) tree.append(leafHash(entry))
  for (const { tile, bytes } of tree.takeTiles()) files.set(tileName(tile), bytes)
  const bundle = { level: 'entries', index: 0, width: entries.length } as const
  files.set(tileName(bundle), entryBundle(entries))
  return { heads: [headAt(3), head], early: [], entries, files, datasets: ledgerDatasets, log: ['a line'] }
}
