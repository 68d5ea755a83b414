// The file log against a bare loop of write and fdatasync on the same volume, in turns: time of one small append, and
// what group commit makes of many callers. Then reading back, and the message codec. Run: node bench/log.ts [directory]

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFileSystem } from '../src/node/machine/disk/files.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { crc32c } from '../src/libraries/base/crc32c.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import type { EventLog } from '../src/node/log/event-log.ts'
import { openFileLog } from '../src/node/log/file/file-log.ts'
import type { RowsHeader } from '../src/node/log/messages.gen.ts'
import { decodeMessage, encodeMessage } from '../src/node/log/messages.ts'

const root = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'proofstream-bench-'))
const rounds = 7
const appendsPerRound = 400
const throughputMs = 1500

const header: RowsHeader = {
  kind: 'rows',
  writer: 'A'.repeat(22),
  n: 1,
  at: '2026-01-01T00:00:00.000Z',
  dataset: `did:odf:fed01${'ab'.repeat(32)}`,
  schemaSequence: 5,
  batches: [
    {
      id: 'B'.repeat(43),
      rows: 1,
      bodyHash: `f1220${'cd'.repeat(32)}`,
      mediaType: 'application/json',
      receivedAt: '2026-01-01T00:00:00.000Z',
      wait: true,
    },
  ],
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

async function timesMs(step: () => Promise<unknown>): Promise<number[]> {
  const out: number[] = []
  for (let i = 0; i < appendsPerRound; i++) {
    const start = performance.now()
    await step()
    out.push(performance.now() - start)
  }
  return out
}

/** Appends per second of `callers` that each wait for their answer. */
async function throughput(log: EventLog, callers: number, message: Uint8Array): Promise<number> {
  const start = performance.now()
  let count = 0
  const caller = async (): Promise<void> => {
    while (performance.now() - start < throughputMs) {
      await log.append(0, [message])
      count++
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (count / (performance.now() - start)) * 1000
}

function microseconds(count: number, step: () => void): number {
  for (let i = 0; i < count; i++) step()
  const start = performance.now()
  for (let i = 0; i < count; i++) step()
  return ((performance.now() - start) / count) * 1000
}

async function latency(log: EventLog, message: Uint8Array): Promise<void> {
  const bare = await nodeFileSystem.open(join(root, 'bare'), 'create')
  await bare.truncate(64 * 1024 * 1024)
  await bare.datasync()
  const framed = new Uint8Array(message.length + 24)
  let at = 0
  const bareMs: number[] = []
  const logMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    bareMs.push(
      ...(await timesMs(async () => {
        await bare.write(framed, at)
        await bare.datasync()
        at += framed.length
      })),
    )
    logMs.push(...(await timesMs(() => log.append(0, [message]))))
  }
  await bare.close()
  const [bareP50, logP50] = [median(bareMs), median(logMs)]
  console.log(`one append      p50 ${logP50.toFixed(3)} ms, bare write+fdatasync ${bareP50.toFixed(3)} ms`)
  console.log(`                ratio ${(logP50 / bareP50).toFixed(2)}`)
}

async function readBack(log: EventLog): Promise<void> {
  const start = performance.now()
  let bytes = 0
  let entries = 0
  for await (const step of log.read(0, 0, { follow: false })) {
    entries += step.length
    for (const entry of step) bytes += entry.bytes.length
  }
  const seconds = (performance.now() - start) / 1000
  console.log(`read back       ${(entries / seconds / 1e6).toFixed(2)} M/s, ${(bytes / seconds / 1e6).toFixed(0)} MB/s`)
}

const message = encodeMessage(header, new Uint8Array(300))
const log = await openFileLog({ directory: join(root, 'log'), clock: systemClock, logger: silentLogger })
await latency(log, message)
for (const callers of [64, 1024]) {
  console.log(`${String(callers).padEnd(5)} callers   ${Math.round(await throughput(log, callers, message))} appends/s`)
}
await readBack(log)
const large = new Uint8Array(512 * 1024)
const largePerSecond = await throughput(log, 16, large)
console.log(`512 KiB parts   ${Math.round((largePerSecond * large.length) / 1e6)} MB/s`)
await log.close()
const startMs = performance.now()
await (await openFileLog({ directory: join(root, 'log'), clock: systemClock, logger: silentLogger })).close()
console.log(`reopen          ${(performance.now() - startMs).toFixed(0)} ms`)
console.log(`encode          ${microseconds(50_000, () => encodeMessage(header, new Uint8Array(300))).toFixed(1)} µs`)
console.log(`decode          ${microseconds(50_000, () => decodeMessage(message)).toFixed(1)} µs`)
console.log(`crc32c          ${(large.length / microseconds(1000, () => crc32c(large)) / 1000).toFixed(2)} GB/s`)
rmSync(root, { recursive: true })
