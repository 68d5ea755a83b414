// Every type of the engine at its ends, against a golden file: least value, greatest value, null, and the schema in
// three formats. The table function behind it is closed to callers, so the renderer is driven directly.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { renderResult } from '../../../src/node/engine/duckdb/results.ts'
import { outputSchemaOf } from '../../../src/node/engine/duckdb/types.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { schemaBytes } from '../../../src/libraries/odf/schema-formats.ts'

type Connection = Awaited<ReturnType<DuckDBInstance['connect']>>

let connection: Connection

beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect()
  await connection.run("SET TimeZone = 'UTC'")
})
afterAll(() => connection.closeSync())

const golden: Readonly<Record<string, unknown>> = JSON.parse(readFileSync('test/node/engine/all-types.json', 'utf8'))

/** What stands in the golden file for a value or a schema that is refused: the kind. */
async function orKind(make: () => Promise<string>): Promise<string> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

async function describeColumn(name: string): Promise<object> {
  const values: string[] = []
  const schemas: Record<string, string> = {}
  let type = ''
  for (const row of [0, 1, 2]) {
    const sql = `SELECT "${name}" FROM test_all_types() LIMIT 1 OFFSET ${row}`
    const read = await connection.runAndReadAll(sql)
    // Enums list hundreds of members.
    type = String(read.columnTypes()[0]).slice(0, 60)
    values.push(
      await orKind(async () => {
        const options = { names: ['a'], dataFormat: 'JsonAos', keyOrder: 'canonical', ascii: true } as const
        const rendered = await renderResult(await connection.run(sql), { ...options, limit: 1, resultBytes: 10_000 })
        const { pieces } = must(rendered, 'it runs to its end')
        return Buffer.concat(pieces).toString().slice('[{"a":'.length, -'}]'.length)
      }),
    )
    for (const format of row > 0 ? [] : (['ArrowJson', 'OdfJson', 'Parquet'] as const)) {
      schemas[format] = await orKind(async () => {
        return Buffer.from(schemaBytes(outputSchemaOf(['a'], read.columnTypes()), format)).toString()
      })
    }
  }
  return { type, values, schemas }
}

test('every type prints at its ends as it always did, and is named the same in each schema', async () => {
  const names = (await connection.runAndReadAll('SELECT * FROM test_all_types()')).columnNames()
  const found: Record<string, unknown> = {}
  for (const name of names) found[name] = await describeColumn(name)
  expect(found).toEqual(golden)
})

test.each(['bigint', 'ubigint', 'dec_4_1', 'dec_18_6', 'dec38_10', 'uuid', 'bit', 'bignum', 'large_enum', 'time_tz'])(
  '%s prints as the engine itself casts it to text',
  async (name) => {
    const sql = `SELECT "${name}"::VARCHAR FROM test_all_types()`
    const texts = (await connection.runAndReadAll(sql)).getRows().map(([text]) => String(text))
    const { values } = Object(golden[name])
    expect(values.map((token: string) => token.replace(/^"(.*)"$/, '$1'))).toEqual(
      texts.map((text) => (text === 'NULL' ? 'null' : text)),
    )
  },
)

test('what is printed is JSON', () => {
  const texts = Object.values(golden).flatMap((column): string[] => Object(column).values)
  const printed = texts.filter((text) => text !== 'QueryNotAllowed' && text !== 'SqlValue')
  expect(printed.length).toBeGreaterThan(150)
  for (const text of printed) expect(() => JSON.parse(text)).not.toThrow()
})
