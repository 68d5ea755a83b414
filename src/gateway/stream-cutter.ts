// Cuts a body of lines that has no end into batches: finds the line ends in the chunks, numbers the lines, and hands out
// what is complete. Bytes are taken over, never copied line by line. No clock: when a batch is due, its user says.

import { concatBytes } from '../lib/bytes.ts'
import { NodeError } from '../model/errors.ts'

const newline = 0x0a
/** Bytes of a batch at most, unless one record has more. */
const batchBytes = 4 * 1024 * 1024

/** Whole lines that follow one another. */
export interface LineBatch {
  /** Numbers of its first and last line; a blank one uses up a number. */
  readonly first: number
  readonly last: number
  /** Lines that are not blank. */
  readonly rows: number
  readonly bytes: Uint8Array
}

export interface CutterOptions {
  /** Number of the first line. */
  readonly first: number
  /** Rows of a batch at most. */
  readonly mostRows: number
  readonly recordBytes: number
}

export class StreamCutter {
  readonly #options: CutterOptions
  readonly #ready: LineBatch[] = []
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #first: number
  /** Number of the line that is coming. */
  #next: number
  #rows = 0
  /** What has come of the next line. */
  #tail: Uint8Array[] = []
  #tailBytes = 0
  #heldBytes = 0

  constructor(options: CutterOptions) {
    this.#options = options
    this.#first = options.first
    this.#next = options.first
  }

  /** Bytes that were pushed and not taken. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Batches are full: more is pushed when they are taken. */
  get isFull(): boolean {
    return this.#ready.length > 0
  }

  /** Rows have come that are in no full batch. */
  get isOpen(): boolean {
    return this.#rows > 0
  }

  /** Takes the next bytes. Throws NodeError `RecordsDoNotFit` for a line that is too long. */
  push(chunk: Uint8Array): void {
    this.#heldBytes += chunk.length
    let from = 0
    // Lines that wait to be added to the batch together: `chunk[from, at)`.
    let at = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, at)) {
      const isBlank = blank(chunk, at, end) && (at > 0 || blankTail(this.#tail))
      at = end + 1
      this.#next++
      if (isBlank) continue
      this.#rows++
      const bytes = this.#pieceBytes + this.#tailBytes + (at - from)
      if (this.#rows < this.#options.mostRows && bytes < batchBytes) continue
      this.#add(chunk.subarray(from, at))
      this.#close(this.#next - 1)
      from = at
    }
    this.#add(chunk.subarray(from, at))
    this.#keep(chunk.subarray(at))
  }

  /** The body is over: the line that is open ends. */
  end(): void {
    if (this.#tailBytes > 0) this.push(Uint8Array.of(newline))
  }

  /** A full batch, or with `isDue` what has come of whole lines; undefined where there is none with rows. */
  take(isDue: boolean): LineBatch | undefined {
    if (this.#ready.length === 0 && isDue && this.#rows > 0) this.#close(this.#next - 1)
    const batch = this.#ready.shift()
    if (batch !== undefined) this.#heldBytes -= batch.bytes.length
    return batch
  }

  /** Whole lines of the batch: those before in `tail`, if the first of them began in an earlier chunk. */
  #add(lines: Uint8Array): void {
    if (lines.length === 0) return
    this.#pieces.push(...this.#tail, lines)
    this.#pieceBytes += this.#tailBytes + lines.length
    this.#tail = []
    this.#tailBytes = 0
  }

  #close(last: number): void {
    const bytes = concatBytes(this.#pieces)
    this.#ready.push({ first: this.#first, last, rows: this.#rows, bytes })
    this.#pieces = []
    this.#pieceBytes = 0
    this.#rows = 0
    this.#first = last + 1
  }

  #keep(rest: Uint8Array): void {
    if (rest.length === 0) return
    this.#tail.push(rest)
    this.#tailBytes += rest.length
    const { recordBytes } = this.#options
    if (this.#tailBytes <= recordBytes) return
    throw new NodeError('RecordsDoNotFit', `Record ${this.#next} is longer than ${recordBytes} bytes.`, {
      limit: { name: 'recordBytes', value: recordBytes, unit: 'bytes' },
      hint: 'A line ends a record: look for a line end that is missing.',
      errors: [
        { record: this.#next, kind: 'RecordTooLarge', message: `The record has more than ${recordBytes} bytes.` },
      ],
    })
  }
}

function blankTail(pieces: readonly Uint8Array[]): boolean {
  return pieces.every((piece) => blank(piece, 0, piece.length))
}

/** True where `bytes[from, to)` are spaces. */
function blank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
  }
  return true
}

/** The lines of a batch before number `number`, and the others; each undefined where none of them is a row. */
export function splitLines(
  batch: LineBatch,
  number: number,
): { readonly before: LineBatch | undefined; readonly rest: LineBatch | undefined } {
  let at = 0
  let rows = 0
  for (let next = batch.first; next < number && next <= batch.last; next++) {
    const end = batch.bytes.indexOf(newline, at)
    if (!blank(batch.bytes, at, end)) rows++
    at = end + 1
  }
  const before = { first: batch.first, last: number - 1, rows, bytes: batch.bytes.subarray(0, at) }
  const rest = { first: number, last: batch.last, rows: batch.rows - rows, bytes: batch.bytes.subarray(at) }
  return { before: rows === 0 ? undefined : before, rest: rest.rows === 0 ? undefined : rest }
}
