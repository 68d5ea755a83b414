// Files by DuckDB, polars, pandas, fastparquet (test/fixtures/parquet/make.py), Spark (make_spark.py), parquet-go (make-go)
// and arrow-rs (make-rust), and single things that files have.

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { collected } from '../../formats/reading.ts'
import { columnTexts, fixture, open, type ReadColumn, readAll, refusal } from './parquet-helper.ts'

const folder = fileURLToPath(new URL('../../../fixtures/parquet', import.meta.url))
const expected = JSON.parse(new TextDecoder().decode(fixture('writers.json'))) as ReadColumn[]

describe('files of other software have the rows that were written', () => {
  const names = readdirSync(folder).filter((name) => name.startsWith('writer-'))
  test('there are files of each', () => expect(names.length).toBeGreaterThan(33))
  for (const name of names) {
    test(name, async () => {
      const columns = (await readAll(fixture(name))).map(({ type, ...rest }) => ({
        ...rest,
        type: type.replace('?', ''),
      }))
      expect(columns).toEqual(expected)
    })
  }
})

describe('single things', () => {
  test('INT96 is a time in nanoseconds without a zone', async () => {
    const nanos = [
      '0',
      '-1',
      '1700000000123456789',
      null,
      String(-(2n ** 62n)),
      String(2n ** 63n - 1n),
      String(-(2n ** 63n)),
    ]
    expect(await readAll(fixture('int96.parquet'))).toEqual([
      { name: 't', type: 'Timestamp(Nanosecond) zoneless?', values: nanos },
    ])
  })

  test('a column of the type null has no values', async () => {
    const [nulls] = await readAll(fixture('nulls.parquet'))
    expect(nulls).toEqual({ name: 'n', type: 'Null?', values: [null, null, null, null, null] })
  })

  test('a file without rows has columns', async () => {
    expect(await readAll(fixture('no-rows.parquet'))).toEqual([
      { name: 'a', type: 'Int32?', values: [] },
      { name: 's', type: 'String?', values: [] },
    ])
  })

  test('decimals in integers are exact', async () => {
    expect(await readAll(fixture('decimal-int32.parquet'))).toEqual([
      { name: 'd', type: 'Decimal(9,2)?', values: ['123456789', null, '-999999999'] },
    ])
  })

  test('only the columns asked for are read, in the order asked for', async () => {
    const file = await open(fixture('writer-pandas.parquet'))
    for await (const { rows, columns } of file.batches([4, 0])) {
      expect(columns.map(({ name }) => name)).toEqual(['free', 'id'])
      expect(rows).toBe(300)
    }
    let rows = 0
    for await (const batch of file.batches([])) rows += batch.rows
    expect(rows).toBe(300)
  })

  test('decimals of more than 38 digits and durations are refused by name', async () => {
    expect(await refusal(fixture('decimal256.parquet'))).toMatchObject({
      kind: 'UnsupportedEncoding',
      message: expect.stringContaining('"d" is a decimal of 60 digits'),
    })
    expect(await refusal(fixture('duration.parquet'))).toMatchObject({
      kind: 'UnsupportedEncoding',
      message: expect.stringContaining('"d" is a duration'),
      details: { hint: expect.stringContaining('int64') },
    })
  })

  test('columns that are refused stop only who asks for them', async () => {
    const file = await open(fixture('refused-columns.parquet'))
    const names = file.fields.map(({ name }) => name)
    expect([...file.refused.keys()].map((place) => names[place])).toEqual(['digits', 'spans', 'inside'])
    const values: unknown[] = []
    for await (const { columns } of file.batches([names.indexOf('first'), names.indexOf('last')])) {
      values.push(columns.map(columnTexts))
    }
    expect(values).toEqual([
      [
        ['1', null],
        ['a', 'b'],
      ],
    ])
    await expect(collected(file.batches([names.indexOf('digits')]))).rejects.toThrow('60 digits')
  })
})
