// From the file log to Kafka with the commands of docs/roles.md, and from a topic that was lost to another.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { kafkaUrl, newPrefix, noKafka, recordsTopic, sharedAdmin } from '../helpers/kafka-shared.ts'
import { type Answer, send } from '../helpers/live-node.ts'
import { type Finished, runCommand, type ServedNode, serveNode, tunedProgram } from '../helpers/run-node.ts'
import type { Tuning } from '../helpers/tuning.ts'
import { blockOf } from '../helpers/page-blocks.ts'

let data: string
let prefix: string
let node: ServedNode | undefined

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'proofstream-adopt-kafka-'))
  prefix = newPrefix()
})
afterEach(async () => {
  await node?.end('SIGKILL')
  await rm(data, { recursive: true, force: true })
})

/** Flags of a node whose log has one partition. */
function kafkaFlags(topicPrefix = prefix): string[] {
  return ['--log', kafkaUrl(topicPrefix, 1)]
}

async function serve(args: readonly string[], tuning: Tuning = {}): Promise<void> {
  node = await serveNode(data, args, {}, tunedProgram(tuning))
}

async function call(path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> {
  const token = (await readFile(join(data, 'token'), 'utf8')).trim()
  const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers }
  const method = body === undefined ? 'GET' : 'POST'
  return send(must(node, 'a node runs').url, path, { method, headers: all, ...(body === undefined ? {} : { body }) })
}

function post(name: string, rows: readonly object[], headers: Record<string, string> = {}): Promise<Answer> {
  return call(`/acme/${name}/ingest?create=true`, JSON.stringify(rows), { prefer: 'wait=20', ...headers })
}

async function count(name: string): Promise<unknown> {
  const body = JSON.stringify({ query: `select count(*), count(distinct i) from "acme/${name}"` })
  return (await call('/query', body)).at('output.data.0')
}

/** The commands of the page, by what they begin with, with the addresses and directories of this machine. */
async function recipe(): Promise<string[][]> {
  const block = blockOf('docs/roles.md', 'proofstream serve --data ./node')
  const lines = block.split('\n').filter((line) => line.startsWith('proofstream '))
  const here = (word: string): string =>
    word === './node' ? data : word === 'kafka://kafka:9092' ? kafkaUrl(prefix) : word
  return lines.map((line) => line.split(' ').slice(1).map(here))
}

/** Arguments of `serve` without those that the helper gives itself. */
function serveArgs([, , , ...args]: readonly string[]): readonly string[] {
  return args
}

const names = ['a', 'b', 'c', 'd', 'e']

describe.skipIf(noKafka)('a node moves from the file log to Kafka', () => {
  test('with the commands of the page: rows, receipts, keys and proofs stay, rows go on in all partitions', async () => {
    const [first = [], adopt = [], last = []] = await recipe()
    await serve(serveArgs(first))
    const keyed = new Map<string, Answer>()
    for (const name of names) keyed.set(name, await post(name, [{ i: 1 }, { i: 2 }], { 'idempotency-key': '"k"' }))
    const query = JSON.stringify({ query: 'select sum(i) s from "acme/a"', include: ['Proof'] })
    const proof = await call('/query', query)
    await must(node, 'a node runs').end('SIGTERM')
    await serve(serveArgs(first), { cut: { openAgeMs: 3_600_000, waitAgeMs: 3_600_000 } })
    const open = await post('a', [{ i: 3 }], { prefer: 'respond-async' })
    expect(open.at('status')).toBe('accepted')
    await must(node, 'a node runs').end('SIGTERM')
    expect(await runCommand(adopt)).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing is lost') })
    await serve(serveArgs(last))
    expect((await call(`/receipts/${String(open.at('receiptId'))}`)).at('status')).toBe('committed')
    for (const name of names) {
      const more = name === 'a' ? 1 : 0
      const again = await post(name, [{ i: 1 }, { i: 2 }], { 'idempotency-key': '"k"' })
      expect([again.status, again.at('offsets')]).toEqual([200, keyed.get(name)?.at('offsets')])
      expect((await post(name, [{ i: 10 }])).json).toMatchObject({ status: 'committed', offsets: { start: 2 + more } })
      expect(await count(name)).toEqual([3 + more, 3 + more])
      expect((await call(`/receipts/${String(keyed.get(name)?.at('receiptId'))}`)).at('status')).toBe('committed')
    }
    expect((await post('new', [{ i: 1 }])).at('status')).toBe('committed')
    expect((await call('/verify', proof.text)).at('ok')).toBe(true)
    await must(node, 'a node runs').end('SIGTERM')
    expect(await runCommand(['fsck', data])).toMatchObject({ code: 0 })
    // The file log is given up: a node does not start on it again.
    await expect(serve([])).rejects.toThrow('was given up')
  })
})

describe.skipIf(noKafka)('a topic that was made anew', () => {
  test('halts the node; another one takes over when loss is accepted, and what was lost is in the chain', async () => {
    const flags = kafkaFlags()
    await serve(flags)
    await post('a', [{ i: 1 }])
    expect(await adoptTo(kafkaUrl(prefix, 1), kafkaUrl('other', 1))).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('in use'),
    })
    const { id } = (await call('/info')).at('log') as { id: string }
    await must(node, 'a node runs').end('SIGTERM')
    const admin = await sharedAdmin()
    await admin.deleteTopics({ topics: [recordsTopic({ topicPrefix: prefix })] })
    await sleep(1_000)
    const gone = await adoptTo(id, kafkaUrl('other', 1))
    expect([gone.code, gone.stderr]).toEqual([8, expect.stringMatching(/messages from \d+ on \(the log is gone\)/)])
    await serve(flags)
    await expect.poll(async () => (await call('/readyz')).text).toContain('LogRegressed')
    expect((await post('a', [{ i: 2 }])).status).toBe(503)
    expect(await count('a')).toEqual([1, 1])
    await must(node, 'a node runs').end('SIGTERM')
    const next = newPrefix()
    const refused = await adoptTo(kafkaUrl(prefix, 1), kafkaUrl(next, 1))
    expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining('LogRegressed')])
    expect(await adoptTo(kafkaUrl(prefix, 1), kafkaUrl(next, 1), '--accept-loss')).toMatchObject({ code: 0 })
    await serve(kafkaFlags(next))
    expect((await post('a', [{ i: 2 }])).at('status')).toBe('committed')
    expect(await count('a')).toEqual([2, 2])
    const state = (await call('/acme/a/blocks?limit=1')).at('blocks.0.event.newSourceState.value')
    expect(JSON.parse(String(state))).toMatchObject({ adopted: [{ log: id, partition: 0, givenUp: {} }] })
    await must(node, 'a node runs').end('SIGTERM')
    expect(await runCommand(['fsck', data])).toMatchObject({ code: 0 })
    await admin.disconnect()
  })

  function adoptTo(old: string, next: string, ...more: string[]): Promise<Finished> {
    return runCommand(['log', 'adopt', old, next, '--data', data, ...more])
  }
})
