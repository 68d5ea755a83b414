// Times by PostgreSQL's patterns: a server of it prints and reads the same. Skipped, loudly, where it is missing.

import { afterAll, describe, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { postgresPrograms, startPostgres } from './postgres-server.ts'
import * as raw from './raw-client.ts'

const programs = postgresPrograms()
if (programs === undefined && process.env['CI'] === 'true')
  throw new Error('PostgreSQL is missing: apt-get install postgresql')
if (programs === undefined) console.warn('NOT RUN: patterns of times like those of PostgreSQL, which is missing')

describe.skipIf(programs === undefined)('PostgreSQL and a node', async () => {
  const port = await freePort()
  await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
  const server = programs && (await startPostgres(programs))
  afterAll(() => server?.end())

  /** The first cell of an answer, or why there is none. */
  async function answerOf(at: number, parameters: Readonly<Record<string, string>>, sql: string): Promise<string> {
    const client = await raw.RawClient.session(at, parameters)
    client.send(raw.query(sql))
    const all = await client.until('Z')
    client.end()
    const row = all.find(({ letter }) => letter === 'D')
    return row === undefined ? all.map(raw.brief).join(' ') : String(raw.cellsOf(row)[0])
  }
  const ofNode = async (sql: string): Promise<string> => await answerOf(port, {}, sql)
  const ofPostgres = async (sql: string): Promise<string> =>
    await answerOf(server?.port ?? 0, { user: 'postgres', database: 'postgres' }, sql)

  const times = [
    '2024-03-05 07:08:09.123456',
    '1999-12-31 23:59:59.999999',
    '2023-01-01 00:00:00',
    '0987-06-15 12:30:00.5',
  ]

  test.each([
    'YYYY-MM-DD HH24:MI:SS',
    'yyyy-mm-dd"T"hh24:mi:ss.ms"Z"',
    'IYYY-"W"IW-ID',
    'YYYYMMDD',
    'YYYY/DDD',
    'DD.MM.YY',
    'HH12:MI AM',
    'HH:MI PM',
    'FMHH24:FMMI',
    'FMDD. FMMonth YYYY',
    'FMDay, Dy',
    'Mon YYYY',
    'FMMM/FMDD/YYYY',
    '"100%" YYYY',
    '% %% %- YYYY',
    'HH24"h"MI',
    'SS.US',
    '1YYYY2',
    'YYYY,MM',
    '"YYYY"',
    '\u00e4 YYYY',
  ])('print times by the same pattern: %s', async (pattern) => {
    for (const time of times) {
      for (const type of ['timestamp', 'timestamptz']) {
        const sql = `select to_char(${type} '${time}', '${pattern}')`
        expect([time, await ofNode(sql)]).toEqual([time, await ofPostgres(sql)])
      }
    }
  })

  test.each([
    ["to_timestamp('2024-03-05 07:08:09', 'YYYY-MM-DD HH24:MI:SS')"],
    ["to_timestamp('05 Mar 2024 11:08 PM', 'DD Mon YYYY HH12:MI AM')"],
    ["to_timestamp('2024-03-05T07:08:09.25', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')"],
    ['to_timestamp(1.5)'],
    ["to_timestamp(null, 'YYYY')"],
    ["to_date('20240305', 'YYYYMMDD')"],
    ["to_date('5. March 2024', 'FMDD. FMMonth YYYY')"],
    ["to_char(date '2024-03-05', 'YYYY-MM')"],
    ["to_char(timestamp '2024-03-05', null)"],
  ])('read the same time: %s', async (expression) => {
    expect(await ofNode(`select ${expression}`)).toBe(await ofPostgres(`select ${expression}`))
  })

  test.each([
    'Q',
    'WW',
    'Month',
    'day',
    'MON',
    'am',
    'DDth',
    'D',
    'J',
    'SSSS',
    'TZ',
    'YYY',
    '%Y',
    'DDTHH',
    'B.C.',
    'FMIW',
    'TMMonth',
    'FF3',
  ])('a pattern that a node has not is refused: %s', async (pattern) => {
    expect(await ofNode(`select to_char(timestamp '2024-03-05 07:08:09', 'YYYY ${pattern}')`)).toMatch(/^E 22000/)
  })
})
