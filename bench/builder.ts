// What building costs: a backlog of single-row batches (30 a message, as under load), and of large batches, from memory
// log to memory store. Prints rows/s, MB/s of payload, and the longest time that the event loop was held.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openMemoryLog } from '../test/adapters/memory-log.ts'
import { openMemoryStore } from '../test/adapters/memory-store.ts'
import { datasetId, drained, noCuts, start, TestWriter } from '../test/node/builder/support.ts'

interface Load {
  readonly name: string
  readonly messages: number
  readonly batches: number
  readonly rows: number
}

const loads: readonly Load[] = [
  { name: '1 row a message', messages: 20_000, batches: 1, rows: 1 },
  { name: '30 rows in 30 batches a message', messages: 4_000, batches: 30, rows: 1 },
  { name: '10,000 rows a message', messages: 100, batches: 1, rows: 10_000 },
]

const dataset = datasetId('bench')

async function measure({ name, messages, batches, rows }: Load): Promise<void> {
  const log = openMemoryLog()
  const writer = new TestWriter('bench')
  await log.append(0, [writer.create(dataset, 'acme/bench')])
  let bytes = 0
  let sequence = 3
  for (let i = 0; i < messages; i++) {
    const message = writer.rows(
      dataset,
      Array.from({ length: batches }, () => ({ rows })),
    )
    bytes += message.length
    await log.append(0, [message])
    if (i % Math.ceil(messages / 5) === 0) await log.append(0, [writer.cut([{ dataset, sequence: sequence++ }])])
  }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  const running = await start(log, openMemoryStore(), { options: noCuts })
  await drained(log, running)
  const elapsedMs = performance.now() - startedMs
  const used = process.cpuUsage(cpu)
  await running.builder.stop()
  delay.disable()
  const total = messages * batches * rows
  const cpuMs = (used.user + used.system) / 1000
  process.stdout.write(
    `${name}: ${Math.round((total / elapsedMs) * 1000)} rows/s, ${((bytes / elapsedMs / 1000) * 1).toFixed(1)} MB/s, ` +
      `${((cpuMs * 1000) / (messages * batches)).toFixed(1)} µs of CPU a batch, loop held ${(delay.max / 1e6).toFixed(0)} ms at most\n`,
  )
}

for (const load of loads) await measure(load)
