// Writes to the log: small posts that arrive while an append is being made durable share one message per dataset
// (self-clocked, no timer); a large batch is several parts; creations and changes are messages of their own (docs/spec/protocol.md §1).

import { defined } from '../../libraries/base/collections.ts'
import { concatBatches } from '../../libraries/columnar/arrow/columns.ts'
import { encodeArrowStream } from '../../libraries/columnar/arrow/ipc.ts'
import { randomText } from '../../libraries/base/ids/native-crypto.ts'
import { must } from '../../libraries/base/assert.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { type Logger, silentLogger } from '../../libraries/base/logger.ts'
import type { EventLog } from '../log/event-log.ts'
import type {
  BatchEntry,
  ChangeHeader,
  CreateHeader,
  DeleteHeader,
  MessageHeader,
  RestoreHeader,
} from '../log/messages.gen.ts'
import { encodeMessage } from '../log/messages.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { DataSchema, Field, RecordBatch } from '../../libraries/model/schema.ts'
import { isSampled } from './controls.ts'
import {
  type Identity,
  LargeBatch,
  partBytes,
  type Published,
  type RowsOwner,
  type SendMessage,
} from './large-batch.ts'

/** Batches of one message at most. */
const groupBatches = 1024

/** Rows of one dataset for the log. */
export interface RowsToPublish extends RowsOwner {
  /** The payload's columns: event time, then user columns. One array for the same ones: encoders keep work by it. */
  readonly fields: readonly Field[]
  /** The new schema when these rows ask to create or extend it. */
  readonly schema: DataSchema | undefined
  readonly batch: BatchEntry
}

type Unnumbered<T> = Omit<T, 'writer' | 'n' | 'at'>
export type ChangeToPublish = Unnumbered<ChangeHeader> | Unnumbered<DeleteHeader> | Unnumbered<RestoreHeader>

interface Waiting {
  readonly rows: RowsToPublish
  readonly columns: RecordBatch
  readonly bytes: number
  readonly resolve: (published: Published) => void
  readonly reject: (error: unknown) => void
}

interface Writer {
  readonly id: string
  next: number
  readonly waiting: Waiting[]
  running: boolean
}

export class Publisher {
  readonly #log: EventLog
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #writers = new Map<number, Writer>()

  constructor(deps: { log: EventLog; clock: Clock; logger?: Logger }) {
    this.#log = deps.log
    this.#clock = deps.clock
    this.#logger = deps.logger ?? silentLogger
  }

  /** Publishes one creation. Durable when it resolves. Throws what `EventLog.append` throws. */
  async create(partition: number, header: Omit<CreateHeader, 'writer' | 'n' | 'at' | 'kind'>): Promise<number> {
    return this.#append(partition, (identity) => ({ kind: 'create', ...identity, ...header }))
  }

  /** Publishes a change of a dataset. Durable when it resolves. Throws what `EventLog.append` throws. */
  async change(partition: number, change: ChangeToPublish): Promise<number> {
    return this.#append(partition, (identity) => {
      const { kind, ...rest } = change
      // `as`: the kind of the one and the members of the same.
      return { kind, ...identity, ...rest } as ChangeHeader | DeleteHeader | RestoreHeader
    })
  }

  /** Publishes a batch of about `bytes`, sharing a message with others of its dataset. Durable when it resolves. */
  small(rows: RowsToPublish, columns: RecordBatch, bytes: number): Promise<Published> {
    const writer = this.#writer(rows.partition)
    return new Promise((resolve, reject) => {
      writer.waiting.push({ rows, columns, bytes, resolve, reject })
      if (!writer.running) void this.#drain(rows.partition, writer)
    })
  }

  /** A large batch, to be sent while its rows come. */
  large(owner: RowsOwner): LargeBatch {
    const send: SendMessage = (headerOf, payload) => this.#append(owner.partition, headerOf, payload)
    return new LargeBatch(owner, { send, clock: this.#clock })
  }

  /** Numbers and encodes in one step with the append, so that numbers reach the log in order. */
  async #append(
    partition: number,
    headerOf: (identity: Identity) => MessageHeader,
    payload: readonly Uint8Array[] = [],
  ): Promise<number> {
    const header = headerOf(this.#identity(this.#writer(partition)))
    // An abort frees what the rows before it have taken, a deletion what its dataset takes.
    const options = { useReserve: header.kind === 'abort' || header.kind === 'delete' }
    return this.#log.append(partition, [encodeMessage(header, ...payload)], options)
  }

  #identity(writer: Writer): Identity {
    return { writer: writer.id, n: writer.next++, at: new Date(this.#clock.nowMs()).toISOString() }
  }

  #writer(partition: number): Writer {
    let writer = this.#writers.get(partition)
    if (writer === undefined) {
      writer = { id: randomText(16), next: 1, waiting: [], running: false }
      this.#writers.set(partition, writer)
    }
    return writer
  }

  async #drain(partition: number, writer: Writer): Promise<void> {
    writer.running = true
    // One turn of the event loop, so that posts read from sockets in the same turn share the message.
    await Promise.resolve()
    while (writer.waiting.length > 0) {
      const groups = groupByDataset(writer.waiting.splice(0))
      // One append per message, begun in order: the log gathers them, and one that is refused leaves the others alone.
      await Promise.all(groups.map((group) => this.#appendGroup(partition, writer, group)))
    }
    writer.running = false
  }

  async #appendGroup(partition: number, writer: Writer, group: readonly Waiting[]): Promise<void> {
    try {
      const identity = this.#identity(writer)
      const position = await this.#log.append(partition, [encodeGroup(identity, group)])
      const acceptedMs = Date.parse(identity.at)
      for (const [index, one] of group.entries()) one.resolve({ position, index, acceptedMs })
      this.#tellOtherTraces(group, { partition, position })
    } catch (error) {
      for (const one of group) one.reject(error)
    }
  }

  /** A message carries one trace; where the others went stands in the log lines of this process, if they are sampled. */
  #tellOtherTraces(group: readonly Waiting[], place: { readonly partition: number; readonly position: number }): void {
    const carried = carrierOf(group)?.rows.traceparent
    if (carried === undefined) return
    for (const { rows } of group) {
      const { traceparent, dataset } = rows
      if (traceparent === undefined || traceparent === carried || !isSampled(traceparent)) continue
      this.#logger.info({ traceparent, dataset, ...place, carried }, 'rows share a message that carries another trace')
    }
  }
}

function encodeGroup(identity: Identity, group: readonly Waiting[]): Uint8Array {
  const { dataset, schemaSequence, schema, fields } = must(group[0], 'a group is not empty').rows
  const payload = encodeArrowStream(fields, [concatBatches(group.map((one) => one.columns))])
  const header = {
    ...identity,
    ...traced(carrierOf(group)?.rows),
    dataset,
    schemaSequence,
    ...defined({ schema }),
    batches: group.map((one) => one.rows.batch),
  }
  return encodeMessage({ kind: 'rows', ...header }, payload)
}

/** The batch whose trace the message of a group carries: the first that has one. */
function carrierOf(group: readonly Waiting[]): Waiting | undefined {
  return group.find(({ rows }) => rows.traceparent !== undefined)
}

function traced(rows: RowsToPublish | undefined): { readonly traceparent?: string } {
  return rows?.traceparent === undefined ? {} : { traceparent: rows.traceparent }
}

/** A batch in the header of its message, with the longest numbers and without the texts below. */
const entryBytes = 288

/** What a batch takes there at most, a character of its key escaped or not: with long keys more than its rows. */
function headerBytesOf({ token = '', key = '', mediaType }: BatchEntry): number {
  return entryBytes + token.length + 2 * key.length + mediaType.length
}

/** Groups in order of first appearance; one dataset and one set of columns per group; bounded bytes and batches. */
function groupByDataset(waiting: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = []
  const open = new Map<DatasetId, Map<readonly Field[], { group: Waiting[]; bytes: number }>>()
  for (const one of waiting) {
    const { fields, dataset, schema } = one.rows
    const ofDataset = open.get(dataset) ?? new Map<readonly Field[], { group: Waiting[]; bytes: number }>()
    open.set(dataset, ofDataset)
    // Rows that bring a schema stand alone: others must not depend on whether it is taken.
    const held = schema === undefined ? ofDataset.get(fields) : undefined
    const bytes = one.bytes + headerBytesOf(one.rows.batch)
    if (held !== undefined && held.bytes + bytes <= partBytes && held.group.length < groupBatches) {
      held.group.push(one)
      held.bytes += bytes
      continue
    }
    const group = [one]
    groups.push(group)
    if (schema === undefined) ofDataset.set(fields, { group, bytes })
  }
  return groups
}
