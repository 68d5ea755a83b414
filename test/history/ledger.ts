// What was seen of a ledger, beside what its store holds in the end, and the verdicts on it: whether all heads are of one tree,
// and whether this has each block of each entered dataset once, in order, in the tiles too, and tells no secret.

import { createHash } from 'node:crypto'
import { base64Text } from '../../src/libraries/base/base64.ts'
import { concatBytes, equalBytes, toHex } from '../../src/libraries/base/bytes.ts'
import {
  allSecrets,
  blockSalt,
  blockTag,
  datasetSaltOf,
  datasetTag,
  emptyRoot,
  entryBundle,
  entryBytes,
  hashesByLevel,
  leafHash,
  noRoot,
  parseEntry,
  parseHead,
  parseNote,
  parseTileName,
  promisedBytes,
  rootOf,
  SecretWalk,
  type Tile,
  type TileHashes,
  tileIn,
  tileName,
  type TreeHead,
} from '../../src/libraries/ledger/ledger.ts'
import { must } from '../../src/libraries/base/assert.ts'
import type { Verdict } from './verdicts.ts'

/** A dataset that is to be entered, or has a ledger key. */
export interface LedgerDataset {
  readonly id: string
  /** Its ledger key; undefined before its first entry. */
  readonly key: Uint8Array | undefined
  /** Hashes of its blocks by sequence. */
  readonly blocks: readonly string[]
  /** It is to be entered and is not deleted: by now each of its blocks is an entry. */
  readonly isWhole: boolean
}

export interface LedgerSeen {
  /** Every head that was ever signed or shown. */
  readonly heads: readonly TreeHead[]
  /** What was not durable when a head was signed or shown that rests on it, or lacked the witnesses that it needs. */
  readonly early: readonly string[]
  /** What witnesses have refused because it contradicts what they hold. */
  readonly contradicted?: readonly string[]
  /** Those of all batches in the end, in order. */
  readonly entries: readonly Uint8Array[]
  /** What the ledger shows to everybody in the end: objects by their names below `ledger/`. */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly datasets: readonly LedgerDataset[]
  /** Lines that were logged. */
  readonly log: readonly string[]
}

/** Everything that is wrong with a ledger; empty when it keeps every promise. */
export function judgeLedger(seen: LedgerSeen): Verdict[] {
  const { entries, early, contradicted = [] } = seen
  const hashes = hashesByLevel(entries.map(leafHash))
  return [
    ...early.map((message): Verdict => ({ kind: 'early-head', message })),
    ...contradicted.map((message): Verdict => ({ kind: 'split-view', message })),
    ...judgeTree(seen, hashes),
    ...judgeEntries(seen),
    ...judgeTiles(seen, hashes),
    ...judgeSecrets(seen),
  ]
}

/** Every head is of the tree of the batches, so any two are of one tree. */
function judgeTree({ heads, entries, files }: LedgerSeen, hashes: TileHashes): Verdict[] {
  const verdicts: Verdict[] = []
  const judged = new Set<string>()
  const checkpoint = files.get('checkpoint')
  const shown = checkpoint === undefined ? [] : [headOf(checkpoint)]
  for (const { size, root } of [...heads, ...shown]) {
    const name = `${size} ${toHex(root)}`
    if (judged.has(name)) continue
    judged.add(name)
    const own = size === 0 ? emptyRoot : size > entries.length ? undefined : rootOf(size, hashes)
    if (own !== undefined && equalBytes(own, root)) continue
    const message = `the head of ${size} entries is not of the tree of ${entries.length}`
    verdicts.push({ kind: 'split-view', message })
  }
  if ((shown[0]?.size ?? 0) < entries.length) {
    verdicts.push({ kind: 'stuck', message: `the last head has ${shown[0]?.size} of ${entries.length} entries` })
  }
  return verdicts
}

/** The head in a note. Throws DecodeError where it is none. */
export function headOf(note: Uint8Array): TreeHead {
  return parseHead(parseNote(note).text)
}

/** Each block once, in order, as it was committed. */
function judgeEntries({ entries, files, datasets }: LedgerSeen): Verdict[] {
  const verdicts: Verdict[] = []
  const say = (kind: Verdict['kind'], message: string): void => void verdicts.push({ kind, message })
  const opened = datasets.flatMap(({ key, ...dataset }) =>
    key === undefined ? [] : [new Entered({ ...dataset, key })],
  )
  const byTag = new Map(opened.map((entered) => [toHex(tagOf(entered.dataset)), entered]))
  for (const [at, bytes] of entries.entries()) {
    const entry = parseEntry(bytes)
    if (entry.kind === 'statement') {
      const statement = files.get(`statements/${toHex(entry.hash)}`)
      const isIt = statement !== undefined && createHash('sha256').update(statement).digest().equals(entry.hash)
      if (!isIt) say('phantom', `entry ${at} is of a statement that is not there`)
      continue
    }
    if (at === 0) say('reorder', 'the first entry is no statement')
    const entered = entry.kind === 'block' ? byTag.get(toHex(entry.datasetTag)) : undefined
    if (entry.kind !== 'block' || entered === undefined) {
      say('phantom', `entry ${at} is of no dataset`)
      continue
    }
    const { id } = entered.dataset
    const block = `entry ${at}, block ${entry.sequence} of ${id}`
    if (entry.sequence < entered.next) say('duplicate', `${block}, is there again`)
    if (entry.sequence > entered.next) say('reorder', `${block}, comes where ${entered.next} should`)
    if (!entered.isBlock(entry.sequence, bytes)) say('phantom', `${block}, is not that of the block`)
    entered.next = Math.max(entered.next, entry.sequence + 1)
  }
  const nextOf = new Map(opened.map(({ dataset, next }) => [dataset.id, next]))
  for (const { id, blocks, isWhole } of datasets) {
    const next = nextOf.get(id) ?? 0
    if (isWhole && next < blocks.length) say('lost', `${next} of ${blocks.length} blocks of ${id} are entries`)
  }
  return verdicts
}

type Keyed = LedgerDataset & { readonly key: Uint8Array }

/** How far a dataset is entered. */
class Entered {
  readonly dataset: Keyed
  next = 0
  readonly #secrets: SecretWalk

  constructor(dataset: Keyed) {
    this.dataset = dataset
    this.#secrets = new SecretWalk(allSecrets(dataset.key))
  }

  /** True for the entry of the committed block with this sequence, whatever its roots. */
  isBlock(sequence: number, entry: Uint8Array): boolean {
    const hash = this.dataset.blocks[sequence]
    if (hash === undefined) return false
    const salt = blockSalt(must(this.#secrets.secretOf(sequence), 'the key gives every secret'))
    const roots = { batchRoot: noRoot, rowRoot: noRoot }
    const tags = { datasetTag: tagOf(this.dataset), blockTag: blockTag(salt, hash) }
    const expected = entryBytes({ kind: 'block', sequence, ...tags, ...roots })
    return equalBytes(entry.subarray(0, promisedBytes), expected.subarray(0, promisedBytes))
  }
}

function tagOf({ id, key }: Keyed): Uint8Array {
  return datasetTag(datasetSaltOf(key), id)
}

/** Every tile that there is has the bytes that its name stands for, and those of the last head are there. */
function judgeTiles({ files, entries }: LedgerSeen, hashes: TileHashes): Verdict[] {
  const verdicts: Verdict[] = []
  for (const [name, bytes] of files) {
    if (!name.startsWith('tile/')) continue
    const tile = parseTileName(name)
    const own = tile && bytesOf(tile, entries, hashes)
    if (own !== undefined && equalBytes(own, bytes)) continue
    verdicts.push({ kind: 'wrong-tile', message: `${name} is not of the tree` })
  }
  const checkpoint = files.get('checkpoint')
  if (checkpoint === undefined) return verdicts
  for (const tile of tilesOf(headOf(checkpoint).size)) {
    if (!files.has(tileName(tile))) verdicts.push({ kind: 'wrong-tile', message: `${tileName(tile)} is not there` })
  }
  return verdicts
}

/** All tiles and bundles of a tree of this size. */
export function* tilesOf(size: number): Generator<Tile> {
  for (const level of ['entries', 0, 1, 2, 3, 4, 5, 6] as const) {
    for (let index = 0, tile = tileIn(size, level, 0); tile !== undefined; tile = tileIn(size, level, ++index)) {
      yield tile
    }
  }
}

/** Undefined where the tree has no such tile. */
function bytesOf(tile: Tile, entries: readonly Uint8Array[], hashes: TileHashes): Uint8Array | undefined {
  const { level, index, width } = tile
  const most = tileIn(entries.length, level, index)?.width ?? 0
  if (width > most) return undefined
  if (level === 'entries') return entryBundle(entries.slice(256 * index, 256 * index + width))
  return concatBytes(Array.from({ length: width }, (_, i) => hashes(level, 256 * index + i)))
}

/** No ledger key stands in what everybody sees or in the log, in any of the forms that keys are written in. */
function judgeSecrets({ files, datasets, log }: LedgerSeen): Verdict[] {
  const shown = Buffer.concat([...files.values()])
  const logged = log.join('\n')
  return datasets.flatMap(({ id, key }): Verdict[] => {
    if (key === undefined) return []
    const texts = [toHex(key), base64Text(key), Buffer.from(key).toString('base64url'), key.join(), key.join(', ')]
    const isShown = shown.includes(Buffer.from(key)) || texts.some((text) => shown.includes(text))
    const isLogged = texts.some((text) => logged.includes(text))
    return [
      ...(isShown ? [{ kind: 'told-secret', message: `the ledger shows the key of ${id}` } as const] : []),
      ...(isLogged ? [{ kind: 'told-secret', message: `the log has the key of ${id}` } as const] : []),
    ]
  })
}
