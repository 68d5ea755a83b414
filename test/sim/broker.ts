// A log that several simulated processes share, as a broker of its own would be: it outlives them all, keeps what it
// has acknowledged, and can lose acknowledgements, store a resend twice, or be out of reach.

import type { EventLog } from '../../src/node/log/event-log.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import type { Process, World } from './world.ts'

export class Broker {
  readonly #world: World
  readonly #log: EventLog
  /** Each chance by which an append goes wrong. */
  faults = { refused: 0, lostBefore: 0, lostAfter: 0, twice: 0 }

  readonly #keepsAll: boolean

  /** With `keepsAll` no message is let go of, whatever the builders say. */
  constructor(world: World, log: EventLog, options: { readonly keepsAll?: boolean } = {}) {
    this.#world = world
    this.#log = log
    this.#keepsAll = options.keepsAll ?? false
  }

  /** The log as `process` sees it. */
  forProcess(process: Process): EventLog {
    const log = this.#log
    const reach = (): Promise<void> => process.spend(this.#world.random.next() * 5)
    // A process has one append in flight, so that its messages arrive in order.
    let last: Promise<unknown> = Promise.resolve()
    return {
      kind: log.kind,
      id: log.id,
      partitions: log.partitions,
      append: (partition, messages) => {
        const sent = last.then(async () => {
          await reach()
          const first = await this.#append(partition, messages)
          await reach()
          return first
        })
        last = sent.catch(() => undefined)
        return sent
      },
      read: (partition, from, options) => gated(process, log.read(partition, from, options)),
      get: async (partition, position) => {
        await process.gate()
        return log.get(partition, position)
      },
      range: async (partition) => {
        await process.gate()
        return log.range(partition)
      },
      release: async (partition, floor) => {
        await reach()
        if (!this.#keepsAll) await log.release(partition, floor)
      },
      close: async () => {},
    }
  }

  async #append(partition: number, messages: readonly Uint8Array[]): Promise<number> {
    const { refused, lostBefore, lostAfter, twice } = this.faults
    if (this.#world.chance(refused)) throw new NodeError('LogUnavailable', 'simulated')
    if (this.#world.chance(lostBefore)) throw new NodeError('OutcomeUnknown', 'simulated')
    const first = await this.#log.append(partition, messages)
    if (this.#world.chance(twice)) await this.#log.append(partition, messages)
    if (this.#world.chance(lostAfter)) throw new NodeError('OutcomeUnknown', 'simulated')
    return first
  }
}

/** Hands on what is read while the process runs. */
async function* gated<T>(process: Process, source: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const value of source) {
    await process.gate()
    yield value
  }
}
