// Where records end in a body that has no end and comes in chunks: what a stream of a format needs to be cut into batches
// and numbered. Nothing is read here but line ends and, in formats of cells, quotes.

import { CsvCells, CsvFramer, isBlankLine, type Separator } from './csv/cells.ts'

/** Finds ends in the chunks of one body. */
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

/** Of a body of cells that begins with `header`; a header of no bytes is the one that is looked for. */
export function cellEnds(separator: Separator, header: Uint8Array): RecordEnds {
  const framer = new CsvFramer(separator)
  const isOneColumn = header.length > 0 && cellCount(separator, header) === 1
  let isOpen = false
  return {
    next: (bytes, at) => {
      if (at >= bytes.length) return -1
      if (!isOpen) framer.begin(bytes, at)
      const end = framer.end(bytes, at)
      isOpen = end < 0
      return end
    },
    // As in a body whose media type says that it has a header: where records have one cell, a blank line is one.
    isBlank: (bytes, from, to) => !isOneColumn && isBlankLine(bytes, from, to),
  }
}

function cellCount(separator: Separator, header: Uint8Array): number {
  const ends = cellEnds(separator, new Uint8Array(0))
  const cells = new CsvCells(separator)
  for (let at = 0, end = 0; end >= 0; at = end + 1) {
    end = ends.next(header, at)
    if (ends.isBlank(header, at, end)) continue
    // A header that cannot be split is refused when it is read.
    return cells.split(header, at, end) === undefined ? cells.count : 0
  }
  return 0
}
