// Names that every plain object of JavaScript answers to, wherever others choose a name: they are names like any other, or
// refused like any other that is not known. Nothing is taken, or left out, because an object has such a member.

import { expect, test } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { problemFailure } from '../../../src/cli/problem.ts'
import { deedOf } from '../../../src/features/console/dataset-page.ts'
import { errorOfEngine } from '../../../src/libraries/sql/sql-errors.ts'
import { rejection } from '../../../src/node/gateway/refusals.ts'
import { liveNode } from '../../helpers/live-node.ts'

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', '__defineGetter__']
const live = await liveNode()
const json = { 'content-type': 'application/json' }
/** A member of any name: an object literal would set the prototype. */
const named = (name: string, value: string): string => `{${JSON.stringify(name)}:${value}}`

test.each(names)('%s is a column, a member of one, an account and a dataset', async (name) => {
  const isName = /^[a-z]/i.test(name)
  const alias = isName ? `${name}/${name}` : `acme/n${names.indexOf(name)}`
  const body = `[${named(name, '"a"')},${named(name, '"b"')}]`
  const posted = await live.call(`/${alias}/ingest?create=true`, { method: 'POST', headers: json, body })
  expect([posted.status, posted.text]).toEqual([expect.toSatisfy((status: number) => status < 300), posted.text])
  await expect.poll(async () => (await live.query(`select count(*) from "${alias}"`)).status).toBe(200)
  const asked = `select "${name}" from "${alias}" order by "offset"`
  expect((await live.query(asked, { dataFormat: 'JsonAoa' })).at('output.data')).toEqual([['a'], ['b']])
  const objects = await live.query(asked, { dataFormat: 'JsonAos' })
  expect(objects.text).toContain(body)
  expect((await live.query(asked, { dataFormat: 'JsonSoa' })).text).toContain(named(name, '["a","b"]'))
  const csv = await live.call(`/query?query=${encodeURIComponent(asked)}&format=csv`)
  expect([csv.status, csv.text.split(/\r?\n/).slice(0, 3)]).toEqual([200, [name, 'a', 'b']])
  for (const path of [`/${alias}`, `/${alias}/blocks`, '/query?query=select 1', '/datasets']) {
    const page = await live.call(encodeURI(path), { headers: { accept: 'text/html' } })
    expect([path, page.status]).toEqual([path, 200])
    expect(page.text).not.toContain('[native code]')
  }
})

test.each(names)('%s is a member of a value that is as it was sent, or refused', async (name) => {
  const answer = await live.query(`select {'${name}': 1, 'a': 2} as s`, { dataFormat: 'JsonAos' })
  // The binding of the engine would lose it.
  const [said, expected] =
    name === '__proto__'
      ? [answer.refusal, '400 QueryNotAllowed']
      : [answer.text, `"s":${named(name, '1').slice(0, -1)}`]
  expect(said.replace('"a":2,', '')).toContain(expected)
})

test.runIf(runsWith('ogc')).each(names)('%s is no member of a body and no parameter, and says so', async (name) => {
  const bodies: readonly (readonly [string, string, string])[] = [
    ['PUT', '/acme/never', named(name, '1')],
    ['PUT', '/acme/never', `{"info":${named(name, '1')}}`],
    [
      'PUT',
      '/acme/never',
      `{"license":{"shortName":"a","name":"b","websiteUrl":"https://c.example",${named(name, '1').slice(1)}}`,
    ],
    ['PUT', '/acme/never', `{"attachments":[{"path":"a","content":"b",${named(name, '1').slice(1)}]}`],
    ['PUT', '/acme/never', `{"ingest":${named(name, '"x"')}}`],
    ['PUT', '/acme/never', `{"vocab":${named(name, '"x"')}}`],
    ['PUT', '/acme/never', `{"schema":{"fields":[{"name":"a","type":{"kind":"Int64",${named(name, '1').slice(1)}}]}}`],
    ['PUT', '/acme/never', `{"schema":{"fields":[{"name":"a","type":"${name}"}]}}`],
    ['PUT', '/acme/never', `{"schema":{"fields":[{"name":"a","type":{"kind":"${name}"}}]}}`],
    ['POST', '/query', `{"query":"select 1",${named(name, '1').slice(1)}`],
    ['POST', '/query', `{"query":"select 1","dataFormat":"${name}"}`],
    ['POST', '/query', `{"query":"select 1","queryDialect":"${name}"}`],
    ['POST', '/tokens', `{"name":"n","scopes":["read"],${named(name, '1').slice(1)}`],
    ['POST', '/tokens', `{"name":"n","scopes":["${name}"]}`],
    ['POST', '/verify', named(name, '1')],
  ]
  for (const [method, path, body] of bodies) {
    const { status, text } = await live.call(path, { method, headers: json, body })
    expect([body, status, text]).toEqual([body, expect.toSatisfy((code: number) => code >= 400 && code < 500), text])
  }
  expect((await live.call('/acme/never')).status).toBe(404)
  const paths = [
    '/datasets',
    '/info',
    '/query',
    '/acme/never/tail',
    '/acme/never/blocks',
    '/limits',
    '/ogc/collections',
  ]
  for (const path of paths) expect([path, (await live.call(`${path}?${name}=1`)).status]).toEqual([path, 400])
})

test.each(names)('%s is no format, no encoding, no preset and no type of a body', async (name) => {
  const post = async (query: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    (await live.call(`/acme/never/ingest?create=true${query}`, { method: 'POST', headers, body: '{"a":1}' })).status
  expect(await post('', { 'content-type': name })).toBe(415)
  expect(await post('&preset=otlp-logs', { 'content-type': name })).toBe(415)
  expect(await post(`&preset=${name}`, json)).toBe(400)
  expect(await post('', { ...json, 'content-encoding': name })).toBe(415)
  expect(await post(`&unknownFields=${name}`, json)).toBe(400)
  expect((await live.call(`/query?query=select%201&format=${name}`)).status).toBe(400)
})

test.each(names)('%s is no error and no event that anybody knows', (name) => {
  const body = JSON.stringify({ error: { kind: name }, message: 'No.', hint: 'Ask another way.' })
  const failure = problemFailure({ status: 400, headers: {}, bytes: Buffer.from(body) })
  expect([failure.message, failure.details.kind, failure.details.hint]).toEqual([
    'No.',
    `400 ${name}`,
    'Ask another way.',
  ])
  expect(deedOf(name, 0)).toBe(name)
  const status = { kind: 'rejected', error: name, message: 'No.' }
  expect(rejection(status as never, undefined as never).kind).toBe('SchemaConflict')
  const raw = JSON.stringify({ exception_type: name, exception_message: 'No.' })
  expect(errorOfEngine(raw, { sql: undefined, memoryBytes: 1, dataRoots: [] }).kind).toBe('SqlValue')
})
