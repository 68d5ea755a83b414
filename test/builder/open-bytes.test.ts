// The bytes of rows that are in the log and in no block yet: what the log keeps space for.

import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { decodeMessage } from '../../src/log/messages.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { datasetId, drained, start, TestWriter, until } from './support.ts'

const dataset = datasetId('open')

function payloadBytes(message: Uint8Array): number {
  const decoded = decodeMessage(message)
  return decoded.kind === 'message' ? decoded.payload.length : 0
}

describe('the open bytes of a builder', () => {
  test('rise with rows and with parts of a large batch, and fall when the block is committed', async () => {
    const log = openMemoryLog()
    let monotonicMs = 0
    const clock = { ...systemClock, monotonicMs: () => monotonicMs++ * 1000 }
    const writer = new TestWriter('w')
    const running = await start(log, openMemoryStore(), { clock })
    await log.append(0, [writer.create(dataset, 'acme/open')])
    await drained(log, running)
    expect(running.builder.openBytes()).toBe(0)

    const rows = [writer.rows(dataset, [{ rows: 100 }]), writer.rows(dataset, [{ rows: 7 }])]
    await log.append(0, rows)
    await drained(log, running)
    const logged = rows.reduce((sum, message) => sum + payloadBytes(message), 0)
    expect(running.builder.openBytes()).toBe(logged)

    const large = writer.large(dataset, { rows: 300 }, 2)
    await log.append(0, [large.part(0)])
    await drained(log, running)
    expect(running.builder.openBytes()).toBeGreaterThan(logged + 512 * 1024 - 1)
    const last = large.part(1)
    await log.append(0, [last, writer.cut([{ dataset, sequence: 3 }])])
    await drained(log, running)
    await until('the block is committed', () => running.builder.openBytes() === 0)
    await running.builder.stop()
  })
})
