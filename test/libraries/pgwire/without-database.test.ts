// Tables with their database: without it, in the same places.

import { expect, test } from 'vitest'
import { withoutDatabase } from '../../../src/libraries/pgwire/without-database.ts'

test.each([
  ['select x from "acme"."acme"."weather" w', 'select x from        "acme"."weather" w'],
  ['select x FROM Acme.other."a.b" JOIN "acme".o.c ON true', 'select x FROM      other."a.b" JOIN        o.c ON true'],
  ['copy acme.acme.weather to stdout', 'copy      acme.weather to stdout'],
])('%s', (sql, without) => {
  expect(withoutDatabase(sql, 'acme')).toBe(without)
  expect(without).toHaveLength(sql.length)
})

test.each([
  'select acme.weather.x, y from acme.weather',
  'select 1 from other.acme.weather, acme.acme.weather',
  `select ' from acme.acme.weather' -- from acme.acme.weather`,
  'select 1 from acme.acme.',
])('%s stays', (sql) => expect(withoutDatabase(sql, 'acme')).toBe(sql))
