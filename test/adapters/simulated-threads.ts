// Threads of a simulated process: they work in the caller's thread and answer late, in an order that chance decides; some
// are lost. What they are sent is copied, as it would be for a thread.

import { type Beginning, beginWork, type TalkKind, type Talks } from '../../src/work/talk-work.ts'
import { handedOver, type Talk, ThreadLost, type TalkThreads } from '../../src/work/talks.ts'

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

  begin<K extends TalkKind>(kind: K, settings: Talks[K]['settings'], { most }: { readonly most: number }): Talk<K>[] {
    const count = Math.min(this.#free, most)
    this.#free -= count
    return Array.from({ length: count }, () => this.#begin<K>({ talk: kind, settings } as Beginning)) // of one kind
  }

  #begin<K extends TalkKind>(beginning: Beginning): Talk<K> {
    const { compress, wait, isLost } = this.#options
    const work = beginWork(copied(beginning), compress)
    let last: Promise<unknown> = Promise.resolve()
    let lost = false
    const answer = async (message: Talks[K]['to']): Promise<Talks[K]['from']> => {
      await wait()
      lost ||= isLost()
      if (lost) throw new ThreadLost('a thread was lost: by chance')
      return copied(work.take(message)) as Talks[K]['from'] // it answers what was begun
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
