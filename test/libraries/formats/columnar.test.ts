// Files of typed columns as bodies: columns matched by name, the columns that a new dataset gets, and what is refused.

import { describe, expect, test } from 'vitest'
import { createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import { type ColumnarFile, ColumnarReader } from '../../../src/libraries/formats/columnar.ts'
import type { InferOptions, Inferred, ReaderOptions } from '../../../src/libraries/formats/format.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import {
  type Column,
  type DataType,
  type Field,
  optional,
  type RecordBatch,
  typeText,
} from '../../../src/libraries/model/schema.ts'
import { base, collected, failureOf, optionalField, readerOptions, rowsOf } from './reading.ts'

const int64: DataType = { kind: 'Int64' }
const string: DataType = { kind: 'String' }
const utcMs: DataType = { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' }

function integerColumn(name: string, values: readonly (number | null)[], type: DataType = int64): Column {
  const builder = createColumnBuilder(optionalField(name, type), 4)
  for (const value of values) {
    if (value === null) builder.appendNull()
    else builder.appendInt64(value)
  }
  return builder.finish()
}

function textColumn(name: string, values: readonly (string | null)[]): Column {
  const builder = createColumnBuilder(optionalField(name, string), 4)
  for (const value of values) {
    if (value === null) builder.appendNull()
    else builder.appendBytes(Buffer.from(value), 0, Buffer.byteLength(value))
  }
  return builder.finish()
}

function nullsColumn(name: string, rows: number): Column {
  return {
    name,
    type: { kind: 'Null' },
    nullable: true,
    rows,
    nullCount: rows,
    validity: new Uint8Array(8),
    values: new Uint8Array(0),
  }
}

/** A file of one column each of which is in every batch; `asked` says which places were asked for. */
function fileOf(batches: readonly (readonly Column[])[], geometry?: number): ColumnarFile & { asked: number[][] } {
  const asked: number[][] = []
  const first = batches[0] ?? []
  return {
    asked,
    fields: first.map(({ name, type }) => ({ name, type: optional(type) })),
    refused: new Map(),
    texts: new Map(),
    rows: batches.reduce((sum, columns) => sum + (columns[0]?.rows ?? 0), 0),
    ...(geometry === undefined ? {} : { geometry }),
    async *batches(columns) {
      asked.push([...columns])
      for (const all of batches) {
        const batch: RecordBatch = { rows: all[0]?.rows ?? 0, columns: columns.map((i) => all[i]!) }
        yield batch
      }
    },
  }
}

const oneBatch = (...columns: Column[]): ReturnType<typeof fileOf> => fileOf([columns])

async function rows(
  file: ColumnarFile,
  fields: readonly Field[],
  more: Partial<ReaderOptions> = {},
): Promise<unknown[][]> {
  const batches = await collected(new ColumnarReader(file).read(readerOptions(fields, more)))
  return rowsOf({ records: file.rows, batches })
}

async function faultsOf(
  file: ColumnarFile,
  fields: readonly Field[],
  more: Partial<ReaderOptions> = {},
): Promise<unknown[]> {
  const error = await failureOf(rows(file, fields, more))
  expect(error.kind).toBe('RecordsDoNotFit')
  return (error.details.errors ?? []).map(({ kind, record, column }) => [kind, record ?? 'file', column])
}

function infer(file: ColumnarFile, more: Partial<InferOptions> = {}): Promise<Inferred> {
  return new ColumnarReader(file).infer({ ...base, columns: 2000, ...more })
}

const columnsOf = ({ fields }: Inferred): string[] => fields.map(({ name, type }) => `${name} ${typeText(type)}`)

describe('a column that cannot be read', () => {
  const error = new NodeError('UnsupportedEncoding', 'The column "odd" is odd. Nothing was stored.')
  const file = (): ReturnType<typeof fileOf> => ({
    ...oneBatch(textColumn('odd', ['?']), integerColumn('n', [1])),
    refused: new Map([[0, error]]),
  })
  const n = optionalField('n', int64)

  test('is left out where it is ignored and the dataset does not have it', async () => {
    const odd = file()
    expect(await rows(odd, [n], { unknownFields: 'ignore' })).toEqual([[null, 1n]])
    expect(odd.asked).toEqual([[1]])
    expect(await faultsOf(odd, [n])).toEqual([['UnknownField', 'file', 'odd']])
  })

  test('refuses the file where it is used: as a column of the dataset, as one that is added, as its event time', async () => {
    const withOdd = [n, optionalField('ODD', string)]
    expect(await failureOf(rows(file(), withOdd, { unknownFields: 'ignore' }))).toBe(error)
    expect(await failureOf(infer(file()))).toBe(error)
    expect(columnsOf(await infer(file(), { known: withOdd }))).toEqual(['n Int64?', 'ODD String?'])
    const vocabulary = { ...base.vocabulary, eventTimeColumn: 'odd' }
    expect(await failureOf(infer(file(), { vocabulary }))).toBe(error)
  })
})

describe('columns of a file', () => {
  test('go where their names say, in any order and case; only these are read, others are null', async () => {
    const file = oneBatch(textColumn('other', ['x', 'y']), integerColumn('B', [1, null]), textColumn('a', ['p', 'q']))
    const fields = [optionalField('a', string), optionalField('b', int64), optionalField('c', int64)]
    expect(await rows(file, fields, { unknownFields: 'ignore' })).toEqual([
      [null, 'p', 1n, null],
      [null, 'q', null, null],
    ])
    expect(file.asked).toEqual([[1, 2]])
  })

  test('that the dataset lacks are refused unless they are ignored or hold nothing', async () => {
    const file = oneBatch(integerColumn('n', [1]), textColumn('what', ['x']), nullsColumn('void', 1))
    const fields = [optionalField('n', int64)]
    expect(await faultsOf(file, fields)).toEqual([['UnknownField', 'file', 'what']])
    const withoutIt = oneBatch(integerColumn('n', [1]), nullsColumn('void', 1))
    expect(await rows(withoutIt, fields, { valueless: ['void'] })).toEqual([[null, 1n]])
  })

  test('of nulls do not hide another of their name that has values', async () => {
    const file = oneBatch(nullsColumn('what', 1), textColumn('WHAT', ['x']), integerColumn('n', [1]))
    const inferred = await infer(file, {})
    expect(columnsOf(inferred)).toEqual(['WHAT String?', 'n Int64?'])
    const { valueless } = inferred
    expect(await faultsOf(file, [optionalField('n', int64)], { valueless })).toEqual([['UnknownField', 'file', 'WHAT']])
    expect(await faultsOf(file, inferred.added, { valueless })).toEqual([['DuplicateField', 'file', 'WHAT']])
  })

  test('that stand twice, or are those of the system, are refused by name', async () => {
    const file = oneBatch(
      integerColumn('n', [1]),
      integerColumn('N', [2]),
      integerColumn('op', [0]),
      integerColumn('offset', [0]),
    )
    expect(await faultsOf(file, [optionalField('n', int64)], { unknownFields: 'ignore' })).toEqual([
      ['DuplicateField', 'file', 'N'],
      ['ReservedColumn', 'file', 'op'],
      ['ReservedColumn', 'file', 'offset'],
    ])
  })

  test('that are required have to be there, and to have values', async () => {
    const fields = [{ name: 'n', type: int64 }]
    expect(await faultsOf(oneBatch(textColumn('m', ['x'])), fields, { unknownFields: 'ignore' })).toEqual([
      ['MissingRequired', 0, 'n'],
    ])
    expect(await faultsOf(oneBatch(integerColumn('n', [1, null])), fields)).toEqual([['MissingRequired', 1, 'n']])
    expect(await rows(oneBatch(integerColumn('n', [1])), fields)).toEqual([[null, 1n]])
    expect(await rows(fileOf([]), fields)).toEqual([])
  })

  test('are judged to the last row; records count over all batches, and no rows come after a fault', async () => {
    const many = Array.from({ length: 1000 }, () => 1)
    const file = fileOf([
      [integerColumn('n', many)],
      [integerColumn('n', [3, 300])],
      [integerColumn('n', many)],
      [integerColumn('n', [-1, 7])],
    ])
    const batches: RecordBatch[] = []
    const reading = (async () => {
      const options = readerOptions([optionalField('n', { kind: 'UInt8' })])
      for await (const batch of new ColumnarReader(file).read(options)) batches.push(batch)
    })()
    const { message, details } = await failureOf(reading)
    expect(details.errors?.map(({ kind, record }) => [kind, record])).toEqual([
      ['OutOfRange', 1001],
      ['OutOfRange', 2002],
    ])
    expect(message).toContain('Record 1001')
    expect(batches.map((batch) => batch.rows)).toEqual([1000])
  })

  test('in many batches of few rows come in few batches', async () => {
    const file = fileOf(Array.from({ length: 2500 }, (_, i) => [integerColumn('n', [i, null])]))
    const reader = new ColumnarReader(file)
    const batches = await collected(reader.read(readerOptions([optionalField('n', int64)])))
    expect(batches.map((batch) => batch.rows)).toEqual([1000, 1000, 1000, 1000, 1000])
    const expected = Array.from({ length: 5000 }, (_, i) => [null, i % 2 === 0 ? BigInt(i / 2) : null])
    expect(rowsOf({ records: 5000, batches })).toEqual(expected)
    const long = fileOf(Array.from({ length: 4 }, () => [textColumn('s', ['x'.repeat(700_000)])]))
    const few = await collected(new ColumnarReader(long).read(readerOptions([optionalField('s', string)])))
    expect(few.map((batch) => batch.rows)).toEqual([2, 2])
  })

  test('in batches without rows are none, and what is missing in them is not missed', async () => {
    const file = fileOf([[integerColumn('m', [])], [integerColumn('m', [])]])
    expect(await rows(file, [{ name: 'n', type: int64 }], { unknownFields: 'ignore' })).toEqual([])
    const late = fileOf([[integerColumn('m', [])], [integerColumn('m', [])], [integerColumn('m', [1])]])
    expect(await faultsOf(late, [{ name: 'n', type: int64 }], { unknownFields: 'ignore' })).toEqual([
      ['MissingRequired', 0, 'n'],
    ])
  })

  test('of a hundred faults and more are counted', async () => {
    const values = Array.from({ length: 250 }, (_, i) => 1000 + i)
    const error = await failureOf(rows(oneBatch(integerColumn('n', values)), [optionalField('n', { kind: 'Int8' })]))
    expect([error.details.errors?.length, error.details.errorsTotal]).toEqual([100, 250])
  })

  test('of which a row takes more than a record may are refused by that row', async () => {
    const file = fileOf([[textColumn('s', ['a'])], [textColumn('s', ['b', 'x'.repeat(200)])]])
    const fields = [optionalField('s', string)]
    expect(await faultsOf(file, fields, { recordBytes: 199 })).toEqual([['RecordTooLarge', 2, undefined]])
    expect((await rows(file, fields, { recordBytes: 200 })).length).toBe(3)
  })

  test('become geometry where the file names it, unless another column has that name', async () => {
    const fields = [optionalField('geometry', string), optionalField('shape', string)]
    expect(await rows(fileOf([[textColumn('shape', ['{}'])]], 0), fields)).toEqual([[null, '{}', null]])
    const both = fileOf([[textColumn('shape', ['{}']), textColumn('Geometry', ['mine'])]], 0)
    expect(await rows(both, fields)).toEqual([[null, 'mine', '{}']])
  })
})

describe('the columns of a new dataset', () => {
  test('have the types of the file, as far as a dataset has them', async () => {
    const types: DataType[] = [
      int64,
      { kind: 'UInt8' },
      { kind: 'Float32' },
      { kind: 'Decimal', precision: 20, scale: 3 },
      { kind: 'Date' },
      { kind: 'Time', unit: 'Nanosecond' },
      { kind: 'Timestamp', unit: 'Second', timezone: 'UTC' },
      utcMs,
      { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' },
      { kind: 'Timestamp', unit: 'Nanosecond', timezone: 'UTC' },
      { kind: 'Binary' },
    ]
    const fields = types.map((type, i) => optionalField(`c${i}`, type))
    const inferred = await infer({
      fields,
      rows: 7,
      refused: new Map(),
      texts: new Map(),
      batches: () => fileOf([]).batches([]),
    })
    expect(inferred.records).toBe(7)
    expect(columnsOf(inferred)).toEqual([
      'c0 Int64?',
      'c1 UInt8?',
      'c2 Float32?',
      'c3 Decimal(20,3)?',
      'c4 Date?',
      'c5 String?',
      'c6 Timestamp?',
      'c7 Timestamp?',
      'c8 Timestamp(Microsecond)?',
      'c9 Timestamp(Microsecond)?',
      'c10 Binary?',
    ])
  })

  test('come after those that are known, without the event time, what holds nothing and what stands twice', async () => {
    const file = oneBatch(
      integerColumn('new', [1]),
      integerColumn('EVENT_TIME', [1], { kind: 'Date' }),
      integerColumn('Known', [1]),
      nullsColumn('void', 1),
      integerColumn('NEW', [1]),
      integerColumn('op', [1]),
      textColumn('last', ['x']),
    )
    const known = [optionalField('known', int64)]
    const inferred = await infer(file, { known })
    expect(columnsOf(inferred)).toEqual(['known Int64?', 'new Int64?', 'last String?'])
    expect(inferred.added.map(({ name }) => name)).toEqual(['new', 'last'])
    expect([inferred.valueless, inferred.eventTimeType, inferred.eventTimePosition]).toEqual([
      ['void'],
      { kind: 'Date' },
      2,
    ])
    expect((await infer(file, { known, eventTimeType: utcMs })).eventTimeType).toEqual(utcMs)
  })

  test('are not made of times without a zone, unless these are said to be UTC', async () => {
    const file = oneBatch(integerColumn('t', [1], { kind: 'Timestamp', unit: 'Microsecond' }))
    expect((await failureOf(infer(file))).details.errors).toMatchObject([{ kind: 'BadTimestamp', column: 't' }])
    expect(columnsOf(await infer(file, { timeZone: 'UTC' }))).toEqual(['t Timestamp(Microsecond)?'])
  })

  test('have names that columns may have, and are not too many', async () => {
    expect((await failureOf(infer(oneBatch(integerColumn('', [1]))))).kind).toBe('InvalidColumnName')
    const three = oneBatch(integerColumn('a', [1]), integerColumn('b', [1]), integerColumn('c', [1]))
    const error = await failureOf(infer(three, { columns: 2 }))
    expect([error.kind, error.details.limit?.value]).toEqual(['RecordsDoNotFit', 2])
    expect((await infer(three, { columns: 3 })).added.length).toBe(3)
  })
})
