// The first rows of a body as they were read, and what each column became: for the answers that show it before it is set in stone
// (docs/spec/http.md §6).

import { must } from '../base/assert.ts'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { decodeUtf8 } from '../base/bytes.ts'
import { isPresent } from '../columnar/arrow/columns.ts'
import { type CellWriter, cellWriter, jsonStyle } from '../columnar/outputs/cells.ts'
import { type DataType, type Field, innerType, type RecordBatch } from '../model/schema.ts'
import type { Dialect } from './dialect/dialect.ts'
import { ofColumn } from './dialect/dialect.ts'

type Shown = string | number | boolean | null | readonly Shown[]

export interface PreviewFacts {
  /** Nulls of each column. */
  readonly nulls: readonly number[]
  /** The first value of each column; null where it has none. */
  readonly values: readonly Shown[]
  /** Values by column. */
  readonly rows: readonly (readonly Shown[])[]
}

/** A column as an answer tells of it. */
export interface ColumnTold {
  readonly name: string
  readonly type: string
  /** How its texts were read, where that is not how the format has them. */
  readonly read?: string
  readonly nulls: number
  readonly value: Shown
}

const columnsMost = 2000
const valueChars = 200
const rowsBytes = 256 * 1024

/** Takes note of rows as they pass. */
export class Preview {
  readonly #rowsMost: number
  readonly #nulls: number[] = []
  readonly #values: Shown[] = []
  readonly #rows: Shown[][] = []
  #bytes = 0

  /** Keeps the first `rows`, as far as they are not large. */
  constructor(rows: number) {
    this.#rowsMost = rows
  }

  take({ rows, columns }: RecordBatch): void {
    const out = new ByteBuffer(256)
    const cells = columns.map((column) => {
      const { name, type } = column
      // Text formats have none.
      if (type.kind === 'List') return () => out.ascii('null')
      return cellWriter(column, { name, type, means: 'value' }, out, jsonStyle)
    })
    for (const [at, column] of columns.entries()) {
      this.#nulls[at] = (this.#nulls[at] ?? 0) + column.nullCount
      if ((this.#values[at] ?? null) !== null) continue
      let row = 0
      while (row < rows && !isPresent(column, row)) row += 1
      this.#values[at] = row === rows ? null : cut(shown(out, must(cells[at], 'a writer'), row))
    }
    for (let row = 0; row < rows && this.#rows.length < this.#rowsMost && this.#bytes < rowsBytes; row++) {
      this.#rows.push(cells.map((cell) => shown(out, cell, row)))
      this.#bytes += out.at
    }
  }

  finish(): PreviewFacts {
    return { nulls: this.#nulls, values: this.#values, rows: this.#rows }
  }
}

function shown(out: ByteBuffer, cell: CellWriter, row: number): Shown {
  out.at = 0
  cell(row)
  const text = decodeUtf8(out.bytes.subarray(0, out.at))
  // What readers of JSON would round.
  const isLong = /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text))
  return isLong ? text : (JSON.parse(text) as Shown) // a cell of JSON
}

function cut(value: Shown): Shown {
  return typeof value === 'string' ? value.slice(0, valueChars) : value
}

/** The columns of rows, the first of which is the event time. */
export function columnsTold(
  fields: readonly Field[],
  { nulls, values }: PreviewFacts,
  about: { readonly dialect?: Dialect | undefined; readonly timeZone?: string | undefined },
): readonly ColumnTold[] {
  return fields.slice(0, columnsMost).map((field, at) => {
    const type = innerType(field.type)
    const read = readAs(field.name, type, about)
    return {
      name: field.name,
      type: type.kind,
      ...(read !== undefined && { read }),
      nulls: nulls[at] ?? 0,
      value: values[at] ?? null,
    }
  })
}

/** The rows as objects by column. */
export function rowsTold(fields: readonly Field[], { rows }: PreviewFacts): readonly Record<string, Shown>[] {
  return rows.map((row) => Object.fromEntries(fields.map(({ name }, at) => [name, row[at] ?? null])))
}

function readAs(
  name: string,
  { kind }: DataType,
  { dialect, timeZone }: { readonly dialect?: Dialect | undefined; readonly timeZone?: string | undefined },
): string | undefined {
  const nulls = ofColumn(dialect?.nulls, name)
  const parts = [
    ...spelling(name, kind, { dialect, timeZone }),
    ...(nulls === undefined ? [] : [`no value: ${nulls.join(', ')}`]),
  ]
  return parts.length === 0 ? undefined : parts.join('; ')
}

function spelling(
  name: string,
  kind: DataType['kind'],
  { dialect, timeZone }: { readonly dialect: Dialect | undefined; readonly timeZone: string | undefined },
): readonly string[] {
  const { decimal, group, trueFalse } = dialect ?? {}
  switch (kind) {
    case 'Timestamp':
    case 'Date': {
      const zone = kind === 'Timestamp' && timeZone !== undefined ? [`times without a zone are ${timeZone}`] : []
      return [ofColumn(dialect?.dates, name) ?? [], zone].flat()
    }
    case 'Bool':
      return trueFalse === undefined ? [] : [trueFalse.join(', ')]
    case 'String':
    case 'Binary':
    case 'List':
      return []
    default:
      return [
        decimal === undefined ? [] : ['decimal comma'],
        group === undefined ? [] : [`groups by '${group}'`],
      ].flat()
  }
}
