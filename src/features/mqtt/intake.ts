// A message becomes rows as the body of a post does: with others of its route in one batch, or, where it has a key of its
// own, is more than a line, or was in a batch that was refused, in a batch of its own. What can never be stored goes into
// the quarantine of its account; what cannot be stored now is tried again, while the broker waits.

import type { Catalog } from '../../node/catalog/catalog.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import type { IngestControls } from '../../node/gateway/controls.ts'
import { kindOfWarning } from '../../libraries/base/warnings.ts'
import type { Gateway } from '../../node/gateway/gateway.ts'
import { bodyOf } from '../../node/gateway/read-body.ts'
import { takesNoRows } from '../../node/gateway/refusals.ts'
import { sha2HashOfHex } from '../../libraries/base/ids/identifiers.ts'
import { sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { type ErrorKind, isRetryable } from '../../libraries/base/error-table.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Alias } from '../../libraries/model/names.ts'
import type { Metrics } from '../../node/machine/ops/metrics.ts'
import { recordOf } from './bare-value.ts'
import { BehindRefused, isLine, JoinedBatches } from './joined-batches.ts'
import { quarantineControls, quarantineOf, quarantineRow, quarantineSchema } from './quarantine.ts'
import type { KeptRules, Route } from './route.ts'
import { withTopic } from './topic-column.ts'
import { TopicOrder, type Turn } from './topic-order.ts'
import type { Publish } from './window.ts'

export interface IntakeDeps {
  readonly gateway: Pick<Gateway, 'ingest' | 'create' | 'change'>
  readonly catalog: Pick<Catalog, 'known' | 'byAlias'>
  readonly metrics: Pick<Metrics, 'ingestedRecords' | 'ingestedBytes'>
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: { readonly mqttMessageBytes: number; readonly recordBytes: number }
}

/** Between tries of a message that cannot be stored now; the times double. */
const [firstPauseMs, longestPauseMs] = [50, 5_000]
/** Kinds of warnings of a route that are logged. */
const mostWarned = 100
/** Kinds that pass by themselves or when an operator has looked, beside those that HTTP clients repeat. */
const passing: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['StorageFull', 'SchemaConflict', 'OtherLog'])

export class Intake {
  readonly #deps: IntakeDeps
  readonly #route: Route
  readonly #joined: JoinedBatches
  readonly #order = new TopicOrder()
  #fault: string | undefined
  /** Kinds of warnings that were logged. */
  readonly #warned = new Set<string>()
  /** Controls by the rules of the dataset that they were made with. */
  #held: { readonly kept: KeptRules; readonly controls: IngestControls } | undefined

  constructor(deps: IntakeDeps, route: Route) {
    this.#deps = deps
    this.#route = route
    this.#joined = new JoinedBatches(async (lines) => {
      const chain = await this.#chainOf(route.alias)
      const controls = { ...this.#controlsFor(chain), contentType: 'application/x-ndjson' }
      // What the dataset says may have changed since they came together.
      if (mayJoin(controls)) return this.#ingest(route.alias, chain, { body: lines, controls })
      throw new NodeError('InvalidParameter', 'Messages of this dataset are now separate batches.')
    })
  }

  /** Why messages are not stored now, or undefined. */
  get fault(): string | undefined {
    return this.#fault
  }

  /**
   * Stores the message, behind the earlier ones of its topic, or puts it into quarantine: durable when it resolves. Rejects
   * only when `signal` aborts.
   */
  async take(message: Publish, signal: AbortSignal): Promise<'stored' | 'quarantined'> {
    const { turn, leave } = this.#order.enter(message.topic)
    try {
      return await this.#takeInTurn(message, turn, signal)
    } finally {
      leave()
    }
  }

  async #takeInTurn(message: Publish, turn: Turn, signal: AbortSignal): Promise<'stored' | 'quarantined'> {
    const receivedMs = this.#deps.clock.nowMs()
    let refusal: NodeError | undefined
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      signal.throwIfAborted()
      try {
        if (refusal === undefined) await this.#store(message, turn)
        else await this.#quarantine(message, refusal, receivedMs)
        this.#fault = undefined
        return refusal === undefined ? 'stored' : 'quarantined'
      } catch (error) {
        const isFirst = refusal === undefined
        if (isFirst && !isPassing(error)) {
          refusal = this.#refusalOf(error)
          pauseMs = firstPauseMs / 2
          continue
        }
        this.#tell(error)
        await this.#deps.clock.sleep(pauseMs, signal)
      }
    }
  }

  /** What is no refusal is a fault of ours that this message has met: it goes into quarantine too, and stops no other. */
  #refusalOf(error: unknown): NodeError {
    if (error instanceof NodeError) return error
    this.#deps.logger.error(
      { err: error, filter: this.#route.filter },
      'A fault at an MQTT message, kept in quarantine',
    )
    return new NodeError('Internal', 'The node itself failed.', { cause: error })
  }

  /** Told once, until something is stored again. */
  #tell(error: unknown): void {
    const { filter, alias } = this.#route
    const fault = error instanceof Error ? error.message : String(error)
    if (this.#fault === undefined) {
      this.#deps.logger.warn({ filter, dataset: alias.text, cause: fault }, 'MQTT messages wait: they cannot be stored')
    }
    this.#fault = fault
  }

  async #store(message: Publish, turn: Turn): Promise<void> {
    const { topic, payload, lostBytes } = message
    const { mqttMessageBytes: value } = this.#deps.limits
    const payloadBytes = payload.length + lostBytes
    if (payloadBytes > value) {
      throw new NodeError('BodyTooLarge', `The message has ${payloadBytes} bytes of payload.`, {
        limit: { name: 'mqttMessageBytes', value, unit: 'bytes' },
      })
    }
    const { alias, topicColumn } = this.#route
    const record = recordOf(payload)
    const body = topicColumn === undefined ? record : withTopic(record, topicColumn, topic)
    const chain = await this.#chainOf(alias)
    const controls = this.#controlsFor(chain)
    if (mayJoin(controls) && isLine(body) && (await this.#storeJoined(body, turn))) return
    await turn.alone()
    // Devices may send the same reading at the same time: the topic tells them apart.
    const key = controls.dedupe === 'body' ? { idempotencyKey: keyOf(topic, payload) } : {}
    await this.#ingest(alias, chain, { body, controls: { ...controls, ...key } })
  }

  /** False where the batch was refused: it may have been another's fault. Throws what passes. */
  async #storeJoined(line: Uint8Array, turn: Turn): Promise<boolean> {
    for (;;) {
      while (!turn.mayFollow) await turn.change()
      turn.inLine()
      try {
        await this.#joined.add(line, () => turn.held())
        return true
      } catch (error) {
        if (error instanceof BehindRefused) continue
        if (isPassing(error)) throw error
        return false
      }
    }
  }

  #controlsFor(chain: DatasetChain | undefined): IngestControls {
    const kept = chain?.name.ingest
    if (this.#held === undefined || this.#held.kept !== kept) {
      this.#held = { kept, controls: this.#route.controlsFor(kept) }
    }
    return this.#held.controls
  }

  async #quarantine(message: Publish, refusal: NodeError, receivedMs: number): Promise<void> {
    const { gateway, limits } = this.#deps
    const alias = quarantineOf(this.#route.alias)
    const chain =
      (await this.#chainOf(alias)) ??
      (await gateway.create({ alias, visibility: 'private', schema: quarantineSchema })).chain
    // Topics and payloads of refused messages are nobody's but the account's, whatever was made of their dataset.
    if (chain.name.visibility !== 'private') {
      this.#deps.logger.warn(
        { dataset: alias.text },
        'The quarantine was public: it is made private before a message goes there',
      )
      await gateway.change(chain, { visibility: 'private' })
    }
    const row = quarantineRow(message, { route: this.#route, refusal, receivedMs, recordBytes: limits.recordBytes })
    await this.#ingest(alias, chain, { body: utf8(JSON.stringify(row)), controls: quarantineControls })
  }

  async #ingest(
    alias: Alias,
    chain: DatasetChain | undefined,
    { body, controls }: { readonly body: Uint8Array; readonly controls: IngestControls },
  ): Promise<void> {
    if (chain === undefined && !controls.create) {
      throw new NodeError('DatasetNotFound', `There is no dataset '${alias.text}'.`, {
        hint: 'Make it, or say create=true in the route.',
      })
    }
    const { gateway, metrics } = this.#deps
    const given = { ...controls, contentLength: body.length }
    const answer = await gateway.ingest({ alias, chain, tokenId: undefined, controls: given, body: bodyOf(body) })
    this.#warn(answer.told.warnings ?? [])
    if ('dryRun' in answer.body || answer.replayed) return
    metrics.ingestedRecords.inc(answer.body.records.received)
    metrics.ingestedBytes.inc(answer.body.bytes)
  }

  /** A broker has no answer for what is doubted of a message: it is logged, each kind once. */
  #warn(warnings: readonly string[]): void {
    const { filter, alias } = this.#route
    for (const warning of warnings) {
      const kind = kindOfWarning(warning)
      if (this.#warned.has(kind) || this.#warned.size >= mostWarned) continue
      this.#warned.add(kind)
      this.#deps.logger.warn({ filter, dataset: alias.text, warning }, 'Values of MQTT messages are doubted')
    }
  }

  async #chainOf({ text }: Alias): Promise<DatasetChain | undefined> {
    const { catalog } = this.#deps
    return catalog.known(text) ?? (await catalog.byAlias(text).catch(takesNoRows))
  }
}

/** True for messages that need no batch of their own. */
function mayJoin({ dedupe, records }: IngestControls): boolean {
  return dedupe === undefined && records === undefined
}

/** What a message is known by: where it was sent, and what it says. */
function keyOf(topic: string, payload: Uint8Array): string {
  return sha2HashOfHex(sha256Hex(concatBytes([utf8(topic), Uint8Array.of(0), payload])))
}

function isPassing(error: unknown): boolean {
  return error instanceof NodeError && (isRetryable(error.kind) || passing.has(error.kind))
}
