// Arrow IPC streams: ours read by apache-arrow, its streams read by us, and bytes that must be refused.

import * as arrow from 'apache-arrow'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sliceBatch } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { ArrowStreamReader } from '../../../../src/libraries/columnar/arrow/ipc-reader.ts'
import {
  arrowBatchMessage,
  arrowBatchMessages,
  arrowStreamEnd,
  arrowStreamStart,
  encodeArrowStream,
} from '../../../../src/libraries/columnar/arrow/ipc.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'
import { type DataType, type Field, innerType, isOptional } from '../../../../src/libraries/model/schema.ts'
import { decodeArrowBatches, decodeArrowStream } from '../../../helpers/slices.ts'
import { arbTable, batchOf, batchRows, type Value } from './columns-helper.ts'

/** The Arrow type as apache-arrow spells it. */
function arrowTypeText(type: DataType): string {
  switch (type.kind) {
    case 'String':
      return 'Utf8'
    case 'Date':
      return 'Date32<DAY>'
    case 'Decimal':
      return `Decimal[${type.precision}e+${type.scale}]`
    case 'Time':
      return type.unit === 'Microsecond' ? 'Time64<MICROSECOND>' : 'Time32<MILLISECOND>'
    case 'Timestamp':
      return `Timestamp<${(type.unit ?? 'Millisecond').toUpperCase()}, UTC>`
    case 'List':
      return `List<${arrowTypeText(innerType(type.itemType))}>`
    default:
      return type.kind.replace('UInt', 'Uint')
  }
}

/** A value that apache-arrow handed out, as the helpers have it; raw where its getters would round. */
function fromArrow(data: arrow.Data, row: number): Value {
  if (!data.getValid(row)) return null
  const at = data.offset + row
  if (arrow.DataType.isList(data.type)) {
    const offsets = data.valueOffsets
    const count = offsets[row + 1]! - offsets[row]!
    return Array.from({ length: count }, (_, i) => fromArrow(data.children[0]!, offsets[row]! + i))
  }
  if (arrow.DataType.isBool(data.type)) return ((data.values[at >> 3] >> (at & 7)) & 1) === 1
  if (arrow.DataType.isUtf8(data.type) || arrow.DataType.isBinary(data.type)) {
    const bytes = data.values.slice(data.valueOffsets[row], data.valueOffsets[row + 1]) as Uint8Array
    return arrow.DataType.isUtf8(data.type) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : bytes
  }
  if (arrow.DataType.isDecimal(data.type)) {
    const words = data.values.subarray(4 * row, 4 * row + 4) as Uint32Array
    const unsigned = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n)
    return BigInt.asIntN(128, unsigned)
  }
  if (data.values instanceof Int32Array && data.stride === 2) {
    return (BigInt(data.values[2 * row + 1]!) << 32n) | BigInt(data.values[2 * row]! >>> 0)
  }
  return data.values[row] as Value
}

function rowsOfArrow(table: arrow.Table): Value[][] {
  return table.batches.flatMap((batch) =>
    Array.from({ length: batch.numRows }, (_, row) => batch.data.children.map((child) => fromArrow(child, row))),
  )
}

describe('Arrow IPC stream', () => {
  test('apache-arrow reads what we write, and we read what it writes back', () => {
    fc.assert(
      fc.property(arbTable, ({ fields, rows }) => {
        const bytes = encodeArrowStream(fields, [batchOf(fields, rows)])
        const table = arrow.tableFromIPC(bytes)
        expect(table.schema.fields.map(({ name, nullable, type }) => [name, nullable, String(type)])).toEqual(
          fields.map(({ name, type }) => [name, isOptional(type), arrowTypeText(innerType(type))]),
        )
        expect(rowsOfArrow(table)).toEqual(rows)
        const back = decodeArrowBatches(arrow.tableToIPC(table, 'stream'))
        expect(back.fields).toEqual(fields)
        expect(back.batches.flatMap(batchRows)).toEqual(rows)
      }),
      { numRuns: 150 },
    )
  })

  test('several batches come back as one, from any position in memory', () => {
    fc.assert(
      fc.property(arbTable, fc.nat(40), fc.nat(15), ({ fields, rows }, cut, shift) => {
        const batch = batchOf(fields, rows)
        const middle = Math.min(cut, rows.length)
        const bytes = encodeArrowStream(fields, [sliceBatch(batch, 0, middle), sliceBatch(batch, middle, rows.length)])
        // As a log read from disk hands it over: slice() of a Buffer is a view.
        const moved = Buffer.alloc(bytes.length + shift)
        moved.set(bytes, shift)
        const back = decodeArrowStream(moved.subarray(shift))
        expect(batchRows(back)).toEqual(rows)
        expect(back.columns.map(({ name, type, nullable }) => [name, type, nullable])).toEqual(
          fields.map(({ name, type }) => [name, innerType(type), isOptional(type)]),
        )
      }),
      { numRuns: 100 },
    )
  })

  test('come in pieces that are the same bytes', () => {
    fc.assert(
      fc.property(arbTable, fc.nat(40), ({ fields, rows }, cut) => {
        const batch = batchOf(fields, rows)
        const middle = Math.min(cut, rows.length)
        const batches = [sliceBatch(batch, 0, middle), sliceBatch(batch, middle, rows.length)]
        const messages = batches.map((one) => arrowBatchMessage(fields, one))
        const pieces = [arrowStreamStart(fields), ...messages, arrowStreamEnd()]
        expect(Buffer.concat(pieces)).toEqual(Buffer.from(encodeArrowStream(fields, batches)))
      }),
      { numRuns: 50 },
    )
  })

  test('the same rows give the same bytes', () => {
    fc.assert(
      fc.property(arbTable, ({ fields, rows }) => {
        const again = fields.map((field) => ({ ...field }))
        expect(encodeArrowStream(again, [batchOf(again, rows)])).toEqual(
          encodeArrowStream(fields, [batchOf(fields, rows)]),
        )
      }),
      { numRuns: 50 },
    )
  })

  test('a stream without batches has no rows and keeps its columns', () => {
    const fields: Field[] = [{ name: 'l', type: { kind: 'List', itemType: { kind: 'String' } } }]
    const { rows, columns } = decodeArrowStream(encodeArrowStream(fields, []))
    expect([rows, columns.map((column) => column.name)]).toEqual([0, ['l']])
  })

  test('lists that apache-arrow has sliced are read from their first item on', () => {
    const vector = arrow.vectorFromArray(
      [[1, 2], [3], null, [4, 5]],
      new arrow.List(new arrow.Field('item', new arrow.Int32(), true)),
    )
    const table = new arrow.Table({ l: vector }).slice(1, 4)
    expect(batchRows(decodeArrowStream(arrow.tableToIPC(table, 'stream')))).toEqual([[[3]], [null], [[4, 5]]])
  })

  test('types that no column can hold are refused with their column', () => {
    const refused: [arrow.DataType, unknown[]][] = [
      [new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), ['a']],
      [new arrow.Float16(), [1]],
      [new arrow.TimestampMillisecond(), [0]],
      [new arrow.DateMillisecond(), [new Date(0)]],
      [new arrow.FixedSizeBinary(2), [Uint8Array.of(1, 2)]],
      [new arrow.Null(), [null]],
    ]
    for (const [type, values] of refused) {
      const stream = arrow.tableToIPC(new arrow.Table({ col: arrow.vectorFromArray(values, type) }), 'stream')
      expect(() => decodeArrowStream(stream)).toThrow(/"col".*(not understood|dictionary)/)
    }
  })
})

function outcomeOf(bytes: Uint8Array): string {
  try {
    batchRows(decodeArrowStream(bytes))
    return 'rows'
  } catch (error) {
    return error instanceof DecodeError ? 'DecodeError' : String(error)
  }
}

describe('bad Arrow streams', () => {
  const fields: Field[] = [
    { name: 's', type: { kind: 'Option', inner: { kind: 'String' } } },
    { name: 'l', type: { kind: 'List', itemType: { kind: 'Int32' } } },
  ]
  const rows: Value[][] = [
    ['é', [1, 2]],
    [null, []],
    ['xy', [3]],
  ]
  const good = encodeArrowStream(fields, [batchOf(fields, rows)])

  test('each cut of a stream is refused', () => {
    for (let length = 0; length < good.length; length++) {
      expect(() => decodeArrowStream(good.subarray(0, length)), `first ${length} bytes`).toThrow(DecodeError)
    }
  })

  test('bytes after the end mark are refused', () => {
    const longer = new Uint8Array(good.length + 1)
    longer.set(good)
    expect(() => decodeArrowStream(longer)).toThrow(/goes on after its end mark/)
  })

  test('any changed bytes give a DecodeError or a well-formed batch', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
        (changes) => {
          const bytes = good.slice()
          for (const [at, value] of changes) bytes[at] = value
          expect(outcomeOf(bytes)).toMatch(/^(rows|DecodeError)$/)
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('a stream in parts, cut anywhere, reads as the whole does, whether it is good or bad', () => {
    const verdictOf = (read: () => Value[][]): unknown => {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error
        return error.message
      }
    }
    const inParts = (bytes: Uint8Array, cuts: readonly number[]): Value[][] => {
      const reader = new ArrowStreamReader()
      const read: Value[][] = []
      for (const [i, from] of [0, ...cuts].entries()) {
        for (const batch of reader.push(bytes.slice(from, cuts[i]))) read.push(...batchRows(batch))
        reader.free()
      }
      reader.end()
      return read
    }
    fc.assert(
      fc.property(
        fc.array(fc.nat(good.length), { maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 2 }),
        fc.nat(good.length),
        (cuts, changes, dropped) => {
          const bytes = good.slice(0, changes.length === 2 ? good.length - dropped : good.length)
          for (const [at, value] of changes) bytes[at] = value
          const rising = cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b)
          const whole = verdictOf(() => decodeArrowBatches(bytes).batches.flatMap((batch) => batchRows(batch)))
          expect(verdictOf(() => inParts(bytes, rising))).toEqual(whole)
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('text that is not UTF-8, or cut inside a character, is refused', () => {
    const one: Field[] = [{ name: 's', type: { kind: 'String' } }]
    const batch = batchOf(one, [['é'], ['é']])
    const [column] = batch.columns
    const stream = (part: object): Uint8Array =>
      encodeArrowStream(one, [{ rows: 2, columns: [{ ...column!, ...part }] }])
    expect(() => decodeArrowStream(stream({ offsets: Int32Array.of(0, 1, 4) }))).toThrow(/"s" is not UTF-8/)
    expect(() => decodeArrowStream(stream({ values: Uint8Array.of(0xc3, 0xa9, 0xed, 0xa0) }))).toThrow(/not UTF-8/)
    expect(() => decodeArrowStream(stream({ offsets: Int32Array.of(0, 4, 2) }))).toThrow(/go backwards|outside|shorter/)
  })

  test('nulls in a required column and false null counts are refused', () => {
    const required: Field[] = [{ name: 'x', type: { kind: 'Int32' } }]
    const nullable: Field[] = [{ name: 'x', type: { kind: 'Option', inner: { kind: 'Int32' } } }]
    const batch = batchOf(nullable, [[1], [null]])
    expect(() => decodeArrowStream(encodeArrowStream(required, [batch]))).toThrow(/required and has nulls/)
    const [column] = batch.columns
    const lying = { rows: 2, columns: [{ ...column!, nullCount: 2 }] }
    expect(() => decodeArrowStream(encodeArrowStream(nullable, [lying]))).toThrow(/wrong number of nulls/)
  })
})

describe('a batch in messages', () => {
  test.each([
    // 120 KiB, or 512 bytes of each column where that is more.
    [1, 120 * 128],
    [250, 64],
  ])('of %i columns is cut above %i rows of 8 bytes each', (columns, most) => {
    const fields = Array.from({ length: columns }, (_, i): Field => ({ name: `c${i}`, type: { kind: 'Int64' } }))
    const counts = [most - 1, most, most + 1].map((rows) => {
      const values = Array.from({ length: rows }, (_, row) => fields.map((_, i) => BigInt(row * columns + i)))
      const batch = batchOf(fields, values)
      const messages = arrowBatchMessages(fields, batch)
      const { batches } = decodeArrowBatches(Buffer.concat([arrowStreamStart(fields), ...messages, arrowStreamEnd()]))
      expect(batches.flatMap(batchRows)).toEqual(values)
      return messages.length
    })
    expect(counts).toEqual([1, 1, 2])
  })
})
