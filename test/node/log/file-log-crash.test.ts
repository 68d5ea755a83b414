// The file log under power cuts, torn writes and changed bytes.
// The invariant: what was acknowledged or read is there afterwards, in order and unchanged; or the log refuses to start.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { type Logger, silentLogger } from '../../../src/libraries/base/logger.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { openFileLog } from '../../../src/node/log/file/file-log.ts'
import { writeFrame } from '../../../src/node/log/file/frame.ts'
import { HaltError, NodeError } from '../../../src/libraries/base/errors.ts'
import { readAll } from './contract-suite.ts'
import { SimulatedDisk, systemError } from '../../adapters/simulated-disk.ts'

const segment = '/log/0.segment'

function open(disk: SimulatedDisk, more: { segmentBytes?: number; logger?: Logger } = {}): Promise<EventLog> {
  return openFileLog({
    directory: '/log',
    clock: systemClock,
    logger: silentLogger,
    segmentBytes: 8192,
    fileSystem: disk.files,
    ...more,
  })
}

/** Message `number` of `length` bytes; its bytes depend on the number alone. */
function message(number: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => number * 31 + i * 7 + 1)
}

function isMessage(number: number, bytes: Uint8Array): boolean {
  return bytes.every((byte, i) => byte === ((number * 31 + i * 7 + 1) & 255))
}

async function filled(lengths: readonly number[]): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk(['/log'])
  const log = await open(disk)
  for (const [i, length] of lengths.entries()) await log.append(0, [message(i, length)])
  await log.close()
  return disk
}

async function messagesOf(disk: SimulatedDisk): Promise<Uint8Array[]> {
  const log = await open(disk)
  const entries = await readAll(log)
  await log.close()
  return entries.map(({ bytes }) => bytes)
}

test('keeps every message that was acknowledged or read over any number of kills and power cuts', async () => {
  const life = fc.record({
    calls: fc.array(fc.array(fc.integer({ min: 0, max: 2500 }), { minLength: 1, maxLength: 4 }), { maxLength: 10 }),
    cutAfter: fc.integer({ min: 0, max: 14 }),
    power: fc.boolean(),
    survives: fc.infiniteStream(fc.boolean()),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      const disk = new SimulatedDisk(['/log'])
      let acknowledged = 0
      for (const { calls, cutAfter, power, survives } of lives) {
        let operations = 0
        disk.before = (operation) => {
          if (operation === 'write' || operation === 'datasync') operations++
          // Once the power is gone nothing answers any more.
          return operations > cutAfter ? new Promise(() => {}) : undefined
        }
        const opening = open(disk)
        const running = opening.then(async (log) => {
          let number = (await log.range(0)).end
          const appends = calls.map((lengths) => {
            const messages = lengths.map((length) => message(number++, length))
            return log.append(0, messages).then((first) => {
              acknowledged = Math.max(acknowledged, first + messages.length)
            })
          })
          await Promise.all(appends)
        })
        await Promise.race([running, settled(disk)])
        if (power) disk.crash(() => survives.next().value === true)
        else disk.kill()
        const messages = await messagesOf(disk)
        expect(messages.length).toBeGreaterThanOrEqual(acknowledged)
        expect(messages.every((bytes, i) => isMessage(i, bytes))).toBe(true)
        acknowledged = messages.length
      }
    }),
    { numRuns: 50 },
  )
})

/** Resolves when the disk has had nothing to do for some turns of the event loop. */
async function settled(disk: SimulatedDisk): Promise<void> {
  let last = -1
  for (let quiet = 0; quiet < 5; quiet++) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = Object.values(disk.counts).reduce((sum, count) => sum + count, 0)
    if (now !== last) quiet = 0
    last = now
  }
}

describe('a changed log', () => {
  const lengths = Array.from({ length: 20 }, (_, i) => 40 + ((i * 37) % 200))
  /** Offset of the frame of each message, and of the end. */
  const offsets = lengths.reduce((all, length) => [...all, (all.at(-1) ?? 0) + 24 + length], [0])
  const end = offsets.at(-1) ?? 0

  test('that ends at any byte keeps the whole frames before it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: end }), async (size) => {
        const disk = await filled(lengths)
        disk.corrupt(segment, (bytes) => bytes.slice(0, size))
        const messages = await messagesOf(disk)
        expect(messages.length).toBe(offsets.filter((offset) => offset > 0 && offset <= size).length)
        expect(messages.every((bytes, i) => isMessage(i, bytes))).toBe(true)
      }),
      { numRuns: 80 },
    )
  })

  test('with any one byte changed loses nothing but the last frame, or refuses to start', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: end - 1 }), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const disk = await filled(lengths)
        disk.corrupt(segment, (bytes) => bytes.map((byte, i) => (i === at ? byte ^ mask : byte)))
        const outcome = messagesOf(disk).then(
          (messages) => messages.length,
          (error: unknown) => (error instanceof HaltError ? error.reason : error),
        )
        const inLastFrame = at >= (offsets[lengths.length - 1] ?? 0)
        expect(await outcome).toBe(inLastFrame ? lengths.length - 1 : 'LogDamaged')
      }),
      { numRuns: 150 },
    )
  })

  test('that is damaged in an older segment halts its reader there, after the good messages', async () => {
    const disk = await filled(Array.from({ length: 100 }, () => 200))
    disk.corrupt(segment, (bytes) => bytes.map((byte, i) => (i === 224 * 3 + 100 ? byte ^ 1 : byte)))
    const log = await open(disk)
    const seen: number[] = []
    const reading = (async () => {
      for await (const entries of log.read(0, 0, { follow: false })) seen.push(...entries.map((e) => e.position))
    })()
    await expect(reading).rejects.toBeInstanceOf(HaltError)
    await expect(reading).rejects.toMatchObject({ reason: 'LogDamaged' })
    expect(seen).toEqual([0, 1, 2])
    expect((await readAll(log, 50)).length).toBe(50)
  })
})

describe('a torn tail', () => {
  /** Two frames of one write: the first one broken, the second whole. */
  async function torn(): Promise<SimulatedDisk> {
    const disk = await filled([10])
    const log = await open(disk)
    disk.before = (operation) => (operation === 'datasync' ? new Promise(() => {}) : undefined)
    void log.append(0, [message(1, 100), message(2, 100)])
    await settled(disk)
    const bytes = disk.bytes(segment).slice()
    disk.crash(() => true)
    bytes[34 + 30] = (bytes[34 + 30] ?? 0) ^ 1
    disk.corrupt(segment, () => bytes)
    return disk
  }

  test('is cut off with all after it, and said so', async () => {
    const disk = await torn()
    const warnings: object[] = []
    const log = await open(disk, { logger: { ...silentLogger, warn: (fields) => warnings.push(fields) } })
    expect(await log.range(0)).toEqual({ start: 0, end: 1 })
    expect(warnings).toEqual([{ position: 1, bytes: 248 }])
  })

  test('never comes back: what follows it on disk is gone before the next write', async () => {
    const disk = await torn()
    const log = await open(disk)
    expect(await log.append(0, [message(1, 100)])).toBe(1)
    await log.close()
    expect((await messagesOf(disk)).length).toBe(2)
  })

  test('of plain zeros is no tail', async () => {
    const disk = await filled([10, 10])
    disk.corrupt(segment, (bytes) => bytes.fill(0, 34))
    expect((await messagesOf(disk)).length).toBe(1)
  })
})

test('opens again after each operation of an opening that failed', async () => {
  for (let failing = 1; ; failing++) {
    const disk = await filled([10, 5000, 5000, 20])
    disk.corrupt('/log/2.segment', (bytes) => bytes.slice(0, 6000))
    let count = 0
    disk.before = () => {
      if (++count === failing) throw systemError('EIO')
    }
    const failed = await open(disk).then(
      async (log) => {
        await log.close()
        return false
      },
      () => true,
    )
    disk.before = () => {}
    // The opener gives the directory back when it fails.
    expect((await messagesOf(disk)).length).toBe(4)
    if (!failed && count < failing) break
  }
})

describe.each(['EIO', 'ENOSPC'])('when one operation of the disk fails with %s, whichever it is', (code) => {
  test('each append is answered truly and the next process finds what was acknowledged', async () => {
    for (let failing = 1; ; failing++) {
      const disk = new SimulatedDisk(['/log'])
      const log = await open(disk, { segmentBytes: 400 })
      let count = 0
      disk.before = () => {
        if (++count === failing) throw systemError(code)
      }
      const outcomes = new Map<number, string>()
      for (let number = 0; number < 12; number++) {
        // Message `number` is told by its bytes; its position shows whether those refused took none.
        const outcome = log.append(0, [message(number, 100)]).then(
          () => 'stored',
          (error: unknown) => (error instanceof NodeError ? error.kind : String(error)),
        )
        outcomes.set(number, await outcome)
        await log.release(0, number - 6).catch(() => {})
      }
      await log.close()
      disk.crash(() => false)
      const next = await open(disk, { segmentBytes: 400 })
      const found = (await readAll(next, (await next.range(0)).start)).map(({ bytes }) => bytes)
      await next.close()
      const isThere = (number: number): boolean => found.some((bytes) => isMessage(number, bytes))
      for (const [number, outcome] of outcomes) {
        expect(['stored', 'StorageFull', 'OutcomeUnknown', 'LogUnavailable']).toContain(outcome)
        const wanted = outcome === 'stored' && number >= 6
        const unwanted = outcome === 'StorageFull' || outcome === 'LogUnavailable'
        expect({ number, failing, lost: wanted && !isThere(number) }).toEqual({ number, failing, lost: false })
        expect({ number, failing, phantom: unwanted && isThere(number) }).toEqual({ number, failing, phantom: false })
      }
      if (count < failing) break
    }
  })
})

describe('the number of a log', () => {
  const id = '/log/id'

  /** A message full of bytes that would be frames written after its own was durable, in a log of that seed. */
  function deceit(position: number, seed: number): Uint8Array {
    const out = new Uint8Array(10 * 40)
    let at = 0
    for (let n = 1; n <= 10; n++) {
      const frame = { position: position + n, mark: position + n, message: new Uint8Array(16), seed }
      at = writeFrame(out, at, frame)
    }
    return out
  }

  test('keeps frame-like bytes of a message from passing for frames, wherever it is torn', async () => {
    const seeds = fc.constantFrom(0, 1, 0xffff_ffff)
    await fc.assert(
      fc.asyncProperty(seeds, fc.integer({ min: 0, max: 423 }), async (seed, torn) => {
        const disk = new SimulatedDisk(['/log'])
        const log = await open(disk)
        await log.append(0, [message(0, 50)])
        await log.append(0, [deceit(1, seed)])
        await log.close()
        const start = 24 + 50
        disk.corrupt(segment, (bytes) => bytes.map((byte, i) => (i === start + torn ? byte ^ 0x41 : byte)))
        expect((await messagesOf(disk)).length).toBe(1)
      }),
      { numRuns: 60 },
    )
  })

  test('cannot be lost or changed without the log refusing to start', async () => {
    const disk = await filled([100, 100])
    const text = new TextDecoder().decode(disk.bytes(id))
    for (let at = 0; at < text.length; at++) {
      for (const mask of [1, 2, 4, 8, 16, 32, 64]) {
        disk.corrupt(id, () => utf8(text).map((byte, i) => (i === at ? byte ^ mask : byte)))
        await expect(open(disk)).rejects.toMatchObject({ reason: 'LogDamaged' })
      }
    }
    disk.corrupt(id, () => utf8(`${text.slice(0, 32)}\n`))
    await expect(open(disk)).rejects.toMatchObject({ reason: 'LogDamaged' })
    await disk.files.unlink(id)
    await expect(open(disk)).rejects.toMatchObject({ reason: 'LogDamaged' })
  })
})

test('what is cut off at the end is told for what it may be', async () => {
  const disk = await filled([100, 100])
  disk.corrupt(segment, (bytes) => bytes.map((byte, i) => (i === 124 + 60 ? byte ^ 1 : byte)))
  const lines: string[] = []
  const logger = { ...silentLogger, warn: (_: object, line: string) => void lines.push(line) }
  await (await open(disk, { logger })).close()
  expect(lines).toEqual([expect.stringContaining('may have been acknowledged')])
})
