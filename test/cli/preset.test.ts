// `ingest` sends the flags that say how a body is read, a preset among them, as parameters.

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../helpers/run-node.ts'
import { receipt, startStub } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-preset-'))
test('ingest sends the flags as parameters, and no key where the body has it', async () => {
  await using stub = await startStub({
    'GET /me/lab': { body: {} },
    'POST /me/lab/ingest': { body: receipt() },
  })
  const send = (...args: string[]) =>
    runCommand(['ingest', 'me/lab', ...args, '--server', stub.url], { cwd: folder, input: '{"a":1}\n' })
  const codes = [
    await send('--event-time', '/up/ts', '--records', '/rows', '--flatten', '--dedupe', 'body'),
    await send('--preset', 'ttn', '--no-flatten'),
    await send('--preset', 'ttn', '--key', 'mine'),
    await send('--event-time', 'ts'),
    await send('--geometry', 'lon,lat'),
  ].map(({ code }) => code)
  expect(codes).toEqual([0, 0, 0, 0, 0])
  const sent = stub
    .of('POST', '/me/lab/ingest')
    .map(({ query, headers }) => [Object.fromEntries(query), headers['idempotency-key']])
  expect(sent).toEqual([
    [{ eventTime: '/up/ts', records: '/rows', flatten: 'true', dedupe: 'body' }, undefined],
    [{ preset: 'ttn', flatten: 'false' }, undefined],
    [{ preset: 'ttn' }, 'mine'],
    [{ eventTime: 'ts' }, expect.stringMatching(/^[0-9a-f-]{36}$/)],
    [{ geometry: 'lon,lat' }, expect.stringMatching(/^[0-9a-f-]{36}$/)],
  ])
})
