// A node that nobody asks: what its start costs on a fresh directory and on a used one, once its code has been compiled, and
// what it holds and uses when it has been left alone for a while: memory and CPU of all its processes, bytes of its directory.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeDataDir, treeMiB, treeMicros } from './machine.ts'
import { type Measure, median } from './measure.ts'

const program = fileURLToPath(new URL('../bin/proofstream.js', import.meta.url))
const starts = 5
/** A process of the engine ends after a minute without work. */
const restMs = 90_000
const watchMs = 60_000

export async function measureIdle(): Promise<Measure[]> {
  // What is compiled by the first start is there for all others.
  await startOnce(makeDataDir())
  const fresh: number[] = []
  const used: number[] = []
  for (let i = 0; i < starts; i++) {
    const data = makeDataDir()
    fresh.push(await startOnce(data))
    used.push(await startOnce(data))
    rmSync(data, { recursive: true })
  }
  const data = makeDataDir()
  const { child, pid } = await startNode(data)
  await sleep(restMs)
  const before = treeMicros(pid)
  await sleep(watchMs)
  const share = (treeMicros(pid) - before) / (watchMs * 1000)
  const memory = treeMiB(pid)
  await stop(child)
  const bytes = readdirSync(data, { recursive: true, encoding: 'utf8' }).map((path) => statSync(join(data, path)).size)
  const size = bytes.reduce((sum, one) => sum + one, 0) / 2 ** 20
  rmSync(data, { recursive: true })
  return [
    { name: 'start to ready, fresh directory: CPU', value: median(fresh), unit: 's', bar: { most: 1.5 } },
    { name: 'start to ready, used directory: CPU', value: median(used), unit: 's', bar: { most: 1.5 } },
    { name: 'a node at rest: memory of all processes', value: memory, unit: 'MiB', bar: { most: 180 } },
    { name: 'a node at rest: CPU, of a core', value: share * 100, unit: '%', bar: { most: 0.3 } },
    { name: 'a fresh directory', value: size, unit: 'MiB', bar: { most: 4 } },
  ]
}

/** CPU-seconds from the start of a node until it is ready. */
async function startOnce(data: string): Promise<number> {
  const { child, cpuSeconds } = await startNode(data)
  await stop(child)
  return cpuSeconds
}

async function startNode(data: string): Promise<{ child: ChildProcess; pid: number; cpuSeconds: number }> {
  const child = spawn(process.execPath, [program, 'serve', '--data', data, '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = child.pid ?? 0
  // The line says that it is ready.
  await once(child.stdout, 'data')
  return { child, pid, cpuSeconds: treeMicros(pid) / 1e6 }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
