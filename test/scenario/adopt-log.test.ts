// A log given up for another with the program's own commands: rows, receipts and proofs of before stay, new rows go on,
// and what is lost with a log is told before anything is given up.

import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, send } from '../helpers/live-node.ts'
import { type Finished, runCommand, type ServedNode, serveNode, tunedProgram } from '../helpers/run-node.ts'
import type { Tuning } from '../helpers/tuning.ts'

let data: string
let node: ServedNode | undefined

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'proofstream-adopt-'))
})
afterEach(async () => {
  await node?.end('SIGKILL')
  await rm(data, { recursive: true, force: true })
})

async function serve(tuning: Tuning = {}): Promise<ServedNode> {
  node = await serveNode(data, [], {}, tunedProgram(tuning))
  return node
}

async function call(path: string, more: Parameters<typeof send>[2] = {}): Promise<Answer> {
  const token = (await readFile(join(data, 'token'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', ...more.headers }
  return send(node?.url ?? '', path, { ...more, headers })
}

function post(rows: readonly number[], prefer = 'wait=20'): Promise<Answer> {
  const body = rows.map((n) => `{"n":${n}}\n`).join('')
  return call('/acme/goods/ingest?create=true', { method: 'POST', headers: { prefer }, body })
}

function postJson(path: string, body: string | Uint8Array): Promise<Answer> {
  return call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

async function count(): Promise<unknown> {
  return (await postJson('/query', '{"query":"select count(*), sum(n) from \\"acme/goods\\""}')).at('output.data.0')
}

function adopt(...args: string[]): Promise<Finished> {
  return runCommand(['log', 'adopt', ...args, '--data', data])
}

function logId(): Promise<string> {
  return readFile(join(data, 'log', 'id'), 'utf8').then((text) => text.trim().slice(0, 32))
}

async function moveLog(): Promise<string> {
  const old = join(data, 'log-before')
  await rename(join(data, 'log'), old)
  return `file:${old}`
}

async function expectSound(): Promise<void> {
  expect(await runCommand(['fsck', data])).toMatchObject({ code: 0 })
}

/** What the newest block says of the logs that its chain has left. */
async function leftLogs(): Promise<unknown> {
  const state = (await call('/acme/goods/blocks?limit=1')).at('blocks.0.event.newSourceState.value')
  return (JSON.parse(String(state)) as { adopted?: unknown }).adopted
}

async function proof(): Promise<Answer> {
  const body = JSON.stringify({ query: 'select sum(n) s from "acme/goods"', include: ['Proof'] })
  return postJson('/query', body)
}

async function expectProven(answer: Answer): Promise<void> {
  const verified = await postJson('/verify', answer.bytes)
  expect([verified.status, verified.at('ok')]).toEqual([200, true])
}

describe('a log that is whole', () => {
  test('is built to its end: all that was acknowledged stays, and the rest goes on in the new one', async () => {
    await serve()
    const refused = await adopt('file', `file:${join(data, 'other')}`)
    expect(refused).toMatchObject({ code: 9 })
    expect(refused.stderr).toContain('in use by process')
    await post([1])
    const before = await proof()
    await node?.end('SIGTERM')
    // Rows that are in the log and in no block.
    await serve({ cut: { openAgeMs: 3_600_000, waitAgeMs: 3_600_000 } })
    const open = await post([2, 3], 'respond-async')
    expect([open.status, open.at('status')]).toEqual([202, 'accepted'])
    await node?.end('SIGTERM')
    const id = await logId()
    const old = await moveLog()
    const adopted = await adopt(old, 'file')
    expect(adopted).toMatchObject({ code: 0, stdout: '' })
    expect(adopted.stderr).toContain('nothing is lost')
    expect((await adopt(old, 'file')).stderr).toContain('was given up')
    await serve()
    const receipt = `/receipts/${String(open.at('receiptId'))}`
    expect((await call(receipt)).json).toMatchObject({ status: 'committed', offsets: { start: 1, end: 2 } })
    expect(await count()).toEqual([3, 6])
    const posted = await post([4])
    expect(posted.json).toMatchObject({ status: 'committed', offsets: { start: 3, end: 3 } })
    expect(await leftLogs()).toEqual([{ log: id, partition: 0 }])
    expect((await call(receipt)).at('status')).toBe('committed')
    expect((await call(`/receipts/${String(posted.at('receiptId'))}`)).at('status')).toBe('committed')
    expect(await count()).toEqual([4, 10])
    await expectProven(before)
    await expectProven(await proof())
    await node?.end('SIGTERM')
    await expectSound()
    expect(await adopt('file', 'file')).toMatchObject({ code: 2, stderr: expect.stringContaining('one log') })
    // What is named by its id is found where it is.
    const named = await adopt(await logId(), `file:${join(data, 'third')}`)
    expect(named).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing is lost') })
    await expectSound()
  })
})

describe('a log that is gone', () => {
  test('stops its datasets; it is given up when loss is accepted, and the chain says from where on', async () => {
    await serve()
    await post([1])
    await node?.end('SIGTERM')
    const id = await logId()
    await rm(join(data, 'log'), { recursive: true })
    await serve()
    expect((await post([2])).at('error.kind')).toBe('OtherLog')
    expect(node?.log()).toMatch(new RegExp(`"others":\\["${id}"\\].*log adopt`))
    expect(await count()).toEqual([1, 1])
    await node?.end('SIGTERM')
    expect(await adopt('file:nowhere', 'file')).toMatchObject({ code: 3, stderr: expect.stringContaining(id) })
    const refused = await adopt(id, 'file', '-o', 'json')
    expect(refused.code).toBe(8)
    expect(JSON.parse(refused.stdout)).toEqual([{ partition: 0, from: 3, reason: 'the log is gone' }])
    expect(refused.stderr).toContain('partition 0: messages from 3 on (the log is gone)')
    expect(await adopt(id, 'file', '--accept-loss')).toMatchObject({ code: 0 })
    await serve()
    expect(node?.log()).not.toContain('log adopt')
    expect((await post([2])).at('status')).toBe('committed')
    expect(await leftLogs()).toEqual([{ log: id, partition: 0, givenUp: { from: 3 } }])
    const shown = await runCommand(['dataset', 'log', 'acme/goods', '-o', 'ndjson', '--server', node?.url ?? ''], {
      env: { PROOFSTREAM_DATA: data },
    })
    expect(shown.stdout).toContain('givenUp')
    expect(await count()).toEqual([2, 3])
    await node?.end('SIGTERM')
    await expectSound()
  })
})
