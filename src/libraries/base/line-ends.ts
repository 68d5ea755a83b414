// Where records end in a body of records that has no end and comes in chunks: in one of lines here, in one of cells in the
// reader of CSV.

/** Finds ends of records in the chunks of one body without end. */
export interface RecordEnds {
  /** Index of the line end of the record that is open, at or after `at`; -1 where the bytes end first. */
  next(bytes: Uint8Array, at: number): number
  /** `bytes[from, to)`, without its line end, is no record: it uses up a number alone. */
  isBlank(bytes: Uint8Array, from: number, to: number): boolean
}

const newline = 0x0a

const lines: RecordEnds = {
  next: (bytes, at) => bytes.indexOf(newline, at),
  isBlank: (bytes, from, to) => {
    for (let at = from; at < to; at++) {
      const byte = bytes[at]
      if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
    }
    return true
  },
}

/** Of a format in which each line is a record. */
export function lineEnds(): RecordEnds {
  return lines
}
