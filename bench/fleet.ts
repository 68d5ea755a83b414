// A fleet of 1,000 devices, each with a dataset of its own and a row a second; half of them do not wait for the block. An
// hour is made of what was measured in minutes: the CPU of a post (posts as fast as they are answered, no blocks), and that
// of a block (all datasets have their bursts, so that the builder makes as many as it may). Later hours have a block a
// minute of each. On a machine that cannot keep up `--fleet-rate=100` gives the same costs of a block.

import { readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { type BenchNode, cpuMicros, fail, peakMiB, startBenchNode } from './machine.ts'
import { type Measure, quantile } from './measure.ts'

const numberOf = (name: string, otherwise: number): number =>
  Number(process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise)
const devices = numberOf('fleet-devices', 1_000)
const seconds = numberOf('fleet-seconds', 60)
/** Rows per second of all devices together. */
const rate = numberOf('fleet-rate', devices)
/** Blocks a second of 1,000 datasets: as many as the builder makes at all, and one a minute. */
const budgetBlocks = 100
const pacedBlocks = 1_000 / 60
/** Requests that are under way where none waits for its time. */
const atOnce = 32
const postsAtOnce = 10_000

export async function measureFleet(): Promise<Measure[]> {
  const postMicros = await postCost()
  const node = await startBenchNode()
  const fleet = new Fleet(node)
  const madeMs = await fleet.make()
  await fleet.post(seconds / 4)
  const before = { micros: cpuMicros(node.pid), blocks: blocksOf(node) }
  const { latenciesMs, overMs } = await fleet.post(seconds)
  const micros = cpuMicros(node.pid) - before.micros
  const made = blocksOf(node)
  const blocks = made - before.blocks
  const memoryMiB = peakMiB(node.pid)
  const files = countFiles(join(node.data, 'store'))
  await node.kill()
  const again = await startBenchNode({}, { data: node.data })
  const { readyMs } = again
  await again.remove()
  const blockMicros = (micros - postMicros * latenciesMs.length) / blocks
  const cores = (perSecond: number): number => (1_000 * postMicros + perSecond * blockMicros) / 1e6
  return [
    { name: 'fleet: CPU in the first hour', value: cores(budgetBlocks), unit: 'cores', bar: { most: 1 } },
    { name: 'fleet: CPU in later hours', value: cores(pacedBlocks), unit: 'cores', bar: { most: 1 } },
    { name: 'fleet: CPU of a post', value: postMicros, unit: 'µs' },
    { name: 'fleet: CPU of a block', value: blockMicros, unit: 'µs' },
    { name: 'fleet: longest post', value: Math.max(...latenciesMs), unit: 'ms', bar: { most: 1_000 } },
    { name: 'fleet: p99 of posts', value: quantile(latenciesMs, 0.99), unit: 'ms' },
    { name: 'fleet: p50 of posts', value: quantile(latenciesMs, 0.5), unit: 'ms' },
    { name: 'fleet: posts', value: latenciesMs.length / (overMs / 1000), unit: 'posts/s' },
    { name: 'fleet: blocks', value: blocks / (overMs / 1000), unit: 'blocks/s' },
    { name: 'fleet: files of a block', value: files / made, unit: 'files', bar: { most: 6 } },
    { name: 'fleet: peak memory', value: memoryMiB, unit: 'MiB', bar: { most: 768 } },
    { name: 'fleet: all datasets made', value: madeMs / 1000, unit: 's' },
    { name: 'fleet: SIGKILL to ready', value: readyMs, unit: 'ms' },
  ]
}

/** Microseconds of CPU of a post that nobody waits for, of a node that makes no blocks meanwhile. */
async function postCost(): Promise<number> {
  const node = await startBenchNode({ 'cut-interval': '1h' }, { tuning: { cut: { burstBlocks: 1 } } })
  const fleet = new Fleet(node)
  await fleet.make()
  await fleet.flood(postsAtOnce)
  const before = cpuMicros(node.pid)
  await fleet.flood(postsAtOnce)
  const micros = (cpuMicros(node.pid) - before) / postsAtOnce
  await node.remove()
  return micros
}

class Fleet {
  readonly #node: BenchNode
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  #rows = 0

  constructor(node: BenchNode) {
    this.#node = node
  }

  /** Makes the datasets by their first rows; resolves with the time that it took. */
  async make(): Promise<number> {
    const startMs = performance.now()
    await this.#inLanes(devices, (device) => this.#send(device, '?create=true', undefined))
    return performance.now() - startMs
  }

  /** So many posts of all devices in turn, as fast as they are answered. */
  flood(posts: number): Promise<void> {
    return this.#inLanes(posts, (number) => this.#send(number % devices, '', 'respond-async'))
  }

  async #inLanes(count: number, send: (number: number) => Promise<unknown>): Promise<void> {
    let next = 0
    const lane = async (): Promise<void> => {
      for (let number = next++; number < count; number = next++) await send(number)
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
  }

  /** Each device sends its rows at its own moments. */
  async post(forSeconds: number): Promise<{ readonly latenciesMs: number[]; readonly overMs: number }> {
    const latenciesMs: number[] = []
    const startMs = performance.now()
    const sending: Promise<unknown>[] = []
    for (let sent = 0; sent < rate * forSeconds;) {
      const due = Math.floor(((performance.now() - startMs) / 1000) * rate)
      for (; sent < Math.min(due, rate * forSeconds); sent++) {
        const device = sent % devices
        const prefer = device % 2 === 0 ? 'respond-async' : undefined
        sending.push(this.#send(device, '', prefer).then((ms) => latenciesMs.push(ms)))
      }
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const overMs = performance.now() - startMs
    await Promise.all(sending)
    return { latenciesMs, overMs }
  }

  /** Time until the answer. */
  #send(device: number, query: string, prefer: string | undefined): Promise<number> {
    const body = `{"device":"d-${device}","n":${this.#rows++},"celsius":21.5}\n`
    const headers = {
      authorization: `Bearer ${this.#node.token}`,
      'content-type': 'application/x-ndjson',
      'content-length': body.length,
      ...(prefer === undefined ? {} : { prefer }),
    }
    const startMs = performance.now()
    return new Promise((resolve, reject) => {
      const url = `${this.#node.url}/fleet/d-${device}/ingest${query}`
      const sent = request(url, { method: 'POST', headers, agent: this.#agent }, (answer) => {
        const text: Buffer[] = []
        answer.on('data', (chunk: Buffer) => text.push(chunk))
        answer.on('end', () => {
          if (answer.statusCode === 200 || answer.statusCode === 202) resolve(performance.now() - startMs)
          else fail(`a post to d-${device}`, `${answer.statusCode} ${Buffer.concat(text).toString()}`)
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

function blocksOf(node: BenchNode): number {
  let blocks = 0
  for (const { isDirectory, name } of entries(join(node.data, 'store', 'datasets'))) {
    if (isDirectory) blocks += entries(join(node.data, 'store', 'datasets', name, 'commits')).length
  }
  return blocks
}

function entries(dir: string): { readonly name: string; readonly isDirectory: boolean }[] {
  return readdirSync(dir, { withFileTypes: true }).map((one) => ({ name: one.name, isDirectory: one.isDirectory() }))
}

function countFiles(dir: string): number {
  let files = 0
  for (const { name, isDirectory } of entries(dir)) files += isDirectory ? countFiles(join(dir, name)) : 1
  return files
}
