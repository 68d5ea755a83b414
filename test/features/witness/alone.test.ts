// `proofstream serve --roles witness`: a real process that is asked by strangers, killed at any moment, and started again.

import { once } from 'node:events'
import { cp, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boundConnections } from '../../../src/features/witness/connections.ts'
import { cosignaturesIn } from '../../../src/libraries/ledger/witness.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { parseVerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import { blockOf } from '../../helpers/page-blocks.ts'
import { runCommand, runShell } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'
import { keyText } from '../../libraries/ledger/keys.ts'
import { added, type Alone, startAlone, startAs } from './alone.ts'
import { Branch, foreignHash, foreignPolicy, noisy } from './ledgers.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-alone-'))
const policy = join(folder, 'policy')
const data = join(folder, 'witness')
const honest = new Branch('a', 64)
let witness: Alone
beforeAll(async () => {
  // A policy as a node shows it: its witnesses have no addresses, and are nothing to this one.
  await writeFile(policy, foreignPolicy.replace('quorum none', `witness w ${keyText('w', 11)}\nquorum w`))
  witness = await startAlone(policy, data)
})
afterAll(async () => {
  await witness.end('SIGTERM')
  await rm(folder, { recursive: true })
})

const head = async (): Promise<string> => (await fetch(`${witness.url}/${foreignHash}/checkpoint`)).text()

test('it is a node without data: it tells its key, its health and its metrics, and what is no request to it is refused', async () => {
  const get = async (path: string): Promise<Response> => await fetch(witness.node + path)
  expect(await (await get('/ledger')).json()).toEqual({ witness: witness.key })
  expect(await (await get('/info')).json()).toMatchObject({ roles: ['witness'] })
  expect((await get('/readyz')).status).toBe(200)
  expect(await (await get('/metrics')).text()).toContain('witness_cosigned_total 0')
  const paths = ['/x', '/query?query=select%201', '/datasets', '/ledger/checkpoint', '/ledger/policy']
  for (const path of [...paths, `/ledger/witness/${foreignHash.toUpperCase()}/checkpoint`]) {
    expect([path, (await get(path)).status]).toEqual([path, 404])
  }
  expect((await get('/ledger/witness/add-checkpoint')).status).toBe(405)
  expect((await fetch(`${witness.node}/acme/x/ingest?create=true`, { method: 'POST', body: '{}' })).status).toBe(404)
  expect((await stat(join(data, 'keys', 'witness.json'))).mode & 0o777).toBe(0o600)
  expect((await runCommand(['doctor', '--roles', 'witness', '--data', data])).code).toBe(0)
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
  const post = 'POST /ledger/witness/add-checkpoint HTTP/1.1\r\nHost: localhost\r\n'
  still.socket.write(`${post}Content-Length: 1000\r\n\r\nold`)
  large.socket.write(`${post}Transfer-Encoding: chunked\r\n\r\n`)
  large.socket.write(`10000\r\n${'x'.repeat(0x1_0000)}\r\n`.repeat(16))
  flood.socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(5_000))
  flood.socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  expect((await added(witness.url, 'x'))?.status).toBe(400)
  await until('the refusal', () => large.told().startsWith('HTTP/1.1 413 '))
  await flood.closed
  expect(flood.told().match(/HTTP\/1\.1 404/g)).toHaveLength(5_001)
  // Neither stays.
  await Promise.all([large.closed, still.closed])
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

test('does not begin where another has the directory, or without a policy, name, address and key of its own', async () => {
  const refusal = async (changed: Readonly<Record<string, string | undefined>>): Promise<string> => {
    const given = { 'ledger-policy': policy, data: join(folder, 'new'), 'ledger-origin': 'w', ...changed }
    const all = Object.entries({ listen: '127.0.0.1:0', ...given })
    const flags = all.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]))
    const { code, stderr } = await runCommand(['serve', '--roles', 'witness', ...flags])
    expect(code).not.toBe(0)
    return stderr
  }
  expect(await refusal({ data })).toContain('is in use')
  expect(await refusal({ 'ledger-origin': 'a b' })).toContain('expected a name')
  expect(await refusal({ listen: 'nowhere' })).toContain('expected host:port')
  expect(await refusal({ 'ledger-policy': join(folder, 'none') })).toContain('ENOENT')
  expect(await refusal({ 'ledger-policy': undefined })).toContain('A witness takes --ledger-policy')
  await writeFile(join(folder, 'bad'), 'log x\nquorum none\n')
  expect(await refusal({ 'ledger-policy': join(folder, 'bad') })).toContain('line 1')
  await writeFile(join(folder, 'empty'), 'quorum none\n')
  expect(await refusal({ 'ledger-policy': join(folder, 'empty') })).toContain('names no ledger')
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
