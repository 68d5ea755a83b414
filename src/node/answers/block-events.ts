// Blocks as server-sent events have them: what a block is and, where asked, its first rows. An event is made once for all
// who listen, and kept while the newest ones are asked for; an older one is made of the chain again.

import { type DatasetChain, viewOf } from '../catalog/dataset-chain.ts'
import type { Asking } from '../engine/messages.ts'
import { must } from '../../libraries/base/assert.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { ReplicaDeps } from './query.ts'
import { tailRows } from './tail.ts'

/** Rows of one event. */
const eventRows = 1_000
/** Bytes of those rows as JSON: more are left out, and fetched by their offsets. */
const eventRowsBytes = 512 * 1024
/** Events kept, and their bytes. */
const keptEvents = 256
const keptBytes = 16 * 1024 * 1024
/** How long an event waits for a free turn of the engine before it asks again. */
const againMs = 500

export interface BlockEvent {
  /** `id:` and `data:` lines, for a listener to this dataset alone. */
  readonly whole: Uint8Array
  /** The `data:` line and the empty line that ends the event. */
  readonly data: Uint8Array
}

type RowsDeps = Pick<ReplicaDeps, 'engine' | 'objects' | 'files'>

/** What an event says of rows. */
interface EventRows {
  readonly json: string
  /** First offset that is not among them. */
  readonly next: number
}

export class BlockEvents {
  readonly #deps: RowsDeps
  readonly #clock: Clock
  /** Oldest first. */
  readonly #kept = new Map<string, Promise<BlockEvent>>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  constructor(deps: RowsDeps, clock: Clock) {
    this.#deps = deps
    this.#clock = clock
  }

  /** The event of block `sequence`, which must be there. Throws as `Engine.run`; HaltError `ChainBroken`. */
  of(chain: DatasetChain, sequence: number, withRows: boolean): Promise<BlockEvent> {
    // All that an event says: of a dataset that is renamed, the name too.
    const key = `${chain.name.alias} ${chain.blocks.at(sequence)?.hash} ${withRows}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const making = this.#make(chain, sequence, withRows)
    this.#kept.set(key, making)
    making.then(
      ({ whole }) => this.#count(key, whole.length),
      () => this.#drop(key),
    )
    return making
  }

  #count(key: string, bytes: number): void {
    if (!this.#kept.has(key)) return
    this.#bytesOf.set(key, bytes)
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= keptEvents && this.#bytes <= keptBytes) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#bytesOf.get(key) ?? 0
    this.#bytesOf.delete(key)
    this.#kept.delete(key)
  }

  async #make(chain: DatasetChain, sequence: number, withRows: boolean): Promise<BlockEvent> {
    const block = must(chain.blocks.at(sequence), 'the block is in the chain')
    const start = sequence === 0 ? 0 : (chain.blocks.at(sequence - 1)?.rows ?? 0)
    const end = block.rows - 1
    const offsets = start <= end ? { start, end } : null
    const { id, alias } = chain.name
    const facts = JSON.stringify({ alias, block: block.hash, sequence, offsets, systemTime: block.systemTime })
    const rows = withRows && offsets !== null ? await this.#rows(chain, sequence, offsets) : undefined
    const more = rows === undefined ? (withRows ? ',"rows":[]' : '') : membersOf(rows, end)
    const data = `data: ${facts.slice(0, -1)}${more}}\n\n`
    const line = `id: ${id}:${sequence}\n`
    const whole = utf8(line + data)
    return { whole, data: whole.subarray(line.length) }
  }

  /** The first rows of a block, or none where they are too large. A full engine is waited for. */
  async #rows(
    chain: DatasetChain,
    sequence: number,
    { start, end }: { readonly start: number; readonly end: number },
  ): Promise<EventRows> {
    const limit = Math.min(eventRows, end + 1 - start)
    const skip = end + 1 - start - limit
    // Each listener's right is looked at before it is sent anything.
    const caller = { key: ['live', chain.name.id], mayRead: () => true }
    const asking: Asking = { caller, signal: new AbortController().signal }
    for (;;) {
      try {
        const window = { skip, limit, dataFormat: 'JsonAos', resultBytes: eventRowsBytes, asking }
        const json = await tailRows(this.#deps, viewOf(chain, sequence), window)
        return { json: Buffer.from(json).toString(), next: start + limit }
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        if (error.kind === 'ResultTooLarge') return { json: '[]', next: start }
        if (error.kind !== 'Saturated') throw error
        await this.#clock.sleep(againMs)
      }
    }
  }
}

/** `rows`, and what is left out of them: `truncated`, with the offsets to fetch. */
function membersOf({ json, next }: EventRows, end: number): string {
  const rows = `,"rows":${json}`
  return next > end ? rows : `${rows},"truncated":{"start":${next},"end":${end}}`
}
