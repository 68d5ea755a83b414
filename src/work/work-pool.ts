// The port to work that is too heavy for the main thread, and the adapter that does it at once, for simulation and
// tests. The one with threads is thread-pool.ts.

import { type JobKind, type JobResult, type JobSettings, runJob } from './jobs.ts'

export interface WorkPool {
  /**
   * Runs a job over the bytes of `pieces`, which are gone from the caller's hands afterwards. Throws what the job throws;
   * NodeErrors `Saturated` when the queue is full, `Draining` when the pool is closed, `BodyTooLarge` when the job takes
   * more memory than a thread has, `Internal` when it breaks its thread, `QueryTimeout` when `signal` aborts first.
   */
  run<K extends JobKind>(
    kind: K,
    pieces: readonly Uint8Array[],
    order: { readonly settings: JobSettings<K>; readonly signal?: AbortSignal },
  ): Promise<JobResult<K>>
  close(): Promise<void>
}

/** Every job in the caller's own thread. */
export const inlinePool: WorkPool = {
  run: async (kind, pieces, { settings }) => runJob(kind, pieces, settings),
  close: async () => {},
}
