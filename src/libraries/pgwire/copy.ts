// The rows of an answer as CopyData messages, with what COPY (…) TO STDOUT writes: text, CSV, binary. A message holds whole rows.
// Source: https://www.postgresql.org/docs/current/sql-copy.html, File Formats; PostgreSQL's copyto.c

import { must } from '../base/assert.ts'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { utf8 } from '../base/bytes.ts'
import { NodeError } from '../base/errors.ts'
import { isPresent } from '../columnar/arrow/columns.ts'
import type { FileColumn, FileFormat } from '../columnar/outputs/file-format.ts'
import type { Column } from '../model/schema.ts'
import { checkCount, fieldWriters, pgFacts, piecesOf, startBytes } from './fields.ts'
import { putInt16, putInt32, setInt32 } from './integers.ts'
import { textWriter, type ValueWriter } from './text-values.ts'
import { pgTypeOf } from './types.ts'

const [quote, comma, newline, backslash, tab, carriageReturn] = [0x22, 0x2c, 0x0a, 0x5c, 0x09, 0x0d]

/** Writes the bytes [start, end) of a text. */
type TextForm = (out: ByteBuffer, bytes: Uint8Array, start: number, end: number) => void

/** How lines of text differ from lines of CSV. */
interface LineStyle {
  readonly delimiter: number
  readonly null: string
  readonly text: TextForm
}

export const pgCopyText = linesFormat('PgCopyText', () => ({ delimiter: tab, null: '\\N', text: writeEscaped }))

export const pgCopyCsv = linesFormat('PgCopyCsv', ({ length }) => {
  return { delimiter: comma, null: '', text: (...of) => writeQuoted(length === 1, ...of) }
})

const signature = Uint8Array.of(...utf8('PGCOPY\n'), 0xff, ...utf8('\r\n\0'))

/** `begin` throws NodeError `InvalidRequest` where a header is wanted: the binary form has none. */
export const pgCopyBinary: FileFormat = {
  ...pgFacts,
  name: 'PgCopyBinary',
  module: import.meta.url,
  begin: (columns, { postgres: { header } = {} }) => {
    if (header === true) throw new NodeError('InvalidRequest', 'COPY in binary form has no header with names.')
    checkCount(columns)
    const out = new ByteBuffer(startBytes)
    // The first row follows in the same message, as PostgreSQL has it.
    let start: number | undefined = beginMessage(out)
    out.raw(signature)
    // No flags, and nothing more before the first row.
    putInt32(out, 0)
    putInt32(out, 0)
    const forms = columns.map(() => ({ isBinary: true, told: undefined }))
    return {
      rows: (batch) => {
        const fields = fieldWriters(batch, columns, forms, out)
        const writeRow: ValueWriter = (row) => {
          const message = start ?? beginMessage(out)
          start = undefined
          putInt16(out, fields.length)
          for (let at = 0; at < fields.length; at++) fields[at]?.(row)
          endMessage(out, message)
        }
        return piecesOf(batch, out, writeRow, () => out.take())
      },
      end: () => {
        const message = start ?? beginMessage(out)
        putInt16(out, -1)
        endMessage(out, message)
        return [out.take()]
      },
    }
  },
}

/** Begins a CopyData message, of which a row is one: drivers count rows by them. Where it begins. */
function beginMessage(out: ByteBuffer): number {
  const start = out.at
  out.byte(0x64)
  putInt32(out, 0)
  return start
}

function endMessage(out: ByteBuffer, start: number): void {
  setInt32(out.bytes, start + 1, out.at - start - 1)
}

function linesFormat(name: string, styleFor: (columns: readonly FileColumn[]) => LineStyle): FileFormat {
  return {
    ...pgFacts,
    name,
    module: import.meta.url,
    begin: (columns, { postgres: { header } = {} }) => {
      const style = styleFor(columns)
      const out = new ByteBuffer(startBytes)
      if (header === true) {
        const start = beginMessage(out)
        writeNames(out, columns, style)
        endMessage(out, start)
      }
      return {
        rows: (batch) => {
          const cells = columns.map((facts, at) => {
            return cellWriter(must(batch.columns[at], 'a column of the batch'), facts, out, style)
          })
          const writeRow: ValueWriter = (row) => {
            const start = beginMessage(out)
            for (let at = 0; at < cells.length; at++) {
              if (at > 0) out.byte(style.delimiter)
              cells[at]?.(row)
            }
            out.byte(newline)
            endMessage(out, start)
          }
          return piecesOf(batch, out, writeRow, () => out.take())
        },
        end: () => (out.at === 0 ? [] : [out.take()]),
      }
    },
  }
}

function writeNames(out: ByteBuffer, columns: readonly FileColumn[], { delimiter, text }: LineStyle): void {
  for (const [at, { name }] of columns.entries()) {
    if (at > 0) out.byte(delimiter)
    const bytes = utf8(name)
    text(out, bytes, 0, bytes.length)
  }
  out.byte(newline)
}

function cellWriter(column: Column, facts: FileColumn, out: ByteBuffer, style: LineStyle): ValueWriter {
  const write = valueWriter(column, facts, out, style)
  if (column.nullCount === 0) return write
  return (row) => {
    if (isPresent(column, row)) write(row)
    else out.ascii(style.null)
  }
}

/** Only texts and bytes can hold what means something to a line. */
function valueWriter(column: Column, facts: FileColumn, out: ByteBuffer, { text, delimiter }: LineStyle): ValueWriter {
  const write = textWriter(column, facts, out)
  if (facts.type.kind === 'Binary' && delimiter === tab) {
    return (row) => {
      out.byte(backslash)
      write(row)
    }
  }
  if (facts.type.kind !== 'String' || !['text', 'jsonb'].includes(pgTypeOf(facts).name)) return write
  const { values } = column
  const cuts = must(column.offsets, 'offsets of a variable column')
  return (row) => text(out, values, cuts[row] ?? 0, cuts[row + 1] ?? 0)
}

/** The letters that stand for control characters behind a backslash. */
const letters: ReadonlyMap<number, number> = new Map([
  [0x08, 0x62],
  [newline, 0x6e],
  [tab, 0x74],
  [0x0b, 0x76],
  [0x0c, 0x66],
  [carriageReturn, 0x72],
  [backslash, backslash],
])

function writeEscaped(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  out.reserve(2 * (end - start))
  const target = out.bytes
  let { at } = out
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    const letter = byte < 0x20 || byte === backslash ? letters.get(byte) : undefined
    if (letter !== undefined) target[at++] = backslash
    target[at++] = letter ?? byte
  }
  out.at = at
}

/** `isAlone`: the end of the data would be `\.` in a line of its own. */
function writeQuoted(isAlone: boolean, out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  out.reserve(2 * (end - start) + 2)
  const target = out.bytes
  const from = out.at
  let at = from
  let isPlain =
    end > start && !(isAlone && end - start === 2 && bytes[start] === backslash && bytes[start + 1] === 0x2e)
  for (let i = start; i < end && isPlain; i++) {
    const byte = bytes[i] ?? 0
    target[at++] = byte
    isPlain = byte !== comma && byte !== quote && byte !== newline && byte !== carriageReturn
  }
  if (!isPlain) {
    at = from
    target[at++] = quote
    for (let i = start; i < end; i++) {
      const byte = bytes[i] ?? 0
      if (byte === quote) target[at++] = quote
      target[at++] = byte
    }
    target[at++] = quote
  }
  out.at = at
}
