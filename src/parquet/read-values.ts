// Physical values of a slice, densely packed: as they stand in pages, joined, looked up in dictionaries, and spread over
// rows with nulls. Source: Apache Parquet, Encodings.md (PLAIN).

import { concatBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'

const what = 'Parquet slice'
const maxBytes = 2 ** 31 - 1

/** Values without gaps: `width` bytes each (booleans: one byte, 0 or 1), or bytes that `offsets` cuts. */
export interface DenseValues {
  readonly count: number
  readonly values: Uint8Array
  readonly offsets: Int32Array | undefined
}

/** How values lie. `width` is 0 for byte arrays, 1 for booleans. */
interface ValueShape {
  readonly isBoolean: boolean
  readonly width: number
}

/** `count` PLAIN values at the start of `page`. Fixed-width ones share its memory. */
export function plainDense(page: Uint8Array, count: number, { isBoolean, width }: ValueShape): DenseValues {
  const least = isBoolean ? (count + 7) >> 3 : count * (width || 4)
  if (!(count >= 0 && least <= page.length)) throw new DecodeError(what, 'has a page that ends too early')
  if (isBoolean) {
    const values = new Uint8Array(count)
    for (let i = 0; i < count; i++) values[i] = ((page[i >> 3] ?? 0) >> (i & 7)) & 1
    return { count, values, offsets: undefined }
  }
  if (width > 0) return { count, values: page.subarray(0, count * width), offsets: undefined }
  return plainByteArrays(page, count)
}

function plainByteArrays(page: Uint8Array, count: number): DenseValues {
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
  const offsets = new Int32Array(count + 1)
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 4 > page.length) throw new DecodeError(what, 'has a page that ends too early')
    const length = view.getUint32(at, true)
    at += 4 + length
    if (at > page.length) throw new DecodeError(what, 'has a page that ends too early')
    offsets[i + 1] = (offsets[i] ?? 0) + length
  }
  const values = new Uint8Array(offsets[count] ?? 0)
  for (let i = 0; i < count; i++) {
    const start = offsets[i] ?? 0
    copyRange(values, start, page, start + 4 * (i + 1), (offsets[i + 1] ?? 0) + 4 * (i + 1))
  }
  return { count, values, offsets }
}

/** The values of `dictionary` at `indices`. */
export function gather(dictionary: DenseValues, indices: Uint32Array, { width }: ValueShape): DenseValues {
  const { values, offsets } = dictionary
  const count = indices.length
  for (const index of indices) {
    if (index >= dictionary.count) throw new DecodeError(what, 'has an index beyond its dictionary')
  }
  if (offsets === undefined) {
    const out = new Uint8Array(count * width)
    if (dictionary.count === 1) fillWith(out, values.subarray(0, width))
    else {
      for (let i = 0; i < count; i++) {
        const from = (indices[i] ?? 0) * width
        copyRange(out, i * width, values, from, from + width)
      }
    }
    return { count, values: out, offsets: undefined }
  }
  const newOffsets = new Int32Array(count + 1)
  let total = 0
  for (let i = 0; i < count; i++) {
    const index = indices[i] ?? 0
    total += (offsets[index + 1] ?? 0) - (offsets[index] ?? 0)
    if (total > maxBytes) throw new DecodeError(what, 'has a column of more than 2 GiB in one row group')
    newOffsets[i + 1] = total
  }
  const out = new Uint8Array(total)
  for (let i = 0; i < count; i++) {
    const index = indices[i] ?? 0
    copyRange(out, newOffsets[i] ?? 0, values, offsets[index] ?? 0, offsets[index + 1] ?? 0)
  }
  return { count, values: out, offsets: newOffsets }
}

/** Repeats `unit` until `out` is full. */
function fillWith(out: Uint8Array, unit: Uint8Array): void {
  if (out.length === 0) return
  out.set(unit)
  let done = unit.length
  while (done < out.length) {
    out.copyWithin(done, 0, Math.min(done, out.length - done))
    done *= 2
  }
}

/** All parts as one. */
export function joinDense(parts: readonly DenseValues[], { width }: ValueShape): DenseValues {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  let count = 0
  let bytes = 0
  for (const part of parts) {
    count += part.count
    bytes += part.values.length
  }
  if (bytes > maxBytes) throw new DecodeError(what, 'has a column of more than 2 GiB in one row group')
  const values = concatBytes(parts.map((part) => part.values))
  if (width > 0) return { count, values, offsets: undefined }
  const offsets = new Int32Array(count + 1)
  let at = 0
  let base = 0
  for (const part of parts) {
    for (let i = 1; i <= part.count; i++) offsets[at + i] = base + (part.offsets?.[i] ?? 0)
    at += part.count
    base += part.values.length
  }
  return { count, values, offsets }
}

/** The values at the places where `present` is 1; empty ones elsewhere. */
export function spread(dense: DenseValues, present: Uint8Array, { width }: ValueShape): DenseValues {
  const count = present.length
  let next = 0
  if (dense.offsets === undefined) {
    const values = new Uint8Array(count * width)
    for (let i = 0; i < count; i++) {
      if (present[i] === 0) continue
      copyRange(values, i * width, dense.values, next * width, (next + 1) * width)
      next++
    }
    return { count, values, offsets: undefined }
  }
  const offsets = new Int32Array(count + 1)
  for (let i = 0; i < count; i++) {
    if (present[i] !== 0) next++
    offsets[i + 1] = dense.offsets[next] ?? 0
  }
  return { count, values: dense.values, offsets }
}

function copyRange(out: Uint8Array, at: number, source: Uint8Array, start: number, end: number): void {
  const length = end - start
  if (length > 40) out.set(source.subarray(start, end), at)
  else for (let i = 0; i < length; i++) out[at + i] = source[start + i] ?? 0
}
