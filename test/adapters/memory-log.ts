// The event log in memory: for tests and for trying things out. Nothing survives the process.

import { randomBytes } from '../../src/libraries/base/ids/native-crypto.ts'
import { assert, must } from '../../src/libraries/base/assert.ts'
import { toHex } from '../../src/libraries/base/bytes.ts'
import type { EventLog, LogEntry } from '../../src/node/log/event-log.ts'
import { checkInRange, Tail, truncated } from '../../src/node/log/tail.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'

interface MemoryLogOptions {
  readonly partitions?: number
  /** Identity of the log; random by default. */
  readonly id?: string
}

/** An empty log. Messages are kept as handed in: the caller must not change them. */
export function openMemoryLog(options: MemoryLogOptions = {}): EventLog {
  return new MemoryLog(options.id ?? toHex(randomBytes(16)), options.partitions ?? 1)
}

class MemoryLog implements EventLog {
  readonly kind = 'memory'
  readonly id: string
  readonly partitions: number
  readonly #tails: readonly Tail[]
  #closed = false

  constructor(id: string, partitions: number) {
    assert(Number.isInteger(partitions) && partitions >= 1, 'a log has at least one partition')
    this.id = id
    this.partitions = partitions
    this.#tails = Array.from({ length: partitions }, () => new Tail(0))
  }

  async append(partition: number, messages: readonly Uint8Array[]): Promise<number> {
    if (this.#closed) throw new NodeError('LogUnavailable', 'The log is closed.')
    const tail = this.#tail(partition)
    const first = tail.end
    // Copies: what is read was never in the hands of its writer, as in every other log.
    tail.push(messages.map((message) => message.slice()))
    return first
  }

  async *read(
    partition: number,
    from: number,
    options: { readonly signal?: AbortSignal; readonly follow?: boolean },
  ): AsyncGenerator<readonly LogEntry[]> {
    const tail = this.#tail(partition)
    checkInRange(from, tail.start, tail.end)
    const stop = options.follow === false ? tail.end : Number.POSITIVE_INFINITY
    let next = from
    while (next < stop && options.signal?.aborted !== true) {
      if (next < tail.end) {
        const entries = tail.entriesFrom(next, stop)
        if (entries === undefined) throw truncated(next, tail.start)
        next += entries.length
        yield entries
      } else {
        if (tail.closed) return
        await tail.waitAbove(next, options.signal)
      }
    }
  }

  async get(partition: number, position: number): Promise<Uint8Array | undefined> {
    return this.#tail(partition).get(position)
  }

  async range(partition: number): Promise<{ readonly start: number; readonly end: number }> {
    const { start, end } = this.#tail(partition)
    return { start, end }
  }

  async release(partition: number, floor: number): Promise<void> {
    const tail = this.#tail(partition)
    tail.dropBelow(Math.min(floor - 1, tail.end))
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const tail of this.#tails) tail.close()
  }

  #tail(partition: number): Tail {
    return must(this.#tails[partition], `the log has no partition ${partition}`)
  }
}
