// What the fold knows of one dataset: positions and counts, never rows; the events of its creation; what it remembers of
// keyed batches; and the plans that it hands to the builder. The state is mutable and belongs to the fold; everything in
// a plan is a snapshot. Deterministic, no clock.

import { defined } from '../../libraries/base/collections.ts'
import {
  type BatchOutcome,
  type CheckpointContent,
  firstIdGroup,
  type IdGroup,
  idsRemembered,
  type KnownId,
  type OpenAttempt,
} from '../../libraries/odf/chain/checkpoint.ts'
import type { ProducersHeld } from '../../libraries/odf/chain/producers.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import { assert } from '../../libraries/base/assert.ts'
import { bodyMemory } from '../../libraries/base/limits.ts'
import type { ChangeHeader, CreateHeader, DeleteHeader, RestoreHeader, RowsHeader } from '../log/messages.gen.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import type { AddPushSource, MetadataEvent, SetVocab } from '../../libraries/model/events.ts'
import { type DataSchema, type DataType, defaultVocabulary, type Vocabulary } from '../../libraries/model/schema.ts'
import { type ProducerMemory, restoreProducers } from './producer-memory.ts'

/** Rows of one message (or of all parts of a large batch) that a block takes. */
export interface RowSource {
  /** Messages whose payloads, joined, are one Arrow stream. */
  readonly positions: readonly number[]
  /** Rows of that stream, as flat pairs [start, end). */
  readonly ranges: readonly number[]
}

/** The block that is being filled. */
export interface OpenBlock {
  rows: number
  payloadBytes: number
  /** Latest accept time among the messages of its batches. */
  latestAtMs: number
  schemaChanged: boolean
  readonly sources: RowSource[]
  readonly outcomes: BatchOutcome[]
  /** For each outcome the hash of its body; null for a change. */
  readonly bodies: (Hash | null)[]
}

export interface DatasetState {
  readonly id: DatasetId
  readonly vocabulary: Vocabulary
  /** Messages below this position are in the chain. */
  next: number
  /** Sequence of the next new block. */
  nextSequence: number
  /** Offset of the next row, open rows included. */
  nextOffset: number
  /** Time of the last block. */
  timeMs: number
  /** Sequence of the last block with rows or schema; -1 when there is none. */
  moved: number
  /** The schema, with what open rows bring. */
  schema: DataSchema | undefined
  /** Number of the next checkpoint. */
  nextCheckpoint: number
  /** Highest message number by writer, least recently heard first. */
  readonly writers: Map<string, number>
  readonly attempts: Map<string, OpenAttempt>
  readonly ids: IdMemory
  readonly producers: ProducerMemory
  /** Set while the dataset is deleted: it can be restored before this time, milliseconds since 1970 UTC. */
  deletedUntilMs: number | undefined
  /** Absent while nothing calls for a cut. */
  open: OpenBlock | undefined
  /** First message that what is in no checkpoint yet needs: the first part of a large batch, say. */
  firstChange: number | undefined
  /** Last message whose effect is in no checkpoint yet. */
  lastChange: number | undefined
}

/** Blocks to build: those of a creation, or what one cut ends. */
export type BlockPlan = CreationPlan | DataPlan

interface PlanBase {
  readonly dataset: DatasetId
  /** Sequence of the first new block. */
  readonly sequence: number
  readonly timeMs: number
  /** First message that these blocks are made from. */
  readonly firstChange: number
  /** Position after the last message that these blocks consume. */
  readonly next: number
}

export interface CreationPlan extends PlanBase {
  readonly kind: 'creation'
  readonly header: CreateHeader
}

/** What a checkpoint holds beside the hashes that only the builder of the block knows. */
export type CheckpointPlan = Pick<
  CheckpointContent,
  'number' | 'moved' | 'outcomes' | 'bodies' | 'attempts' | 'writers' | 'ids' | 'producers' | 'deletedUntilMs'
>

/** A message that makes a block of its own and changes what the store says of the dataset beside its chain. */
export type AnyChange = ChangeHeader | DeleteHeader | RestoreHeader

export interface DataPlan extends PlanBase {
  readonly kind: 'data'
  readonly vocabulary: Vocabulary
  readonly schema: DataSchema | undefined
  readonly schemaChanged: boolean
  /** What a change says, in blocks before that of the data. */
  readonly events?: readonly MetadataEvent[]
  /** The change that this block takes, for the record of the name. */
  readonly change?: AnyChange
  readonly firstOffset: number
  readonly rows: number
  readonly sources: readonly RowSource[]
  /** Logged bytes of the rows. */
  readonly payloadBytes: number
  readonly checkpoint: CheckpointPlan
}

export interface PayloadColumn {
  readonly name: string
  /** Without Option. */
  readonly type: DataType
  readonly hasNulls: boolean
}

/** What the fold learns of a payload: columns and counts, never rows. A pure function of the payload's bytes. */
export interface PayloadSummary {
  readonly columns: readonly PayloadColumn[]
  readonly rows: number
  /** Why the payload is unusable. */
  readonly fault?: string
}

/** All of a rows message, or of a large batch once its last part has come. */
export interface WholeRows {
  readonly batches: NonNullable<RowsHeader['batches']>
  readonly schema: DataSchema | undefined
  readonly summary: PayloadSummary
  readonly payloadBytes: number
  /** Latest accept time among its messages. */
  readonly atMs: number
  readonly positions: readonly number[]
  /** Why an operator has rejected these rows, in his words and with his name; then `summary` says nothing. */
  readonly rejection?: string | undefined
}

/** What the head of a chain says; `checkpoint` and ids are absent before the first AddData. */
export type ChainFacts = Pick<
  DatasetState,
  'id' | 'vocabulary' | 'schema' | 'next' | 'nextSequence' | 'nextOffset' | 'timeMs'
> & {
  readonly schemaSequence: number
  readonly checkpoint: CheckpointContent | undefined
  /** Oldest first. */
  readonly ids: readonly IdGroup[]
  /** As the checkpoint has it, with the groups of earlier ones. */
  readonly producers?: ProducersHeld | undefined
}

const noProducers: ProducersHeld = { count: 0, from: 0, groups: [] }

/** The state that a chain leaves: the same as that of a fold which made the chain, once nothing is open. */
export function restoredState(facts: ChainFacts): DatasetState {
  const { checkpoint, ids, producers = noProducers, schemaSequence, ...same } = facts
  assert(checkpoint === undefined || checkpoint.next === facts.next, 'checkpoint and source state name one position')
  return {
    ...same,
    moved: checkpoint?.moved ?? schemaSequence,
    deletedUntilMs: checkpoint?.deletedUntilMs,
    nextCheckpoint: checkpoint === undefined ? 0 : checkpoint.number + 1,
    writers: new Map(checkpoint?.writers.map(({ writer, n }) => [writer, n])),
    attempts: new Map(checkpoint?.attempts.map((attempt) => [attemptKey(attempt), attempt])),
    ids: restoreIdMemory(ids, facts.timeMs),
    producers: restoreProducers(producers, facts.timeMs),
    open: undefined,
    firstChange: undefined,
    lastChange: undefined,
  }
}

/** The state after a dataset's creation, read at `position`. */
export function createdState(header: CreateHeader, position: number): DatasetState {
  const events = creationEvents(header)
  return restoredState({
    id: header.dataset,
    vocabulary: vocabularyOf(header),
    schema: header.schema,
    schemaSequence: events.findIndex((event) => event.kind === 'SetDataSchema'),
    next: position + 1,
    nextSequence: events.length,
    nextOffset: 0,
    timeMs: Date.parse(header.time),
    checkpoint: undefined,
    ids: [],
  })
}

/** Name of an attempt in the state. */
export function attemptKey({ writer, n }: { readonly writer: string; readonly n: number }): string {
  return `${writer}:${n}`
}

/** First message that a builder must still be able to read for this dataset; undefined when it needs none. */
export function firstNeeded(state: DatasetState): number | undefined {
  const needed = Array.from(state.attempts.values(), ({ positions }) => positions[0])
  return leastOf([state.firstChange, ...needed])
}

/** The least of those that there are. */
export function leastOf(positions: readonly (number | undefined)[]): number | undefined {
  const known = positions.filter((position) => position !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Memory that the state takes, roughly, in bytes. */
export function stateBytes(state: DatasetState): number {
  const open = state.open === undefined ? 0 : state.open.outcomes.length * 400
  return (
    4096 + (state.ids.known.size + state.producers.ended.size) * 250 + (state.schema?.fields.length ?? 0) * 200 + open
  )
}

/** Memory that a plan takes, roughly, in bytes. */
export function planBytes(plan: BlockPlan): number {
  if (plan.kind === 'creation') return 4096
  return 4096 + plan.checkpoint.outcomes.length * 500 + plan.sources.length * 200
}

/** What tells how much memory a block takes while it is built: columns that no row brings are not logged, but built. */
export function buildBytes({ payloadBytes, rows, schema }: Pick<DataPlan, 'payloadBytes' | 'rows' | 'schema'>): number {
  return Math.max(payloadBytes, bodyMemory.cellBytes * rows * (schema?.fields.length ?? 0))
}

/** Name of the one push source and of the source state of every dataset. */
export const sourceName = 'default'
/** Offset, operation and system time, which the builder adds; the event time and the user columns follow. */
export const addedColumns = 3

/** The system column names that `header` asks for. */
export function vocabularyOf({ vocab = {} }: CreateHeader): Vocabulary {
  const { offsetColumn, operationTypeColumn, systemTimeColumn, eventTimeColumn } = { ...defaultVocabulary, ...vocab }
  return { offsetColumn, operationTypeColumn, systemTimeColumn, eventTimeColumn }
}

/**
 * The push source of a dataset with this schema: its read schema is the event-time column and the user columns, so
 * that a copy's ingest keeps event times and knows every column.
 */
export function pushSource(schema: DataSchema | undefined): AddPushSource {
  const read = schema === undefined ? {} : { schema: { fields: schema.fields.slice(addedColumns) } }
  return { kind: 'AddPushSource', sourceName, read: { kind: 'NdJson', ...read }, merge: { kind: 'Append' } }
}

/** Seed, SetInfo?, SetLicense?, SetAttachments?, SetVocab?, SetDataSchema?, AddPushSource. */
export function creationEvents(header: CreateHeader): readonly MetadataEvent[] {
  const events: MetadataEvent[] = [{ kind: 'Seed', datasetId: header.dataset, datasetKind: 'Root' }]
  const { info, license, attachments, schema } = header
  // What says nothing is no event.
  events.push(
    ...descriptionEvents({
      ...(info?.description === undefined && info?.keywords === undefined ? {} : { info }),
      ...defined({ license }),
      ...(attachments === undefined || attachments.length === 0 ? {} : { attachments }),
    }),
  )
  const vocabulary = setVocabulary(header)
  if (vocabulary !== undefined) events.push(vocabulary)
  if (schema !== undefined) events.push({ kind: 'SetDataSchema', schema })
  events.push(pushSource(schema))
  return events
}

/** SetInfo?, SetLicense?, SetAttachments?: those that are given. */
export function descriptionEvents(
  said: Pick<CreateHeader, 'info' | 'license' | 'attachments'>,
): readonly MetadataEvent[] {
  const { info, license, attachments } = said
  const events: MetadataEvent[] = []
  if (info !== undefined) events.push({ kind: 'SetInfo', ...info })
  if (license !== undefined) events.push({ kind: 'SetLicense', ...license })
  if (attachments !== undefined)
    events.push({ kind: 'SetAttachments', attachments: { kind: 'Embedded', items: attachments } })
  return events
}

/** The record of the dataset's name, whose rows go to `at`. */
export function nameRecordOf(header: CreateHeader, at: Pick<NameRecord, 'log' | 'partition'>): NameRecord {
  const { dataset: id, alias, visibility, freshnessMs, ingest, ledger, proofs } = header
  const { log, partition } = at
  const set = { ...defined({ freshnessMs, ingest, ledger, proofs }) }
  return { id, alias, log, partition, visibility, ...set }
}

/** The names that differ from the defaults; undefined when none does: an event that changes nothing is none. */
function setVocabulary(header: CreateHeader): SetVocab | undefined {
  const defaults = new Map(Object.entries(defaultVocabulary))
  const different = Object.entries(vocabularyOf(header)).filter(([column, name]) => defaults.get(column) !== name)
  return different.length === 0 ? undefined : { kind: 'SetVocab', ...Object.fromEntries(different) }
}

/**
 * What a dataset remembers of keyed batches (docs/spec/protocol.md §2, Memory of ids): a bounded suffix of all that were
 * committed, grouped by the checkpoint that wrote them. Mutable: ids of ended blocks in `groups` (oldest first), those of
 * the open block in `open`, all in `known`.
 */
export interface IdMemory {
  readonly known: Map<string, Hash>
  groups: IdGroup[]
  open: KnownId[]
  /** Ids in `groups`. */
  grouped: number
}

export function emptyIdMemory(): IdMemory {
  return { known: new Map(), groups: [], open: [], grouped: 0 }
}

/** The memory that `groups` (oldest first) leave at block time `timeMs`. */
export function restoreIdMemory(groups: readonly IdGroup[], timeMs: number): IdMemory {
  const memory = emptyIdMemory()
  memory.groups = groups.filter((group) => group.ids.length > 0)
  for (const group of groups) memory.grouped += group.ids.length
  // Forget first: an id may be in an old group that is forgotten and in a newer one that is not.
  forget(memory, timeMs)
  for (const group of memory.groups) for (const { id, bodyHash } of group.ids) memory.known.set(id, bodyHash)
  return memory
}

/** Remembers a keyed batch of the open block. */
export function rememberId(memory: IdMemory, id: string, bodyHash: Hash): void {
  memory.known.set(id, bodyHash)
  memory.open.push({ id, bodyHash })
}

/**
 * Ends the open block as checkpoint `number` with block time `timeMs`; returns the ids that the checkpoint holds:
 * its own, every 64th those of the 63 before it too, every 4,096th those of the 4,095 before it.
 */
export function endIdGroup(memory: IdMemory, number: number, timeMs: number): readonly IdGroup[] {
  if (memory.open.length > 0) {
    memory.groups.push({ number, timeMs, ids: memory.open })
    memory.grouped += memory.open.length
    memory.open = []
  }
  forget(memory, timeMs)
  const first = firstIdGroup(number)
  let at = memory.groups.length
  while (at > 0 && (memory.groups[at - 1]?.number ?? -1) >= first) at--
  return memory.groups.slice(at)
}

/** Forgets, oldest first, what is neither among the last 10,000 nor younger than 7 days, and all beyond 1,000,000. */
function forget(memory: IdMemory, timeMs: number): void {
  let whole = 0
  for (const [index, group] of memory.groups.entries()) {
    const excess = Math.min(group.ids.length, memory.grouped - idsRemembered(timeMs - group.timeMs))
    if (excess <= 0) break
    for (const { id } of group.ids.slice(0, excess)) memory.known.delete(id)
    memory.grouped -= excess
    if (excess < group.ids.length) {
      memory.groups[index] = { ...group, ids: group.ids.slice(excess) }
      break
    }
    whole = index + 1
  }
  if (whole > 0) memory.groups.splice(0, whole)
}
