// The points that two fields of records are, for the column of geometries: where a record brings no geometry of its own
// (docs/spec/http.md §6, geometry). What is no longitude or latitude is a fault of its record, as in other maps.

import { ColumnBuilder } from '../columnar/arrow/column-builder.ts'
import { isPresent } from '../columnar/arrow/columns.ts'
import { doublesOf } from '../columnar/arrow/numbers.ts'
import { GeometryFault, geometryText, positionText } from '../geo/rules.ts'
import { must } from '../base/assert.ts'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { decodeUtf8 } from '../base/bytes.ts'
import { NodeError, type RecordError, type RecordErrorKind } from '../base/errors.ts'
import { type Column, optional, type RecordBatch } from '../model/schema.ts'

/** Places among the columns of rows; of a field that no record has: -1. */
export interface PointColumns {
  readonly geometry: number
  readonly longitude: PointField
  readonly latitude: PointField
}

interface PointField {
  readonly name: string
  readonly column: number
}

const mostFaults = 100
const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Gives rows their points. */
export class Points {
  readonly #columns: PointColumns
  readonly #errors: RecordError[] = []
  /** Of one point. */
  readonly #bytes = new ByteBuffer(128)
  #total = 0

  constructor(columns: PointColumns) {
    this.#columns = columns
  }

  /** The rows with their geometries; the first of them is `record`. */
  fill(batch: RecordBatch, record: number): RecordBatch {
    const { geometry: at, longitude, latitude } = this.#columns
    const [first, second] = [batch.columns[longitude.column], batch.columns[latitude.column]]
    const { rows } = batch
    if (first === undefined || second === undefined || first.nullCount === rows || second.nullCount === rows)
      return batch
    const geometry = must(batch.columns[at], 'a column of geometries')
    const { values, offsets } = geometry
    const builder = new ColumnBuilder({ name: geometry.name, type: optional(geometry.type) }, rows)
    const [xAt, yAt] = [numbersIn(first), numbersIn(second)]
    for (let row = 0; row < rows; row++) {
      if (isPresent(geometry, row)) builder.appendBytes(values, offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0)
      else if (!isPresent(first, row) || !isPresent(second, row)) builder.appendNull()
      else {
        const text = this.#pointText(record + row, xAt(row), yAt(row))
        this.#bytes.at = 0
        this.#bytes.ascii(text ?? '')
        if (text === undefined) builder.appendNull()
        else builder.appendBytes(this.#bytes.bytes, 0, this.#bytes.at)
      }
    }
    return { ...batch, columns: batch.columns.map((column, place) => (place === at ? builder.finish() : column)) }
  }

  /** Throws NodeError `RecordsDoNotFit` where some were no points: with at most 100 of them, and their total. */
  demandAll(): void {
    const [first] = this.#errors
    if (first === undefined) return
    throw new NodeError('RecordsDoNotFit', `Record ${first.record}: ${first.message} Nothing was stored.`, {
      errors: this.#errors,
      errorsTotal: this.#total,
      hint: 'geometry= names longitude and latitude, in degrees of WGS 84 and in this order; null is no place.',
    })
  }

  #pointText(record: number, x: number | string, y: number | string): string | undefined {
    const { longitude, latitude } = this.#columns
    const isNumber = (value: number | string): boolean => typeof value === 'number' && Number.isFinite(value)
    if (!isNumber(x) || !isNumber(y)) {
      const [field, value] = isNumber(x) ? [latitude, y] : [longitude, x]
      const shown = typeof value === 'string' ? `the text '${value.slice(0, 60)}'` : value
      return this.#fault(record, field, {
        kind: 'WrongType',
        message: `Field '${field.name}' is ${shown}, not a number.`,
      })
    }
    try {
      return geometryText('Point', positionText(Number(x), Number(y), undefined))
    } catch (cause) {
      if (!(cause instanceof GeometryFault)) throw cause
      const isLatitude = cause.message.startsWith('The latitude')
      return this.#fault(record, isLatitude ? latitude : longitude, { kind: 'InvalidGeometry', message: cause.message })
    }
  }

  #fault(
    record: number,
    { name: column }: PointField,
    fault: { readonly kind: RecordErrorKind; readonly message: string },
  ): undefined {
    this.#total += 1
    if (this.#errors.length < mostFaults) this.#errors.push({ record, column, ...fault })
  }
}

/** The double nearest to each value; a text that is no number as it is. */
function numbersIn(column: Column): (row: number) => number | string {
  if (column.type.kind !== 'String') return doublesOf(column)
  const { values, offsets } = column
  return (row) => {
    const text = decodeUtf8(values.subarray(offsets?.[row] ?? 0, offsets?.[row + 1] ?? 0))
    return numberForm.test(text) ? Number(text) : text
  }
}
