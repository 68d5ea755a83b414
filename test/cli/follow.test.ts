// `tail -f` over a real node: each row once and in order, while the node is killed, started again and packs its chain.

import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { send } from '../helpers/live-node.ts'
import { type Finished, runCommand, type ServedNode, serveNode } from '../helpers/run-node.ts'
import { problem, startStub } from './stub-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-follow-'))

/** A `tail -f` under way. */
function followed(
  url: string,
  more: readonly string[],
): { lines(): string[]; child(): ChildProcess; end: Promise<Finished> } {
  let text = ''
  let process: ChildProcess | undefined
  const end = runCommand(['tail', '-f', 'acme/goods', '--server', url, ...more], {
    cwd: folder,
    onStart: (child) => {
      process = child
      child.stdout?.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    },
  })
  return {
    lines: () => text.split('\n').slice(0, -1),
    child: () => process as ChildProcess, // set by runCommand
    end,
  }
}

describe('tail -f', () => {
  test('prints each row once, whatever happens to the node', async () => {
    const data = join(folder, 'data')
    let node: ServedNode = await serveNode(data)
    const port = new URL(node.url).port
    const token = (await readFile(join(data, 'token'), 'utf8')).trim()
    let next = 0
    const post = async (count: number): Promise<void> => {
      const body = Array.from({ length: count }, () => `{"n":${next++}}\n`).join('')
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
      const answer = await send(node.url, '/acme/goods/ingest?create=true&integers=int64', {
        method: 'POST',
        headers,
        body,
      })
      expect(answer.status).toBe(200)
    }
    await post(30)
    const tail = followed(node.url, ['-n', '5', '--token-file', join(data, 'token')])
    await expect.poll(() => tail.lines().length).toBe(5)
    for (let i = 0; i < 3; i++) await post(1)
    await expect.poll(() => tail.lines().length).toBe(8)
    await node.end('SIGKILL')
    node = await serveNode(data, ['--listen', `127.0.0.1:${port}`])
    await post(2_500)
    for (let i = 0; i < 3; i++) await post(1)
    await node.end('SIGTERM')
    node = await serveNode(data, ['--listen', `127.0.0.1:${port}`])
    await post(2)
    await expect.poll(() => tail.lines().length).toBe(next - 25)
    const rows = tail.lines().map((line) => JSON.parse(line) as { n: number; offset: number })
    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: next - 25 }, (_, i) => i + 25))
    expect(rows.map(({ offset }) => offset)).toEqual(rows.map(({ n }) => n))
    tail.child().kill('SIGINT')
    const { code, stderr } = await tail.end
    expect(code).toBe(130)
    expect(stderr).toMatch(/Next try in \d+\.\d s\.\n/)
    await node.end('SIGTERM')
  })

  const stubbed = {
    'GET /acme/goods': { body: '{"id":"did:odf:fed01aa"}' },
    'GET /acme/goods/blocks': { body: '{"blocks":[{"hash":"f16","sequence":4}]}' },
    'GET /acme/goods/tail': { body: '{"data":[{"offset":0,"n":1},{"offset":1,"n":null}]}' },
  }
  const events = (body: string): object => ({
    'GET /acme/goods/events': { body, headers: { 'content-type': 'text/event-stream' } },
  })
  const end = (status: number, kind: string, retryable: boolean): string =>
    `id: did:odf:fed01aa:4\n\nevent: end\ndata: ${JSON.stringify({ status, error: { kind }, message: `It is ${kind}.`, retryable })}\n\n`

  test.each([
    [404, 'DatasetNotFound', 3],
    [401, 'Unauthenticated', 4],
  ])('ends with the code of %i %s when the stream says so', async (status, kind, code) => {
    await using stub = await startStub({ ...stubbed, ...events(end(status, kind, false)) })
    const { code: ended, stderr } = await followed(stub.url, []).end
    expect([ended, stderr]).toEqual([code, expect.stringContaining(`It is ${kind}.  (${status} ${kind})`)])
  })

  test('prints a header once in CSV, and sends its place', async () => {
    const block = (n: number): string =>
      `id: did:odf:fed01aa:${n}\ndata: {"block":"f1${n}","sequence":${n},"offsets":{"start":${n},"end":${n}},"rows":[{"offset":${n},"n":9007199254740993}]}\n\n`
    await using stub = await startStub({
      ...stubbed,
      ...events(block(5) + block(6) + end(404, 'DatasetNotFound', false)),
    })
    const { stdout } = await followed(stub.url, ['-o', 'csv']).end
    expect(stdout).toBe('offset,n\n0,1\n1,\n5,9007199254740993\n6,9007199254740993\n')
    const asked = stub.asked.find(({ path }) => path.startsWith('/acme/goods/events'))
    expect(asked?.headers['last-event-id']).toBe('did:odf:fed01aa:4')
  })

  test('does not go on with another dataset of that name', async () => {
    await using stub = await startStub({ ...stubbed, ...events('id: did:odf:fed01bb:2\n\n') })
    expect((await followed(stub.url, []).end).code).toBe(8)
  })

  test('fails at once where there is nothing to follow', async () => {
    await using stub = await startStub({
      'GET /acme/goods': problem(404, 'DatasetNotFound', 'There is no dataset acme/goods.'),
    })
    expect((await followed(stub.url, []).end).code).toBe(3)
    expect((await followed('http://127.0.0.1:1', []).end).code).toBe(6)
  })

  test.each([[['-o', 'json']], [['-o', 'x.csv']], [['--skip', '1']], [['--at', 'f16']]])(
    'does not take %j',
    async (args) => {
      expect((await followed('http://127.0.0.1:1', args).end).code).toBe(2)
    },
  )
})
