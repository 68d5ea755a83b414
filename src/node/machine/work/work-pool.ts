// The port of work that leaves the main thread: jobs (jobs.ts), one question each, which wait for a thread, and tasks
// (tasks.ts), which keep a thread and its state from message to message. The adapter is thread-pool.ts.

import { AssertionFailed } from '../../../libraries/base/assert.ts'
import type { JobKind, JobResult, JobSettings } from './jobs.ts'
import type { TaskKind, Tasks } from './tasks.ts'
import type { Handover } from './handover.ts'

export interface WorkPool {
  /**
   * Runs a job over the bytes of `pieces`, which are gone from the caller's hands afterwards; settings are copied, and stay.
   * Throws what the job throws;
   * NodeErrors `Saturated` when the queue is full, `Draining` when the pool is closed, `BodyTooLarge` when the job takes
   * more memory than a thread has, `Internal` when it breaks its thread, `QueryTimeout` when `signal` aborts first.
   */
  run<K extends JobKind>(
    kind: K,
    pieces: readonly Uint8Array[],
    order: { readonly settings: JobSettings<K>; readonly signal?: AbortSignal },
  ): Promise<JobResult<K>>
  /**
   * Tasks over so many bytes, at most `most`: as many as there are threads free, none for few bytes. A caller that asks for several
   * gets all but one, which is for a body that comes meanwhile. Nobody waits for a thread: a caller without one does the work
   * himself, so that two callers never hold what the other needs.
   */
  begin<K extends TaskKind>(
    kind: K,
    settings: Tasks[K]['settings'],
    about: { readonly bytes: number; readonly most: number },
  ): Task<K>[]
  close(): Promise<void>
}

/** Where bodies are read. */
export type TaskThreads = Pick<WorkPool, 'begin'> & Partial<Pick<WorkPool, 'run'>>

/** A thread that belongs to one caller until he ends the task. */
export interface Task<K extends TaskKind> {
  /**
   * The answer to `message`, of which what is `over` is gone from the caller's hands afterwards, and all else is copied.
   * Messages are answered in order. Throws the NodeErrors of the work, AssertionFailed when it breaks, ThreadLost when its thread does: what is lost can
   * be done again, elsewhere.
   */
  say(message: Tasks[K]['to'], over?: Handover): Promise<Tasks[K]['from']>
  /** Gives the thread back. To be called once; answers that are still due are never given. */
  end(): void
}

/** A thread ended in the midst of its work. */
export class ThreadLost extends AssertionFailed {}
