// The fold: one message at a time, in log order, into the state of one dataset and the blocks that it ends
// (docs/spec/protocol.md §1 and §2). No clock, no IO, no randomness, no options: the same log gives the same blocks.
// The functions change the state they are handed; a message that is dropped changes nothing at all.

import { defined } from '../../libraries/base/collections.ts'
import type { BatchArrival, BatchStatus } from '../../libraries/odf/chain/checkpoint.ts'
import { assert } from '../../libraries/base/assert.ts'
import { fixedLimits } from '../../libraries/base/limits.ts'
import type { AbortHeader, BatchEntry, CreateHeader, Part, RowsHeader } from '../log/messages.gen.ts'
import type { ErrorKind } from '../../libraries/base/error-table.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { MetadataEvent } from '../../libraries/model/events.ts'
import {
  attemptKey,
  type BlockPlan,
  createdState,
  type DataPlan,
  type DatasetState,
  endIdGroup,
  type OpenBlock,
  rememberId,
  vocabularyOf,
  type WholeRows,
} from './dataset-state.ts'
import { type Fit, fitSchema, schemaFault } from './fit-schema.ts'
import type { Waits } from './governor.ts'
import { endProducers, RangeJudge } from './producer-memory.ts'

const writersKept = 64

/** What a message did: `plan` is a block that ended before it or with it. */
export interface FoldResult {
  readonly effect: 'dropped' | 'duplicate' | 'changed'
  readonly plan?: BlockPlan
  /** The block of a change, after that. */
  readonly changePlan?: DataPlan
  /** The caller that waits for an outcome of this message. */
  readonly waits?: Waits
}

const dropped: FoldResult = { effect: 'dropped' }

/** The state of a new dataset and its first blocks; undefined for a creation whose schema nobody can store. */
export function foldCreation(
  header: CreateHeader,
  position: number,
): { readonly state: DatasetState; readonly plan: BlockPlan } | undefined {
  if (header.schema !== undefined && schemaFault(header.schema, vocabularyOf(header)) !== undefined) return undefined
  const state = createdState(header, position)
  const { id: dataset, timeMs, next } = state
  return { state, plan: { kind: 'creation', dataset, header, sequence: 0, timeMs, firstChange: position, next } }
}

/** True when the fold takes this message, and takes it with its rows: it is whole, or completes a large batch. */
export function needsRows(state: DatasetState, header: RowsHeader): boolean {
  const { part } = header
  if (!isHeardFirst(state, header)) return false
  return part === undefined || (isLast(part) && isNextPart(state, header))
}

/** Takes a rows message. `whole` is absent where the fold needs no rows (`needsRows`). */
export function foldRows(
  state: DatasetState,
  input: { readonly position: number; readonly header: RowsHeader; readonly whole: WholeRows | undefined },
): FoldResult {
  const { header, position, whole } = input
  if (!isHeardFirst(state, header)) return dropped
  if (header.part !== undefined) {
    if (!isNextPart(state, header)) return dropped
    if (whole === undefined) return takePart(state, header, position)
  }
  return whole === undefined ? dropped : takeWhole(state, header, position, whole)
}

/** Ends an attempt, if it is open. */
export function foldAbort(state: DatasetState, header: AbortHeader, position: number): FoldResult {
  const key = attemptKey(header.attempt)
  if (!isHeardFirst(state, header) || !state.attempts.has(key)) return dropped
  state.attempts.delete(key)
  openBlock(state)
  hear(state, header, position)
  return { effect: 'changed' }
}

/** Takes one entry of a cut. Throws HaltError `ChainRegressed`. */
export function foldCut(
  state: DatasetState,
  cut: { readonly position: number; readonly sequence: number; readonly timeMs: number },
): FoldResult {
  if (cut.sequence > state.nextSequence) {
    throw new HaltError(
      'ChainRegressed',
      `the log ends block ${cut.sequence}, but the chain's next is ${state.nextSequence}`,
    )
  }
  if (cut.sequence < state.nextSequence || state.open === undefined) return dropped
  return { effect: 'changed', plan: endBlock(state, { timeMs: cut.timeMs, next: cut.position + 1 }) }
}

/** Resends have no effect: a message counts only if its number is above the writer's last. */
export function isHeardFirst(state: DatasetState, message: { readonly writer: string; readonly n: number }): boolean {
  // mutant: no memory of resends
  return message.n > (state.writers.get(message.writer) ?? -1)
}

/** Notes that a message took effect; `first` is the first message that its effect needs. */
export function hear(
  state: DatasetState,
  message: { readonly writer: string; readonly n: number },
  position: number,
  first = position,
): void {
  state.writers.delete(message.writer)
  state.writers.set(message.writer, message.n)
  const [oldest] = state.writers.keys()
  if (oldest !== undefined && state.writers.size > writersKept) state.writers.delete(oldest)
  state.firstChange = Math.min(state.firstChange ?? first, first)
  state.lastChange = position
}

function isLast({ number, count }: Part): boolean {
  return number === count
}

/** True for the first part of an attempt, and for the part that follows those that are open. */
function isNextPart(state: DatasetState, header: RowsHeader): boolean {
  const { part } = header
  if (part === undefined) return false
  if (part.number === 1) return true
  return state.attempts.get(attemptKey(part.attempt))?.positions.length === part.number - 1
}

function takePart(state: DatasetState, header: RowsHeader, position: number): FoldResult {
  const { part } = header
  if (part === undefined) return dropped
  const key = attemptKey(part.attempt)
  const { writer, n } = part.attempt
  const positions = [...(state.attempts.get(key)?.positions ?? []), position]
  state.attempts.set(key, { writer, n, positions })
  hear(state, header, position)
  return { effect: 'changed' }
}

function takeWhole(state: DatasetState, header: RowsHeader, position: number, whole: WholeRows): FoldResult {
  // A block that ends before these rows still counts the attempt among the open ones.
  const attempt = header.part === undefined ? undefined : attemptKey(header.part.attempt)
  const judged = judge(state, whole)
  const decided = judged.verdicts.filter((verdict) => verdict.kind !== 'duplicate')
  if (decided.length === 0) {
    if (attempt === undefined) return { effect: 'duplicate' }
    state.attempts.delete(attempt)
    openBlock(state)
    hear(state, header, position)
    return { effect: 'changed' }
  }
  const plan = endFullBlock(state, judged, decided.length, whole)
  if (attempt !== undefined) state.attempts.delete(attempt)
  enter(state, judged, position, whole)
  hear(state, header, position, whole.positions[0])
  const waiting = whole.batches.filter((batch, index) => batch.wait && judged.verdicts[index]?.kind !== 'duplicate')
  const begins = waiting.some(({ producer }) => producer?.begins !== undefined)
  const waits = begins ? 'stream' : waiting.length > 0 ? 'caller' : 'nobody'
  return { effect: 'changed', waits, ...defined({ plan }) }
}

type Verdict =
  | { readonly kind: 'committed' }
  | { readonly kind: 'duplicate' }
  /** A duplicate that begins a stream: it has no outcome, but calls for a block. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'rejected'; readonly error: ErrorKind; readonly message: string }

interface Judgement {
  /** One per batch. */
  readonly verdicts: readonly Verdict[]
  readonly rows: number
  readonly fit: Fit
  readonly ranges: RangeJudge
}

export const deletedText = 'The dataset was deleted before this came to its turn.'
const duplicate: Verdict = { kind: 'duplicate' }

/** Judges each batch by its bytes and the chain's state; changes nothing. */
function judge(state: DatasetState, whole: WholeRows): Judgement {
  const { rejection } = whole
  const fault = rejection ?? payloadFault(whole)
  const fit: Fit =
    fault === undefined
      ? fitSchema({
          current: state.schema,
          proposed: whole.schema,
          columns: whole.summary.columns,
          vocabulary: state.vocabulary,
        })
      : { kind: 'conflict', reason: fault }
  const here = new Map<string, string>()
  const ranges = new RangeJudge(state.producers, state.id)
  let rows = 0
  const verdicts = whole.batches.map((batch): Verdict => {
    const earlier = batch.key === undefined ? undefined : (state.ids.known.get(batch.id) ?? here.get(batch.id))
    if (earlier !== undefined) {
      // mutant: no memory of keys
      if (earlier === batch.bodyHash) return duplicate
      return rejected('IdempotencyKeyReused', 'The idempotency key was used for another body.')
    }
    const range = ranges.verdictOn(batch)
    if (range?.kind === 'duplicate') return duplicate
    if (range?.kind === 'begun') {
      ranges.begin(batch)
      return { kind: 'begun' }
    }
    if (range?.kind === 'refused') return rejected(range.error, range.message)
    // mutant: rejected rows are taken
    if (rejection !== undefined) {
      // What comes after them is no gap.
      ranges.take(batch)
      return rejected('InvalidRequest', rejection)
    }
    if (state.deletedUntilMs !== undefined) return rejected('DatasetDeleted', deletedText)
    if (fault !== undefined) return rejected('MalformedBody', `The rows cannot be read: ${fault}.`)
    if (fit.kind === 'conflict') return rejected('SchemaConflict', `The rows do not fit the dataset: ${fit.reason}.`)
    if (batch.after !== undefined && hasMoved(state, batch.after, rows)) {
      return rejected('HeadMoved', 'The dataset has moved on since the block that the request names.')
    }
    if (batch.key !== undefined) here.set(batch.id, batch.bodyHash)
    ranges.take(batch)
    rows += batch.rows
    return { kind: 'committed' }
  })
  return { verdicts, rows, fit, ranges }
}

function rejected(error: ErrorKind, message: string): Verdict {
  return { kind: 'rejected', error, message }
}

function payloadFault({ summary, batches }: WholeRows): string | undefined {
  if (summary.fault !== undefined) return summary.fault
  let rows = 0
  for (const batch of batches) {
    if (batch.rows < 1) return 'a batch has no rows'
    rows += batch.rows
  }
  return rows === summary.rows ? undefined : `${rows} rows are announced, ${summary.rows} have come`
}

/** True when a block with rows or schema has ended above `after`, or rows are open (`rows` of this message too). */
export function hasMoved(state: DatasetState, after: number, rows: number): boolean {
  return state.moved > after || rows > 0 || (state.open?.rows ?? 0) > 0
}

/** Ends the open block before rows that would take it over a limit. A message is never split between blocks. */
function endFullBlock(
  state: DatasetState,
  judged: Judgement,
  batches: number,
  whole: WholeRows,
): BlockPlan | undefined {
  const { open, lastChange } = state
  if (open === undefined || lastChange === undefined || open.outcomes.length === 0) return undefined
  const rows = open.rows + judged.rows
  const payloadBytes = open.payloadBytes + whole.payloadBytes
  return fits(rows, payloadBytes, open.outcomes.length + batches)
    ? undefined
    : endBlock(state, { timeMs: open.latestAtMs, next: lastChange + 1 })
}

function fits(rows: number, payloadBytes: number, batches: number): boolean {
  const { blockRows, blockBytes, blockBatches } = fixedLimits
  return rows <= blockRows.value && payloadBytes <= blockBytes.value && batches <= blockBatches.value
}

/** True when nothing more can come into the open block: to wait before it is cut gains nothing. */
export function isFull({ rows, payloadBytes, outcomes }: OpenBlock): boolean {
  return !fits(rows + 1, payloadBytes + 1, outcomes.length + 1)
}

export function openBlock(state: DatasetState): OpenBlock {
  state.open ??= {
    rows: 0,
    payloadBytes: 0,
    latestAtMs: Number.NEGATIVE_INFINITY,
    schemaChanged: false,
    sources: [],
    outcomes: [],
    bodies: [],
  }
  return state.open
}

/** Writes the verdicts into the open block. */
function enter(state: DatasetState, judged: Judgement, position: number, whole: WholeRows): void {
  const open = openBlock(state)
  const ranges: number[] = []
  let row = 0
  for (const [index, batch] of whole.batches.entries()) {
    const verdict = judged.verdicts[index] ?? duplicate
    if (verdict.kind === 'committed' || verdict.kind === 'rejected') {
      const outcome = { id: batch.id, position, index, status: statusOf(state, batch, verdict) }
      const arrival = verdict.kind === 'committed' ? arrivalOf(batch, whole.atMs) : undefined
      open.outcomes.push(arrival === undefined ? outcome : { ...outcome, arrival })
      open.bodies.push(batch.bodyHash)
    }
    if (verdict.kind === 'committed') {
      if (ranges.at(-1) === row) ranges[ranges.length - 1] = row + batch.rows
      else ranges.push(row, row + batch.rows)
      if (batch.key !== undefined) rememberId(state.ids, batch.id, batch.bodyHash)
    }
    row += batch.rows
  }
  judged.ranges.remember()
  if (judged.fit.kind === 'fits' && judged.rows > 0) {
    open.schemaChanged ||= judged.fit.changed
    state.schema = judged.fit.schema
  }
  if (ranges.length > 0) open.sources.push({ positions: whole.positions, ranges })
  open.rows += judged.rows
  open.payloadBytes += whole.payloadBytes
  open.latestAtMs = Math.max(open.latestAtMs, whole.atMs)
}

/** What a repeat of a keyed batch is told again; undefined where the message does not hold times. */
function arrivalOf({ key, receivedAt, mediaType }: BatchEntry, acceptedMs: number): BatchArrival | undefined {
  const receivedMs = Date.parse(receivedAt)
  if (key === undefined || !Number.isSafeInteger(receivedMs) || !Number.isSafeInteger(acceptedMs)) return undefined
  return { receivedMs, acceptedMs, mediaType }
}

/** The outcome to write; takes the offsets of a committed batch. */
function statusOf(
  state: DatasetState,
  batch: BatchEntry,
  verdict: Extract<Verdict, { kind: 'committed' | 'rejected' }>,
): BatchStatus {
  if (verdict.kind === 'rejected') return verdict
  const start = state.nextOffset
  state.nextOffset += batch.rows
  return { kind: 'committed', start, end: state.nextOffset - 1 }
}

/** SetDataSchema, AddPushSource, AddData where the schema changed; else AddData alone. */
const blocksWithSchema = 3

/**
 * Ends the open block at `timeMs` (never below the last block's time) with `next` as the position read up to; `events`
 * come before its data.
 */
export function endBlock(
  state: DatasetState,
  end: { readonly timeMs: number; readonly next: number },
  events: readonly MetadataEvent[] = [],
): DataPlan {
  const { open, firstChange } = state
  assert(open !== undefined && firstChange !== undefined, 'a block that ends is open')
  const timeMs = Math.max(end.timeMs, state.timeMs)
  const sequence = state.nextSequence
  const number = state.nextCheckpoint
  const producers = endProducers(state.producers, number, timeMs)
  state.nextSequence += events.length + (open.schemaChanged ? blocksWithSchema : 1)
  if (open.rows > 0) state.moved = state.nextSequence - 1
  state.nextCheckpoint++
  state.timeMs = timeMs
  state.next = end.next
  state.open = undefined
  state.firstChange = undefined
  state.lastChange = undefined
  return {
    kind: 'data',
    dataset: state.id,
    sequence,
    timeMs,
    firstChange,
    next: end.next,
    vocabulary: state.vocabulary,
    schema: state.schema,
    schemaChanged: open.schemaChanged,
    ...(events.length === 0 ? {} : { events }),
    firstOffset: state.nextOffset - open.rows,
    rows: open.rows,
    sources: open.sources,
    payloadBytes: open.payloadBytes,
    checkpoint: {
      number,
      moved: state.moved,
      outcomes: open.outcomes,
      bodies: open.bodies,
      attempts: [...state.attempts.values()],
      writers: Array.from(state.writers, ([writer, n]) => ({ writer, n })),
      ids: endIdGroup(state.ids, number, timeMs),
      ...defined({ producers, deletedUntilMs: state.deletedUntilMs }),
    },
  }
}
