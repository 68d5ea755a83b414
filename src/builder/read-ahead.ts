// Chains that are read before the session comes to their messages: one after the other each waits for the disk, and a
// restart with thousands of datasets behind the floor would keep new rows waiting.

import type { LogEntry } from '../log/event-log.ts'
import { type DecodedMessage, decodeMessage } from '../log/messages.ts'
import type { DatasetId } from '../model/events.ts'
import type { LoadedDataset } from './load-dataset.ts'

/** Messages whose datasets are looked at together. */
const aheadMessages = 256
const chainsAtOnce = 16

/** A message that is decoded once; a fault is met when its turn comes. */
interface Decoded {
  readonly position: number
  /** Whose it is; undefined for cuts and for what is nobody's. */
  readonly dataset: DatasetId | undefined
  readonly message: () => DecodedMessage
}

interface ReadAheadDeps {
  readonly read: (id: DatasetId) => Promise<LoadedDataset | undefined>
  /** Decodes a message that could not be read ahead, when its turn comes. */
  readonly decode: (entry: LogEntry) => DecodedMessage
}

export class ReadAhead {
  readonly #deps: ReadAheadDeps
  readonly #reading = new Map<DatasetId, Promise<LoadedDataset | undefined>>()

  constructor(deps: ReadAheadDeps) {
    this.#deps = deps
  }

  /** The messages in order; the chains of datasets that `isNew` are being read before their messages come. */
  *messages(entries: readonly LogEntry[], isNew: (id: DatasetId) => boolean): Generator<Decoded> {
    for (let at = 0; at < entries.length; at += aheadMessages) {
      const messages = entries.slice(at, at + aheadMessages).map((entry) => this.#decoded(entry))
      this.#begin(messages, isNew)
      yield* messages
    }
  }

  /** The chain as it was read ahead, or as it is read now. */
  take(id: DatasetId): Promise<LoadedDataset | undefined> {
    const reading = this.#reading.get(id)
    this.#reading.delete(id)
    return reading ?? this.#deps.read(id)
  }

  #decoded(entry: LogEntry): Decoded {
    const { position, bytes } = entry
    try {
      const message = decodeMessage(bytes)
      const header = message.kind === 'message' ? message.header : undefined
      const dataset = header === undefined || header.kind === 'cut' ? undefined : header.dataset
      return { position, dataset, message: () => message }
    } catch {
      return { position, dataset: undefined, message: () => this.#deps.decode(entry) }
    }
  }

  /** Begins to read chains, and forgets those that nobody came to. */
  #begin(messages: readonly Decoded[], isNew: (id: DatasetId) => boolean): void {
    this.#reading.clear()
    const missing = new Set<DatasetId>()
    for (const { dataset } of messages) if (dataset !== undefined && isNew(dataset)) missing.add(dataset)
    if (missing.size < 2) return
    const lanes = Array.from({ length: chainsAtOnce }, (): Promise<unknown> => Promise.resolve())
    for (const [index, dataset] of [...missing].entries()) {
      const before = lanes[index % chainsAtOnce] ?? Promise.resolve()
      const reading = before.then(() => this.#deps.read(dataset))
      // Who comes to the message is told why its chain could not be read.
      lanes[index % chainsAtOnce] = reading.catch(() => {})
      this.#reading.set(dataset, reading)
    }
  }
}
