// Where records end in a body of records that has no end and comes in chunks: in one of lines here, in one of cells in the
// reader of CSV.

import { skipSpace } from './json/text.ts'

/** Finds ends of records in the chunks of one body without end. */
export interface RecordEnds {
  /** Index after the record that is open, its line end included; -1 where the bytes end first. */
  next(bytes: Uint8Array, at: number): number
  /** `bytes[from, to)`, the one last found, is no record: it uses up a number alone. */
  isBlank(bytes: Uint8Array, from: number, to: number): boolean
  /** Index where the first record begins, behind lines that are none. */
  begin?(bytes: Uint8Array): number
  /** The record that is open has taken in lines behind a quote that is not closed. */
  readonly isSwallowing?: boolean
}

const newline = 0x0a

/** Of a format in which each line is a record. */
export const lineEnds: RecordEnds = {
  next: (bytes, at) => bytes.indexOf(newline, at) + 1 || -1,
  isBlank: (bytes, from, to) => skipSpace(bytes, from, to) === to,
}
