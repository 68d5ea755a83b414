// Threads of a simulated process: they work in the caller's thread and answer late, in an order that chance decides; some
// are lost. What they are sent is copied, as it would be for a thread.

import { formatNamed } from '../helpers/formats.ts'
import { BodyTask } from '../../src/node/machine/work/body-task.ts'
import { RowsTask } from '../../src/node/machine/work/rows-task.ts'
import { ColumnTask } from '../../src/node/machine/work/column-task.ts'
import type { Beginning, TaskKind, Tasks, TaskWork } from '../../src/node/machine/work/tasks.ts'
import { Handover } from '../../src/node/machine/work/handover.ts'
import { type Task, type TaskThreads, ThreadLost } from '../../src/node/machine/work/work-pool.ts'

export interface SimulatedThreadsOptions {
  readonly threads: number
  readonly compress: (bytes: Uint8Array) => Uint8Array
  /** Resolves when a thread has come to the end of a piece of work. */
  readonly wait: () => Promise<unknown>
  /** Whether a thread is lost at its next piece. */
  readonly isLost: () => boolean
}

export class SimulatedThreads implements TaskThreads {
  readonly #options: SimulatedThreadsOptions
  #free: number

  constructor(options: SimulatedThreadsOptions) {
    this.#options = options
    this.#free = options.threads
  }

  /** Threads that nobody has. */
  get free(): number {
    return this.#free
  }

  begin<K extends TaskKind>(kind: K, settings: Tasks[K]['settings'], { most }: { readonly most: number }): Task<K>[] {
    const count = Math.min(this.#free, most)
    this.#free -= count
    return Array.from({ length: count }, () => this.#begin<K>({ task: kind, settings } as Beginning)) // of one kind
  }

  #begin<K extends TaskKind>(beginning: Beginning): Task<K> {
    const { compress, wait, isLost } = this.#options
    const work = workOf(structuredClone(beginning), compress)
    let last: Promise<unknown> = Promise.resolve()
    let lost = false
    const answer = async (message: Tasks[K]['to']): Promise<Tasks[K]['from']> => {
      await wait()
      lost ||= isLost()
      if (lost) throw new ThreadLost('a thread was lost: by chance')
      const over = new Handover()
      const answered = await work.take(message, over)
      return structuredClone(answered, { transfer: over.buffers }) as Tasks[K]['from'] // it answers what was begun
    }
    return {
      say: (message, over) => {
        const sent = structuredClone(message, { transfer: over?.buffers ?? [] })
        const said = last.then(() => answer(sent))
        last = said.catch(() => undefined)
        return said
      },
      end: () => {
        this.#free++
      },
    }
  }
}

/** Without waiting for its code, which would take real time. */
function workOf(beginning: Beginning, compress: (bytes: Uint8Array) => Uint8Array): TaskWork {
  if (beginning.task === 'columns') return new ColumnTask(beginning.settings, compress) as TaskWork // of its kind
  if (beginning.task === 'rows') return new RowsTask(beginning.settings, compress) as TaskWork // of its kind
  const format = formatNamed(beginning.settings.format.name)
  if (format.kind !== 'stream') throw new TypeError('a format that is a stream')
  return new BodyTask(format, beginning.settings) as TaskWork // of its kind
}
