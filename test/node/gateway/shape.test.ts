// Schemas as readers and log need them, and the body of PUT as a dataset to be made.

import { expect, test } from 'vitest'
import { newDatasetOf } from '../../../src/node/gateway/new-dataset.ts'
import {
  columnPositionKey,
  declaredSchema,
  fullSchema,
  holdsColumns,
  shapeOf,
} from '../../../src/node/gateway/shape.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import {
  type DataType,
  defaultVocabulary,
  type Field,
  optional,
  timestampMs,
} from '../../../src/libraries/model/schema.ts'

const int: DataType = { kind: 'Int64' }
const city: Field = { name: 'city', type: optional({ kind: 'String' }) }
const count: Field = { name: 'n', type: int }

test('a full schema has the system columns first, event time fourth', () => {
  const schema = fullSchema([city, count], defaultVocabulary, { type: timestampMs, position: undefined })
  expect(schema.fields.map(({ name }) => name)).toEqual(['offset', 'op', 'system_time', 'event_time', 'city', 'n'])
  expect(schema.fields[3]).toEqual({ name: 'event_time', type: timestampMs })
  const shape = shapeOf(schema, 1, defaultVocabulary)
  expect(shape.fields).toEqual([city, count])
  expect(shape.payloadFields.map(({ name }) => name)).toEqual(['event_time', 'city', 'n'])
})

test.each([0, 1, 2])('an event-time column that is declared at place %i is read there', (place) => {
  const declared = [city, count].toSpliced(place, 0, {
    name: 'Event_Time',
    type: optional({ kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' }),
  })
  const schema = declaredSchema(declared, defaultVocabulary)
  expect(schema.fields[3]).toEqual({ name: 'event_time', type: timestampMs, extra: { [columnPositionKey]: place } })
  const names = shapeOf(schema, 1, defaultVocabulary).fields.map(({ name }) => name)
  expect(names).toEqual(['city', 'n'].toSpliced(place, 0, 'event_time'))
})

test('a declared Date stays a Date', () => {
  const schema = declaredSchema([{ name: 'event_time', type: optional({ kind: 'Date' }) }], defaultVocabulary)
  expect(schema.fields[3]?.type).toEqual({ kind: 'Date' })
  expect(shapeOf(schema, 1, defaultVocabulary).eventTimeType).toEqual({ kind: 'Date' })
})

test('the shape of one schema is one object', () => {
  const schema = declaredSchema([city], defaultVocabulary)
  expect(shapeOf(schema, 1, defaultVocabulary)).toBe(shapeOf(schema, 1, defaultVocabulary))
  expect(shapeOf(schema, 2, defaultVocabulary)).not.toBe(shapeOf(schema, 1, defaultVocabulary))
})

test('a schema holds columns of the same name and type, whether they may be null or not', () => {
  const schema = declaredSchema([city, count], defaultVocabulary)
  expect(holdsColumns(schema, [{ ...count, type: optional(int) }, city])).toBe(true)
  expect(holdsColumns(schema, [{ ...count, type: { kind: 'Float64' } }])).toBe(false)
  expect(holdsColumns(schema, [{ ...count, name: 'N' }])).toBe(false)
})

function put(body: string): ReturnType<typeof newDatasetOf> {
  return newDatasetOf(parseAliasText('a/b'), parseJson(body), 2)
}

test('PUT takes types as text or as OdfJson', () => {
  const short = put('{"schema":{"fields":[{"name":"a","type":"Decimal(18,4)?"}]}}')
  const long = put(
    '{"schema":{"fields":[{"name":"a","type":{"kind":"Option","inner":{"kind":"Decimal","precision":18,"scale":4}}}]}}',
  )
  expect(short).toEqual(long)
  expect(short.schema?.fields.at(-1)).toEqual({
    name: 'a',
    type: { kind: 'Option', inner: { kind: 'Decimal', precision: 18, scale: 4 } },
  })
})

test('PUT without body, or with an empty one, is a public dataset without schema', () => {
  const plain = { alias: parseAliasText('a/b'), visibility: 'public' }
  expect(newDatasetOf(parseAliasText('a/b'), undefined, 2)).toEqual(plain)
  expect(put('{}')).toEqual(plain)
})

test.each([
  ['[]', 'InvalidRequest'],
  ['{"name":"x"}', 'InvalidRequest'],
  ['{"visibility":"secret"}', 'InvalidRequest'],
  ['{"visibility":null}', 'InvalidRequest'],
  ['{"schema":[]}', 'InvalidRequest'],
  ['{"schema":{"fields":[{"name":"a"}]}}', 'InvalidRequest'],
  ['{"schema":{"fields":[{"name":"a","type":"Float128"}]}}', 'InvalidRequest'],
  [
    '{"schema":{"fields":[{"name":"a","type":"Int64"},{"name":"b","type":"Int64"},{"name":"c","type":"Int64"}]}}',
    'InvalidRequest',
  ],
  ['{"schema":{"fields":[{"name":"a","type":"Int64"},{"name":"A","type":"Int64"}]}}', 'InvalidColumnName'],
  [
    '{"schema":{"fields":[{"name":"event_time","type":"Date"},{"name":"EVENT_TIME","type":"Date"}]}}',
    'InvalidColumnName',
  ],
  ['{"schema":{"fields":[{"name":"Event_Time","type":"Int64"}]}}', 'InvalidRequest'],
  ['{"schema":{"fields":[{"name":"OFFSET","type":"Int64"}]}}', 'InvalidColumnName'],
  ['{"vocab":{"eventTimeColumn":"OFFSET"}}', 'InvalidRequest'],
  ['{"vocab":{"eventTimeColumn":""}}', 'InvalidColumnName'],
  ['{"vocab":{"eventTime":"x"}}', 'InvalidRequest'],
  ['{"license":{"name":"x"}}', 'InvalidRequest'],
  ['{"info":{"description":7}}', 'InvalidRequest'],
  ['{"attachments":{"kind":"Embedded","items":[{"path":"x"}]}}', 'InvalidRequest'],
])('PUT %s is refused with %s', (body, kind) => {
  expect(() => put(body)).toThrow(expect.objectContaining({ kind }))
})

test('a column with the default name of a renamed system column is an ordinary one', () => {
  const made = put('{"vocab":{"offsetColumn":"o"},"schema":{"fields":[{"name":"offset","type":"Int64"}]}}')
  expect(made.schema?.fields.map(({ name }) => name)).toEqual(['o', 'op', 'system_time', 'event_time', 'offset'])
})
