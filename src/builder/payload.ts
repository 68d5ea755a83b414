// What the fold gets to know of a payload: columns and counts, never rows. Made by full validation of the bytes, so
// that every builder comes to the same summary.

import { ArrowStreamReader } from '../arrow/ipc-reader.ts'
import { DecodeError } from '../model/errors.ts'
import { type DataType, innerType } from '../model/schema.ts'

export interface PayloadColumn {
  readonly name: string
  /** Without Option. */
  readonly type: DataType
  readonly hasNulls: boolean
}

/** A pure function of the payload's bytes. */
export interface PayloadSummary {
  readonly columns: readonly PayloadColumn[]
  readonly rows: number
  /** Why the payload is unusable. */
  readonly fault?: string
}

/** Validates an Arrow stream in full, part after part, and says what is in it. Never throws for bad bytes: `fault` says why. */
export class PayloadSummariser {
  readonly #stream = new ArrowStreamReader()
  /** Whether the column has nulls, by its place. */
  readonly #hasNulls: boolean[] = []
  #rows = 0
  #fault: string | undefined

  /** The next bytes of the stream; they are not kept beyond the message that they end in. */
  push(bytes: Uint8Array): void {
    this.#unlessFaulty(() => {
      for (const { rows, columns } of this.#stream.push(bytes)) {
        this.#rows += rows
        for (const [index, { nullCount }] of columns.entries()) if (nullCount > 0) this.#hasNulls[index] = true
      }
    })
  }

  /** What all of the stream holds. */
  end(): PayloadSummary {
    let columns: PayloadColumn[] = []
    this.#unlessFaulty(() => {
      columns = this.#stream.end().map(({ name, type }, index) => {
        return { name, type: innerType(type), hasNulls: this.#hasNulls[index] === true }
      })
    })
    if (this.#fault !== undefined) return { columns: [], rows: 0, fault: this.#fault }
    return { columns, rows: this.#rows }
  }

  #unlessFaulty(read: () => void): void {
    if (this.#fault !== undefined) return
    try {
      read()
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.#fault = error.message
    }
  }
}
