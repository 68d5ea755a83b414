// Drivers of PostgreSQL that others made, against a node: psql, pgjdbc in its three modes, and for Python psycopg 3, psycopg2, asyncpg
// and pg8000. Each reads every type, binds values, has a cursor at the server, and meets errors by their states. Skipped, loudly,
// where they are missing (pip install "psycopg[binary]" psycopg2-binary asyncpg pg8000; apt-get install postgresql-client).

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../examples/run.ts'
import { freePort } from '../helpers/free-port.ts'
import { liveNode } from '../helpers/live-node.ts'
import { mavenJars, missingJava, missingMaven } from '../helpers/maven-jars.ts'

const here = join(import.meta.dirname, 'postgres')
const isCi = process.env['CI'] === 'true'

/** Says what is missing; an error where it must be there. */
function mayRun(what: string, isThere: boolean): boolean {
  if (!isThere && isCi) throw new Error(`${what} is missing`)
  if (!isThere) console.warn(`NOT RUN: the PostgreSQL door with ${what}, which is missing`)
  return isThere
}
const hasModule = (name: string): boolean =>
  mayRun(`${name} of python3`, spawnSync('python3', ['-c', `import ${name}`]).status === 0)
const hasPsql = mayRun('psql', spawnSync('psql', ['--version']).status === 0)
const hasJava = mayRun('Java and Maven', missingJava() === undefined && missingMaven() === undefined)

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const rows = Array.from({ length: 1_000 }, (_, i) => ({ n: i + 1, word: `w${i + 1}` }))
await live.ingest('demo/all', rows, '?create=true')
const sum = 500_500

const every = `select true as b, n::tinyint as i1, n::smallint as i2, n::integer as i4, n as i8, 18446744073709551615::ubigint as u8,
  1.5::float as f4, 0.1::double as f8, -12345678.90::decimal(18, 2) as d, word as t, '\\x00\\xFF'::blob as x, date '2026-03-01' as day,
  time '10:00:00.25' as clock, timestamp '2026-03-01 10:00:00.5' as moment, timestamptz '2026-03-01 10:00:00+00' as zoned,
  uuid '00112233-4455-6677-8899-aabbccddeeff' as u, null::integer as nothing from "demo/all" where n = 7`

/** The lines of a program, by what stands before the colon. */
async function lines(program: string, ...args: readonly string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await run(program, args)
  expect([code, stderr]).toEqual([0, ''])
  const parts = stdout
    .trimEnd()
    .split('\n')
    .map((line) => /^([^:]*): (.*)$/.exec(line) ?? [])
  return Object.fromEntries(parts.map(([, name = '', value = '']) => [name, value]))
}

const python = (driver: string): Promise<Record<string, string>> =>
  lines('python3', join(here, 'drivers.py'), driver, String(port), every)

/** As each of the drivers for Python reads it. */
const types = [
  'bool True',
  'int 7',
  'int 7',
  'int 7',
  'int 7',
  'Decimal 18446744073709551615',
  'float 1.5',
  'float 0.1',
  'Decimal -12345678.90',
  'str w7',
  String.raw`bytes b'\x00\xff'`,
  'date 2026-03-01',
  'time 10:00:00.250000',
  'datetime 2026-03-01 10:00:00.500000',
  'datetime 2026-03-01 10:00:00+00:00',
  'UUID 00112233-4455-6677-8899-aabbccddeeff',
  'NoneType None',
].join('; ')
const refused = { error: 'refused 42703', write: 'refused 25006' }

test.skipIf(!hasModule('psycopg'))('psycopg 3', async () => {
  const { 'copied rows': copied, 'cursor with values': withValues, ...told } = await python('psycopg')
  expect(told).toEqual({
    types,
    'types in binary': types,
    values: "[(5, 'w5')]",
    'values in binary': "[(5, 2.5, 'x')]",
    prepared: '[(1,), (2,)]',
    cursor: String(sum),
    pipeline: '[(1,), (3,)]',
    stream: '1000',
    copy: '1000',
    ...refused,
  })
  expect([copied, withValues]).not.toContain(undefined)
})

// "Messages sent from the backend will always correspond to single data rows" (CopyData, Message Formats): drivers count by them.
test.skipIf(!hasModule('psycopg'))('psycopg 3 finds one row in each message of a copy', async () => {
  expect((await python('psycopg'))['copied rows']).toBe('1000')
})

// Values of a DECLARE are those of its statement.
test.skipIf(!hasModule('psycopg'))('psycopg 3 binds values to a cursor at the server', async () => {
  expect((await python('psycopg'))['cursor with values']).toBe('[(999,), (1000,)]')
})

test.skipIf(!hasModule('psycopg2'))('psycopg2', async () => {
  // It leaves a UUID as its text.
  expect(await python('psycopg2')).toEqual({
    types: types.replace('UUID ', 'str '),
    values: "[(5, 'w5')]",
    texts: String.raw`[("it's \\ \n",)]`,
    cursor: String(sum),
    copy: 'n',
    ...refused,
    failed: 'refused 25P02',
    session: '[(1,)]',
  })
})

test.skipIf(!hasModule('asyncpg'))('asyncpg', async () => {
  expect(await python('asyncpg')).toEqual({
    types,
    rows: "[(1, 'w1'), (2, 'w2')]",
    cursor: String(sum),
    copy: "('COPY 1000', b'1000')",
    ...refused,
  })
})

test.skipIf(!hasModule('pg8000'))('pg8000', async () => {
  expect(await python('pg8000')).toEqual({
    types,
    values: "[[5, 'w5']]",
    prepared: "[[['w1']], [['w2']]]",
    cursor: '[[1], [2], [3]]',
    copy: "b'1000'",
    ...refused,
  })
})

describe.skipIf(!hasJava)('pgjdbc', () => {
  test.each(['simple', 'extended', 'extendedForPrepared'])('in the mode %s', async (mode) => {
    const jars = await mavenJars(join(here, 'pom.xml'), 'postgres')
    const address = `jdbc:postgresql://127.0.0.1:${port}/all`
    const told = await lines('java', '-cp', join(jars, '*'), join(here, 'Driver.java'), address, mode, every)
    expect(told).toEqual({
      types: String.raw`t|7|7|7|7|18446744073709551615|1.5|0.1|-12345678.90|w7|\x00ff|2026-03-01|10:00:00.25|2026-03-01 10:00:00.5|2026-03-01 10:00:00+00|00112233-4455-6677-8899-aabbccddeeff|null`,
      prepared: Array.from({ length: 8 }, (_, i) => i + 1).join(''),
      cursor: String(sum),
      ...refused,
      after: '1',
      copy: '3 1,2,3,',
      several: '2',
      notice: 'proofstream: demo/all',
      'read only': '1',
      valid: 'true',
    })
  })
})

describe.skipIf(!hasPsql)('psql', () => {
  const psql = async (...args: readonly string[]): Promise<string> => {
    const address = `host=127.0.0.1 port=${port} user=anonymous dbname=all options='-c client_min_messages=warning'`
    const { code, stdout, stderr } = await run('psql', [address, '-XAt', ...args], { env: { PGTZ: 'UTC' } })
    return code === 0 && stderr === '' ? stdout : `${code} ${stderr}`
  }

  test('a row of every type', async () => {
    expect(await psql('-c', every)).toBe(
      String.raw`t|7|7|7|7|18446744073709551615|1.5|0.1|-12345678.90|w7|\x00ff|2026-03-01|10:00:00.25|2026-03-01 10:00:00.5|2026-03-01 10:00:00+00|00112233-4455-6677-8899-aabbccddeeff|` +
        '\n',
    )
  })

  test('a cursor of its own by FETCH_COUNT, and \\copy', async () => {
    const all = 'select n from "demo/all" order by n'
    expect((await psql('-v', 'FETCH_COUNT=70', '-c', all)).split('\n')).toHaveLength(1_001)
    expect(await psql('-c', `\\copy (${all} limit 2) to stdout csv header`)).toBe('n\n1\n2\n')
    expect(await psql('-c', 'select 1 as a', '-c', 'begin', '-c', 'show jit', '-c', 'commit')).toBe(
      '1\nBEGIN\noff\nCOMMIT\n',
    )
  })

  test('errors with their place', async () => {
    const told = await psql('-v', 'VERBOSITY=verbose', '-c', 'select n, nothing from "demo/all"')
    expect(told).toMatch(/^1 ERROR: {2}42703: .*\nLINE 1: select n, nothing from "demo\/all"\n {18}\^/)
    expect(await psql('-v', 'VERBOSITY=sqlstate', '-c', 'delete from "demo/all"')).toBe('1 ERROR:  25006\n')
  })
})
