// CSV as RFC 4180 has it: a header line, CRLF, cells quoted only where they need it. A null is an empty cell, an empty text
// is `""`, so are bytes of length zero; ingest reads back the same rows (docs/spec/http.md §6), in another dialect as well.
// Source: https://www.rfc-editor.org/rfc/rfc4180

import { utf8 } from '../../../base/bytes.ts'
import { must } from '../../../base/assert.ts'
import { type CellStyle, type CellWriter, cellWriter } from '../cells.ts'
import type { FileColumn, FileFormat, FileOptions } from '../file-format.ts'
import { ByteBuffer } from '../../../base/byte-buffer.ts'

const startBytes = 64 * 1024
const [quote, comma, point, cr, lf] = [0x22, 0x2c, 0x2e, 0x0d, 0x0a]
/** Spreadsheets take text that begins with one of these for a formula: `=`, `+`, `-`, `@`, tab, CR. */
const formulaStarts: ReadonlySet<number> = new Set([0x3d, 0x2b, 0x2d, 0x40, 0x09, 0x0d])
const byteOrderMark = utf8('\ufeff')

export const csv: FileFormat = {
  kind: 'file',
  name: 'Csv',
  spellings: ['CSV', 'csv'],
  mediaTypes: ['text/csv; charset=utf-8; header=present'],
  extension: 'csv',
  hasSystemColumns: true,
  choices: ['escapeFormulas', 'delimiter', 'decimal', 'charset', 'bom'],
  hasLists: false,
  begin: (columns, options, { encode = same }) => {
    const delimiter = delimiterOf(options)
    const text = textWriter(delimiter)
    const style = styleOf(text, options.escapeFormulas ? escaping(text) : text)
    const out = new ByteBuffer(startBytes)
    if (options.bom === true) out.raw(byteOrderMark)
    for (const [at, { name }] of columns.entries()) {
      if (at > 0) out.byte(delimiter)
      const bytes = utf8(name)
      style.text(out, bytes, 0, bytes.length)
    }
    endLine(out)
    return {
      rows: (batch) => {
        const writers = columns.map((column, at) => {
          const write = cellWriter(must(batch.columns[at], 'a column of the batch'), column, out, style)
          return inDialect(write, column, out, options)
        })
        for (let row = 0; row < batch.rows; row++) {
          for (let at = 0; at < writers.length; at++) {
            if (at > 0) out.byte(delimiter)
            writers[at]?.(row)
          }
          endLine(out)
        }
        return [encode(out.take())]
      },
      end: () => (out.at === 0 ? [] : [encode(out.take())]),
    }
  },
}

function same(bytes: Uint8Array): Uint8Array {
  return bytes
}

function delimiterOf({ delimiter }: FileOptions): number {
  return delimiter?.charCodeAt(0) ?? comma
}

/** As RFC 4180 has it, a cell of a number or a time never needs quotes. */
function inDialect(write: CellWriter, { type }: FileColumn, out: ByteBuffer, options: FileOptions): CellWriter {
  const { delimiter, decimal } = options
  if ((delimiter === undefined && decimal === undefined) || type.kind === 'String') return write
  const between = delimiterOf(options)
  const sign = decimal !== undefined && /^(?:Float|Decimal)/.test(type.kind) ? comma : point
  return (row) => {
    const from = out.at
    write(row)
    let isPlain = true
    for (let at = from; at < out.at; at++) {
      if (out.bytes[at] === point) out.bytes[at] = sign
      isPlain &&= out.bytes[at] !== between
    }
    if (isPlain) return
    out.byte(quote)
    out.bytes.copyWithin(from + 1, from, out.at)
    out.bytes[from] = quote
    out.byte(quote)
  }
}

function endLine(out: ByteBuffer): void {
  out.byte(cr)
  out.byte(lf)
}

/** Texts that hold none of what has a meaning stand as they are. */
function textWriter(delimiter: number): CellStyle['text'] {
  return (out, bytes, start, end) => {
    out.reserve(end - start)
    const target = out.bytes
    let { at } = out
    // A file must not begin with the byte order mark of its first name.
    let isPlain = end > start && bytes[start] !== byteOrderMark[0]
    for (let i = start; i < end && isPlain; i++) {
      const byte = bytes[i] ?? 0
      target[at++] = byte
      isPlain = byte !== delimiter && byte !== quote && byte !== cr && byte !== lf && byte !== 0
    }
    if (isPlain) out.at = at
    else writeQuoted(out, bytes, start, end)
  }
}

function writeQuoted(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  out.reserve(2 * (end - start) + 2)
  const target = out.bytes
  let { at } = out
  target[at++] = quote
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte === quote) target[at++] = quote
    target[at++] = byte
  }
  target[at++] = quote
  out.at = at
}

/** An apostrophe in front makes a spreadsheet show the text as it is; what ingest reads back then has it too. */
function escaping(write: CellStyle['text']): CellStyle['text'] {
  return (out, bytes, start, end) => {
    if (end === start || !formulaStarts.has(bytes[start] ?? 0)) return write(out, bytes, start, end)
    const escaped = new Uint8Array(end - start + 1)
    escaped[0] = 0x27
    escaped.set(bytes.subarray(start, end), 1)
    write(out, escaped, 0, escaped.length)
  }
}

/** Cells that are no texts stand as they are. */
export function styleOf(json: CellStyle['text'], text = json): CellStyle {
  return {
    null: '',
    // As pandas, polars, DuckDB and R read them, and ingest.
    notFinite: (value) => (Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf'),
    quote: '',
    text,
    json,
  }
}
