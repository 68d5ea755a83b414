// Cuts a body of records that has no end into batches: finds the ends of records in the chunks, numbers the records, and
// hands out what is complete, each batch with the header, where the format has one. Bytes are never copied record by
// record. No clock: when a batch is due, its user says.

import type { RecordEnds } from './line-ends.ts'
import { NodeError } from '../base/errors.ts'
import { GatheredBytes } from '../base/gathered-bytes.ts'
import { LineBatch } from './line-batch.ts'

/** Bytes of a batch at most, unless one record has more. */
const batchBytes = 4 * 1024 * 1024
/** The batch that decides the types of columns holds what comes within so long after its first record, and so many records at most. */
export const decidingMs = 1_000
export const decidingRows = 10_000
/** A record that is long, or takes in lines behind a quote, has so long to come to its end. */
export const recordMs = 30_000
const noBytes = new Uint8Array(0)
const lineEnd = Uint8Array.of(0x0a)

export interface CutterOptions {
  /** Number of the first record. */
  readonly first: number
  /** Rows of a batch at most. */
  readonly mostRows: number
  /** Of the first batch; absent: as of the others. */
  readonly firstRows?: number
  readonly recordBytes: number
  /** Where records end after `header`, which has no bytes while it has not come, or where there is none. */
  readonly ends: (header: Uint8Array) => RecordEnds
  /** The body begins with a record that names the columns. */
  readonly hasHeader: boolean
}

export class StreamCutter {
  readonly #options: CutterOptions
  readonly #ready: LineBatch[] = []
  /** The record that names the columns, with its line end and lines before it; undefined until it has come. */
  #header: Uint8Array | undefined
  #ends: RecordEnds
  /** Whole records of the batch. */
  readonly #pieces = new GatheredBytes()
  #mostRows: number
  #first: number
  #next: number
  #rows = 0
  /** What has come of the next record. */
  readonly #tail = new GatheredBytes()
  #heldBytes = 0

  constructor(options: CutterOptions) {
    this.#options = options
    this.#header = options.hasHeader ? undefined : noBytes
    this.#ends = options.ends(noBytes)
    this.#mostRows = options.firstRows ?? options.mostRows
    this.#first = options.first
    this.#next = options.first
  }

  /** Bytes that were pushed and not taken; the header is held to the end. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Bytes of the record, or header, that has no end yet. */
  get unfinishedBytes(): number {
    return this.#tail.bytes
  }

  /** Batches are full: more is pushed when they are taken. */
  get isFull(): boolean {
    return this.#ready.length > 0
  }

  /** The record, or header, that has no end yet has taken in lines behind a quote. */
  get isSwallowing(): boolean {
    return this.#tail.bytes > 0 && this.#ends.isSwallowing === true
  }

  /** The record that names the columns, behind lines that are none, once it has come. */
  get header(): Uint8Array {
    return this.#header ?? noBytes
  }

  /** Rows have come that are in no full batch. */
  get isOpen(): boolean {
    return this.#rows > 0
  }

  /** Takes the next bytes. Throws NodeError `RecordsDoNotFit` for a record that is too long. */
  push(chunk: Uint8Array): void {
    this.#heldBytes += chunk.length
    let from = this.#header === undefined ? this.#takeHeader(chunk) : 0
    if (this.#header === undefined) return
    // Records that wait to be added to the batch together: `chunk[from, at)`.
    let at = from
    // The first of them may have begun in an earlier chunk.
    let hasBegun = this.#tail.bytes > 0
    for (let end = this.#ends.next(chunk, at); end >= 0; end = this.#ends.next(chunk, at)) {
      const isBlank = hasBegun
        ? this.#isBlank(this.#tail.joined(noBytes, chunk.subarray(at, end)))
        : this.#ends.isBlank(chunk, at, end)
      if (hasBegun) this.#pieces.addAll(this.#tail)
      hasBegun = false
      at = end
      this.#next++
      if (isBlank) continue
      this.#rows++
      if (this.#rows < this.#mostRows && this.#pieces.bytes + (at - from) < batchBytes) continue
      this.#pieces.add(chunk.subarray(from, at))
      this.#close(this.#next - 1)
      from = at
    }
    this.#pieces.add(chunk.subarray(from, at))
    this.#keep(chunk.subarray(at))
  }

  /** The body is over: the record that is open ends, even within quotes. */
  end(): void {
    if (this.#tail.bytes > 0) this.push(lineEnd)
    if (this.#tail.bytes === 0) return
    if (!this.#isBlank(this.#tail.joined(noBytes, noBytes))) this.#rows++
    this.#next++
    this.#pieces.addAll(this.#tail)
  }

  /** A full batch, or with `isDue` what has come of whole records; undefined where there is none with rows. */
  take(isDue: boolean): LineBatch | undefined {
    if (this.#ready.length === 0 && isDue && this.#rows > 0) this.#close(this.#next - 1)
    const batch = this.#ready.shift()
    if (batch !== undefined) this.#heldBytes -= batch.bytes.length - batch.headerBytes
    return batch
  }

  /** Lets go of all bytes; nothing may be pushed afterwards. */
  discard(): void {
    this.#ready.length = 0
    this.#pieces.clear()
    this.#tail.clear()
  }

  /** Index after the header; a chunk that it goes on after is kept. */
  #takeHeader(chunk: Uint8Array): number {
    let at = 0
    for (let end = this.#ends.next(chunk, at); end >= 0; end = this.#ends.next(chunk, at)) {
      const line = this.#tail.joined(noBytes, chunk.subarray(at, end))
      this.#tail.clear()
      at = end
      this.#pieces.add(line)
      if (this.#isBlank(line)) continue
      this.#header = this.#pieces.joined(noBytes, noBytes)
      this.#pieces.clear()
      this.#ends = this.#options.ends(this.#header)
      return at
    }
    this.#keep(chunk.subarray(at))
    return chunk.length
  }

  #isBlank(record: Uint8Array): boolean {
    return this.#ends.isBlank(record, 0, record.length)
  }

  #close(last: number): void {
    const { ends } = this.#options
    const bytes = this.#pieces.joined(this.header, noBytes)
    const headerBytes = this.header.length
    this.#ready.push(new LineBatch({ first: this.#first, last, rows: this.#rows, bytes, headerBytes }, ends))
    this.#pieces.clear()
    this.#rows = 0
    this.#mostRows = this.#options.mostRows
    this.#first = last + 1
  }

  #keep(rest: Uint8Array): void {
    this.#tail.add(rest)
    const { recordBytes } = this.#options
    const bytes = this.#tail.bytes + (this.#header === undefined ? this.#pieces.bytes : 0)
    if (bytes <= recordBytes) return
    const what = this.#header === undefined ? 'The header' : `Record ${this.#next}`
    const record = this.#header === undefined ? {} : { record: this.#next }
    throw new NodeError('RecordsDoNotFit', `${what} is longer than ${recordBytes} bytes.`, {
      limit: { name: 'recordBytes', value: recordBytes, unit: 'bytes' },
      hint: 'A line ends a record: look for a line end or a quote that is missing.',
      errors: [{ ...record, kind: 'RecordTooLarge', message: `The record has more than ${recordBytes} bytes.` }],
    })
  }
}
