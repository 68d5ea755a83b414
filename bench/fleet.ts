// A fleet of 1,000 devices, each with a dataset of its own and a row a second; half of them do not wait for the block. Two
// short times stand for an hour: one in which all datasets have their bursts, so that the builder's budget of blocks is
// used up, and one in which all are paced to a block a minute. What a post and a block cost is solved from the CPU of both,
// and an hour is made of these costs; on a machine that cannot keep up, `--fleet-rate=100` gives the same costs.

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
/** Creations that are sent at once. */
const atOnce = 32

export async function measureFleet(): Promise<Measure[]> {
  const busy = await measured('bursts', {})
  const paced = await measured('paced', { 'cut-burst': 1, 'cut-interval': '60s' })
  const blockMicros =
    (busy.micros / busy.posts - paced.micros / paced.posts) / (busy.blocks / busy.posts - paced.blocks / paced.posts)
  const postMicros = (paced.micros - blockMicros * paced.blocks) / paced.posts
  const cores = (blocks: number): number => (1_000 * postMicros + blocks * blockMicros) / 1e6
  return [
    ...busy.measures,
    ...paced.measures,
    { name: 'fleet: CPU of a post', value: postMicros, unit: 'µs' },
    { name: 'fleet: CPU of a block', value: blockMicros, unit: 'µs' },
    { name: 'fleet: CPU in the first hour', value: cores(budgetBlocks), unit: 'cores', bar: { most: 1 } },
    { name: 'fleet: CPU in later hours', value: cores(pacedBlocks), unit: 'cores', bar: { most: 1 } },
  ]
}

interface Measured {
  readonly measures: readonly Measure[]
  readonly micros: number
  readonly posts: number
  readonly blocks: number
}

async function measured(name: string, options: Readonly<Record<string, unknown>>): Promise<Measured> {
  const node = await startBenchNode({ 'limit-body-bytes': 1_000_000, ...options })
  const fleet = new Fleet(node)
  const madeMs = await fleet.make()
  // Datasets are made one after the other: their bursts and intervals begin at different times.
  await fleet.post(Math.min(10, seconds))
  const before = { micros: cpuMicros(node.pid), blocks: blocksOf(node) }
  const { latenciesMs, overMs } = await fleet.post(seconds)
  const micros = cpuMicros(node.pid) - before.micros
  const blocks = blocksOf(node) - before.blocks
  const beforeKill = peakMiB(node.pid)
  const files = countFiles(join(node.data, 'store'))
  const all = blocksOf(node)
  await node.kill()
  const again = await startBenchNode(options, { data: node.data })
  const { readyMs } = again
  await again.remove()
  const of = (what: string): string => `fleet, ${name}: ${what}`
  const measures: Measure[] = [
    { name: of('CPU'), value: micros / 1000 / overMs, unit: 'cores' },
    { name: of('longest post'), value: Math.max(...latenciesMs), unit: 'ms', bar: { most: 1_000 } },
    { name: of('p99 of posts'), value: quantile(latenciesMs, 0.99), unit: 'ms' },
    { name: of('posts'), value: latenciesMs.length / (overMs / 1000), unit: 'posts/s' },
    { name: of('blocks'), value: blocks / (overMs / 1000), unit: 'blocks/s' },
    { name: of('files of a block'), value: files / all, unit: 'files' },
    { name: of('peak memory'), value: beforeKill, unit: 'MiB', bar: { most: 768 } },
    { name: of('all datasets made'), value: madeMs / 1000, unit: 's' },
    { name: of('SIGKILL to ready'), value: readyMs, unit: 'ms' },
  ]
  return { measures, micros, posts: latenciesMs.length, blocks }
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
    let next = 0
    const lane = async (): Promise<void> => {
      for (let device = next++; device < devices; device = next++) await this.#send(device, '?create=true', undefined)
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    return performance.now() - startMs
  }

  /** Each device sends its rows at its own moments. */
  async post(forSeconds: number): Promise<{ readonly latenciesMs: number[]; readonly overMs: number }> {
    const latenciesMs: number[] = []
    const startMs = performance.now()
    const sending: Promise<unknown>[] = []
    for (let sent = 0; sent < rate * forSeconds; ) {
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
