// The processes of deploy/compose.yaml on this machine: its commands and variables, with a bucket and brokers that are here, and
// nothing else shared but the key. Gateways begin as those of deploy/kubernetes do, with an empty directory and one token.

import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTokenText } from '../../src/node/access/token.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { type S3Stub, startS3Stub } from '../adapters/s3-stub.ts'
import { testKeys } from '../helpers/buckets.ts'
import { readCompose } from '../helpers/compose.ts'
import { kafkaUrl, newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { type Answer, send } from '../helpers/live-node.ts'
import { type ServedNode, serveNode } from '../helpers/run-node.ts'

const { services } = readCompose('deploy/compose.yaml')
const names = Object.keys(services).filter((name) => /^(?:gateway|builder|replica)-/.test(name))
const prefix = newPrefix()
const token = makeTokenText()
const running = new Map<string, ServedNode>()
let home: string
let s3: S3Stub

async function start(name: string, directory = name): Promise<void> {
  const { command = [], environment } = must(services[name], `${name} is a service`)
  const env = {
    ...environment,
    AWS_ACCESS_KEY_ID: testKeys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
    PROOFSTREAM_STORE: `s3://proofstream/installation?endpoint=${s3.url}`,
    PROOFSTREAM_NODE_KEY: join(home, 'node-key.json'),
    PROOFSTREAM_LOG: kafkaUrl(prefix),
  }
  const data = join(home, directory)
  await mkdir(data, { mode: 0o777 })
  if (name.startsWith('gateway')) await copyFile(join(home, 'token'), join(data, 'token.new'))
  running.set(name, await serveNode(data, command.slice(1), env))
}

function call(name: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', prefer: 'wait=20' }
  const { url } = must(running.get(name), `${name} runs`)
  return send(url, path, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) })
}

async function counts(name: string): Promise<unknown> {
  const body = { query: 'select count(*), count(distinct i) from "acme/rows"', dataFormat: 'JsonAoa' }
  return (await call(name, '/query', body)).at('output.data.0')
}

describe.skipIf(noKafka)('the processes of a cluster', () => {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'proofstream-cluster-'))
    s3 = await startS3Stub()
    await writeFile(join(home, 'token'), `${token}\n`)
    await start('gateway-1')
    await Promise.all(names.filter((name) => name !== 'gateway-1').map((name) => start(name)))
  })

  afterAll(async () => {
    await Promise.all([...running.values()].map((node) => node.end('SIGKILL')))
    await s3.close()
    await rm(home, { recursive: true, force: true })
  })

  test('take rows at either gateway and answer at either replica, and share nothing but log and bucket', async () => {
    for (const i of [0, 1]) {
      const posted = await call(`gateway-${i + 1}`, '/acme/rows/ingest?create=true', [{ i }])
      expect([posted.status, posted.at('status')]).toEqual([200, 'committed'])
    }
    for (const name of ['replica-1', 'replica-2']) {
      await expect.poll(() => counts(name)).toEqual([2, 2])
      expect((await call(name, '/readyz')).status).toBe(200)
    }
    expect([...s3.objects.keys()].some((key) => key.includes('installation/datasets/'))).toBe(true)
  })

  test('know one admin token, and a gateway that begins anew makes none', async () => {
    const tokens = async (): Promise<number> => (await call('gateway-2', '/tokens')).at('tokens.length') as number // a list
    expect(await tokens()).toBe(1)
    const ended = await must(running.get('gateway-1'), 'it runs').end('SIGTERM')
    expect(ended).toEqual({ code: 0, signal: null })
    await start('gateway-1', 'gateway-1-anew')
    expect(await tokens()).toBe(1)
    expect((await readFile(join(home, 'gateway-1-anew', 'token'), 'utf8')).trim()).toBe(token)
    expect((await call('gateway-1', '/acme/rows/ingest', [{ i: 2 }])).at('status')).toBe('committed')
    await expect.poll(() => counts('replica-1')).toEqual([3, 3])
  })
})
