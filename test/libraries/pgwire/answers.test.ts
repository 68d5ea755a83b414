// Every type of the engine as rows and COPY of PostgreSQL's protocol: byte for byte what a real server sends for the same values.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { pgCopyBinary, pgCopyCsv, pgCopyText } from '../../../src/libraries/pgwire/copy.ts'
import { pgRows } from '../../../src/libraries/pgwire/rows.ts'
import { copied, EngineRows } from './engine-rows.ts'
import { hasPostgres, type Postgres, startPostgres } from './postgres.ts'
import { allTypes, statementsOf } from './value-table.ts'

let engine: EngineRows
let postgres: Postgres | undefined

beforeAll(async () => {
  engine = await EngineRows.open()
  if (hasPostgres) postgres = await startPostgres()
})
afterAll(async () => {
  engine.close()
  await postgres?.stop()
})

const judge = (): Postgres => must(postgres, 'the server is started')

const names = ['id', 'a "quoted", name', 'tab\tname', 'é€']
const wide = statementsOf(allTypes, (at) => names[at] ?? `c${at}`)
const each = allTypes.map((type) => ({ name: type.engine, ...statementsOf([type]) }))

describe.skipIf(!hasPostgres)('as a server of PostgreSQL sends it', () => {
  test.each(each)(
    '$name, in text and in binary form, with its description',
    async ({ engine: ownSql, postgres: sql }) => {
      for (const form of ['text', 'binary'] as const) {
        const own = Buffer.concat(await engine.pieces(pgRows, ownSql, { binaryColumns: [form === 'binary'] }))
        expect(own.toString('latin1')).toBe((await judge().messages(sql, form)).toString('latin1'))
      }
    },
  )

  test.each(each)('$name, by COPY', async ({ engine: ownSql, postgres: sql }) => {
    for (const [format, word] of [
      [pgCopyText, 'text'],
      [pgCopyCsv, 'csv'],
      [pgCopyBinary, 'binary'],
    ] as const) {
      const theirs = judge().run(`COPY (${sql}) TO STDOUT (FORMAT ${word})`)
      expect(copied(await engine.pieces(format, ownSql)).toString('latin1')).toBe(theirs.toString('latin1'))
    }
  })

  test('a wide table, in all forms', async () => {
    const texts = Buffer.concat(await engine.pieces(pgRows, wide.engine))
    expect(texts.equals(await judge().messages(wide.postgres, 'text'))).toBe(true)
    const binary = Buffer.concat(await engine.pieces(pgRows, wide.engine, { binaryColumns: [true] }))
    expect(binary.equals(await judge().messages(wide.postgres, 'binary'))).toBe(true)
    for (const [format, word, header] of [
      [pgCopyText, 'text', true],
      [pgCopyCsv, 'csv', true],
      [pgCopyCsv, 'csv', false],
      [pgCopyBinary, 'binary', false],
    ] as const) {
      const options = header ? `FORMAT ${word}, HEADER` : `FORMAT ${word}`
      const theirs = judge().run(`COPY (${wide.postgres}) TO STDOUT (${options})`)
      expect(copied(await engine.pieces(format, wide.engine, { header })).equals(theirs)).toBe(true)
    }
  })

  test('no rows at all', async () => {
    const [own, sql] = ['SELECT 1::BIGINT AS a WHERE false', 'SELECT 1::int8 AS a WHERE false']
    expect(Buffer.concat(await engine.pieces(pgRows, own))).toEqual(await judge().messages(sql, 'text'))
    for (const [format, options] of [
      [pgCopyText, 'FORMAT text'],
      [pgCopyBinary, 'FORMAT binary'],
    ] as const) {
      expect(copied(await engine.pieces(format, own))).toEqual(judge().run(`COPY (${sql}) TO STDOUT (${options})`))
    }
  })
})
