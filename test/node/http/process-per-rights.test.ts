// Over HTTP: the process that has read a private dataset answers no query of who may not read it, and a caller with many
// queries keeps nobody from theirs.

import { type ClientRequest, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ChildHandle } from '../../../src/node/engine/process/child-handle.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'

let live: LiveNode
const tokens: Record<string, string | null> = { nobody: null }
/** The process of each job, in order. */
const pids: (number | undefined)[] = []

beforeAll(async () => {
  const { perform } = ChildHandle.prototype
  vi.spyOn(ChildHandle.prototype, 'perform').mockImplementation(function (this: ChildHandle, ...given) {
    pids.push(this.pid)
    return perform.apply(this, given)
  })
  live = await startLiveNode({}, { limits: { concurrentQueries: 1, queuedQueries: 8 } })
  for (const alias of ['alice/secret', 'bob/secret', 'open/data']) {
    const visibility = alias === 'open/data' ? 'public' : 'private'
    await live.call(`/${alias}`, { method: 'PUT', json: { visibility } })
    await live.ingest(alias, [{ n: 1 }])
  }
  for (const name of ['alice', 'bob']) {
    const json = { name, scopes: ['read'], datasets: [`${name}/*`] }
    tokens[name] = String((await live.call('/tokens', { method: 'POST', json })).at('token'))
  }
})
afterAll(async () => {
  await live.stop()
  vi.restoreAllMocks()
})

let texts = 0

/** Processes in which `name` was answered. */
async function processesOf(name: string, alias: string): Promise<(number | undefined)[]> {
  const from = pids.length
  const token = tokens[name]
  const call = token === undefined ? {} : { token }
  const answer = await live.query(`select count(*) + 0 * ${texts++} from "${alias}"`, {}, call)
  expect([answer.status, answer.at('output.data.0.0')]).toEqual([200, 1])
  return pids.slice(from)
}

describe('a process that has read a private dataset', () => {
  it('answers its own readers and the administrator, and nobody else', async () => {
    const seen = new Map<number | undefined, Set<string>>()
    const order = ['alice', 'nobody', 'bob', 'admin', 'alice', 'bob', 'nobody', 'alice', 'admin', 'nobody'] as const
    const reads = { alice: 'alice/secret', bob: 'bob/secret', admin: 'alice/secret', nobody: 'open/data' } as const
    for (const name of order) {
      const processes = await processesOf(name, reads[name])
      for (const pid of processes) {
        const read = seen.get(pid) ?? new Set()
        const others = [...read].filter(
          (alias) => alias !== 'open/data' && !(name === 'admin' || alias.startsWith(name)),
        )
        expect(others, `${name} in a process that has read`).toEqual([])
        seen.set(pid, read)
      }
      seen.get(processes.at(-1))?.add(reads[name])
    }
    // The newest rows come from a process in which no caller's statement ever ran.
    const from = pids.length
    expect((await live.call('/alice/secret/tail')).status).toBe(200)
    expect((await live.call('/open/data/tail', { token: null })).status).toBe(200)
    for (const pid of pids.slice(from)) expect(seen.has(pid)).toBe(false)
  })
})

describe('a caller with many queries', () => {
  /** A query that runs or waits until it is destroyed. */
  function hanging(): ClientRequest {
    const { hostname, port } = new URL(live.node.url)
    const headers = { 'content-type': 'application/json' }
    const request = httpRequest({ hostname, port, path: '/query', method: 'POST', headers, agent: false })
    request.on('error', () => {})
    request.end(JSON.stringify({ query: `select ${texts++}, sum(range % 7) from range(1000000000000)` }))
    return request
  }

  it('keeps no other from queries and tails, and is told that its share is full', async () => {
    const open = Array.from({ length: 12 }, hanging)
    const full = async (): Promise<unknown> =>
      (await live.query(`select ${texts++}`, {}, { token: null })).at('limit.name')
    await expect.poll(full).toBe('callerShare')
    for (let i = 0; i < 10; i++) {
      expect((await live.query(`select ${i}`)).at('output.data.0.0')).toBe(i)
      expect((await live.call('/open/data/tail')).status).toBe(200)
      expect((await live.call('/open/data/metadata', { token: null })).status).toBe(200)
    }
    // His own queries do not stand in the way of the caller's tails.
    expect((await live.call('/open/data/tail', { token: null })).status).toBe(200)
    for (const request of open) request.destroy()
    await expect.poll(async () => (await live.query('select 1', {}, { token: null })).status).toBe(200)
  })
})
