// Two datasets with columns of every type and odd values in them, posted as many small slices.

import { readFile } from 'node:fs/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect } from 'vitest'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { DataSchema } from '../../../src/libraries/model/schema.ts'
import { schemaFromJson } from '../../../src/libraries/odf/odf-json.ts'
import { schemaOf } from '../engine/helpers.ts'
import type { LiveNode } from '../../helpers/live-node.ts'

const types = {
  'acme/t':
    'k Int32?; m Int64?; i8 Int8?; u64 UInt64?; f Float32?; x Float64?; z Float64?; s String?; g String?; p Decimal(9,2)?; ' +
    'w Decimal(38,10)?; d Date?; at Timestamp(Microsecond)?; b Bool?; y Binary?; l List(Int64?)?; fl List(Float64?)?',
  'acme/u': 'k Int32?; name String?; v Float64?; d Date?',
} as const

export type Dataset = keyof typeof types
export const datasets = Object.keys(types) as Dataset[]

/** As many that those of the first are merged. */
export const posts: Readonly<Record<Dataset, number>> = { 'acme/t': 275, 'acme/u': 40 }

/** Columns as PUT takes them. */
export function fieldsOf(dataset: Dataset): { name: string; type: string }[] {
  return types[dataset].split('; ').map((text) => {
    const [name = '', type = ''] = text.split(' ')
    return { name, type }
  })
}

/** The same with the system columns. */
export function schemaFor(dataset: Dataset): DataSchema {
  return schemaOf(...schemaFromJson(fromPlain({ fields: fieldsOf(dataset) })).fields)
}

/** SQL: one of these, by a hash of row `i`. */
function pick(factor: number, of: string): string {
  return `([${of}])[1 + (hash(i * ${factor}) % ${of.split(', ').length})::INT]`
}

const odd = "'nan'::DOUBLE, 'inf', '-inf', 0e0, -0e0, NULL, 5e-324, 1e308, 0.1e0, 1e0, 3.5e0, -2.25e0, 1e16, 7e-3"
const single = "'nan'::FLOAT, 'inf', '-inf', 0e0, -0e0, NULL, 1e0, 3.5e0, -2.25e0"
const most = '9999999999999999999999999999.9999999999'

const values: Readonly<Record<Dataset, string>> = {
  'acme/t': `
    CASE WHEN hash(i * 3) % 11 = 0 THEN NULL ELSE (hash(i * 31) % 9)::INT - 2 END AS k,
    CASE hash(i * 5) % 9 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 WHEN 2 THEN NULL
      ELSE (hash(i * 7) % 900)::BIGINT END AS m,
    ${pick(41, '-128, 127, 0, NULL, 5')}::TINYINT AS i8,
    ${pick(43, '18446744073709551615, 0, NULL, 9, 10')}::UBIGINT AS u64,
    ${pick(47, single)}::FLOAT AS f,
    CASE WHEN hash(i * 17) % 2 = 0 THEN ${pick(19, odd)} ELSE (hash(i) % 100000) / 7e3 - 4 END AS x,
    CASE WHEN hash(i * 13) % 2 = 0 THEN 0e0 ELSE -0e0 END AS z,
    ${pick(59, "'', 'a', 'A', 'é', 'e' || chr(769), ' ', NULL, '😀', repeat('long ' : 30), '12'").replace(':', ',')} AS s,
    'g' || (hash(i * 3) % 12) AS g,
    CASE WHEN i % 13 = 0 THEN NULL ELSE ((hash(i * 11) % 10000) / 100)::DECIMAL(9, 2) END AS p,
    ${pick(61, `'${most}', '-${most}', '0.0000000001', NULL, '1', '2.5'`)}::DECIMAL(38, 10) AS w,
    ${pick(67, "DATE '0001-01-01', '9999-12-31', '1969-12-31', NULL, '2024-02-29', DATE '2024-01-01' + (i % 200)::INT")} AS d,
    TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_microseconds((hash(i * 71) % 500000000)::BIGINT) AS at,
    hash(i * 19) % 2 = 0 AS b,
    ${pick(73, "'', 'a', '\\xff\\x00', NULL")}::BLOB AS y,
    CASE WHEN i % 7 = 0 THEN NULL ELSE '[' || (hash(i * 23) % 4) || ', null, ' || (i % 3) || ']' END AS l,
    ${pick(79, "'[]', '[0.0]', '[-0.0]', NULL, '[null,1.5]'")} AS fl`,
  'acme/u': `(i % 12)::INT - 2 AS k, 'n' || (hash(i) % 9) AS name, ${pick(83, odd)} AS v,
    DATE '2024-01-01' + (i % 50)::INT AS d`,
}

/** Posts all rows; `scratch` is the path of a file that is free. */
export async function postAll(live: LiveNode, scratch: string): Promise<void> {
  const writer = await (await DuckDBInstance.create(':memory:')).connect()
  await writer.run("SET TimeZone = 'UTC'")
  for (const dataset of datasets) {
    const made = await live.call(`/${dataset}`, { method: 'PUT', json: { schema: { fields: fieldsOf(dataset) } } })
    expect([made.status, made.at('error')]).toEqual([201, undefined])
    for (let at = 0, row = 0; at < posts[dataset]; at++) {
      const rows = 1 + ((at * 7) % 11)
      const time = "TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_seconds((i // 5 + hash(i) % 20)::BIGINT) AS event_time"
      const select = `SELECT ${time}, ${values[dataset]} FROM range(${row}, ${row + rows}) r(i)`
      await writer.run(`COPY (${select}) TO '${scratch}' (FORMAT parquet)`)
      const headers = { 'content-type': 'application/vnd.apache.parquet', prefer: 'wait=30' }
      const body = new Uint8Array(await readFile(scratch))
      const answer = await live.call(`/${dataset}/ingest`, { method: 'POST', headers, body })
      expect([answer.status, answer.at('error')]).toEqual([200, undefined])
      row += rows
    }
  }
  writer.closeSync()
}
