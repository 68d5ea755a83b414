// `token create --count`: a token a device, each bound to its own datasets; one of them is revoked.

import { expect, test } from 'vitest'
import { liveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'
import { problem, startStub } from './stub-node.ts'

const live = await liveNode()
const token = (...args: readonly string[]) =>
  runCommand(['token', ...args, '--server', live.node.url], { env: { PROOFSTREAM_TOKEN: live.adminToken } })

test('makes CSV with a token a line, that may write its own dataset and no other, until it is revoked', async () => {
  const scopes = ['--scope', 'ingest', '--scope', 'create']
  const { code, stdout, stderr } = await token(
    'create',
    'pump',
    ...scopes,
    '--count',
    '20',
    '--datasets',
    'fleet/{name}',
  )
  expect([code, stderr]).toEqual([0, '20 tokens. Their texts are shown this once: keep them now.\n'])
  const [head, ...lines] = stdout.trimEnd().split('\n')
  expect(head).toBe('name,token,id,datasets')
  const tokens = lines.map((line) => line.split(','))
  const names = Array.from({ length: 20 }, (_, i) => `pump-${String(i + 1).padStart(4, '0')}`)
  expect(tokens.map(([name, , , datasets]) => [name, datasets])).toEqual(names.map((name) => [name, `fleet/${name}`]))
  expect(new Set(tokens.map(([, text]) => text)).size).toBe(20)
  const [first = [], second = []] = tokens
  const send = async (alias: string, by: string | undefined) =>
    (
      await live.call(`/${alias}/ingest?create=true`, {
        method: 'POST',
        body: '{"n":1}',
        headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${by}` },
      })
    ).status
  expect([await send('fleet/pump-0001', first[1]), await send('fleet/pump-0002', first[1])]).toEqual([200, 403])
  expect((await token('revoke', first[2] ?? '')).code).toBe(0)
  expect([await send('fleet/pump-0001', first[1]), await send('fleet/pump-0002', second[1])]).toEqual([401, 200])
})

test('may read and be bound as the flags say; without a name and scopes it is devices that ingest', async () => {
  const { stdout } = await token('create', '--count', '2', '--dataset', 'fleet/all', '-o', 'ndjson')
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { name: 'device-0001', datasets: 'fleet/all' },
    { name: 'device-0002', datasets: 'fleet/all' },
  ])
  const listed = (await live.call('/tokens')).at('tokens') as { name: string; scopes: string[] }[]
  expect(listed.filter(({ name }) => name.startsWith('device-')).map(({ scopes }) => scopes)).toEqual([
    ['ingest'],
    ['ingest'],
  ])
})

test.each([
  ['no name', ['--scope', 'read'], 2],
  ['no scope', ['reader'], 2],
  ['no count', ['--count', '0'], 2],
  ['a name that is none of a dataset', ['my pump', '--count', '2', '--datasets', 'fleet/{name}'], 5],
])('refuses %s', async (_, args, code) => {
  expect((await token('create', ...args)).code).toBe(code)
})

test('says that a token without --dataset is good for all', async () => {
  const all = await token('create', 'reader', '--scope', 'read')
  const some = await token('create', 'reader', '--scope', 'read', '--dataset', 'acme/*')
  const named = await token('create', 'roof', '--scope', 'ingest', '--datasets', 'lab/*,lab2/{name}', '-o', 'ndjson')
  expect(Object(JSON.parse(named.stdout)).datasets).toEqual(['lab/*', 'lab2/roof'])
  const told = [all, some, named].map(({ stderr }) => stderr.includes('good for every dataset'))
  expect(told).toEqual([true, false, false])
})

test('prints what was made before a failure', async () => {
  const made = { status: 201, body: { id: 'a1', token: 'pst_1' } }
  await using stub = await startStub({ 'POST /tokens': [made, problem(400, 'InvalidRequest', 'No more.')] })
  const { code, stdout, stderr } = await runCommand(['token', 'create', '--count', '2', '--server', stub.url])
  expect([code, stdout]).toEqual([5, expect.stringMatching(/^name,token,id,datasets\ndevice-000\d,pst_1,a1,\n$/)])
  expect(stderr).toContain('that are printed were made')
})
