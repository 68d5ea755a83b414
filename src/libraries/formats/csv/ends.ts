// Where records end in a body of cells that has no end and comes in chunks: nothing is read but line ends and quotes.

import type { RecordEnds } from '../../base/line-ends.ts'
import { CsvCells, CsvFramer, isBlankLine, type Separator } from './cells.ts'

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
