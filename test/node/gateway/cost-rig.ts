// What bodies cost, measured at the real gateway: bytes appended to the log, cells in them, and text of warnings and errors,
// against bytes as they arrive, inflated. Nothing is folded while it is measured, and the log forgets what was counted.

import { Readable } from 'node:stream'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { cellsOf } from '../../../src/libraries/columnar/arrow/brought-rows.ts'
import { ArrowStreamReader } from '../../../src/libraries/columnar/arrow/ipc-reader.ts'
import type { EndlessFormat } from '../../../src/libraries/formats/format.ts'
import { formatNamed } from '../../helpers/formats.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import { fullSchema } from '../../../src/node/gateway/shape.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { defaultVocabulary, type Field, timestampMs } from '../../../src/libraries/model/schema.ts'
import { fastClock } from '../builder/support.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { Rig } from './support.ts'

export interface Body {
  /** Of the registry. */
  readonly format: string
  readonly bytes: Uint8Array
  /** Bytes that count as received, where the body is packed itself. */
  readonly inflated?: number
  readonly query?: Readonly<Record<string, string>>
  readonly encoding?: 'gzip' | 'zstd'
}

export interface Cost {
  /** Bytes received, inflated. */
  readonly received: number
  /** Bytes of messages. */
  readonly logged: number
  /** Rows times the columns that they have in their message, and items of lists. */
  readonly cells: number
  /** Bytes of JSON that say what is wrong or doubted. */
  readonly told: number
  /** The error's kind, or that the rows are in the log. */
  readonly outcome: string
  /** Batches that a stream was cut into. */
  readonly batches: number
}

export class CostRig {
  readonly #rig: Rig
  readonly #log = openMemoryLog()
  readonly #open = new Map<string, ArrowStreamReader>()
  #isCounting = false
  #end = 0
  #logged = 0
  #cells = 0
  #batches = 0

  private constructor() {
    const log = this.#log
    const append = log.append.bind(log)
    log.append = async (partition, messages, options) => {
      if (!this.#isCounting) return append(partition, messages, options)
      for (const message of messages) this.#count(message)
      return (this.#end += messages.length) - messages.length
    }
    const fast = fastClock(100)
    // No block comes while it is measured: who waits for one does not wait long.
    const clock = { ...fast, nowMs: () => Math.floor(fast.nowMs()) }
    this.#rig = new Rig({ log, clock, stream: { ageMs: 5_000, rows: 10_000 } })
  }

  /** Datasets `a/<name>` with these columns. */
  static async with(datasets: Readonly<Record<string, readonly Field[]>>): Promise<CostRig> {
    const costs = new CostRig()
    const rig = await costs.#rig.build()
    for (const [name, fields] of Object.entries(datasets)) {
      const schema = fullSchema(fields, defaultVocabulary, { type: timestampMs, position: undefined })
      await rig.gateway.create({ alias: parseAliasText(`a/${name}`), visibility: 'public', schema })
    }
    const last = `a/${Object.keys(datasets).at(-1)}`
    await rig.rows(last, [{}])
    await rig.pause(last)
    costs.#end = (await costs.#log.range(0)).end
    costs.#isCounting = true
    return costs
  }

  stop(): Promise<void> {
    return this.#rig.stop()
  }

  /** Posts a body to a dataset. */
  async ofPost(dataset: string, { format, bytes, inflated = bytes.length, query = {}, encoding }: Body): Promise<Cost> {
    const body = encoding === undefined ? bytes : encoding === 'gzip' ? gzipSync(bytes) : zstdCompressSync(bytes)
    const headers = {
      'content-type': formatNamed(format).mediaTypes[0],
      'content-length': String(body.length),
      prefer: 'respond-async',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    }
    return this.#measured(inflated, async () => {
      const answer = await this.#rig.gateway.ingest({
        ...(await this.#target(dataset)),
        controls: readControls(headers, query),
        body: Readable.from([body]),
      })
      return { ...answer.told, misfits: answer.misfits }
    })
  }

  /** Sends a body as a stream, in chunks of so many bytes, or in 2,000 of more. */
  async ofStream(dataset: string, { format, bytes, query = {} }: Body, chunkBytes: number): Promise<Cost> {
    const type = formatNamed(format)
    const chunks = function* (): Generator<Uint8Array> {
      const step = Math.max(chunkBytes, Math.ceil(bytes.length / 2000))
      for (let at = 0; at < bytes.length; at += step) yield bytes.slice(at, at + step)
    }
    return this.#measured(bytes.length, async () => {
      const stream = await this.#rig.gateway.stream({
        ...(await this.#target(dataset)),
        controls: readControls({ 'content-type': type.mediaTypes[0] }, query),
        body: Readable.from(chunks()),
        format: type as EndlessFormat, // those that are sent as streams
        producer: undefined,
        rights: async () => {},
      })
      const [, told] = await Promise.all([stream.run(), collectedWarnings(stream)])
      return told
    })
  }

  async #target(dataset: string) {
    const alias = parseAliasText(`a/${dataset}`)
    return { alias, chain: must(await this.#rig.catalog.byAlias(alias.text), 'the dataset'), tokenId: 't1' }
  }

  async #measured(received: number, work: () => Promise<unknown>): Promise<Cost> {
    this.#logged = this.#cells = this.#batches = 0
    let told: unknown
    let outcome = 'logged'
    try {
      told = await work()
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      const { cause: _cause, ...details } = error.details
      outcome = error.kind
      told = { message: error.message, ...details }
    }
    const bytes = Buffer.byteLength(JSON.stringify(told))
    return { received, logged: this.#logged, cells: this.#cells, told: bytes, outcome, batches: this.#batches }
  }

  #count(bytes: Uint8Array): void {
    this.#logged += bytes.length
    const message = decodeMessage(bytes)
    if (message.kind !== 'message' || message.header.kind !== 'rows') return
    const { part, batches } = message.header
    const key = part === undefined ? '' : JSON.stringify(part.attempt)
    const reader = this.#open.get(key) ?? new ArrowStreamReader()
    for (const batch of reader.push(message.payload)) this.#cells += cellsOf({ ...batch, places: [] })
    this.#batches += batches?.length ?? 0
    if (part === undefined || batches !== undefined) this.#open.delete(key)
    else this.#open.set(key, reader)
  }
}

async function collectedWarnings(stream: { lines(): AsyncIterable<unknown> }): Promise<unknown> {
  const told: unknown[] = []
  for await (const line of stream.lines()) {
    const { receipt, error } = line as { receipt?: { warnings?: unknown }; error?: unknown }
    told.push(receipt?.warnings)
    if (error instanceof NodeError) told.push({ message: error.message, ...error.details, cause: undefined })
    else if (error !== undefined) throw error
  }
  return told
}
