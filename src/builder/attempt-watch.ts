// Notices large batches whose parts have stopped coming. Pure over monotonic time.

import type { Attempt } from '../log/messages.gen.ts'
import type { DatasetId } from '../model/events.ts'
import { attemptKey, type DatasetState } from './dataset-state.ts'

/** A builder that is caught up with the log ends an attempt after waiting this long for its next part. */
const defaultPatienceMs = 15 * 60_000

interface Seen {
  readonly parts: number
  readonly sinceMs: number
}

export class AttemptWatch {
  readonly #patienceMs: number
  #seen = new Map<string, Seen>()

  constructor(patienceMs: number = defaultPatienceMs) {
    this.#patienceMs = patienceMs
  }

  /** Attempts among `states` that have had no new part for so long (15 minutes); each is named again after as long. */
  expired(states: Iterable<DatasetState>, nowMs: number): { dataset: DatasetId; attempt: Attempt }[] {
    const seen = new Map<string, Seen>()
    const expired: { dataset: DatasetId; attempt: Attempt }[] = []
    for (const state of states) {
      for (const { writer, n, positions } of state.attempts.values()) {
        const key = `${state.id} ${attemptKey({ writer, n })}`
        const before = this.#seen.get(key)
        const isSame = before?.parts === positions.length
        if (isSame && nowMs - before.sinceMs >= this.#patienceMs) {
          expired.push({ dataset: state.id, attempt: { writer, n } })
          seen.set(key, { parts: positions.length, sinceMs: nowMs })
        } else {
          seen.set(key, isSame ? before : { parts: positions.length, sinceMs: nowMs })
        }
      }
    }
    this.#seen = seen
    return expired
  }
}
