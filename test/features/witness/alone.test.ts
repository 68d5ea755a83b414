// `proofstream ledger witness`: a real process that is asked by strangers, killed at any moment, and started again.

import { once } from 'node:events'
import { cp, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boundConnections } from '../../../src/features/witness/alone.ts'
import { cosignaturesIn } from '../../../src/libraries/ledger/witness.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { parseVerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import { blockOf } from '../../helpers/page-blocks.ts'
import { runCommand, runShell } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'
import { added, type Alone, startAlone, startAs } from './alone.ts'
import { Branch, foreignHash, foreignPolicy, noisy, refused } from './ledgers.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-alone-'))
const policy = join(folder, 'policy')
const data = join(folder, 'witness')
const honest = new Branch('a', 64)
let witness: Alone
beforeAll(async () => {
  await writeFile(policy, foreignPolicy)
  witness = await startAlone(policy, data)
})
afterAll(async () => {
  await witness.end('SIGTERM')
  await rm(folder, { recursive: true })
})

const head = async (): Promise<string> => (await fetch(`${witness.url}/${foreignHash}/checkpoint`)).text()

test.each(refused)('%s is refused with %i', async (_, status, body) => {
  const answer = await added(witness.url, body)
  expect(answer?.status).toBe(status)
  expect(answer?.type).toBe(status === 409 ? 'text/x.tlog.size' : 'text/plain; charset=utf-8')
  expect((await fetch(`${witness.url}/${foreignHash}/checkpoint`)).status).toBe(404)
})

test('what is no request to a witness is refused', async () => {
  const statusOf = async (path: string, method: string): Promise<number> =>
    (await fetch(witness.url + path, { method })).status
  expect(await statusOf('/add-checkpoint', 'GET')).toBe(405)
  for (const path of ['/', '/x', `/${foreignHash}`, `/${foreignHash.toUpperCase()}/checkpoint`]) {
    expect([path, await statusOf(path, 'GET')]).toEqual([path, 404])
  }
  expect((await stat(join(data, 'keys', 'witness.json'))).mode & 0o777).toBe(0o600)
})

/** A connection of its own: what it was told so far, and its end. */
function connected(): { readonly socket: Socket; readonly told: () => string; readonly closed: Promise<unknown> } {
  const { hostname, port } = new URL(witness.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => {})
  return { socket, told: () => text, closed: new Promise((resolve) => socket.once('close', resolve)) }
}

test('connections that keep still, bodies without end, and requests by the thousand on one keep nobody out', async () => {
  const [still, large, flood] = [connected(), connected(), connected()]
  still.socket.write('POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nold')
  large.socket.write('POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  large.socket.write(`10000\r\n${'x'.repeat(0x1_0000)}\r\n`.repeat(16))
  flood.socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5_000))
  flood.socket.write('GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect((await added(witness.url, 'x'))?.status).toBe(400)
  await until('the refusal', () => large.told().startsWith('HTTP/1.1 413 '))
  // The rest of it is read and thrown away.
  large.socket.write('0\r\n\r\nGET /x HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('an answer after it', () => large.told().includes('HTTP/1.1 404 '))
  await flood.closed
  expect(flood.told().match(/HTTP\/1\.1 404/g)).toHaveLength(5_001)
  // Nothing comes on them any more.
  await Promise.all([still.closed, large.closed])
})

test('of too many connections the oldest goes of the address that has most, so that all others are answered', async () => {
  const server = createServer((_, response) => response.end('here'))
  boundConnections(server, 4)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const open = async (localAddress: string, text: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    await once(socket, 'connect')
    socket.write(text)
    return socket.setEncoding('utf8')
  }
  const header = 'GET / HTTP/1.1\r\nHost: x\r\n'
  const quiet = await open('127.0.0.2', header)
  const slow: Socket[] = []
  for (let i = 0; i < 20; i++) slow.push((await open('127.0.0.1', header)).on('error', () => {}))
  await until('those beyond four are gone', () => slow.filter(({ destroyed }) => !destroyed).length === 3)
  expect(slow.findIndex(({ destroyed }) => !destroyed)).toBe(17)
  for (const address of ['127.0.0.3', '127.0.0.1']) {
    const [answer] = (await once(await open(address, `${header}\r\n`), 'data')) as [string]
    expect(answer).toContain('200 OK')
  }
  quiet.write('\r\n')
  expect(((await once(quiet, 'data')) as [string])[0]).toContain('200 OK')
  server.closeAllConnections()
  server.close()
})

test('cosigns, and goes on where it was whenever it is killed', async () => {
  expect((await added(witness.url, noisy))?.status).toBe(200)
  expect(await head()).toMatch(/^foreign\.example\/ledger\n5\n/)
  const { key } = witness
  let acknowledged = 5
  for (let round = 0; round < 4; round++) {
    let isOver = false
    const asking = (async () => {
      for (let size = acknowledged; !isOver && size < 64;) {
        const answer = await added(witness.url, honest.body(size, size + 1))
        if (answer?.status === 200) size = acknowledged = size + 1
        else if (answer?.status === 409) size = Number(answer.text)
        else isOver = true
      }
    })()
    await sleep(5 * round)
    await witness.end('SIGKILL')
    isOver = true
    await asking
    witness = await startAlone(policy, data)
    expect(witness.key).toBe(key)
    const size = Number((await head()).split('\n')[1])
    expect([acknowledged, acknowledged + 1]).toContain(size)
    const fork = new Branch(`fork ${round}`, size - 1)
    expect((await added(witness.url, fork.body(size, size)))?.status).toBe(422)
    expect((await added(witness.url, fork.body(size, size + 1)))?.status).toBe(422)
    const again = await added(witness.url, honest.body(size, size))
    expect(cosignaturesIn(utf8(again?.text ?? ''), honest.note(size).text, parseVerifierKey(key))).toHaveLength(1)
    acknowledged = size
  }
})

test('does not begin where another has the directory, or with what is no policy, name, address or key of its own', async () => {
  const refusal = async (changed: Readonly<Record<string, string>>): Promise<string> => {
    const given = { policy, data: join(folder, 'new'), name: 'w', listen: '127.0.0.1:0', ...changed }
    const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
    const { code, stderr } = await runCommand(['ledger', 'witness', ...flags])
    expect(code).not.toBe(0)
    return stderr
  }
  expect(await refusal({ data })).toContain('is in use')
  expect(await refusal({ name: 'a b' })).toContain('no white space')
  expect(await refusal({ listen: 'nowhere' })).toContain('expected host:port')
  expect(await refusal({ policy: join(folder, 'none') })).toContain('ENOENT')
  await writeFile(join(folder, 'bad'), 'log x\nquorum none\n')
  expect(await refusal({ policy: join(folder, 'bad') })).toContain('line 1')
  await writeFile(join(folder, 'empty'), 'quorum none\n')
  expect(await refusal({ policy: join(folder, 'empty') })).toContain('names no ledger')
  await cp(join(data, 'keys'), join(folder, 'moved', 'keys'), { recursive: true })
  expect(await refusal({ data: join(folder, 'moved') })).toContain('with another store')
})

test('begins as the page says, with the policy of a node', async () => {
  const page = blockOf('docs/ledger.md', 'curl -s https://data.example.org/ledger/policy')
  const node = createServer((_, response) => response.end(`${foreignPolicy.replace('none', 'w')}witness w x\n`))
  node.listen(0, '127.0.0.1')
  await once(node, 'listening')
  const { port } = node.address() as AddressInfo // it listens on a port
  const [command = '', ...others] = page.trim().split('\n').toReversed()
  const script = others.toReversed().join('\n').replace('https://data.example.org', `http://127.0.0.1:${port}`)
  const home = await mkdtemp(join(folder, 'page-'))
  expect((await runShell(script, { cwd: home })).code).toBe(0)
  const begun = await startAs(command.split(' ').slice(1), home)
  expect(begun.key).toMatch(/^witness\.example\.net\/w1\+/)
  expect((await added(begun.url, noisy))?.status).toBe(200)
  expect(await begun.end('SIGTERM')).toBe(0)
  node.close()
})
