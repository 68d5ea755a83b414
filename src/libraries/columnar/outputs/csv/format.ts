// CSV as RFC 4180 has it: a header line, CRLF, cells quoted only where they need it. A null is an empty cell, an empty text
// is `""`, so are bytes of length zero; ingest reads back the same rows (docs/spec/http.md §6).
// Source: https://www.rfc-editor.org/rfc/rfc4180

import { utf8 } from '../../../base/bytes.ts'
import { must } from '../../../base/assert.ts'
import { type CellStyle, cellWriter } from '../cells.ts'
import type { FileFormat } from '../file-format.ts'
import { ByteBuffer } from '../../../base/byte-buffer.ts'

const startBytes = 64 * 1024
const [quote, comma, cr, lf] = [0x22, 0x2c, 0x0d, 0x0a]
/** Spreadsheets take text that begins with one of these for a formula: `=`, `+`, `-`, `@`, tab, CR. */
const formulaStarts: ReadonlySet<number> = new Set([0x3d, 0x2b, 0x2d, 0x40, 0x09, 0x0d])
const byteOrderMark = 0xef

export const csv: FileFormat = {
  kind: 'file',
  name: 'Csv',
  spellings: ['CSV', 'csv'],
  mediaTypes: ['text/csv; charset=utf-8; header=present'],
  extension: 'csv',
  hasSystemColumns: true,
  choices: ['escapeFormulas'],
  hasLists: false,
  begin: (columns, { escapeFormulas }) => {
    const style = escapeFormulas ? { ...plain, text: writeEscaped } : plain
    const out = new ByteBuffer(startBytes)
    for (const [at, { name }] of columns.entries()) {
      if (at > 0) out.byte(comma)
      const bytes = utf8(name)
      style.text(out, bytes, 0, bytes.length)
    }
    endLine(out)
    return {
      rows: (batch) => {
        const writers = columns.map((column, at) =>
          cellWriter(must(batch.columns[at], 'a column of the batch'), column, out, style),
        )
        for (let row = 0; row < batch.rows; row++) {
          for (let at = 0; at < writers.length; at++) {
            if (at > 0) out.byte(comma)
            writers[at]?.(row)
          }
          endLine(out)
        }
        return [out.take()]
      },
      end: () => (out.at === 0 ? [] : [out.take()]),
    }
  },
}

function endLine(out: ByteBuffer): void {
  out.byte(cr)
  out.byte(lf)
}

/** Copies a text, and starts again with quotes once it meets a character that needs them. */
function writeText(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  const from = out.at
  out.reserve(end - start)
  const target = out.bytes
  let at = from
  // A file must not begin with the byte order mark of its first name.
  let isPlain = end > start && bytes[start] !== byteOrderMark
  for (let i = start; i < end && isPlain; i++) {
    const byte = bytes[i] ?? 0
    target[at++] = byte
    isPlain = byte !== comma && byte !== quote && byte !== cr && byte !== lf && byte !== 0
  }
  if (isPlain) out.at = at
  else writeQuoted(out, bytes, start, end)
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
function writeEscaped(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  if (end === start || !formulaStarts.has(bytes[start] ?? 0)) return writeText(out, bytes, start, end)
  const escaped = new Uint8Array(end - start + 1)
  escaped[0] = 0x27
  escaped.set(bytes.subarray(start, end), 1)
  writeText(out, escaped, 0, escaped.length)
}

const plain: CellStyle = {
  null: '',
  // As pandas, polars, DuckDB and R read them, and ingest.
  notFinite: (value) => (Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf'),
  quote: '',
  text: writeText,
  json: writeText,
}
