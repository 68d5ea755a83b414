// `ingest --stream`: an endless pipe over connections that break, to a real node behind a proxy that cuts them.

import { mkdtemp } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { HeldLines } from '../../src/libraries/base/held-lines.ts'
import { decodeUtf8, utf8 } from '../../src/libraries/base/bytes.ts'
import { liveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'

const live = await liveNode({}, { stream: { ageMs: 10 } })
const folder = await mkdtemp(join(tmpdir(), 'proofstream-stream-'))

/** A proxy that cuts connections, each after so many bytes of its answer. */
async function cuttingProxy(
  cutAfter: readonly number[],
): Promise<{ url: string; cuts: () => number; close: () => void }> {
  let cuts = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const { hostname, port } = new URL(live.node.url)
    const node = connect(Number(port), hostname)
    for (const socket of [client, node]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    let left: number | undefined
    client.on('data', (bytes) => {
      if (left === undefined && bytes.toString('latin1').startsWith('POST')) left = cutAfter[cuts]
      node.write(bytes)
    })
    client.on('end', () => node.end())
    node.on('data', (bytes) => {
      client.write(bytes)
      if (left === undefined || (left -= bytes.length) > 0) return
      cuts++
      client.destroy()
      node.destroy()
    })
    node.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cuts: () => cuts, close }
}

test('a pipe of lines goes in once, however often its connection is cut', async () => {
  let count = 0
  const proxy = await cuttingProxy([1, 900, 2_000, 5_000])
  const input = Readable.from(
    (async function* () {
      // It goes on until all cuts were made.
      for (let n = 0; n < 5_000 && (n < 400 || proxy.cuts() < 4); n++) {
        count = n + 1
        yield `{"n":${n}}\n${n % 50 === 0 ? '\n' : ''}`
        if (n % 5 === 0) await setTimeout(10)
      }
      yield '\n'
    })(),
  )
  const { code, stdout, stderr } = await runCommand(['ingest', 'me/lab', '--stream', '--server', proxy.url], {
    cwd: folder,
    input,
    env: { PROOFSTREAM_TOKEN: live.adminToken },
  })
  proxy.close()
  expect({ code, stderr: stderr.includes('created dataset me/lab') }).toEqual({ code: 0, stderr: true })
  expect(proxy.cuts()).toBe(4)
  expect(stdout.trim().split('\n').length).toBeGreaterThan(4)
  await live.ingest('me/lab', [{ n: -1 }])
  const answer = await live.query('select n from "me/lab" where n >= 0 order by "offset"', { limit: 5_000 })
  expect((answer.at('output.data') as unknown[][]).map(([n]) => n)).toEqual(Array.from({ length: count }, (_, n) => n))
})

test('only a pipe of NDJSON is a stream', async () => {
  const { code, stderr } = await runCommand(['ingest', 'me/lab', '--stream', '-f', 'csv', '--server', live.node.url], {
    cwd: folder,
    input: 'n\n1\n',
    env: { PROOFSTREAM_TOKEN: live.adminToken },
  })
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('NDJSON from a pipe') })
})

test('lines are held until they are durable, and sent again from there', async () => {
  const held = new HeldLines()
  await held.fill(Readable.from([utf8('a\nb\nc'), utf8('c\n\nd')]))
  const text = async (): Promise<string> => {
    let all = ''
    for await (const piece of held.lines()) all += decodeUtf8(piece)
    return all
  }
  expect([held.first, await text()]).toEqual([0, 'a\nb\ncc\n\nd\n'])
  held.release(0)
  expect(held.first).toBe(0)
  held.release(2)
  expect([held.first, await text()]).toEqual([2, 'cc\n\nd\n'])
  held.release(4)
  expect(held.isDone).toBe(true)
})
