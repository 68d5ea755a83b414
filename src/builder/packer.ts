// Packs chains behind their builder: an hour after a range of first sequences has become full, what is full by then. What
// was to be packed when the process ended is packed with the next range: packing takes up all that is not packed yet.

import { packSpan } from '../chain/pack-summary.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { DatasetId } from '../model/events.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { packChain } from '../store/write-pack.ts'

/** Nobody waits for a pack, and blocks that are asked for most lie loose meanwhile. */
const packAfterMs = 60 * 60 * 1000
/** Between two packs of a chain that has many to make, so that packing never is what a process mainly does. */
const restMs = 1_000

interface Due {
  readonly id: DatasetId
  readonly headSequence: number
  readonly atMs: number
}

export class Packer {
  readonly #deps: { readonly store: ObjectStore; readonly clock: Clock; readonly logger: Logger }
  readonly #stop = new AbortController()
  /** The earliest first. */
  readonly #due: Due[] = []
  #running: Promise<void> | undefined

  constructor(deps: { readonly store: ObjectStore; readonly clock: Clock; readonly logger: Logger }) {
    this.#deps = deps
  }

  /** Takes note of a commit of `blocks` blocks, the first of which is number `sequence`. */
  committed(id: DatasetId, sequence: number, blocks: number): void {
    const next = sequence + blocks
    if (this.#stop.signal.aborted || Math.floor(next / packSpan) === Math.floor(sequence / packSpan)) return
    this.#due.push({ id, headSequence: next - 1, atMs: this.#deps.clock.monotonicMs() + packAfterMs })
    this.#running ??= this.#run()
  }

  /** Resolves when nothing is being packed; a pack that is not whole is given up. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps
    const { signal } = this.#stop
    for (let due = this.#due.shift(); due !== undefined; due = this.#due.shift()) {
      for (let leftMs = due.atMs - clock.monotonicMs(); leftMs > 0 && !signal.aborted; ) {
        await clock.sleep(leftMs, signal)
        leftMs = due.atMs - clock.monotonicMs()
      }
      if (signal.aborted) break
      await this.#pack(due)
    }
    this.#running = undefined
  }

  /** Never throws: what cannot be packed stays loose, and is tried again with the next range. */
  async #pack({ id, headSequence }: Due): Promise<void> {
    const { store, clock, logger } = this.#deps
    const { signal } = this.#stop
    try {
      await packChain(store, id, headSequence, { signal, onPack: () => clock.sleep(restMs, signal) })
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, dataset: id }, 'a chain could not be packed')
    }
  }
}
