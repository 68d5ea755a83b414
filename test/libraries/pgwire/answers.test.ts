// Every type of the engine as rows and COPY of PostgreSQL's protocol: byte for byte what a real server sends for the same values.

import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { keepByteOrderMarks } from '../../../src/node/engine/duckdb/open.ts'
import { streamResult } from '../../../src/node/engine/duckdb/stream.ts'
import { pgCopyBinary, pgCopyCsv, pgCopyText } from '../../../src/libraries/pgwire/copy.ts'
import { pgRows } from '../../../src/libraries/pgwire/rows.ts'
import type { FileFormat, FileOptions } from '../../../src/libraries/columnar/outputs/file-format.ts'
import { hasPostgres, type Postgres, startPostgres } from './postgres.ts'
import { allTypes, statementsOf } from './value-table.ts'

let connection: Awaited<ReturnType<DuckDBInstance['connect']>>
let postgres: Postgres | undefined

beforeAll(async () => {
  keepByteOrderMarks()
  connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  await connection.run("SET TimeZone = 'UTC'")
  if (hasPostgres) postgres = await startPostgres()
})
afterAll(async () => {
  connection.closeSync()
  await postgres?.stop()
})

type Chosen = Pick<FileOptions, 'binaryColumns' | 'header'>

/** The pieces of the rows of a statement. */
async function pieces(format: FileFormat, sql: string, chosen: Chosen = {}): Promise<Buffer[]> {
  const prepared = await connection.prepare(sql)
  const parts: Buffer[] = []
  const sink = { sentBytes: 0, write: async (bytes: Uint8Array) => void parts.push(Buffer.from(bytes)) }
  await streamResult(connection, sql, sink, {
    format: format.name,
    module: must(format.module, 'a format of the protocol names its module'),
    options: { escapeFormulas: false, geometry: undefined, ...chosen },
    names: Array.from({ length: prepared.columnCount }, (_, at) => prepared.columnName(at)),
    limit: undefined,
    isKept: false,
    exportBytes: 1e9,
    rowBytes: 1e9,
  })
  return parts
}

/** What CopyData messages carry; each piece is whole messages. */
function copied(parts: readonly Buffer[]): Buffer {
  const out: Buffer[] = []
  for (const part of parts) {
    for (let at = 0; at < part.length;) {
      expect(part.toString('latin1', at, at + 1)).toBe('d')
      const end = at + 1 + part.readInt32BE(at + 1)
      expect(end).toBeLessThanOrEqual(part.length)
      out.push(part.subarray(at + 5, end))
      at = end
    }
  }
  return Buffer.concat(out)
}

const judge = (): Postgres => must(postgres, 'the server is started')

const names = ['id', 'a "quoted", name', 'tab\tname', 'é€']
const wide = statementsOf(allTypes, (at) => names[at] ?? `c${at}`)
const each = allTypes.map((type) => ({ name: type.engine, ...statementsOf([type]) }))

describe.skipIf(!hasPostgres)('as a server of PostgreSQL sends it', () => {
  test.each(each)('$name, in text and in binary form, with its description', async ({ engine, postgres: sql }) => {
    for (const form of ['text', 'binary'] as const) {
      const own = Buffer.concat(await pieces(pgRows, engine, { binaryColumns: [form === 'binary'] }))
      expect(own.toString('latin1')).toBe((await judge().messages(sql, form)).toString('latin1'))
    }
  })

  test.each(each)('$name, by COPY', async ({ engine, postgres: sql }) => {
    for (const [format, word] of [
      [pgCopyText, 'text'],
      [pgCopyCsv, 'csv'],
      [pgCopyBinary, 'binary'],
    ] as const) {
      const theirs = judge().run(`COPY (${sql}) TO STDOUT (FORMAT ${word})`)
      expect(copied(await pieces(format, engine)).toString('latin1')).toBe(theirs.toString('latin1'))
    }
  })

  test('a wide table, in all forms', async () => {
    const texts = Buffer.concat(await pieces(pgRows, wide.engine))
    expect(texts.equals(await judge().messages(wide.postgres, 'text'))).toBe(true)
    const binary = Buffer.concat(await pieces(pgRows, wide.engine, { binaryColumns: [true] }))
    expect(binary.equals(await judge().messages(wide.postgres, 'binary'))).toBe(true)
    for (const [format, word, header] of [
      [pgCopyText, 'text', true],
      [pgCopyCsv, 'csv', true],
      [pgCopyCsv, 'csv', false],
      [pgCopyBinary, 'binary', false],
    ] as const) {
      const options = header ? `FORMAT ${word}, HEADER` : `FORMAT ${word}`
      const theirs = judge().run(`COPY (${wide.postgres}) TO STDOUT (${options})`)
      expect(copied(await pieces(format, wide.engine, { header })).equals(theirs)).toBe(true)
    }
  })

  test('no rows at all', async () => {
    const [own, sql] = ['SELECT 1::BIGINT AS a WHERE false', 'SELECT 1::int8 AS a WHERE false']
    expect(Buffer.concat(await pieces(pgRows, own))).toEqual(await judge().messages(sql, 'text'))
    for (const [format, options] of [
      [pgCopyText, 'FORMAT text'],
      [pgCopyBinary, 'FORMAT binary'],
    ] as const) {
      expect(copied(await pieces(format, own))).toEqual(judge().run(`COPY (${sql}) TO STDOUT (${options})`))
    }
  })
})
