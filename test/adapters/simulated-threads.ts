// Threads of a simulated process: they work in the caller's thread and answer late, in an order that chance decides; some
// are lost. What they are sent is copied, as it would be for a thread.

import { AssertionFailed } from '../../src/lib/assert.ts'
import type { Field } from '../../src/model/schema.ts'
import { SliceColumns, type FromSliceColumns, type ToSliceColumns } from '../../src/work/slice-columns.ts'
import { handedOver, type Talk, type TalkThreads } from '../../src/work/talks.ts'

export interface SimulatedThreadsOptions {
  readonly threads: number
  readonly compress: (bytes: Uint8Array) => Uint8Array
  /** Resolves when a thread has come to the end of a piece of work. */
  readonly wait: () => Promise<unknown>
  /** Whether a thread is lost at its next piece. */
  readonly isLost: () => boolean
}

export class SimulatedThreads implements TalkThreads {
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

  begin(fields: readonly Field[]): Talk[] {
    const count = Math.min(this.#free, fields.length)
    this.#free -= count
    return Array.from({ length: count }, () => this.#begin(fields))
  }

  #begin(fields: readonly Field[]): Talk {
    const { compress, wait, isLost } = this.#options
    const columns = new SliceColumns(fields, compress)
    let last: Promise<unknown> = Promise.resolve()
    let lost = false
    const answer = async (message: ToSliceColumns): Promise<FromSliceColumns> => {
      await wait()
      lost ||= isLost()
      if (lost) throw new AssertionFailed('a thread was lost: by chance')
      return copied(columns.take(message))
    }
    return {
      say: (message) => {
        const sent = copied(message)
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

function copied<T>(message: T): T {
  const { value, buffers } = handedOver(message)
  return structuredClone(value, { transfer: buffers })
}
