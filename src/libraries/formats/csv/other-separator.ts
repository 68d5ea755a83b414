// Notices a body whose cells are separated by something else: each of its lines is one cell, and has as many semicolons, tabs or
// bars as its header. Stored as it is, it would be one column of text.

import { NodeError } from '../../base/errors.ts'
import { quote } from '../json/text.ts'
import { demandApart, type Dialect } from '../dialect/dialect.ts'
import { type CellSigns, contentEnd, type Separator, separatorOf } from './cells.ts'

const candidates = new Map([
  [0x3b, { name: 'semicolon', hint: 'Say delimiter=%3B, and decimal=%2C if numbers have decimal commas.' }],
  [0x09, { name: 'tab', hint: 'Say delimiter=tab, or send it as text/tab-separated-values.' }],
  [0x7c, { name: 'vertical bar', hint: 'Say delimiter=%7C.' }],
  [0x2c, { name: 'comma', hint: 'Send it as text/csv.' }],
])
/** With what `delimiter` takes, and with a byte order mark before a stream. */
const separatorLine = /^(?:\xef\xbb\xbf)?sep=([\t -~])(?<![\dA-Z"+-])$/i

export class SeparatorWatch {
  /** Of each that may be it, how often each line has it. */
  readonly #counts = new Map<number, number>()
  #records = 0

  /** Of a body whose header is `bytes[start, end)`. */
  constructor({ separator }: Pick<CellSigns, 'separator'>, bytes: Uint8Array, start: number, end: number) {
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

/**
 * What the first line says that stands between cells, as spreadsheets write it; undefined where it does not. Throws NodeError
 * `InvalidParameter` where the request says another, or the same of something else.
 */
export function separatorOfLine(
  bytes: Uint8Array,
  start: number,
  end: number,
  dialect: Dialect = {},
): Separator | undefined {
  const line = Buffer.from(bytes.subarray(start, Math.min(contentEnd(bytes, start, end), start + 9))).toString('latin1')
  const [, sign] = separatorLine.exec(line) ?? []
  if (sign === undefined) return undefined
  const { delimiter = sign } = dialect
  if (delimiter === sign) {
    demandApart({ ...dialect, delimiter })
    return separatorOf(sign)
  }
  throw new NodeError('InvalidParameter', `The first line says sep=${sign}, and the parameter delimiter another.`, {
    hint: 'Say one of both.',
  })
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
