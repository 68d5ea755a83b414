// Slices that others wrote, read by us: DuckDB, hyparquet-writer, deployed ODF software; and damaged ones.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { type BasicType, parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { afterAll, describe, expect, test } from 'vitest'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'
import { type DataType, type Field, innerType, isOptional } from '../../../../src/libraries/model/schema.ts'
import { openSlice } from '../../../../src/libraries/columnar/parquet/read-slice.ts'
import { arbTable, batchOf, batchRows } from '../arrow/columns-helper.ts'
import { readSlice } from '../../../helpers/slices.ts'
import { connect, hashOf, writeSlice } from './slice-helper.ts'

const folder = mkdtempSync(join(tmpdir(), 'slices-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('slice reader', () => {
  test('files that DuckDB writes of our rows are read', async () => {
    const connection = await connect()
    let files = 0
    await fc.assert(
      fc.asyncProperty(arbTable, fc.constantFrom('snappy', 'zstd', 'uncompressed'), async (table, codec) => {
        const fields = table.fields.filter(({ type }) => !/"Time/.test(JSON.stringify(type)))
        fc.pre(fields.length > 0)
        const rows = table.rows.map((row) => row.filter((_, i) => fields.includes(table.fields[i]!)))
        // Never one name twice: DuckDB remembers what it read of a file, and times of files are coarse.
        const number = files++
        const [from, to] = [join(folder, `from-${number}.parquet`), join(folder, `to-${number}.parquet`)]
        writeFileSync(from, writeSlice(fields, [batchOf(fields, rows)]))
        await connection.run(`COPY (FROM read_parquet('${from}')) TO '${to}' (FORMAT parquet, COMPRESSION ${codec})`)
        expect(batchRows(await readSlice(new Uint8Array(readFileSync(to))))).toEqual(rows)
      }),
      { numRuns: 60 },
    )
    connection.closeSync()
  })

  test('hyparquet-writer, given the same rows, makes a file of the same logical hash', async () => {
    await fc.assert(
      fc.asyncProperty(arbTable, async (table) => {
        const fields = table.fields.filter(({ type }) => typeForOracle(innerType(type)) !== undefined)
        fc.pre(fields.length > 0 && table.rows.length > 0)
        const rows = table.rows.map((row) => row.filter((_, i) => fields.includes(table.fields[i]!)))
        const other = parquetWriteBuffer({
          schema: [{ name: 'root', num_children: fields.length }, ...fields.map(elementForOracle)],
          columnData: fields.map(({ name }, i) => ({ name, data: rows.map((row) => row[i]) })),
        })
        const theirs = await readSlice(new Uint8Array(other))
        const ours = await readSlice(writeSlice(fields, [batchOf(fields, rows)]))
        expect(hashOf(fields, theirs)).toBe(hashOf(fields, ours))
      }),
      { numRuns: 60 },
    )
  })
})

function typeForOracle(type: DataType): BasicType | undefined {
  switch (type.kind) {
    case 'Bool':
      return 'BOOLEAN'
    case 'Int32':
      return 'INT32'
    case 'Int64':
      return 'INT64'
    case 'Float32':
      return 'FLOAT'
    case 'Float64':
      return 'DOUBLE'
    case 'String':
      return 'STRING'
    case 'Binary':
      return 'BYTE_ARRAY'
    default:
      return undefined
  }
}

function elementForOracle({ name, type }: Field): SchemaElement {
  const basic = typeForOracle(innerType(type))!
  const repetition_type = isOptional(type) ? 'OPTIONAL' : 'REQUIRED'
  if (basic === 'STRING') return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type }
  return { name, type: basic as 'INT32', repetition_type }
}

describe('slices of other ODF software', () => {
  const sets = new URL('../../../fixtures/', import.meta.url)
  interface Slice {
    file: URL
    name: string
    logicalHash: string
    records: number
  }
  interface ChainBlock {
    physicalHash: string
    logicalHash: string
    offsets?: number[]
  }
  const slices: Slice[] = []
  const add = (
    name: string,
    base: string,
    hash: { physicalHash: string; logicalHash: string },
    offsets: number[],
  ): void => {
    const file = new URL(`${base}/data/${hash.physicalHash}`, sets)
    slices.push({ file, name, logicalHash: hash.logicalHash, records: offsets[1]! - offsets[0]! + 1 })
  }
  for (const name of readdirSync(new URL('odf-datasets', sets))) {
    const { blocks } = JSON.parse(readFileSync(new URL(`odf-datasets/${name}/expected.json`, sets), 'utf8'))
    for (const { event } of blocks) {
      const { newData } = event
      if (newData)
        add(name, `odf-datasets/${name}`, newData, [newData.offsetInterval.start, newData.offsetInterval.end])
    }
  }
  const { datasets } = JSON.parse(readFileSync(new URL('odf-chain/expected.json', sets), 'utf8'))
  for (const [name, { blocks }] of Object.entries<{ blocks: ChainBlock[] }>(datasets)) {
    for (const block of blocks) if (block.offsets) add(name, `odf-chain/${name}`, block, block.offsets)
  }
  const columnar = slices.filter(({ name }) => name !== 'all-types')

  test('all slices but the two with a struct are in the test', () => {
    expect(slices.length - columnar.length).toBe(2)
    expect(columnar.length).toBeGreaterThan(15)
  })

  test.each(columnar.map((slice, i) => [`${slice.name} ${i}`, slice] as const))(
    '%s has the logical hash of its block, also when written anew',
    async (_, { file, logicalHash, records }) => {
      const bytes = new Uint8Array(readFileSync(file))
      const { fields } = openSlice(bytes)
      const batch = await readSlice(bytes)
      expect(batch.rows).toBe(records)
      expect(hashOf(fields, batch)).toBe(logicalHash)
      const again = await readSlice(writeSlice(fields, [batch]))
      expect(hashOf(fields, again)).toBe(logicalHash)
    },
  )

  test('our schema is annotated as theirs', () => {
    const theirs = slices.find(({ name }) => name === 'flat-types')!
    const bytes = new Uint8Array(readFileSync(theirs.file))
    const { fields } = openSlice(bytes)
    const schemaOf = (file: Uint8Array): unknown => parquetMetadata(file.slice().buffer).schema
    expect(schemaOf(writeSlice(fields, []))).toEqual(schemaOf(bytes))
  })

  test('a struct is refused by name', () => {
    const file = slices.find(({ name }) => name === 'all-types')!.file
    expect(() => openSlice(new Uint8Array(readFileSync(file)))).toThrow(/column "st" is neither plain nor/)
  })
})

describe('damaged slices', () => {
  const fields: Field[] = [
    { name: 's', type: { kind: 'Option', inner: { kind: 'String' } } },
    { name: 'l', type: { kind: 'List', itemType: { kind: 'Int32' } } },
  ]
  const good = writeSlice(fields, [
    batchOf(fields, [
      ['a', [1, 2]],
      [null, []],
      ['b', [3]],
    ]),
  ])

  test('are refused with a DecodeError or read without harm', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), async (at, value) => {
        const bytes = good.slice()
        bytes[at] = value
        const outcome = await readSlice(bytes).then(batchRows, (error: unknown) => error)
        expect(Array.isArray(outcome) || outcome instanceof DecodeError).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('are refused when cut', () => {
    for (const length of [0, 3, 11, good.length >> 1, good.length - 1]) {
      expect(() => openSlice(good.subarray(0, length)), `first ${length} bytes`).toThrow(DecodeError)
    }
  })
})
