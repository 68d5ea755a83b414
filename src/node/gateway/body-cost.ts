// What a body costs beside its bytes: the cells that its rows take in the columns that they bring. A cell counts as a byte
// at least, in what is admitted and against rates; and a body has no more of them than its bytes allow.

import { type Limits, limitTable } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Admitted } from './admission.ts'

/** Cells that any body may have: of 8 bytes each, as much as is held before anything goes to the log. */
const leastCells = 512 * 1024
/** And any batch that a stream is cut into: it has as many batches as it likes. */
const leastStreamedCells = 32 * 1024
/** And any file, in which a few bytes stand for many equal values. */
const leastFileCells = 64 * 1024 * 1024

type RatioName = 'cellRatio' | 'inflatedRatio'

export class BodyCost {
  readonly #limits: Pick<Limits, RatioName>
  readonly #admitted: Pick<Admitted, 'grow' | 'spend'>
  readonly #least: number
  #bytes = 0
  #cells = 0

  /** `isStreamed`: of a batch that a stream was cut into. */
  constructor(limits: Pick<Limits, RatioName>, admitted: Pick<Admitted, 'grow' | 'spend'>, isStreamed: boolean) {
    this.#limits = limits
    this.#admitted = admitted
    this.#least = isStreamed ? leastStreamedCells : leastCells
  }

  /** So many bytes have been read. Throws `Saturated`, `QuotaExceeded`. */
  read(bytes: number): void {
    this.#bytes = bytes
    this.#grow()
  }

  /** Rows of those bytes take so many cells. Throws as `read`; `BodyTooLarge`. */
  fill(cells: number, of: 'stream' | 'file'): void {
    const { cellRatio, inflatedRatio } = this.#limits
    const most =
      of === 'file'
        ? Math.max(leastFileCells, inflatedRatio * this.#bytes)
        : Math.max(this.#least, cellRatio * this.#bytes)
    if (cells > most) throw tooManyCells(most, of === 'file' ? 'inflatedRatio' : 'cellRatio', this.#limits)
    if (cells <= this.#cells) return
    this.#cells = cells
    this.#grow()
  }

  /** Counts all of it against the rate of the caller. */
  spend(): void {
    this.#admitted.spend(Math.max(this.#bytes, this.#cells))
  }

  #grow(): void {
    this.#admitted.grow(Math.max(this.#bytes, this.#cells))
  }
}

function tooManyCells(most: number, name: RatioName, limits: Pick<Limits, RatioName>): NodeError {
  return new NodeError('BodyTooLarge', `The rows take more than ${most} cells in the columns that they bring.`, {
    hint: 'A row takes a cell in each column that any record of its body brings: send fewer records at a time, those with the same columns together.',
    limit: { name, value: limits[name], unit: limitTable[name].unit },
  })
}

/** Whether fewer records at a time would do. */
export function isTooWide(error: unknown): boolean {
  return error instanceof NodeError && error.kind === 'BodyTooLarge' && error.details.limit?.name === 'cellRatio'
}
