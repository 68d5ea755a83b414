// The bytes of a text vector. Short texts lie in it, long ones elsewhere in the engine's memory: each would be a call of
// the binding. Texts of one page of a file or of one heap lie side by side, so they are fetched by runs of memory instead.

import { copyInOrder, type ViewedBytes, viewed } from '../../../libraries/columnar/arrow/buffers.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { accessors } from './binding.ts'

/** A vector of texts: 16 bytes each, a length and then the text itself or a pointer to it. */
export interface TextVector {
  readonly view: DataView
  readonly rows: number
  readonly isPresent: (row: number) => boolean
}

/** Of each text in a vector. */
export const textEntryBytes = 16
/** Texts of up to so many bytes lie in the vector. */
const shortBytes = 12
/** No page of memory of a machine that Node runs on is smaller. */
const pageBytes = 4096
const mostBytes = 2 ** 31 - 1

/** Memory of the engine from the address `start` on. */
interface Run {
  readonly start: number
  readonly end: number
  readonly memory: ViewedBytes
}

/** All texts one after the other, and where each begins. A row without a value has no bytes. Throws NodeError. */
export function textBytes(vector: TextVector): { readonly values: Uint8Array; readonly offsets: Int32Array } {
  const { view, rows } = vector
  const offsets = offsetsOf(vector)
  const values = viewed(new Uint8Array(offsets[rows] ?? 0))
  const own = { bytes: new Uint8Array(view.buffer, view.byteOffset, rows * textEntryBytes), view }
  const pages = pagesOf(view, offsets)
  let run: Run | undefined
  for (let row = 0; row < rows; row++) {
    const at = offsets[row] ?? 0
    const length = (offsets[row + 1] ?? 0) - at
    if (length === 0) continue
    if (length <= shortBytes) {
      const from = row * textEntryBytes + 4
      copyInOrder(values, at, own, from, from + length)
      continue
    }
    const address = addressOf(view, row)
    if (run === undefined || address < run.start || address >= run.end) {
      run = runWith(pages, address)
    }
    copyInOrder(values, at, run.memory, address - run.start, address - run.start + length)
  }
  return { values: values.bytes, offsets }
}

/** Where each text will begin. */
function offsetsOf({ view, rows, isPresent }: TextVector): Int32Array {
  const offsets = new Int32Array(rows + 1)
  let total = 0
  for (let row = 0; row < rows; row++) {
    if (isPresent(row)) total += view.getUint32(row * textEntryBytes, true)
    if (total > mostBytes) throw textsTooLong()
    offsets[row + 1] = total
  }
  return offsets
}

/** Pointers of user space are far below 2^53. */
function addressOf(view: DataView, row: number): number {
  const at = row * textEntryBytes + 8
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32
}

/**
 * The pages of memory that hold bytes of texts, by their numbers, and the runs of them that were fetched. A page that holds
 * any can be read from its first byte to its last: that is what pages are.
 */
type Pages = Map<number, Run | 'not fetched'>

function pagesOf(view: DataView, offsets: Int32Array): Pages {
  const pages: Pages = new Map()
  let last = -1
  for (let row = 0; row < offsets.length - 1; row++) {
    const length = (offsets[row + 1] ?? 0) - (offsets[row] ?? 0)
    if (length <= shortBytes) continue
    const address = addressOf(view, row)
    const end = Math.floor((address + length - 1) / pageBytes)
    for (let page = Math.floor(address / pageBytes); page <= end; page++) {
      if (page !== last) pages.set(page, 'not fetched')
      last = page
    }
  }
  return pages
}

/** The run of pages around an address. */
function runWith(pages: Pages, address: number): Run {
  const page = Math.floor(address / pageBytes)
  const known = pages.get(page)
  if (known !== undefined && known !== 'not fetched') return known
  let from = page
  let to = page + 1
  while (pages.has(from - 1)) from--
  while (pages.has(to)) to++
  const run = fetch(from * pageBytes, to * pageBytes)
  for (let at = from; at < to; at++) pages.set(at, run)
  return run
}

const entry = new DataView(new ArrayBuffer(textEntryBytes))

/** The engine's memory, through an entry as a vector would hold it. */
function fetch(start: number, end: number): Run {
  entry.setUint32(0, end - start, true)
  entry.setUint32(8, start % 2 ** 32, true)
  entry.setUint32(12, Math.floor(start / 2 ** 32), true)
  return { start, end, memory: viewed(accessors.getStringBytes(entry, 0)) }
}

/** The refusal of texts that no column can hold. */
export function textsTooLong(): NodeError {
  return new NodeError('ResultTooLarge', 'The texts of 2,048 rows of a column are larger than 2 GiB.', {
    hint: 'Ask for a part of the column.',
  })
}
