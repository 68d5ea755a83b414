// Where records end in a body of lines that has no end and comes in chunks (csv/ends.ts: in one of cells).

import type { RecordEnds } from '../../node/formats/format.ts'

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
