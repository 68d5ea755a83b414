// Packs chains behind their builder: an hour after a range of first sequences has become full, what is full by then. A day
// later the loose copies of it go, unless they are to be kept. What was to be done when the process ended is done with the
// next range: packing takes up all that is not packed yet, and a sweep all that was packed long ago.

import { packSpan, sweepAfterMs } from '../../libraries/odf/chain/pack-span.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { markSwept, sweepChain } from '../store/sweep.ts'
import { packChain } from '../store/write-pack.ts'

/** Nobody waits for a pack, and blocks that are asked for most lie loose meanwhile. */
const packAfterMs = 60 * 60 * 1000
/** Clocks of stores and timers are not as exact as that. */
const laterMs = 60_000
/** Between two packs of a chain that has many to make, so that packing never is what a process mainly does. */
const restMs = 1_000
/** The same between two steps of a sweep. */
const sweepRestMs = 200

interface Due {
  readonly id: DatasetId
  readonly headSequence: number
  readonly atMs: number
}

export interface PackerDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  /** Loose copies of what is packed stay: the directory is then an ODF repository. */
  readonly keepLoose?: boolean | undefined
}

export class Packer {
  readonly #deps: PackerDeps
  readonly #stop = new AbortController()
  /** The earliest first. */
  readonly #due: Due[] = []
  #running: Promise<void> | undefined

  constructor(deps: PackerDeps) {
    this.#deps = deps
  }

  /** Takes note of a commit of `blocks` blocks, the first of which is number `sequence`. */
  committed(id: DatasetId, sequence: number, blocks: number): void {
    const next = sequence + blocks
    if (this.#stop.signal.aborted || Math.floor(next / packSpan) === Math.floor(sequence / packSpan)) return
    this.#plan({ id, headSequence: next - 1, atMs: this.#deps.clock.monotonicMs() + packAfterMs })
    this.#running ??= this.#run()
  }

  #plan(due: Due): void {
    const later = this.#due.findIndex(({ atMs }) => atMs > due.atMs)
    this.#due.splice(later < 0 ? this.#due.length : later, 0, due)
  }

  /** Resolves when nothing is being packed; a pack that is not whole is given up. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps
    const { signal } = this.#stop
    for (let due = this.#due[0]; due !== undefined && !signal.aborted; due = this.#due[0]) {
      const leftMs = due.atMs - clock.monotonicMs()
      // What is planned meanwhile may be due earlier.
      if (leftMs > 0) await clock.sleep(Math.min(leftMs, packAfterMs), signal)
      else {
        this.#due.shift()
        await this.#pack(due)
      }
    }
    this.#running = undefined
  }

  /** Never throws: what cannot be packed stays loose, and is tried again with the next range. */
  async #pack({ id, headSequence }: Due): Promise<void> {
    const { store, clock, logger, keepLoose = false } = this.#deps
    const { signal } = this.#stop
    try {
      const made = await packChain(store, id, headSequence, { signal, onPack: () => clock.sleep(restMs, signal) })
      if (keepLoose) return
      await markSwept(store)
      const beforeMs = clock.nowMs() - sweepAfterMs
      await sweepChain(store, id, { beforeMs, signal, onStep: () => clock.sleep(sweepRestMs, signal) })
      if (made > 0) this.#plan({ id, headSequence, atMs: clock.monotonicMs() + sweepAfterMs + laterMs })
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, dataset: id }, 'a chain could not be packed or swept')
    }
  }
}
