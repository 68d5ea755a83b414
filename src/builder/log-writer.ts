// What a builder itself writes into the log: cuts and aborts, as one writer with numbered messages.

import { base64urlText } from '../ids/multihash.ts'
import { randomBytes } from '../ids/native-crypto.ts'
import type { Clock } from '../lib/clock.ts'
import type { EventLog } from '../log/event-log.ts'
import type { Attempt, CutEntry } from '../log/messages.gen.ts'
import { encodeMessage } from '../log/messages.ts'
import type { DatasetId } from '../model/events.ts'

const writerBytes = 16

export class LogWriter {
  readonly #log: EventLog
  readonly #partition: number
  readonly #clock: Clock
  readonly #writer = base64urlText(randomBytes(writerBytes)).slice(1)
  #n = 0

  constructor(log: EventLog, partition: number, clock: Clock) {
    this.#log = log
    this.#partition = partition
    this.#clock = clock
  }

  /** Ends the open blocks of `entries` at the time of now. Durable when it resolves. Throws as `EventLog.append`. */
  async cut(entries: readonly CutEntry[]): Promise<void> {
    const at = this.#now()
    const header = { kind: 'cut', writer: this.#writer, n: ++this.#n, at, time: at, entries } as const
    await this.#log.append(this.#partition, [encodeMessage(header)], { useReserve: true, ahead: true })
  }

  /** Ends an attempt whose parts have stopped coming. Durable when it resolves. Throws as `EventLog.append`. */
  async abort(dataset: DatasetId, attempt: Attempt): Promise<void> {
    const header = { kind: 'abort', writer: this.#writer, n: ++this.#n, at: this.#now(), dataset, attempt } as const
    await this.#log.append(this.#partition, [encodeMessage(header)], { useReserve: true, ahead: true })
  }

  #now(): string {
    return new Date(this.#clock.nowMs()).toISOString()
  }
}
