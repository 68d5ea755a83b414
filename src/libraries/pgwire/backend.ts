// Messages of a server of PostgreSQL's protocol 3 (PostgreSQL documentation, Message Formats), each as bytes. Rows are written by
// rows.ts, by the process that finds them.

import { concatBytes, utf8 } from '../base/bytes.ts'

/** `I`: no transaction; `T`: in one; `E`: in one that has failed. */
export type TransactionLetter = 'I' | 'T' | 'E'

/** Fields of errors and notices by their letters, such as `C` for the SQLSTATE. Those that are undefined are left out. */
export type ReportFields = Readonly<Record<string, string | undefined>>

const authentication = (code: number, rest: Uint8Array = new Uint8Array(0)): Uint8Array =>
  message('R', [int32(code), rest])

export const authenticated = authentication(0)
export const askPassword = authentication(3)
export const parsed = message('1')
export const bound = message('2')
export const closed = message('3')
export const noData = message('n')
export const suspended = message('s')
export const emptyQuery = message('I')
export const copyDone = message('c')
/** Answers to a request for encryption, without a message around them. */
export const [refused, accepted] = [utf8('N'), utf8('S')]

export function askSasl(mechanisms: readonly string[]): Uint8Array {
  return authentication(10, concatBytes([...mechanisms.map(text), Uint8Array.of(0)]))
}

export function saslGoesOn(answer: Uint8Array): Uint8Array {
  return authentication(11, answer)
}

export function saslEnds(answer: Uint8Array): Uint8Array {
  return authentication(12, answer)
}

export function parameterStatus(name: string, value: string): Uint8Array {
  return message('S', [text(name), text(value)])
}

export function keyData(process: number, secret: Uint8Array): Uint8Array {
  return message('K', [int32(process), secret])
}

/** The newest minor version that is spoken, and what the client asked for that is not known. */
export function negotiated(minor: number, unknown: readonly string[]): Uint8Array {
  return message('v', [int32((3 << 16) | minor), int32(unknown.length), ...unknown.map(text)])
}

export function ready(status: TransactionLetter): Uint8Array {
  return message('Z', [utf8(status)])
}

/** `tag` is the command, such as `SELECT 5`. */
export function complete(tag: string): Uint8Array {
  return message('C', [text(tag)])
}

/** Types of parameters, by their oids. */
export function parameterTypes(oids: readonly number[]): Uint8Array {
  return message('t', [int16(oids.length), ...oids.map(int32)])
}

/** So many columns follow as copy data; all are binary or none. */
export function copyOut(columns: number, isBinary: boolean): Uint8Array {
  const format = isBinary ? 1 : 0
  return message('H', [Uint8Array.of(format), int16(columns), ...Array.from({ length: columns }, () => int16(format))])
}

export function errorReport(fields: ReportFields): Uint8Array {
  return report('E', fields)
}

export function notice(fields: ReportFields): Uint8Array {
  return report('N', fields)
}

function report(type: 'E' | 'N', fields: ReportFields): Uint8Array {
  const parts = Object.entries(fields).flatMap(([letter, value]) =>
    value === undefined ? [] : [utf8(letter), text(value)],
  )
  return message(type, [...parts, Uint8Array.of(0)])
}

/** The types of the columns of a RowDescription, by their oids. */
export function columnTypes(description: Uint8Array): number[] {
  const view = new DataView(description.buffer, description.byteOffset, description.byteLength)
  let at = 7
  return Array.from({ length: view.getInt16(5) }, () => {
    const end = description.indexOf(0, at)
    at = end + 19
    return view.getInt32(end + 7)
  })
}

/** One row of texts under columns of text: what the door answers by itself. */
export function textRows(columns: readonly string[], rows: readonly (readonly string[])[]): Uint8Array {
  const textOid = 25
  const described = columns.flatMap((name) => [
    text(name),
    int32(0),
    int16(0),
    int32(textOid),
    int16(-1),
    int32(-1),
    int16(0),
  ])
  return concatBytes([
    message('T', [int16(columns.length), ...described]),
    ...rows.map((row) =>
      message('D', [int16(row.length), ...row.map(utf8).flatMap((cell) => [int32(cell.length), cell])]),
    ),
  ])
}

function message(type: string, parts: readonly Uint8Array[] = []): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 4)
  return concatBytes([utf8(type), int32(length), ...parts])
}

function int16(value: number): Uint8Array {
  const out = new Uint8Array(2)
  new DataView(out.buffer).setInt16(0, value)
  return out
}

function int32(value: number): Uint8Array {
  const out = new Uint8Array(4)
  new DataView(out.buffer).setInt32(0, value)
  return out
}

/** A text with its end. What has a NUL in it would end there. */
function text(value: string): Uint8Array {
  return utf8(`${value.replaceAll('\0', '\u{FFFD}')}\0`)
}
