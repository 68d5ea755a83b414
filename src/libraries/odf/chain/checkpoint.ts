// The checkpoint: the object that each AddData block points to. It holds the outcomes of the block's batches and all
// that the fold needs to go on from the head alone (docs/spec/protocol.md §2). A pure function of the log and the chain.
// As bytes: canonical JSON, with compact arrays for what there is much of (outcomes, ids, writers).

import { defined } from '../../base/collections.ts'
import { canonicalBytes } from '../../base/json/canonical.ts'
import { fromPlain } from '../../base/json/json.ts'
import {
  checked,
  integer,
  list,
  map,
  natural,
  object,
  optional,
  readShape,
  refuse,
  type Shape,
  text,
  tuple,
} from '../../base/json/shape.ts'
import { decodeUtf8, utf8 } from '../../base/bytes.ts'
import { fixedLimits } from '../../base/limits.ts'
import { DecodeError } from '../../base/errors.ts'
import type { Hash } from '../../base/ids/identifiers.ts'
import type { ProducerMark, ProducersHeld } from './producers.ts'

const version = 1
const dayMs = 24 * 60 * 60 * 1000

/** A block of the chain by hash and sequence. */
export interface BlockRef {
  readonly hash: Hash
  readonly sequence: number
}

/** What became of one batch, or of a change of the dataset. */
export type BatchStatus =
  | { readonly kind: 'committed' /** First and last offset. */; readonly start: number; readonly end: number }
  | { readonly kind: 'rejected' /** Kind of the error table. */; readonly error: string; readonly message: string }
  | { readonly kind: 'changed' }

/** What the receipt of a batch says of its request. */
export interface BatchArrival {
  /** Milliseconds since 1970 UTC. */
  readonly receivedMs: number
  readonly acceptedMs: number
  readonly mediaType: string
}

/** Outcome of a batch or a change, found by its id and its place in the log. */
export interface BatchOutcome {
  /** Of the batch or change: base64url of 32 bytes. */
  readonly id: string
  /** Position of the message that completed the batch (of a large batch: its last part). */
  readonly position: number
  /** Place of the batch in that message, 0-based; 0 for a large batch. */
  readonly index: number
  readonly status: BatchStatus
  /** Of a keyed batch that was committed, so that a repeat gets the same receipt; older checkpoints lack it. */
  readonly arrival?: BatchArrival
}

/** A large batch whose parts are still coming in, by log position of the parts that count. */
export interface OpenAttempt {
  /** Writer and number of part 1: the name of the attempt. */
  readonly writer: string
  readonly n: number
  readonly positions: readonly number[]
}

/** The highest message number heard of a writer. */
export interface WriterMark {
  readonly writer: string
  readonly n: number
}

/** A keyed batch that was committed: its id and the hash of its body. */
export interface KnownId {
  readonly id: string
  readonly bodyHash: Hash
}

/** The keyed batches that one checkpoint's block committed, in log order. */
export interface IdGroup {
  /** Number of the checkpoint. */
  readonly number: number
  /** Time of its block, milliseconds since 1970 UTC. */
  readonly timeMs: number
  readonly ids: readonly KnownId[]
}

/** Earlier checkpoints, by hash; each absent while there is none. */
export interface EarlierCheckpoints {
  readonly previous?: Hash
  /** The latest before this one whose number + 1 is a multiple of 64. */
  readonly group?: Hash
  /** The latest before this one whose number + 1 is a multiple of 4,096. */
  readonly era?: Hash
}

/** Contents of a checkpoint object. */
export interface CheckpointContent {
  /** 0-based count of the dataset's checkpoints. */
  readonly number: number
  readonly log: string
  readonly partition: number
  /** Log position after the last message that this block and those before it consumed. */
  readonly next: number
  /** Sequence of the last block with rows or schema; -1 when there is none. */
  readonly moved: number
  readonly outcomes: readonly BatchOutcome[]
  /** For each outcome the hash of the body as it was sent; null for a change. Older checkpoints lack the list. */
  readonly bodies?: readonly (Hash | null)[]
  readonly schemaBlock?: BlockRef
  readonly vocabularyBlock?: BlockRef
  readonly sourceBlock?: BlockRef
  readonly attempts: readonly OpenAttempt[]
  /** At most 64, least recently heard first. */
  readonly writers: readonly WriterMark[]
  /** Ids of this checkpoint; every 64th repeats those of the 63 before it, every 4,096th those of the 4,095 before. */
  readonly ids: readonly IdGroup[]
  /** Absent while the dataset has had no producers. */
  readonly producers?: ProducersHeld
  readonly earlier: EarlierCheckpoints
  /** The dataset is deleted: it can be restored before this time, milliseconds since 1970 UTC. */
  readonly deletedUntilMs?: number
  /** Who wrote the slice: `slice-1, zstd 1.5.7`. */
  readonly sliceWriter: string
}

/** First checkpoint number whose ids checkpoint `number` holds. */
export function firstIdGroup(number: number): number {
  if ((number + 1) % 4096 === 0) return number - 4095
  if ((number + 1) % 64 === 0) return number - 63
  return number
}

/**
 * How many of its last keyed batches a dataset remembers at least, if the one before them was committed `ageMs` before
 * its last block: the oldest is forgotten while there are more (docs/spec/protocol.md §2, Memory of ids).
 */
export function idsRemembered(ageMs: number): number {
  const isYoung = ageMs < fixedLimits.keyedDays.value * dayMs
  return isYoung ? fixedLimits.keyedBatchesMost.value : fixedLimits.keyedBatches.value
}

/** Where to look for ids older than those that checkpoint `number` holds; undefined when there are none. */
export function olderIds(content: CheckpointContent): Hash | undefined {
  const { number, earlier } = content
  if ((number + 1) % 4096 === 0) return earlier.era
  return (number + 1) % 64 === 0 ? earlier.group : earlier.previous
}

/** The outcome of batch `id` at log position `position`, or undefined when this block did not decide it. */
export function findOutcome(content: CheckpointContent, id: string, position: number): BatchOutcome | undefined {
  return content.outcomes.find((outcome) => outcome.id === id && outcome.position === position)
}

/** The outcome by which keyed batch `id` was committed in this block, or undefined. */
export function findCommitted(content: CheckpointContent, id: string): BatchOutcome | undefined {
  return content.outcomes.find((outcome) => outcome.id === id && outcome.status.kind === 'committed')
}

/** Canonical JSON of `content`. Equal contents give equal bytes. */
export function encodeCheckpoint(content: CheckpointContent): Uint8Array {
  const { schemaBlock, sourceBlock, vocabularyBlock, earlier } = content
  // Members in canonical order, so that plain ASCII content needs no second pass.
  const plain = {
    attempts: content.attempts.map(({ writer, n, positions }) => [writer, n, positions]),
    blocks: { schema: refArray(schemaBlock), source: refArray(sourceBlock), vocabulary: refArray(vocabularyBlock) },
    ...defined({ bodies: content.bodies, deletedUntilMs: content.deletedUntilMs }),
    earlier: { era: earlier.era, group: earlier.group, previous: earlier.previous },
    ids: content.ids.map((group) => [
      group.number,
      group.timeMs,
      group.ids.flatMap(({ id, bodyHash }) => [id, bodyHash]),
    ]),
    log: content.log,
    moved: content.moved,
    next: content.next,
    number: content.number,
    outcomes: content.outcomes.map(outcomeArray),
    partition: content.partition,
    ...(content.producers === undefined ? {} : { producers: producersArray(content.producers) }),
    sliceWriter: content.sliceWriter,
    version,
    writers: content.writers.map(({ writer, n }) => [writer, n]),
  }
  const json = JSON.stringify(plain)
  return /^[ -[\]-~]*$/.test(json) ? utf8(json) : canonicalBytes(fromPlain(plain))
}

function producersArray({ count, from, groups }: ProducersHeld): readonly unknown[] {
  const flat = groups.map(({ number, timeMs, marks }) => [
    number,
    timeMs,
    marks.map(({ identity, epoch, first, last, bodyHash, stream }) => [identity, epoch, first, last, bodyHash, stream]),
  ])
  return [count, from, flat]
}

function refArray(ref: BlockRef | undefined): readonly (string | number)[] | undefined {
  return ref === undefined ? undefined : [ref.hash, ref.sequence]
}

function outcomeArray({ id, position, index, status, arrival }: BatchOutcome): readonly (string | number)[] {
  if (status.kind === 'rejected') return [id, position, index, status.error, status.message]
  if (status.kind === 'changed') return [id, position, index]
  const place = [id, position, index, status.start, status.end]
  if (arrival === undefined) return place
  return [...place, arrival.receivedMs, arrival.acceptedMs, arrival.mediaType]
}

const hash = text()
const body: Shape<Hash | null> = (value) => (value === null ? null : hash(value))
const timeMs = integer(Number.MIN_SAFE_INTEGER)
const blockRef: Shape<BlockRef> = map(tuple(hash, natural), ([name, sequence]) => ({ hash: name, sequence }))

const committed: Shape<BatchOutcome> = map(
  tuple(text(), natural, natural, natural, natural, optional(timeMs), optional(timeMs), optional(text())),
  ([id, position, index, start, end, receivedMs, acceptedMs, mediaType]) => {
    const outcome: BatchOutcome = { id, position, index, status: { kind: 'committed', start, end } }
    if (receivedMs === undefined) return outcome
    if (acceptedMs === undefined || mediaType === undefined) return refuse('is cut short')
    return { ...outcome, arrival: { receivedMs, acceptedMs, mediaType } }
  },
)

const rejected: Shape<BatchOutcome> = map(
  tuple(text(), natural, natural, text(), text()),
  ([id, position, index, error, message]) => ({ id, position, index, status: { kind: 'rejected', error, message } }),
)

const changed: Shape<BatchOutcome> = map(tuple(text(), natural, natural), ([id, position, index]) => ({
  id,
  position,
  index,
  status: { kind: 'changed' },
}))

const outcome: Shape<BatchOutcome> = (value) => {
  if (!Array.isArray(value)) return committed(value)
  if (typeof value[3] === 'string') return rejected(value)
  return value.length === 3 ? changed(value) : committed(value)
}

const idGroup: Shape<IdGroup> = map(tuple(natural, timeMs, list(text())), ([number, time, flat]) => {
  const ids: KnownId[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const [id, bodyHash] = [flat[i] ?? '', flat[i + 1] ?? refuse('has an id without its hash')]
    ids.push({ id, bodyHash })
  }
  return { number, timeMs: time, ids }
})

const producerMark: Shape<ProducerMark> = map(
  tuple(hash, natural, natural, natural, hash, text()),
  ([identity, epoch, first, last, bodyHash, stream]) => ({ identity, epoch, first, last, bodyHash, stream }),
)

const producersHeld: Shape<ProducersHeld> = map(
  tuple(natural, natural, list(tuple(natural, timeMs, list(producerMark)))),
  ([count, from, groups]) => ({
    count,
    from,
    groups: groups.map(([number, time, marks]) => ({ number, timeMs: time, marks })),
  }),
)

const checkpoint: Shape<CheckpointContent> = map(
  object(
    {
      version: checked(natural, (number) => (number === version ? undefined : `${number} is not known`)),
      number: natural,
      log: text(),
      partition: natural,
      next: natural,
      moved: integer(-1),
      outcomes: list(outcome),
      bodies: optional(list(body)),
      blocks: object(
        { schema: optional(blockRef), source: optional(blockRef), vocabulary: optional(blockRef) },
        { others: 'ignored' },
      ),
      attempts: list(
        map(tuple(text(), natural, list(natural)), ([writer, n, positions]) => ({ writer, n, positions })),
      ),
      writers: list(map(tuple(text(), natural), ([writer, n]) => ({ writer, n }))),
      ids: list(idGroup),
      producers: optional(producersHeld),
      earlier: object({ previous: optional(hash), group: optional(hash), era: optional(hash) }, { others: 'ignored' }),
      deletedUntilMs: optional(timeMs),
      sliceWriter: text(),
    },
    { others: 'ignored' },
  ),
  (read) => {
    const { version: _version, blocks, ...content } = read
    const { schema, source, vocabulary } = blocks
    const { bodies, outcomes } = content
    if (bodies !== undefined && bodies.length !== outcomes.length) return refuse('has other bodies than outcomes')
    return {
      ...content,
      ...defined({ schemaBlock: schema, vocabularyBlock: vocabulary, sourceBlock: source }),
    }
  },
)

/** The contents of a checkpoint object. Throws DecodeError when `bytes` are none. */
export function decodeCheckpoint(bytes: Uint8Array): CheckpointContent {
  let value: unknown
  try {
    value = JSON.parse(decodeUtf8(bytes))
  } catch (cause) {
    throw new DecodeError('checkpoint', `not JSON: ${String(cause)}`)
  }
  return readShape('checkpoint', checkpoint, value)
}
