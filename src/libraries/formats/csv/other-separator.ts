// Notices a body whose cells are separated by something else: each of its lines is one cell, and has as many semicolons, tabs or
// bars as its header. Stored as it is, it would be one column of text.

import { NodeError } from '../../base/errors.ts'
import { quote } from '../json/text.ts'
import { contentEnd, type Dialect } from './cells.ts'

const candidates = new Map([
  [0x3b, { name: 'semicolon', hint: 'Write it with commas between its cells, and with a point in decimals.' }],
  [0x09, { name: 'tab', hint: 'Send it as text/tab-separated-values.' }],
  [0x7c, { name: 'vertical bar', hint: 'Write it with commas between its cells.' }],
  [0x2c, { name: 'comma', hint: 'Send it as text/csv.' }],
])
const separatorLine = /^sep=.?$/i

export class SeparatorWatch {
  /** Of each that may be it, how often each line has it. */
  readonly #counts = new Map<number, number>()
  #records = 0

  /** Of a body whose header is `bytes[start, end)`. */
  constructor({ separator }: Dialect, bytes: Uint8Array, start: number, end: number) {
    const stop = contentEnd(bytes, start, end)
    for (const byte of candidates.keys()) {
      const count = countOf(byte, bytes, start, stop)
      if (byte !== separator.byte && count > 0) this.#counts.set(byte, count)
    }
  }

  /** Takes the next record, which is one cell as it stands in the body. */
  take(bytes: Uint8Array, start: number, end: number): void {
    this.#records += 1
    for (const [byte, count] of this.#counts) {
      if (countOf(byte, bytes, start, end) !== count) this.#counts.delete(byte)
    }
  }

  /** Throws NodeError `RecordsDoNotFit` where all lines have as many of one. */
  demandNone(): void {
    for (const [byte, count] of this.#counts) {
      const found = candidates.get(byte)
      if (found === undefined || this.#records === 0) continue
      const message = `Each line is one cell, with ${count} ${found.name}${count === 1 ? '' : 's'}: it seems to separate cells.`
      throw refusal(message, `${found.hint} If each line is one text, make the dataset with its column first: PUT.`)
    }
  }
}

/** Throws NodeError `RecordsDoNotFit` where the first line says what the separator is, as spreadsheets write it. */
export function demandNoSeparatorLine(bytes: Uint8Array, start: number, end: number): void {
  const line = Buffer.from(bytes.subarray(start, Math.min(contentEnd(bytes, start, end), start + 8))).toString('latin1')
  if (!separatorLine.test(line)) return
  const hint = 'Leave the line out; between cells there are commas, or, in text/tab-separated-values, tabs.'
  throw refusal('The first line says what separates the cells, and is not a header.', hint)
}

/** How often the record has the byte; -1 where it is quoted: then nothing but its separator counts. */
function countOf(byte: number, bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) {
    if (bytes[at] === quote) return -1
    if (bytes[at] === byte) count += 1
  }
  return count
}

function refusal(message: string, hint: string): NodeError {
  const errors = [{ line: 1, kind: 'MalformedRecord', message }] as const
  return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, { errors, errorsTotal: 1, hint })
}
