// The device example against a node that is killed, behind a line that is cut at random bytes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ServedNode, startServed } from '../history/chaos.ts'
import { type Address, randomOf } from '../history/load.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { run } from './run.ts'

const program = join('examples', 'device', 'send-readings.mjs')
const random = randomOf(Math.floor(Date.now() / 86_400_000))
const children: ChildProcess[] = []
let dir: string
let line: Server
let node: ServedNode | undefined
let at: Address | undefined
/** Bytes of the device that pass before the line breaks; undefined: it holds. */
let breaksAfter: (() => number) | undefined

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-device-'))
  line = createServer((device) => pass(device)).listen(0, '127.0.0.1')
  await once(line, 'listening')
  await start()
})
beforeEach(() => {
  breaksAfter = undefined
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  line.close()
  await node?.end('SIGKILL')
  await rm(dir, { recursive: true })
})

async function start(): Promise<void> {
  const tuning = { stream: { ageMs: 20 }, cut: { burstBlocks: 1000 } }
  node = startServed({ session: 'node', dataDir: dir, compileCache: join(dir, 'compiled'), tuning })
  at = await node.ready
}

function pass(device: Socket): void {
  const { port } = new URL(must(at, 'a node').url)
  const server = connect(Number(port), '127.0.0.1')
  let left = breaksAfter?.() ?? Number.POSITIVE_INFINITY
  const end = (): void => {
    device.destroy()
    server.destroy()
  }
  device.on('data', (bytes: Buffer) => {
    server.write(bytes.subarray(0, left))
    left -= bytes.length
    if (left <= 0) end()
  })
  server.pipe(device)
  for (const socket of [device, server]) socket.on('error', end).on('close', end)
}

function environment(name: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { port } = line.address() as AddressInfo // a TCP server has one
  return {
    SERVER: `http://127.0.0.1:${port}`,
    TOKEN: must(at, 'a node').token,
    DATASET: `acme/${name}`,
    BUFFER: join(dir, `buffer-${name}`),
    REJECTED: join(dir, `rejected-${name}`),
    FIRST_WAIT_S: '0.05',
    LONGEST_WAIT_S: '0.5',
    ...more,
  }
}

const reading = (n: number): string => JSON.stringify({ event_time: '2026-01-31T12:00:00Z', sensor: 's1', celsius: n })

async function celsius(name: string): Promise<unknown[]> {
  const { url, token } = must(at, 'a node')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const query = `select celsius from "acme/${name}" order by "offset"`
  const answer = await fetch(`${url}/query`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, limit: 10_000 }),
  })
  const body = (await answer.json()) as { output?: { data: unknown[][] } }
  return body.output?.data.flat() ?? []
}

function device(env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  children.push(child)
  return child
}

describe('the device example', () => {
  it('stores every reading once while its line is cut, its node killed and it killed itself', async () => {
    const env = environment('cut', { BUFFER_BYTES: '10000' })
    breaksAfter = () => random.between(200, 20_000)
    const count = 600
    let child = device(env)
    let mostBytes = 0
    let killedAt = 400
    for (let n = 0; n < count; n++) {
      if (child.stdin?.write(`${reading(n)}\n`) === false) await once(child.stdin, 'drain')
      if (n % 20 === 0) {
        await sleep(random.between(0, 30))
        mostBytes = Math.max(mostBytes, await bytesOf(env['BUFFER'] ?? ''))
      }
      if (n === 200) {
        await node?.end('SIGKILL')
        await start()
      }
      if (n === killedAt) {
        killedAt = count
        // What it has taken in is in its buffer; what it has not is sent by its source again.
        child.kill('SIGKILL')
        await once(child, 'close')
        n = (await kept(env['BUFFER'] ?? '')) - 1
        child = device(env)
      }
    }
    child.stdin?.end()
    const [code] = (await once(child, 'close')) as [number | null]
    expect(code).toBe(0)
    await expect.poll(() => celsius('cut')).toHaveLength(count)
    expect(await celsius('cut')).toEqual(Array.from({ length: count }, (_, n) => n))
    expect(mostBytes).toBeLessThan(11_000)
  })

  it('keeps a refused reading with the reason and goes on', async () => {
    const env = environment('refused')
    const input = [reading(0), reading(1), '{"sensor":"s1","celsius":"warm"}', 'no reading', reading(4), ''].join('\n')
    expect((await run(process.execPath, [program], { input, env })).code).toBe(0)
    await expect.poll(() => celsius('refused')).toEqual([0, 1, 4])
    const rejected = (await readFile(env['REJECTED'] ?? '', 'utf8')).trim().split('\n')
    expect(rejected.map((text) => JSON.parse(text) as object)).toMatchObject([
      { reading: '{"sensor":"s1","celsius":"warm"}', error: { record: 2, column: 'celsius' } },
      { reading: 'no reading', error: { record: 3 } },
    ])
  })

  it('makes the dataset with the first reading alone: a misspelled field is no new column', async () => {
    const env = environment('spelled')
    const input = `${reading(0)}\n{"sensor":"s1","celcius":1}\n${reading(2)}\n`
    expect((await run(process.execPath, [program], { input, env })).code).toBe(0)
    await expect.poll(() => celsius('spelled')).toEqual([0, 2])
    expect(await readFile(env['REJECTED'] ?? '', 'utf8')).toContain('celcius')
  })

  it('stops and says why where the node refuses the device itself, and has what it was not told of when it starts again', async () => {
    const env = environment('others')
    const token = must(env['TOKEN'], 'a token').replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const refused = await run(process.execPath, [program], { input: `${reading(0)}\n`, env: { ...env, TOKEN: token } })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^status 40[01]: .+\nstopped before reading 0/s),
    ])
    expect((await run(process.execPath, [program], { input: `${reading(1)}\n`, env })).code).toBe(0)
    await expect.poll(() => celsius('others')).toEqual([0, 1])
  })
})

async function bytesOf(buffer: string): Promise<number> {
  const names = await readdir(buffer).catch(() => [])
  const sizes = names.map((name) =>
    stat(join(buffer, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** Number of the next reading, as the buffer on disk has it. */
async function kept(buffer: string): Promise<number> {
  const name =
    (await readdir(buffer))
      .filter((one) => one.endsWith('.ndjson'))
      .sort()
      .at(-1) ?? ''
  const text = await readFile(join(buffer, name), 'utf8')
  return Number(name.slice(16, 31)) + text.split('\n').length - 1
}
