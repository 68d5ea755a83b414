// Statements of a session in the forms that psql, pgjdbc, psycopg, asyncpg, psqlodbc and Tableau send, and what none of them is.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PostgresFault } from '../../../src/libraries/pgwire/report.ts'
import { type Statement, statementOf, statementsIn } from '../../../src/libraries/pgwire/session-words.ts'

const select = (sql: string): Statement => ({ kind: 'select', sql })
const begin = (isolation?: 'read committed' | 'repeatable read') => ({ kind: 'begin', isolation }) as const
const isolate = (isolation?: 'read committed' | 'repeatable read', isForSession = false) =>
  ({ kind: 'isolate', isolation, isForSession }) as const
const set = (name: string, value?: string, isLocal = false) => ({ kind: 'set', name, value, isLocal }) as const
const declare = (name: string, sql: string, isHeld = false, isBinary = false) =>
  ({ kind: 'declare', name, sql, isHeld, isBinary }) as const
const fetch = (name: string, rows: number | 'all') => ({ kind: 'fetch', name, rows }) as const
const copy = (sql: string, format: 'text' | 'csv' | 'binary' = 'text', hasHeader = false) =>
  ({ kind: 'copy', sql, format: { format, hasHeader } }) as const

const transactions: readonly (readonly [sql: string, says: Statement])[] = [
  ['BEGIN', begin()],
  ['begin work', begin()],
  ['BEGIN TRANSACTION', begin()],
  ['START TRANSACTION', begin()],
  ['BEGIN ISOLATION LEVEL REPEATABLE READ', begin('repeatable read')],
  ['BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE', begin('repeatable read')],
  ['BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY', begin('read committed')],
  ['START TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, NOT DEFERRABLE', begin('read committed')],
  ['BEGIN READ ONLY', begin()],
  ['BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE', begin('repeatable read')],
  ['SET TRANSACTION READ WRITE', isolate()],
  ['BEGIN /* of a driver */ READ ONLY -- so', begin()],
  ['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', isolate('repeatable read')],
  ['SET TRANSACTION READ ONLY', isolate()],
  ['SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', isolate(undefined, true)],
  ['SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE', isolate('repeatable read', true)],
  ['COMMIT', { kind: 'commit' }],
  ['commit work', { kind: 'commit' }],
  ['END', { kind: 'commit' }],
  ['END TRANSACTION', { kind: 'commit' }],
  ['COMMIT AND NO CHAIN', { kind: 'commit' }],
  ['ROLLBACK', { kind: 'rollback' }],
  ['abort', { kind: 'rollback' }],
  ['ROLLBACK TRANSACTION', { kind: 'rollback' }],
  ['SAVEPOINT _EXEC_SVP_0x1', { kind: 'savepoint', name: '_exec_svp_0x1' }],
  ['SAVEPOINT "Mixed ""case"""', { kind: 'savepoint', name: 'Mixed "case"' }],
  ['RELEASE _EXEC_SVP_0x1', { kind: 'release', name: '_exec_svp_0x1' }],
  ['RELEASE SAVEPOINT a', { kind: 'release', name: 'a' }],
  ['ROLLBACK TO a', { kind: 'rollback to', name: 'a' }],
  ['rollback to savepoint "A"', { kind: 'rollback to', name: 'A' }],
  ['ROLLBACK WORK TO SAVEPOINT a', { kind: 'rollback to', name: 'a' }],
]
const settings: readonly (readonly [sql: string, says: Statement])[] = [
  ["SET application_name = 'PostgreSQL JDBC Driver'", set('application_name', 'PostgreSQL JDBC Driver')],
  ["SET application_name TO 'it''s'", set('application_name', "it's")],
  ['SET extra_float_digits = 3', set('extra_float_digits', '3')],
  ["SET DateStyle='ISO'", set('datestyle', 'ISO')],
  ['SET datestyle TO ISO, MDY', set('datestyle', 'iso, mdy')],
  ["SET client_encoding to 'UTF8'", set('client_encoding', 'UTF8')],
  ["SET NAMES 'UTF8'", set('client_encoding', 'UTF8')],
  ['SET SESSION statement_timeout = 0', set('statement_timeout', '0')],
  ["SET LOCAL statement_timeout TO '5s'", set('statement_timeout', '5s', true)],
  ['SET statement_timeout TO -1', set('statement_timeout', '-1')],
  ['SET jit TO DEFAULT', set('jit', undefined)],
  ['SET jit = default', set('jit', undefined)],
  ["SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE", set('timezone', '+00:00')],
  ["SET TIME ZONE 'UTC'", set('timezone', 'UTC')],
  ['SET TIME ZONE LOCAL', set('timezone', undefined)],
  ["SET LOCAL TIME ZONE 'Z'", set('timezone', 'Z', true)],
  ["set my.own = ''", set('my.own', '')],
  ["set search_path = ''", set('search_path', '')],
  ['SHOW transaction_isolation', { kind: 'show', name: 'transaction_isolation' }],
  ['show TRANSACTION ISOLATION LEVEL', { kind: 'show', name: 'transaction_isolation' }],
  ['SHOW TIME ZONE', { kind: 'show', name: 'timezone' }],
  ['SHOW ALL', { kind: 'show', name: undefined }],
  ['SHOW server_version', { kind: 'show', name: 'server_version' }],
  ['SHOW my.own', { kind: 'show', name: 'my.own' }],
  ['RESET ALL', { kind: 'reset', name: undefined }],
  ['RESET statement_timeout', { kind: 'reset', name: 'statement_timeout' }],
  ['DISCARD ALL', { kind: 'discard', what: 'all' }],
  ['UNLISTEN *', { kind: 'nothing', tag: 'UNLISTEN' }],
]
const cursors: readonly (readonly [sql: string, says: Statement])[] = [
  ['DECLARE "c" CURSOR FOR SELECT 1', declare('c', 'SELECT 1')],
  ['declare "SQL_CUR0x5" cursor with hold for select a from "b"', declare('SQL_CUR0x5', 'select a from "b"', true)],
  ['DECLARE "n" CURSOR WITHOUT HOLD FOR SELECT 1', declare('n', 'SELECT 1')],
  ['DECLARE c BINARY CURSOR FOR TABLE t', declare('c', 'TABLE t', false, true)],
  ['DECLARE c NO SCROLL CURSOR FOR TABLE t', declare('c', 'TABLE t')],
  ['DECLARE c INSENSITIVE NO SCROLL CURSOR FOR VALUES (1)', declare('c', 'VALUES (1)')],
  ['FETCH c', fetch('c', 1)],
  ['FETCH NEXT FROM c', fetch('c', 1)],
  ['FETCH FORWARD FROM c', fetch('c', 1)],
  ['FETCH FORWARD 2000 FROM "n"', fetch('n', 2000)],
  ['fetch 100000 in "SQL_CUR0x5"', fetch('SQL_CUR0x5', 100_000)],
  ['FETCH ALL IN "<unnamed portal 1>"', fetch('<unnamed portal 1>', 'all')],
  ['FETCH FORWARD ALL FROM c', fetch('c', 'all')],
  ['FETCH 0 FROM c', fetch('c', 0)],
  ['MOVE FORWARD 10 FROM c', { kind: 'move', name: 'c', rows: 10 }],
  ['MOVE ALL IN c', { kind: 'move', name: 'c', rows: 'all' }],
  ['CLOSE "c"', { kind: 'close', name: 'c' }],
  ['CLOSE ALL', { kind: 'close', name: undefined }],
  ['PREPARE p AS SELECT $1', { kind: 'prepare', name: 'p', sql: 'SELECT $1', types: [] }],
  ['PREPARE p(int, text) AS SELECT $1', { kind: 'prepare', name: 'p', sql: 'SELECT $1', types: [23, 25] }],
  ['EXECUTE p', { kind: 'execute', name: 'p', values: [] }],
  ['EXECUTE p()', { kind: 'execute', name: 'p', values: [] }],
  [
    "EXECUTE \"P\"(1, -2.5, 'it''s', NULL, true)",
    { kind: 'execute', name: 'P', values: ['1', '-2.5', "it's", null, 'true'] },
  ],
  ['DEALLOCATE "p"', { kind: 'deallocate', name: 'p' }],
  ['DEALLOCATE PREPARE p', { kind: 'deallocate', name: 'p' }],
  ['DEALLOCATE ALL', { kind: 'deallocate', name: undefined }],
]
const copies: readonly (readonly [sql: string, says: Statement])[] = [
  ['COPY (SELECT 1) TO STDOUT', copy('SELECT 1')],
  ["copy (select ')' , (1)) to stdout", copy("select ')' , (1)")],
  ['COPY t TO STDOUT', copy('SELECT * FROM t')],
  ['COPY "a"."b" TO STDOUT', copy('SELECT * FROM "a"."b"')],
  ['COPY "a/b" (x, "y z") TO STDOUT', copy('SELECT x, "y z" FROM "a/b"')],
  ['COPY t TO STDOUT WITH (FORMAT csv, HEADER)', copy('SELECT * FROM t', 'csv', true)],
  ['COPY t TO STDOUT (HEADER true, FORMAT CSV)', copy('SELECT * FROM t', 'csv', true)],
  ["COPY t TO STDOUT (FORMAT 'csv', HEADER off, ENCODING 'UTF8')", copy('SELECT * FROM t', 'csv')],
  ['COPY ( select 1 ) TO STDOUT with csv header', copy(' select 1 ', 'csv', true)],
  ['COPY t TO STDOUT CSV', copy('SELECT * FROM t', 'csv')],
  [String.raw`COPY t TO STDIN WITH DELIMITER E'\t' NULL AS E'\\N'`, copy('SELECT * FROM t')],
  [`COPY t TO STDOUT WITH (FORMAT csv, DELIMITER ',', NULL '', QUOTE '"', ESCAPE '"')`, copy('SELECT * FROM t', 'csv')],
  ['COPY t TO STDOUT BINARY', copy('SELECT * FROM t', 'binary')],
  ['COPY (SELECT 1) TO STDOUT (FORMAT BINARY)', copy('SELECT 1', 'binary')],
]
const config = { kind: 'config', isLocal: false, before: undefined, columns: ['set_config'] } as const
const others: readonly (readonly [sql: string, says: Statement])[] = [
  ['', { kind: 'empty', sql: '' }],
  [' -- nothing', { kind: 'empty', sql: ' -- nothing' }],
  ['/* so */', { kind: 'empty', sql: '/* so */' }],
  ...[
    'SELECT 1',
    '(SELECT 1)',
    'WITH a AS (SELECT 1) FROM a',
    'VALUES (1)',
    'TABLE t',
    'FROM t',
    'EXPLAIN SELECT 1',
    'SHOW TABLES',
    'SELECT proofstream_proofs()',
    "SELECT set_config('a', 'b', false), 1",
    "SELECT set_config('a', 'b', false) FROM t",
    "SELECT set_config('a', 'b', x)",
    'SELECT pg_catalog.version()',
    "SELECT current_setting('jit'), 1",
    "SELECT current_setting('jit')",
    'SELECT "begin" FROM t',
  ].map((sql) => [sql, select(sql)] as const),
  ['SELECT proofstream_proof()', { kind: 'proof', sql: undefined, column: 'proofstream_proof' }],
  ['select proofstream_proof() as address', { kind: 'proof', sql: undefined, column: 'address' }],
  ...[
    "SELECT set_config('a.b', 'c', false)",
    "select pg_catalog.set_config('a.b', 'c', 'f')",
    "SELECT set_config('a.b','c',false) FROM pg_show_all_settings() WHERE name = 'a.b'",
  ].map((sql) => [sql, { ...config, name: 'a.b', value: 'c' }] as const),
  ["SELECT set_config('a', $2, true)", { ...config, name: 'a', value: { place: 2 }, isLocal: true }],
  ["SELECT set_config('a', NULL, true)", { ...config, name: 'a', value: undefined, isLocal: true }],
  [
    "SELECT current_setting('jit') AS cur, set_config('jit', 'off', false) AS new",
    { ...config, name: 'jit', value: 'off', before: 'jit', columns: ['cur', 'new'] },
  ],
  ["SELECT proofstream_proof('SELECT ''a''')", { kind: 'proof', sql: "SELECT 'a'", column: 'proofstream_proof' }],
]

test.each([...transactions, ...settings, ...cursors, ...copies, ...others])('%s', (sql, says) => {
  expect(statementOf(sql)).toEqual(says)
  expect(statementOf(`/* asked */ ${sql}`)).toEqual(
    says.kind === 'select' || says.kind === 'empty' ? { ...says, sql: `/* asked */ ${sql}` } : says,
  )
})

describe('texts of PostgreSQL mean what they mean there', () => {
  // Escapes behind E, and quotes of dollars.
  test.each<[sql: string, value: string]>([
    [String.raw`EXECUTE p(E'a\nb')`, 'a\nb'],
    [String.raw`EXECUTE p(E'it\'s')`, "it's"],
    ['EXECUTE p($$it$$)', 'it'],
    ['EXECUTE p($tag$it$tag$)', 'it'],
  ])('%s', (sql, value) => {
    expect(statementOf(sql)).toEqual({ kind: 'execute', name: 'p', values: [value] })
  })
})

// The types end at the bracket that closes theirs, not at the first.
test('PREPARE takes types with brackets of their own', () => {
  const types = [1700]
  expect(statementOf('PREPARE p(numeric(3, 1)) AS SELECT $1')).toEqual({
    kind: 'prepare',
    name: 'p',
    sql: 'SELECT $1',
    types,
  })
})

const stateOf = (sql: string): string => {
  try {
    return statementOf(sql).kind
  } catch (error) {
    return error instanceof PostgresFault ? error.state : String(error)
  }
}

describe('what is refused, by its state', () => {
  test.each<[state: string, ...statements: string[]]>([
    ['25006', 'INSERT INTO t VALUES (1)', 'update t set a = 1', 'DELETE FROM t', 'CREATE TABLE t (a int)'],
    [
      '25006',
      'CREATE LOCAL TEMPORARY TABLE "#Tableau_1" (x int)',
      'DROP TABLE t',
      'TRUNCATE t',
      'ALTER TABLE t ADD b int',
    ],
    ['25006', 'GRANT SELECT ON t TO a', 'VACUUM', 'ANALYZE', 'LOCK TABLE t', 'MERGE INTO t USING s ON true'],
    ['25006', 'COPY t FROM STDIN', 'COPY t (a) FROM STDIN', '/* a */ insert into t values (1)'],
    [
      '0A000',
      'LISTEN a',
      'NOTIFY a',
      'SET ROLE a',
      "SET SESSION AUTHORIZATION 'a'",
      'DECLARE c SCROLL CURSOR FOR SELECT 1',
    ],
    ['0A000', "COMMIT PREPARED 'a'", "PREPARE TRANSACTION 'a'", 'COMMIT AND CHAIN'],
    ['0A000', 'COPY t TO STDOUT BINARY HEADER'],
    ['0A000', "COPY t TO STDOUT WITH (FORMAT csv, DELIMITER ';')"],
    ['0A000', `COPY t TO STDOUT WITH (DELIMITER ',')`],
    ['0A000', `COPY t TO STDOUT WITH (FORMAT csv, NULL 'null')`],
    ['22023', 'COPY t TO STDOUT (FORMAT parquet)'],
    [
      '55000',
      'FETCH PRIOR FROM c',
      'FETCH FIRST FROM c',
      'FETCH LAST FROM c',
      'FETCH ABSOLUTE 1 FROM c',
      'MOVE BACKWARD ALL IN c',
    ],
    [
      '42601',
      'BEGIN x',
      'COMMIT x',
      'START',
      'SAVEPOINT',
      'RELEASE',
      'ROLLBACK TO',
      'SET',
      'SET a',
      'SET a =',
      'SET a = 1 2',
    ],
    [
      '42601',
      'SHOW',
      'RESET',
      'EXECUTE',
      'EXECUTE p(',
      'EXECUTE p(1',
      'EXECUTE p(1,)',
      'EXECUTE p(1) x',
      'PREPARE p',
      'PREPARE p(int',
    ],
    [
      '42601',
      'DECLARE c CURSOR',
      'DECLARE c CURSOR FOR',
      'FETCH',
      'FETCH 1',
      'FETCH 1 FROM',
      'CLOSE',
      'DEALLOCATE',
      'COPY',
      'COPY t',
    ],
    [
      '42601',
      'COPY (SELECT 1',
      'COPY t TO',
      "COPY t TO '/etc/passwd'",
      "COPY t TO PROGRAM 'sh'",
      'COPY t TO STDOUT (FORMAT csv',
      'UNLISTEN',
    ],
    [
      '42601',
      'FETCH 99999999999999999999 FROM c',
      'SELECT proofstream_proof(1',
      'BEGIN ISOLATION LEVEL',
      'BEGIN ISOLATION LEVEL CHAOS',
    ],
  ])('%s', (state, ...statements) => {
    expect(statements.map((sql) => [sql, stateOf(sql)])).toEqual(statements.map((sql) => [sql, state]))
  })
})

describe('several statements in one text', () => {
  test.each<[sql: string, texts: string[]]>([
    ['', ['']],
    [';;', ['']],
    ['SELECT 1', ['SELECT 1']],
    ['SELECT 1;', ['SELECT 1']],
    [
      'BEGIN;declare "c" cursor with hold for SELECT 1;fetch 10 in "c"',
      ['BEGIN', 'declare "c" cursor with hold for SELECT 1', 'fetch 10 in "c"'],
    ],
    ['SELECT \';\'; SELECT ";"', ["SELECT ';'", ' SELECT ";"']],
    ['SELECT $$;$$; /* ; */ SELECT 2 -- ;', ['SELECT $$;$$', ' /* ; */ SELECT 2 -- ;']],
    ["SELECT E'\\';'; SELECT 2", ["SELECT E'\\';'", ' SELECT 2']],
  ])('%s', (sql, texts) => {
    expect(statementsIn(sql)).toEqual(texts)
  })
})

const words =
  'BEGIN COMMIT SET SHOW ALL LOCAL TIME ZONE TO = , ; ( ) . - * 1 0 NULL FETCH c FROM DECLARE CURSOR FOR SELECT COPY STDOUT WITH HOLD CSV EXECUTE PREPARE p AS proofstream_proof $1 $$a E\'x \'y\' "z" "un /* --'
test('any words are a statement or refused with a state', () => {
  const some = fc.array(fc.oneof(fc.constantFrom(...words.split(' ')), fc.string({ maxLength: 4 })), { maxLength: 9 })
  fc.assert(
    fc.property(some, (parts) => {
      const sql = parts.join(' ')
      for (const one of statementsIn(sql))
        expect([sql, stateOf(one)]).toEqual([sql, expect.stringMatching(/^[a-z ]+$|^[0-9A-Z]{5}$/)])
    }),
    { numRuns: 5_000 },
  )
})

test('brackets that stay open take no time in their square', () => {
  expect(() => statementOf(`prepare p('${'('.repeat(1_000_000)}') as select 1`)).toThrow('does not exist')
})
