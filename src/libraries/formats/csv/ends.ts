// Where records end in a body of cells that has no end and comes in chunks: nothing is read but line ends and quotes.

import type { RecordEnds } from '../../base/line-ends.ts'
import { NodeError } from '../../base/errors.ts'
import { type CellSigns, CsvCells, CsvFramer, isBlankLine } from './cells.ts'
import { separatorOfLine } from './other-separator.ts'

/**
 * Of a body of cells that begins with `header`; a header of no bytes is the one that is looked for. Throws NodeError
 * `InvalidParameter` for one that says what stands between cells: each batch begins with the header alone.
 */
export function cellEnds(signs: CellSigns, header: Uint8Array): RecordEnds {
  if (separatorOfLine(header, 0, header.length - 1) !== undefined) {
    throw new NodeError('InvalidParameter', 'A stream begins with its header, and this one with sep=.', {
      hint: 'Leave the line out, and say delimiter, percent-encoded: delimiter=%3B.',
    })
  }
  const framer = new CsvFramer(signs)
  const isOneColumn = header.length > 0 && cellCount(signs, header) === 1
  let isOpen = false
  return {
    next: (bytes, at) => {
      if (at >= bytes.length) return -1
      const start = isOpen ? at : framer.begin(bytes, at)
      if (start < 0) return -1
      const end = framer.end(bytes, start)
      isOpen = end < 0
      return end
    },
    // As in a body whose media type says that it has a header: where records have one cell, a blank line is one.
    isBlank: (bytes, from, to) => !isOneColumn && isBlankLine(bytes, from, to),
  }
}

function cellCount(signs: CellSigns, header: Uint8Array): number {
  const ends = cellEnds(signs, new Uint8Array(0))
  const cells = new CsvCells(signs)
  for (let at = 0, end = 0; end >= 0; at = end + 1) {
    end = ends.next(header, at)
    if (ends.isBlank(header, at, end)) continue
    // A header that cannot be split is refused when it is read.
    return cells.split(header, at, end) === undefined ? cells.count : 0
  }
  return 0
}
