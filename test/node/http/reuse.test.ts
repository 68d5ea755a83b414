// Over HTTP: the same question of the same blocks is answered from memory, to those who may read, and nothing else is.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ChildHandle } from '../../../src/node/engine/process/child-handle.ts'
import type { ToChild } from '../../../src/node/engine/messages.ts'
import { type Answer, type LiveNode, startLiveNode } from '../../helpers/live-node.ts'

let live: LiveNode
let nobody = ''
/** Statements that a process has run. */
let runs = 0

beforeAll(async () => {
  const { perform } = ChildHandle.prototype
  vi.spyOn(ChildHandle.prototype, 'perform').mockImplementation(function (this: ChildHandle, message, limits) {
    const counted = (...lists: Parameters<typeof message>): ToChild => {
      const sent = message(...lists)
      if (sent.kind === 'run') runs++
      return sent
    }
    return perform.call(this, counted, limits)
  })
  live = await startLiveNode()
  for (const alias of ['acme/open', 'acme/twin', 'acme/secret']) {
    const visibility = alias === 'acme/secret' ? 'private' : 'public'
    await live.call(`/${alias}`, { method: 'PUT', json: { visibility } })
    await live.ingest(alias, [{ n: 1 }, { n: 2 }, { n: 3 }])
  }
  const json = { name: 'nobody', scopes: ['read'], datasets: ['other/*'] }
  nobody = String((await live.call('/tokens', { method: 'POST', json })).at('token'))
})
afterAll(async () => {
  await live.stop()
  vi.restoreAllMocks()
})

async function runsOf(action: () => Promise<unknown>): Promise<number> {
  const before = runs
  await action()
  return runs - before
}

const told = ({ status, text, headers }: Answer): unknown => [
  status,
  text,
  headers['content-type'],
  headers['answer-stability'],
  headers['result-truncated'],
]

describe('an answer from memory', () => {
  it('is the answer, with and without a proof, whole or cut', async () => {
    for (const more of [{}, { include: ['Proof'] }, { limit: 1, include: ['Proof', 'Schema'] }]) {
      const answers: Answer[] = []
      const ask = async (): Promise<void> => void answers.push(await live.query('select n from "acme/open"', more))
      expect(await runsOf(ask)).toBe(1)
      expect(await runsOf(ask)).toBe(0)
      const [first, second] = answers.map(told)
      expect(second).toEqual(first)
      if (answers[1]?.at('proof') === undefined) continue
      const verified = await live.call('/verify', { method: 'POST', body: answers[1].text, headers: json })
      expect([verified.status, verified.at('ok')]).toEqual([200, true])
    }
  })

  it('is never one of a question that differs in any member', async () => {
    const { id, head } = { id: await idOf('acme/open'), head: await live.head('acme/open') }
    const base = { query: 'select n from "acme/open" where n < $1', parameters: [9], limit: 2 }
    const others = [
      { query: 'select n from  "acme/open" where n < $1' },
      { query: 'select n from "acme/twin" where n < $1' },
      { query: `select n from "${id}" where n < $1` },
      { parameters: [2] },
      { parameters: ['9'] },
      { parameters: { 1: 9 } },
      { limit: 1 },
      { limit: 3 },
      { skip: 1 },
      { dataFormat: 'JsonAos' },
      { dataFormat: 'JsonSoa' },
      { schemaFormat: 'OdfJson' },
      { schemaFormat: 'Parquet' },
      { include: [] },
      { include: ['Input'] },
      { include: ['Schema'] },
      { include: ['Proof'] },
      {
        datasets: [
          { id, alias: 'acme/open', blockHash: head },
          { id: await idOf('acme/twin'), alias: 'x' },
        ],
      },
    ]
    const asked = [base, ...others.map((other) => ({ ...base, ...other }))]
    const first: string[] = []
    for (const json of asked) {
      const ask = async (): Promise<void> => void first.push((await live.call('/query', { method: 'POST', json })).text)
      expect([json, await runsOf(ask)]).toEqual([json, 1])
    }
    const again: string[] = []
    const repeated = await runsOf(async () => {
      for (const json of asked.toReversed()) again.push((await live.call('/query', { method: 'POST', json })).text)
    })
    expect(repeated).toBe(0)
    expect(again.toReversed()).toEqual(first)
    const tags = await Promise.all(
      ['limit=2', 'limit=1', 'skip=1', 'dataFormat=JsonAos', 'include=Input', 'include=', 'schemaFormat=OdfJson'].map(
        async (part) => (await live.call(`/query?query=select+1+from+"acme/open"&${part}`)).headers.etag,
      ),
    )
    expect(new Set(tags).size).toBe(tags.length)
  })

  it('is for those who may read, as rights are now', async () => {
    const sql = 'select n from "acme/secret"'
    expect((await live.query(sql)).status).toBe(200)
    expect((await live.query(sql, {}, { token: nobody })).refusal).toBe('404 DatasetNotFound')
    expect((await live.query(sql, {}, { token: null })).refusal).toBe('404 DatasetNotFound')
    expect(await runsOf(async () => await live.query(sql))).toBe(0)
  })

  it('is of the head as it is', async () => {
    const sql = 'select count(*) from "acme/open"'
    const counts: unknown[] = []
    for (let i = 0; i < 2; i++) {
      counts.push((await live.query(sql)).at('output.data.0.0'), (await live.query(sql)).at('output.data.0.0'))
      await live.ingest('acme/open', [{ n: 9 }])
    }
    expect(counts).toEqual([3, 3, 4, 4])
  })

  it.each([
    'select random()',
    'select now()',
    'select uuid()',
    'show tables',
    'select n from "acme/open" using sample 1',
  ])('is never that of %s', async (query) => {
    const ask = async (): Promise<Answer> => await live.query(query, { include: [] })
    expect((await ask()).headers['answer-stability']).toBeUndefined()
    expect(await runsOf(ask)).toBe(1)
    const file = await live.query(query, { dataFormat: 'Csv' })
    expect([file.status, file.headers['answer-stability']]).toEqual([200, undefined])
  })
})

const json = { 'content-type': 'application/json' }

async function idOf(alias: string): Promise<string> {
  return String((await live.call(`/${alias}/metadata`)).at('output.seed.datasetId'))
}

it('sixteen callers with one statement are one run', async () => {
  const sql = 'select sum(a.range * b.range) from range(3000) a, range(3000) b'
  const answers: Answer[] = []
  const all = async (): Promise<void> => {
    answers.push(...(await Promise.all(Array.from({ length: 16 }, async () => await live.query(sql)))))
  }
  expect(await runsOf(all)).toBe(1)
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
})

it('three hundred who wait for news of one dataset are one run', async () => {
  const headers = { 'if-none-match': (await live.call('/acme/twin/tail')).headers.etag }
  const answers: Answer[] = []
  const all = async (): Promise<void> => {
    const waiting = Array.from({ length: 300 }, async () => await live.call('/acme/twin/tail?wait=25', { headers }))
    const listeners = async (): Promise<string> => (await live.call('/metrics')).text
    await expect.poll(listeners, { timeout: 20_000 }).toMatch(/listeners\S* 300$/m)
    await live.ingest('acme/twin', [{ n: 4 }])
    answers.push(...(await Promise.all(waiting)))
  }
  expect(await runsOf(all)).toBe(1)
  const [first = '', ...others] = new Set(answers.map(({ status, text }) => `${status} ${text}`))
  expect([first.slice(0, 4), others]).toEqual(['200 ', []])
}, 60_000)
