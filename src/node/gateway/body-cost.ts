// What a body costs beside its bytes: the cells that its rows take in the columns that they bring. A cell counts as two
// bytes at least in what is admitted, and a body has no more of them than its bytes allow.

import { bodyMemory, type Limits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type CellBound, demandCells, tooManyCells } from '../../libraries/formats/cell-bound.ts'
import type { Admitted } from './admission.ts'

/** Cells that any body may have: of 8 bytes each, as much as is held before anything goes to the log. */
const leastCells = 512 * 1024
/** And any batch that a stream is cut into: it has as many batches as it likes. */
const leastStreamedCells = 32 * 1024
/** And any file, in which a few bytes stand for many equal values. */
const leastFileCells = 64 * 1024 * 1024

type CostLimits = Pick<Limits, 'cellRatio' | 'inflatedRatio' | 'bodyMemoryBytes'>

export class BodyCost {
  readonly #limits: CostLimits
  readonly #admitted: Pick<Admitted, 'grow'>
  /** Of formats that are read as they come. */
  readonly bound: CellBound
  #bytes = 0
  #cells = 0

  /** `isStreamed`: of a batch that a stream was cut into. */
  constructor(limits: CostLimits, admitted: Pick<Admitted, 'grow'>, isStreamed: boolean) {
    this.#limits = limits
    this.#admitted = admitted
    const { cellRatio: perByte, bodyMemoryBytes } = limits
    this.bound = { least: isStreamed ? leastStreamedCells : leastCells, perByte, bodyMemoryBytes }
  }

  /** So many bytes have been read. Throws `Saturated`, `QuotaExceeded`. */
  read(bytes: number): void {
    this.#bytes = bytes
    this.#grow()
  }

  /** Rows of those bytes take so many cells. Throws as `read`; `BodyTooLarge`. */
  fill(cells: number, of: 'stream' | 'file'): void {
    const { inflatedRatio } = this.#limits
    const fileMost = Math.max(leastFileCells, inflatedRatio * this.#bytes)
    if (of === 'stream') demandCells(cells, this.#bytes, this.bound)
    else if (cells > fileMost) throw tooManyCells(fileMost, 'inflatedRatio', inflatedRatio)
    if (cells <= this.#cells) return
    this.#cells = cells
    this.#grow()
  }

  #grow(): void {
    this.#admitted.grow(Math.max(this.#bytes, bodyMemory.cellBytes * this.#cells))
  }
}

/** Whether fewer records at a time would do. */
export function isTooWide(error: unknown): boolean {
  return error instanceof NodeError && error.kind === 'BodyTooLarge' && error.details.limit?.name === 'cellRatio'
}
