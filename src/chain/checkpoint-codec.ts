// Checkpoint objects: canonical JSON, compact arrays for what there is much of (outcomes, ids, writers).
// Written by the builder, read by the builder on resume and by whoever looks up the outcome of a batch.

import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain } from '../json/json.ts'
import { decodeUtf8, utf8 } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import type {
  BatchOutcome,
  BatchStatus,
  BlockRef,
  CheckpointContent,
  EarlierCheckpoints,
  IdGroup,
  KnownId,
  OpenAttempt,
  WriterMark,
} from './checkpoint.ts'

const version = 1

/** Canonical JSON of `content`. Equal contents give equal bytes. */
export function encodeCheckpoint(content: CheckpointContent): Uint8Array {
  const { schemaBlock, sourceBlock, vocabularyBlock, earlier } = content
  // Members in canonical order, so that plain ASCII content needs no second pass.
  const plain = {
    attempts: content.attempts.map(({ writer, n, count, positions }) => [writer, n, count, positions]),
    blocks: { schema: refArray(schemaBlock), source: refArray(sourceBlock), vocabulary: refArray(vocabularyBlock) },
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
    sliceWriter: content.sliceWriter,
    version,
    writers: content.writers.map(({ writer, n }) => [writer, n]),
  }
  const text = JSON.stringify(plain)
  return /^[ -[\]-~]*$/.test(text) ? utf8(text) : canonicalBytes(fromPlain(plain))
}

function refArray(ref: BlockRef | undefined): readonly (string | number)[] | undefined {
  return ref === undefined ? undefined : [ref.hash, ref.sequence]
}

function outcomeArray({ id, position, index, status, arrival }: BatchOutcome): readonly (string | number)[] {
  if (status.kind === 'rejected') return [id, position, index, status.error, status.message]
  const place = [id, position, index, status.start, status.end]
  if (arrival === undefined) return place
  return [...place, arrival.receivedMs, arrival.acceptedMs, arrival.mediaType]
}

/** The contents of a checkpoint object. Throws DecodeError when `bytes` are none. */
export function decodeCheckpoint(bytes: Uint8Array): CheckpointContent {
  const root = members(parse(bytes), 'the checkpoint')
  if (root['version'] !== version) throw fault(`version ${String(root['version'])} is not known`)
  const blocks = members(root['blocks'], 'blocks')
  const schemaBlock = blockRef(blocks['schema'])
  const vocabularyBlock = blockRef(blocks['vocabulary'])
  const sourceBlock = blockRef(blocks['source'])
  return {
    number: integer(root['number'], 'number'),
    log: text(root['log'], 'log'),
    partition: integer(root['partition'], 'partition'),
    next: integer(root['next'], 'next'),
    moved: integer(root['moved'], 'moved', -1),
    outcomes: list(root['outcomes'], 'outcomes').map(outcome),
    ...(schemaBlock === undefined ? {} : { schemaBlock }),
    ...(vocabularyBlock === undefined ? {} : { vocabularyBlock }),
    ...(sourceBlock === undefined ? {} : { sourceBlock }),
    attempts: list(root['attempts'], 'attempts').map(attempt),
    writers: list(root['writers'], 'writers').map(writerMark),
    ids: list(root['ids'], 'ids').map(idGroup),
    earlier: earlierOf(members(root['earlier'], 'earlier')),
    sliceWriter: text(root['sliceWriter'], 'sliceWriter'),
  }
}

function fault(reason: string): DecodeError {
  return new DecodeError('checkpoint', reason)
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(bytes))
  } catch (cause) {
    throw fault(`not JSON: ${String(cause)}`)
  }
}

function members(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault(`${what} is no object`)
  return value as Readonly<Record<string, unknown>> // an object that is neither null nor an array
}

function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw fault(`${what} is no list`)
  return value
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw fault(`${what} is no text`)
  return value
}

function integer(value: unknown, what: string, least = 0): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least)
    throw fault(`${what} is no integer of at least ${least}`)
  return value
}

function blockRef(value: unknown): BlockRef | undefined {
  if (value === undefined) return undefined
  const [hash, sequence] = list(value, 'a block')
  return { hash: text(hash, 'a block hash'), sequence: integer(sequence, 'a block sequence') }
}

function outcome(value: unknown): BatchOutcome {
  const [id, position, index, first, second, receivedMs, acceptedMs, mediaType] = list(value, 'an outcome')
  const arrival =
    receivedMs === undefined
      ? undefined
      : {
          receivedMs: integer(receivedMs, 'a time', Number.MIN_SAFE_INTEGER),
          acceptedMs: integer(acceptedMs, 'a time', Number.MIN_SAFE_INTEGER),
          mediaType: text(mediaType, 'a media type'),
        }
  return {
    id: text(id, 'a batch id'),
    position: integer(position, 'a position'),
    index: integer(index, 'an index'),
    status: statusOf(first, second),
    ...(arrival === undefined ? {} : { arrival }),
  }
}

function statusOf(first: unknown, second: unknown): BatchStatus {
  if (typeof first === 'string') return { kind: 'rejected', error: first, message: text(second, 'a message') }
  return { kind: 'committed', start: integer(first, 'an offset'), end: integer(second, 'an offset') }
}

function attempt(value: unknown): OpenAttempt {
  const [writer, n, count, positions] = list(value, 'an attempt')
  return {
    writer: text(writer, 'a writer'),
    n: integer(n, 'a message number'),
    count: integer(count, 'a count'),
    positions: list(positions, 'positions').map((position) => integer(position, 'a position')),
  }
}

function writerMark(value: unknown): WriterMark {
  const [writer, n] = list(value, 'a writer')
  return { writer: text(writer, 'a writer'), n: integer(n, 'a message number') }
}

function idGroup(value: unknown): IdGroup {
  const [number, timeMs, flat] = list(value, 'an id group')
  const items = list(flat, 'ids')
  if (items.length % 2 !== 0) throw fault('ids come in pairs')
  const ids: KnownId[] = []
  for (let i = 0; i < items.length; i += 2)
    ids.push({ id: text(items[i], 'an id'), bodyHash: text(items[i + 1], 'a hash') })
  return { number: integer(number, 'a number'), timeMs: integer(timeMs, 'a time', Number.MIN_SAFE_INTEGER), ids }
}

function earlierOf(value: Readonly<Record<string, unknown>>): EarlierCheckpoints {
  const { previous, group, era } = value
  return {
    ...(previous === undefined ? {} : { previous: text(previous, 'a hash') }),
    ...(group === undefined ? {} : { group: text(group, 'a hash') }),
    ...(era === undefined ? {} : { era: text(era, 'a hash') }),
  }
}
