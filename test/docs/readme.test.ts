// Runs every shell block of the README, the tour and the pages on examples and backups, in order, as one script against a node that
// the first block's command started, and looks for what these pages say is printed.

import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseString } from 'fast-csv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BlockBudget, defaultCutOptions, Governor } from '../../src/node/builder/governor.ts'
import { durationMs } from '../../src/libraries/base/clock.ts'
import { limitTable } from '../../src/libraries/base/limits.ts'
import { blocksOf, shown } from '../helpers/page-blocks.ts'
import { demoFile } from '../helpers/samples.ts'

const repository = new URL('../..', import.meta.url).pathname
const readme = readFileSync(join(repository, 'README.md'), 'utf8')
const tour = readFileSync(join(repository, 'docs', 'tour.md'), 'utf8')
const limits = readFileSync(join(repository, 'docs', 'limits.md'), 'utf8').replaceAll('\n', ' ')
const pages = ['README.md', 'docs/tour.md', 'docs/formats.md', 'examples/README.md', 'docs/backup.md']
const texts = (language: string): string[] =>
  pages.flatMap(blocksOf).flatMap((block) => (block.language === language ? [block.text] : []))
const [start, ...rest] = texts('sh')
const script = rest.join('\n')
/** Lines that the pages say are printed; `…` stands for anything. */
const printedLines = texts('text').flatMap((block) => block.trim().split('\n'))

interface Served {
  readonly address: string
  readonly stop: () => Promise<void>
}

let dir = ''
let served: Served
let printed = ''

/** Runs `npm start` in `dir`; resolves when the node is ready. */
async function serve(args: readonly string[], listen: Readonly<Record<string, string>>): Promise<Served> {
  const child = spawn('npm', ['start', '--silent', ...args], {
    cwd: dir,
    env: { ...process.env, ...listen },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const address = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      const ready = /"url":"http:\/\/([^"]+)"/.exec(chunk.toString())
      if (ready?.[1] !== undefined) resolve(ready[1])
    })
  })
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await ended
  }
  return { address, stop }
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'proofstream-readme-'))
  for (const name of ['node_modules', 'bin', 'scripts', 'src', 'streams', 'texts', 'demo', 'examples', 'package.json'])
    symlinkSync(join(repository, name), join(dir, name))
  served = await serve([], { PROOFSTREAM_LISTEN: '127.0.0.1:0' })
})

afterAll(async () => {
  await served.stop()
  rmSync(dir, { recursive: true, force: true })
})

describe('the README', () => {
  test('begins with the two commands that install and start a node', () => {
    expect(start?.trim()).toBe('npm ci && npm start')
  })

  test('has blocks that all run as they stand', async () => {
    const text = `set -euo pipefail\n${script.replaceAll('localhost:8080', served.address)}`
    const { stdout } = await promisify(execFile)('bash', ['-c', text], {
      cwd: dir,
      env: { ...process.env, PROOFSTREAM_SERVER: `http://${served.address}` },
      maxBuffer: 64 * 1024 * 1024,
    })
    printed = stdout
    const hash = /f1620[0-9a-f]{64}$/m.exec(stdout)?.[0]
    expect(hash, 'a hash is printed').toBeDefined()
    expect(stdout).toContain(`"outputHash":"${hash}"`)
    expect(stdout).toContain('"data":[["CA",824597],["TX",747650],["FL",466998]]\n')
    expect(stdout).toContain(
      '? Unchanged since it was signed by a key that nobody here knows\n  answer.json: a saved answer\n',
    )
  })

  test('shows what is printed', () => {
    expect(printedLines.length).toBeGreaterThan(3)
    for (const line of printedLines) expect(printed).toMatch(shown(line))
  })

  test('shows the answer to its question as another program computes it', async () => {
    const states = new Map((await recordsOf('airports.csv')).map(({ iata, state }) => [iata, state]))
    const flights = new Map<string, number>()
    for (const { origin, count } of await recordsOf('flights.csv')) {
      const state = states.get(origin)
      if (state !== undefined) flights.set(state, (flights.get(state) ?? 0) + Number(count))
    }
    const most = [...flights].sort(([, a], [, b]) => b - a).slice(0, 3)
    expect(readme).toContain(`"data":${JSON.stringify(most)}`)
  })

  test('says how often the three equal posts of a device are stored: once', () => {
    const receipts = [...printed.matchAll(/"receiptId":"([^"]+)"(?:(?!receiptId).)*"idempotencyKey":"reading-1"/g)]
    expect(new Set(receipts.map((match) => match[1])).size).toBe(1)
    expect(printed.split('"idempotencyKey":"reading-1"')).toHaveLength(4)
  })

  test('says how to run on another port and directory', async () => {
    const command = /`npm start -- (--listen 127\.0\.0\.1:9000 --data \/tmp\/my-data)`/.exec(readme)?.[1] ?? ''
    const args = command.replace(':9000', ':0').replace('/tmp/my-data', join(dir, 'my-data')).split(' ')
    const other = await serve(['--', ...args], {})
    await other.stop()
    expect(statSync(join(dir, 'my-data', 'token')).isFile()).toBe(true)
  })

  test('says how many blocks a record a second makes', () => {
    const [first, second] = [blocksIn(24), blocksIn(48)]
    expect(limits).toContain('about 2,600 blocks on the first day and 1,440 on each later one')
    expect([Math.round(first / 100), second - first]).toEqual([26, 1440])
    const spared = { intervalMs: 6 * 3_600_000 }
    expect(limits).toContain('`--cut-interval 6h`: after the first 60 blocks 4 a day')
    expect(blocksIn(4 * 24, spared) - blocksIn(3 * 24, spared)).toBe(4)
  })

  test('says how many blocks a day each freshness makes', () => {
    const rows = [...limits.matchAll(/\| (?:`(\d+\w+)`|none) \| ([\d,]+)[ |]/g)]
    expect(rows).toHaveLength(6)
    for (const [, freshness, blocks = ''] of rows) {
      const freshnessMs = freshness === undefined ? undefined : durationMs(freshness)
      const rowsOften = { freshnessMs, everyMs: 250 }
      const ofTheSecondDay = blocksIn(48, {}, rowsOften) - blocksIn(24, {}, rowsOften)
      const told = Number(blocks.replaceAll(',', ''))
      expect(ofTheSecondDay).toBeLessThanOrEqual(told)
      expect(ofTheSecondDay).toBeGreaterThanOrEqual(0.75 * told)
    }
  })

  test('says how many points the map has', () => {
    const feed = demoFile('earthquakes.geojson').toString()
    const { features } = JSON.parse(feed) as { features: { properties: { mag: number } }[] }
    const felt = features.filter(({ properties }) => properties.mag > 0).length
    expect(tour).toContain(`${felt.toLocaleString('en')} points`)
  })

  test('names limits that are the defaults', () => {
    expect(limits).toContain('a body of 256 MiB, 2,000 columns, 30 s and 1 GiB of memory a query, 100,000 rows')
    const { bodyBytes, columns, queryMs, queryMemoryBytes, resultRows, streamIdleMs, streamsPerCaller } = limitTable
    const values = [bodyBytes, columns, queryMs, queryMemoryBytes, resultRows].map((row) => row.value)
    expect(values).toEqual([256 * 1024 ** 2, 2_000, 30_000, 1024 ** 3, 100_000])
    expect(limits).toContain('It ends when nothing comes for five minutes. A caller has at most 2,000.')
    expect([streamIdleMs, streamsPerCaller].map((row) => row.value)).toEqual([300_000, 2_000])
  })
})

/** The records of a file that the README posts, read by another library. */
async function recordsOf(name: string): Promise<Record<string, string>[]> {
  const text = demoFile(name).toString()
  return await parseString<Record<string, string>, Record<string, string>>(text, { headers: true }).toArray()
}

/** Blocks of a dataset that gets a record a second, or more often, for some hours. */
function blocksIn(
  hours: number,
  options: Partial<typeof defaultCutOptions> = {},
  { freshnessMs, everyMs = 1000 }: { readonly freshnessMs?: number | undefined; readonly everyMs?: number } = {},
): number {
  const all = { ...defaultCutOptions, ...options }
  const governor = new Governor(all, new BlockBudget(all.blocksPerSecond))
  governor.setFreshness('a', freshnessMs)
  let blocks = 0
  for (let nowMs = 0; nowMs < hours * 3_600_000; nowMs += everyMs) {
    for (const dataset of governor.take(nowMs)) {
      governor.ended(dataset, nowMs)
      blocks++
    }
    governor.opened('a', nowMs, 'nobody')
  }
  return blocks
}
