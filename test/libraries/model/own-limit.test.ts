import { expect, test } from 'vitest'
import { ownLimit } from '../../../src/libraries/sql/own-limit.ts'

test.each<[string, number | undefined]>([
  ['select * from a.b limit 400', 400],
  ['SELECT * FROM a.b LIMIT 400 OFFSET 20 ;', 400],
  ['select * from a.b offset 20 limit 7 -- limit 9', 7],
  ['select * from a.b limit/* few */0', 0],
  ['select * from a.b limit 10 %', undefined],
  ['select * from a.b limit 10%', undefined],
  ['select * from a.b limit $1', undefined],
  ['select * from a.b limit 4 + 4', undefined],
  ['select * from a.b limit 1e3', undefined],
  ['select * from (select * from a.b limit 3)', undefined],
  ['select * from (select * from a.b limit 3) t', undefined],
  [`select 'x limit 5'`, undefined],
  ['select "limit 5" from a.b', undefined],
  ['select * from a.b -- limit 5', undefined],
  ['limit', undefined],
  ['', undefined],
])('%s asks for %s rows', (sql, rows) => {
  expect(ownLimit(sql)).toBe(rows)
})

test.each<[string, number | undefined]>([
  ['select * from a.b limit $n', 400],
  ['select * from a.b limit $N offset 20;', 400],
  ['select * from a.b limit $text', 300],
  ['select * from a.b limit $other', undefined],
  ['select * from a.b limit $half', undefined],
  ['select * from a.b limit $n + 1', undefined],
  ['select $n', undefined],
])('%s asks for %s rows with its values', (sql, rows) => {
  const values = [
    { name: 'n', type: 'BIGINT', text: '400' },
    { name: 'Text', type: 'VARCHAR', text: '300' },
    { name: 'half', type: 'DOUBLE', text: '1.5' },
  ] as const
  expect(ownLimit(sql, values)).toBe(rows)
})
