// The dashboard of records that deploy/grafana provisions: its statements, with variables and macros put in as Grafana's documentation
// says, answer over the door for PostgreSQL programs as over HTTP. Grafana itself is not here.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connected } from '../features/pgwire/pg.ts'
import { freePort } from '../helpers/free-port.ts'
import { liveNode } from '../helpers/live-node.ts'
import { repository } from '../helpers/sources.ts'

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] }
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly rawSql: string }[] }[]
}

const folder = join(repository, 'deploy/grafana/provisioning')
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboards/records.json'), 'utf8')) as Dashboard

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const rows = Array.from({ length: 1000 }, (_, n) => ({
  event_time: new Date(Date.UTC(2026, 2, 1) + n * 60_000).toISOString(),
  'Wind speed': n % 7,
  name: `n${n}`,
}))
await live.ingest('acme/wind-farm', rows, '?create=true')
await live.ingest('acme/plain', [{ a: 1 }], '?create=true')
const client = await connected({ port, database: 'all' })

const meanOf = (start: number, end: number): number => {
  const speeds = rows.slice(start, end).map((row) => row['Wind speed'])
  return speeds.reduce((sum, one) => sum + one, 0) / speeds.length
}
const [from, to] = ['2026-03-01T01:00:00.000Z', '2026-03-01T03:00:00.000Z']
const chosen: Record<string, string> = {}

/** A statement as Grafana sends it. */
function sent(text: string): string {
  return text
    .replaceAll(/\$\{(\w+):raw\}/g, (_, name: string) => chosen[name] ?? '')
    .replaceAll(/\$\{(\w+):sqlstring\}/g, (_, name: string) => `'${(chosen[name] ?? '').replaceAll("'", "''")}'`)
    .replaceAll('${__from:date:iso}', from)
    .replaceAll('${__to:date:iso}', to)
    .replaceAll('$__interval', '10m')
    .replaceAll(/\$__timeFilter\((\w+)\)/g, `$1 BETWEEN '${from}' AND '${to}'`)
    .replaceAll(/\$__timeGroupAlias\((\w+), 10m\)/g, 'floor(extract(epoch from $1)/600)*600 AS "time"')
}

const rowsOf = async (sql: string): Promise<readonly (readonly unknown[])[]> =>
  // `as`: rows are arrays in this mode.
  (await client.query({ text: sent(sql), rowMode: 'array' })).rows as unknown as readonly (readonly unknown[])[]

const statementOf = (title: string): string =>
  dashboard.panels.find((panel) => panel.title === title)?.targets[0]?.rawSql ?? ''

test('variables offer the datasets with times, and the numbers of the one that is chosen', async () => {
  const offered: unknown[] = []
  for (const { name, query } of dashboard.templating.list) {
    const found = (await rowsOf(query)).flat()
    offered.push(found)
    chosen[name] = String(found[0])
  }
  expect(offered).toEqual([['acme."wind-farm"', 'acme.plain'], ['"Wind speed"']])
})

test('every panel has the rows of its time', async () => {
  const values = await rowsOf(statementOf('${value:raw}'))
  // The last minute begins a group of its own.
  expect([values.length, values[0]]).toEqual([13, [Date.parse(from) / 1000, '0', meanOf(60, 70), '6']])
  const counts = await rowsOf(statementOf('Records'))
  expect(counts.map(([, count]) => Number(count))).toEqual([...Array.from({ length: 12 }, () => 10), 1])
  const newest = await rowsOf(statementOf('Newest records'))
  expect([newest.length, newest[0]]).toEqual([100, expect.arrayContaining([new Date(to), 'n180'])])
})

test('the address of a panel is that of its signed answer', async () => {
  const [[address = ''] = []] = await rowsOf(statementOf('The mean of this time, signed'))
  const answer = await live.call(String(address).slice(live.node.url.length))
  expect(answer.at('output.data')).toEqual([[121, expect.closeTo(meanOf(60, 181), 12)]])
  const headers = { 'content-type': 'application/json' }
  expect((await live.call('/verify', { method: 'POST', headers, body: answer.bytes })).at('ok')).toBe(true)
})

test('the data source names what docs/bi.md names', () => {
  const source = readFileSync(join(folder, 'datasources/proofstream.yaml'), 'utf8')
  const page = readFileSync(join(repository, 'docs/bi.md'), 'utf8')
  const variables = [...source.matchAll(/\$(PROOFSTREAM_\w+)/g)].map(([, name = '']) => name)
  expect(variables.filter((name) => !page.includes(name))).toEqual([])
  expect(variables).toHaveLength(2)
})
