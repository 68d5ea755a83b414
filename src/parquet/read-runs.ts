// Reads runs of the RLE / bit-packing hybrid: levels and dictionary indices. Source: Apache Parquet, Encodings.md.

import { DecodeError } from '../model/errors.ts'

const what = 'Parquet slice'
const widest = 24

/** Fills `out` with numbers of `width` bits. Throws DecodeError when the runs end too early. */
export function readRuns(runs: Uint8Array, width: number, out: Uint8Array | Uint32Array): void {
  if (width > widest) throw new DecodeError(what, `has numbers of ${width} bits in runs`)
  const valueBytes = (width + 7) >> 3
  let at = 0
  let filled = 0
  while (filled < out.length) {
    let header = 0
    let shift = 0
    for (;;) {
      const byte = runs[at++]
      if (byte === undefined || shift > 28) throw new DecodeError(what, 'has runs that end too early')
      header += (byte & 127) * 2 ** shift
      shift += 7
      if (byte < 128) break
    }
    if (header % 2 === 0) {
      let value = 0
      for (let i = 0; i < valueBytes; i++) value |= (runs[at + i] ?? 0) << (8 * i)
      at += valueBytes
      if (at > runs.length || header === 0) throw new DecodeError(what, 'has runs that end too early')
      const end = Math.min(out.length, filled + header / 2)
      out.fill(value, filled, end)
      filled = end
    } else {
      const count = Math.min(out.length - filled, ((header - 1) / 2) * 8)
      const bytes = ((header - 1) / 2) * width
      // The last run may be cut behind the last value.
      if (count === 0 || at + Math.ceil((count * width) / 8) > runs.length) {
        throw new DecodeError(what, 'has runs that end too early')
      }
      unpack(runs, at, width, out.subarray(filled, filled + count))
      at += bytes
      filled += count
    }
  }
}

function unpack(runs: Uint8Array, start: number, width: number, out: Uint8Array | Uint32Array): void {
  const mask = 2 ** width - 1
  let at = start
  let bits = 0
  let held = 0
  for (let i = 0; i < out.length; i++) {
    while (held < width) {
      bits |= (runs[at++] ?? 0) << held
      held += 8
    }
    out[i] = bits & mask
    bits >>>= width
    held -= width
  }
}
