// The summary of a pack: all that a catalog needs to open the commits of it, in columns. Blocks that are no AddData are
// only named; they are few, and a process that opens a chain reads them. Form: docs/decisions/packs.md.

import { type DatasetId, type Hash, datasetIdPattern, hashPattern } from '../../base/ids/identifiers.ts'
import { checked, list, natural, object, optional, recordCodec, text } from '../../base/json/shape.ts'
import { must } from '../../base/assert.ts'
import { nextTurn } from '../../base/clock.ts'
import { concatBytes, copyBytes, fromHex, toHex } from '../../base/bytes.ts'
import { firstIndex } from '../../base/collections.ts'
import { DecodeError } from '../../base/errors.ts'
import { dataOf, type MetadataBlock, type MetadataEvent } from '../../model/events.ts'
import { instantFromMs, instantMs } from '../../model/instant.ts'
import { packLevelMost, spanOf } from './pack-span.ts'
import { type CommitRecord, logPositionOf } from './records.ts'

/** Kinds of events by the number that stands for them; new ones are added at the end. */
export const eventKinds: readonly MetadataEvent['kind'][] = [
  'AddData',
  'Seed',
  'SetDataSchema',
  'SetVocab',
  'SetInfo',
  'SetLicense',
  'SetAttachments',
  'AddPushSource',
  'ExecuteTransform',
  'DisablePushSource',
  'SetPollingSource',
  'SetTransform',
  'DisablePollingSource',
]
export const digestBytes = 32
const digestPrefix = 'f1620'

/** What stands before the columns. */
interface PackHeader {
  readonly dataset: DatasetId
  readonly level: number
  /** The pack covers the first sequences [number × span, (number + 1) × span). */
  readonly number: number
  /** Sequence of the first block, and offset of the first row. */
  readonly sequence: number
  readonly offset: number
  /** The block before the first one; absent in the first pack. */
  readonly previous?: Hash
  /** How many there are. */
  readonly commits: number
  readonly blocks: number
  /** Ids of logs; columns name one by its place, from 1. */
  readonly logs: readonly string[]
}

const headerCodec = recordCodec(
  'pack summary',
  object({
    dataset: text(datasetIdPattern),
    level: checked(natural, (level) => (level > packLevelMost ? `is above ${packLevelMost}` : undefined)),
    number: natural,
    sequence: natural,
    offset: natural,
    previous: optional(text(hashPattern)),
    commits: natural,
    blocks: natural,
    logs: list(text()),
  }),
)

// Columns: f64 and u16 little-endian, digests of 32 bytes, in this order.
const numbersOfCommit = ['next', 'partition'] as const
const numbersOfBlock = ['timeMs', 'next', 'rows', 'sliceBytes', 'checkpointBytes', 'watermarkMs'] as const
const digestsOfBlock = ['hash', 'slice', 'checkpoint'] as const
const codesOfCommit = ['blocks', 'log'] as const
const codesOfBlock = ['kind', 'log'] as const

type Columns<N extends string, C> = { readonly [K in N]: C }

/** `commit[…][i]` is of the i-th commit, `block[…][i]` of the i-th block; numbers that are absent are said beside each. */
export interface PackSummary extends PackHeader {
  /** `next` and `partition` in the log number `log`; `blocks` is how many it has. */
  readonly commit: Columns<(typeof numbersOfCommit)[number], Float64Array> &
    Columns<(typeof codesOfCommit)[number], Uint16Array>
  /**
   * `log` and `next` as the block's own source state says (0 and −1 without one); `rows` 0 without a slice,
   * `checkpointBytes` 0 without a checkpoint, `watermarkMs` NaN without one, finer digits of it cut off.
   */
  readonly block: Columns<(typeof numbersOfBlock)[number], Float64Array> &
    Columns<(typeof digestsOfBlock)[number], Uint8Array> &
    Columns<(typeof codesOfBlock)[number], Uint16Array>
  /** First sequence of each commit. */
  readonly starts: Float64Array
}

/** The i-th digest of a column as text. */
export function hashIn(column: Uint8Array, i: number): Hash {
  return digestPrefix + toHex(column.subarray(i * digestBytes, (i + 1) * digestBytes))
}

/** The digest of a hash. Throws DecodeError for another form than a sha3-256 multihash in lower-case base16. */
export function digestOf(hash: Hash): Uint8Array {
  const digest = hashPattern.test(hash) ? fromHex(hash.slice(digestPrefix.length)) : undefined
  if (digest === undefined) throw new DecodeError('pack', `${hash} is no sha3-256 multihash`)
  return digest
}

/** The commit whose first block is number `sequence`, or undefined when none of the pack begins there. */
export function commitIn(
  { commit, block, starts, logs, sequence: first }: PackSummary,
  sequence: number,
): CommitRecord | undefined {
  const at = firstIndex(0, starts.length, (index) => (starts[index] ?? 0) >= sequence)
  if (starts[at] !== sequence) return undefined
  const blocks = Array.from({ length: commit.blocks[at] ?? 0 }, (_, i) => hashIn(block.hash, sequence - first + i))
  const log = must(logs[(commit.log[at] ?? 0) - 1], 'a summary was checked')
  return { blocks, log, partition: commit.partition[at] ?? 0, next: commit.next[at] ?? 0 }
}

/** Where a chain stands before the first commit of a pack. */
export interface PackStart {
  readonly sequence: number
  readonly offset: number
  readonly previous?: Hash
}

/** Where a chain stands after a pack. */
export function endOfPack(summary: PackSummary): PackStart {
  const { sequence, blocks, offset, block } = summary
  const rows = block.rows.reduce((sum, more) => sum + more, 0)
  return { sequence: sequence + blocks, offset: offset + rows, previous: hashIn(block.hash, blocks - 1) }
}

type Row<N extends string> = Readonly<Record<N, number>>

/** Makes the summary of one pack from its commits in order, which must go on where the chain stands. */
export class SummaryBuilder {
  readonly #at: Pick<PackHeader, 'dataset' | 'level' | 'number'> & PackStart
  readonly #logs: string[] = []
  readonly #commits: Row<keyof PackSummary['commit']>[] = []
  readonly #blocks: (Row<Exclude<keyof PackSummary['block'], (typeof digestsOfBlock)[number]>> &
    Columns<(typeof digestsOfBlock)[number], Uint8Array>)[] = []
  #head: Hash | undefined
  #rows: number

  constructor(at: Pick<PackHeader, 'dataset' | 'level' | 'number'> & PackStart) {
    this.#at = at
    this.#head = at.previous
    this.#rows = at.offset
  }

  /** Sequence of the next block. */
  get next(): number {
    return this.#at.sequence + this.#blocks.length
  }

  /** Adds a commit; its blocks are added next. */
  addCommit({ blocks, log, partition, next }: CommitRecord): void {
    this.#commits.push({ blocks: blocks.length, log: this.#logNumber(log), partition, next })
  }

  /** Adds a block. Throws DecodeError when it does not follow, or says what a pack cannot hold. */
  addBlock(hash: Hash, { event, systemTime, prevBlockHash, sequenceNumber }: MetadataBlock): void {
    const timeMs = instantMs(systemTime)
    if (prevBlockHash !== this.#head || Number(sequenceNumber) !== this.next) {
      throw new DecodeError('pack', `block ${hash} does not follow block ${this.next - 1}`)
    }
    if (instantFromMs(timeMs) !== systemTime) {
      throw new DecodeError('pack', `the time ${systemTime} of block ${hash} is finer than a millisecond`)
    }
    const { newData, newCheckpoint, newWatermark } = dataOf(event) ?? {}
    if (newData !== undefined && Number(newData.offsetInterval.start) !== this.#rows) {
      throw new DecodeError('pack', `the rows of block ${hash} do not begin at ${this.#rows}`)
    }
    const rows = newData === undefined ? 0 : Number(newData.offsetInterval.end) + 1 - this.#rows
    const position = event.kind === 'AddData' ? logPositionOf(event.newSourceState) : undefined
    const digest = (named: Hash | undefined): Uint8Array =>
      named === undefined ? new Uint8Array(digestBytes) : digestOf(named)
    this.#blocks.push({
      timeMs,
      next: position?.next ?? -1,
      rows,
      sliceBytes: Number(newData?.size ?? 0),
      checkpointBytes: Number(newCheckpoint?.size ?? 0),
      watermarkMs: newWatermark === undefined ? Number.NaN : instantMs(newWatermark),
      kind: eventKinds.indexOf(event.kind),
      log: position === undefined ? 0 : this.#logNumber(position.log),
      hash: digestOf(hash),
      slice: digest(newData?.physicalHash),
      checkpoint: digest(newCheckpoint?.physicalHash),
    })
    this.#head = hash
    this.#rows += rows
  }

  /** Throws DecodeError when the commits are not those of such a pack. Others have their turn meanwhile. */
  async finish(): Promise<PackSummary> {
    const [commits, blocks] = [this.#commits, this.#blocks]
    const header = { ...this.#at, commits: commits.length, blocks: blocks.length, logs: this.#logs }
    const commit = await columns(numbersOfCommit, (name) => Float64Array.from(commits, (row) => row[name]))
    const commitCodes = await columns(codesOfCommit, (name) => Uint16Array.from(commits, (row) => row[name]))
    const block = await columns(numbersOfBlock, (name) => Float64Array.from(blocks, (row) => row[name]))
    const digests = await columns(digestsOfBlock, (name) => concatBytes(blocks.map((row) => row[name])))
    const codes = await columns(codesOfBlock, (name) => Uint16Array.from(blocks, (row) => row[name]))
    return sound({ ...header, commit: { ...commit, ...commitCodes }, block: { ...block, ...digests, ...codes } })
  }

  #logNumber(log: string): number {
    const at = this.#logs.indexOf(log)
    return at >= 0 ? at + 1 : this.#logs.push(log)
  }
}

/** Columns take a millisecond or two each where a pack is large. */
async function columns<N extends string, C>(names: readonly N[], column: (name: N) => C): Promise<Columns<N, C>> {
  const made: [N, C][] = []
  for (const name of names) {
    await nextTurn()
    made.push([name, column(name)])
  }
  return Object.fromEntries(made) as Columns<N, C> // a column for each name
}

/** The bytes of a summary: length of the header, header (canonical JSON, spaces up to a multiple of 8), columns. */
export function encodeSummary({ commit, block, starts: _starts, ...header }: PackSummary): Uint8Array {
  const json = headerCodec.encode(header)
  const head = new Uint8Array(align8(4 + json.length)).fill(0x20)
  new DataView(head.buffer).setUint32(0, json.length, true)
  head.set(json, 4)
  return concatBytes([
    head,
    ...numbersOfCommit.map((name) => bytesOf(commit[name])),
    ...numbersOfBlock.map((name) => bytesOf(block[name])),
    ...digestsOfBlock.map((name) => block[name]),
    ...codesOfCommit.map((name) => bytesOf(commit[name])),
    ...codesOfBlock.map((name) => bytesOf(block[name])),
  ])
}

/** What `encodeSummary` has made. Others have their turn meanwhile. Throws DecodeError. */
export async function decodeSummary(bytes: Uint8Array): Promise<PackSummary> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const jsonBytes = bytes.length < 4 ? 0 : view.getUint32(0, true)
  if (4 + jsonBytes > bytes.length) throw fault('its header has no end')
  const header = headerCodec.decode(bytes.subarray(4, 4 + jsonBytes))
  let at = align8(4 + jsonBytes)
  if (!bytes.subarray(4 + jsonBytes, at).every((byte) => byte === 0x20)) throw fault('its header has no end')
  const { commits, blocks } = header
  const expected = at + commits * (8 * numbersOfCommit.length + 2 * codesOfCommit.length) + blocks * blockBytes
  if (bytes.length !== expected) throw fault(`it has ${bytes.length} bytes, not ${expected}`)
  const take = (length: number): Uint8Array<ArrayBuffer> => copyBytes(bytes, at, (at += length))
  const numbers = (length: number) => () => new Float64Array(take(8 * length).buffer)
  const codes = (length: number) => () => new Uint16Array(take(2 * length).buffer)
  const commit = await columns(numbersOfCommit, numbers(commits))
  const block = await columns(numbersOfBlock, numbers(blocks))
  const digests = await columns(digestsOfBlock, () => take(digestBytes * blocks))
  const commitCodes = await columns(codesOfCommit, codes(commits))
  const blockCodes = await columns(codesOfBlock, codes(blocks))
  return sound({ ...header, commit: { ...commit, ...commitCodes }, block: { ...block, ...digests, ...blockCodes } })
}

const blockBytes = 8 * numbersOfBlock.length + digestBytes * digestsOfBlock.length + 2 * codesOfBlock.length

/** The summary with what follows from it. Throws DecodeError when it is not that of a full pack. */
async function sound(read: Omit<PackSummary, 'starts'>): Promise<PackSummary> {
  const { level, number, sequence, previous, commits, blocks, logs, commit, block } = read
  const starts = new Float64Array(commits)
  let at = sequence
  for (let i = 0; i < commits; i++) {
    starts[i] = at
    if (commit.blocks[i] === 0) throw fault(`its commit ${i} has no blocks`)
    at += commit.blocks[i] ?? 0
  }
  const [from, to] = [number * spanOf(level), (number + 1) * spanOf(level)]
  const last = starts[commits - 1] ?? -1
  if (sequence < from || last >= to || at < to)
    throw fault(`it does not cover the first sequences ${from} to ${to - 1}`)
  if (at - sequence !== blocks) throw fault(`its commits have ${at - sequence} blocks, not ${blocks}`)
  if ((sequence === 0) !== (previous === undefined)) throw fault('only the first block follows none')
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
  const { next, partition } = commit
  const checks = [
    ...[next, partition, block.rows, block.sliceBytes, block.checkpointBytes].map((one) => () => one.every(isCount)),
    () => block.timeMs.every(Number.isSafeInteger),
    () => commit.log.every((log) => log >= 1 && log <= logs.length),
    () =>
      block.log.every(
        (log, i) => log <= logs.length && (log === 0 ? block.next[i] === -1 : isCount(block.next[i] ?? -1)),
      ),
    () => block.kind.every((kind) => kind < eventKinds.length),
  ]
  for (const isSound of checks) {
    await nextTurn()
    if (!isSound()) throw fault('one of its numbers is out of range')
  }
  return { ...read, starts }
}

function align8(length: number): number {
  return Math.ceil(length / 8) * 8
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function fault(reason: string): DecodeError {
  return new DecodeError('pack summary', reason)
}
