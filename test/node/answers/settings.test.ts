// Every setting of a dataset is changed while questions are asked of it, whose slices lie in packs and in merged files: each
// answer is what DuckDB says over the loose slices up to the block that the answer names.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { listen } from '../../helpers/events.ts'
import { type Answer, type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { runCommand } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'

const posts = 530
const first = 'acme/stream'
const second = 'acme/renamed'

/** Statements over `t`; all their values are texts or whole numbers that JSON holds. */
const questions = [
  'select count(*)::varchar as c, max(n)::varchar as m, min(epoch_ms(event_time))::varchar as t from t',
  'select city, count(*)::varchar as c, sum(n)::varchar as s from t group by city order by city',
  'select n::varchar as n from t where "offset" between 250 and 262 order by "offset"',
  'select n::varchar as n, city from t where event_time > \'2026-01-01T00:08:30Z\' and n < 600 order by "offset"',
  'select n::varchar as n from t order by "offset" desc limit 20',
  'select n::varchar as n from t order by event_time desc limit 20',
  'select (a.n + b.n)::varchar as s from t a join t b using (n) where a.n < 5 order by all',
]
const ofAdded = 'select count(added)::varchar as c, max(added)::varchar as m from t'

const rowOf = (n: number): object => ({
  event_time: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
  n,
  city: `c${n % 12}`,
})

interface Asked {
  readonly question: string
  readonly block: string
  readonly data: unknown
}

/** Rows up to each block, by its hash. */
async function blocksOf(live: LiveNode, alias: string): Promise<Map<string, number>> {
  const rows = new Map<string, number>()
  let [page, count]: [Answer | undefined, number] = [undefined, 0]
  const all: { hash: string; end: number | undefined }[] = []
  for (let before = ''; page === undefined || before !== '';) {
    page = await live.call(`/${alias}/blocks?limit=100${before === '' ? '' : `&before=${before}`}`)
    const { blocks, next = '' } = page.json as {
      blocks: { hash: string; event: { newData?: { offsetInterval: { end: number } } } }[]
      next?: string
    }
    all.push(...blocks.map(({ hash, event }) => ({ hash, end: event.newData?.offsetInterval.end })))
    before = next
  }
  for (const { hash, end } of all.toReversed()) {
    count = end === undefined ? count : Number(end) + 1
    rows.set(hash, count)
  }
  return rows
}

it('answers are those of the slices, whatever is set meanwhile', async () => {
  const quick = { cut: { waitAgeMs: 1, openAgeMs: 1 } }
  let live = await startLiveNode({}, quick)
  const { dataDir: data } = live
  const id = String((await live.ingest(first, [rowOf(0)], '?create=true')).at('dataset.id'))
  for (let n = 1; n < posts; n++) await live.ingest(first, [rowOf(n)])
  await live.node.stop()
  expect((await runCommand(['fsck', data, '--pack'])).stdout).toContain('"packs":2')
  live = await startLiveNode({ data }, quick)

  let alias = first
  let hasAdded = false
  const asked: Asked[] = []
  const proofs: string[] = []
  const refusals = new Set<string>()
  const ask = async (at: number): Promise<void> => {
    const known = hasAdded ? [...questions, ofAdded] : questions
    const question = known[at % known.length] ?? ''
    const name = at % 3 === 0 ? id : alias
    const include = at % 2 === 0 ? ['Input'] : ['Input', 'Proof']
    const sql = question.replaceAll(/\b(from|join) t\b/g, `$1 "${name}"`)
    const answer = await live.query(sql, { include, dataFormat: 'JsonAoa' })
    if (answer.status !== 200) {
      refusals.add(answer.refusal)
      return
    }
    asked.push({
      question,
      block: String(answer.at('input.datasets.0.blockHash')),
      data: answer.at('output.data'),
    })
    if (at % 2 === 1 && proofs.length < 40) proofs.push(answer.text)
  }
  const scan = async (): Promise<string> => {
    const answer = await live.query(`select count(*) from "${alias}" where n >= 0`, { include: [], explain: true })
    return String(answer.headers['query-scan'])
  }
  await until('merged files', async () => (await scan()).includes('merged-files-read=2'))

  const patch = async (json: object): Promise<void> => {
    expect((await live.call(`/${alias}`, { method: 'PATCH', json })).status).toBe(200)
  }
  const rename = async (to: string): Promise<void> => {
    await patch({ alias: to })
    alias = to
  }
  const namesTold = async (): Promise<Set<unknown>> => {
    const listener = await listen(`${live.node.url}/${alias}/events`, {
      token: live.adminToken,
      lastEventId: `${id}:500`,
    })
    const events = await listener.blocks(3)
    listener.cut()
    return new Set(events.map(({ data: told }) => told?.['alias']))
  }
  expect(await namesTold()).toEqual(new Set([first]))
  const changes: (() => Promise<unknown>)[] = [
    () => patch({ freshness: '5s' }),
    () => patch({ ingest: { eventTime: 'event_time' } }),
    () => patch({ visibility: 'private', info: { description: 'one' } }),
    () => rename(second),
    async () => {
      expect((await live.ingest(alias, [{ ...rowOf(posts), added: 7 }], '?unknownFields=add')).status).toBe(200)
      hasAdded = true
    },
    () => patch({ freshness: null, ingest: null, visibility: 'public' }),
    () => live.ingest(alias, [{ ...rowOf(posts + 1), added: 8 }]),
    async () => {
      expect((await live.call(`/${alias}`, { method: 'DELETE', headers: { 'if-match': '*' } })).status).toBeLessThan(
        300,
      )
      const restored = await live.call(`/datasets/${id}/restore`, { method: 'POST', json: { alias: first } })
      expect(restored.status).toBe(200)
      alias = first
    },
    () => rename('Acme/Stream'),
    () => live.ingest(alias, [rowOf(posts + 2)]),
  ]
  let at = 0
  for (const change of changes) {
    let isOver = false
    const asking = (async () => {
      for (const from = at; !isOver || at < from + questions.length + 1;) await ask(at++)
    })()
    await change().finally(() => {
      isOver = true
    })
    await asking
  }
  expect([...refusals].filter((one) => !/^4(?:04|10) Dataset/.test(one))).toEqual([])
  // An event of a block tells the name of now.
  expect(await namesTold()).toEqual(new Set([alias]))

  const rows = await blocksOf(live, alias)
  const folder = join(data, 'store', 'datasets')
  const [chain = ''] = await readdir(folder)
  const database = await DuckDBInstance.create(':memory:')
  const oracle = await database.connect()
  await oracle.run("SET TimeZone = 'UTC'")
  const truth = new Map<string, unknown>()
  for (const { question, block, data: told } of asked) {
    const key = `${rows.get(block)} ${question}`
    if (!truth.has(key)) {
      const slices = `read_parquet('${join(folder, chain, 'data', '*')}', union_by_name = true)`
      await oracle.run(`CREATE OR REPLACE VIEW t AS SELECT * FROM ${slices} WHERE "offset" < ${rows.get(block)}`)
      truth.set(key, await (await oracle.run(question)).getRowsJson())
    }
    expect([key, told]).toEqual([key, truth.get(key)])
  }
  expect([asked.length > 40, new Set(asked.map(({ block }) => rows.get(block))).size]).toEqual([true, 4])
  for (const body of proofs) {
    const headers = { 'content-type': 'application/json' }
    expect((await live.call('/verify', { method: 'POST', headers, body })).at('ok')).toBe(true)
  }
  await live.stop()
  await rm(data, { recursive: true, force: true })
})
