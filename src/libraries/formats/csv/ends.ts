// Where records end in a body of cells that has no end and comes in chunks: nothing is read but line ends and quotes.

import type { RecordEnds } from '../line-ends.ts'
import { NodeError } from '../../base/errors.ts'
import { type CellSigns, CsvCells, CsvFramer, isBlankLine } from './cells.ts'
import { separatorOfLine } from './other-separator.ts'

const newline = 0x0a

/**
 * Of a body of cells that begins with `header`; a header of no bytes is the one that is looked for. Throws NodeError
 * `InvalidParameter` for one that says what stands between cells: each batch begins with the header alone.
 */
export function cellEnds(signs: CellSigns, header: Uint8Array): RecordEnds {
  if (separatorOfLine(header, 0, header.length - 1) !== undefined) {
    throw new NodeError('InvalidParameter', 'A stream begins with its header, and this one with sep=.', {
      hint: 'Leave the line out, and say the sign in it: delimiter=%3B.',
    })
  }
  const framer = new CsvFramer(signs)
  const cells = new CsvCells(signs)
  // A header that cannot be split is refused when it is read.
  const isSplit = header.length > 0 && !cells.split(header, firstRecord(signs, header), header.length - 1)
  const isOneColumn = isSplit && cells.count === 1
  let [isOpen, isEmpty] = [false, false]
  return {
    begin: (bytes) => firstRecord(signs, bytes),
    next: (bytes, at) => {
      isEmpty = false
      if (at >= bytes.length) return -1
      const start = isOpen ? at : framer.begin(bytes, at)
      if (start < 0) return -1
      const end = framer.end(bytes, start)
      isEmpty = !isOpen && isBlankLine(bytes, start, end)
      isOpen = end < 0
      if (isOpen) return -1
      framer.line += 1
      return end + 1
    },
    // As in a body whose media type says that it has a header: where records have one cell, a blank line is one.
    isBlank: (bytes, from, to) =>
      !isOneColumn && (isEmpty || isBlankLine(bytes, from, bytes[to - 1] === newline ? to - 1 : to)),
    get isSwallowing() {
      return isOpen && framer.inQuotes && framer.line > framer.quoteLine
    },
  }
}

/** Index of the first record that is no blank line. */
function firstRecord(signs: CellSigns, bytes: Uint8Array): number {
  const framer = new CsvFramer(signs)
  for (let at = framer.begin(bytes, 0); at >= 0;) {
    const end = framer.end(bytes, at)
    if (end < 0 || !isBlankLine(bytes, at, end)) return at
    framer.line += 1
    at = framer.begin(bytes, end + 1)
  }
  return bytes.length
}
