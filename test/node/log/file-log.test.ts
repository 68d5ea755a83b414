// The file log against the contract of event logs and against what only it promises: reopening, group commit,
// durability before visibility, segments, failed writes, a full volume.

import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextTurn, systemClock } from '../../../src/libraries/base/clock.ts'
import { type Logger, silentLogger } from '../../../src/libraries/base/logger.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { type FileLogOptions, openFileLog } from '../../../src/node/log/file/file-log.ts'
import { describeEventLog, readAll } from './contract-suite.ts'
import { type Operation, SimulatedDisk, systemError } from '../../adapters/simulated-disk.ts'

const directory = '/log'
const MiB = 1024 * 1024

function options(disk: SimulatedDisk, more: Partial<FileLogOptions> = {}): FileLogOptions {
  return { directory, clock: systemClock, logger: silentLogger, segmentBytes: 4096, fileSystem: disk.files, ...more }
}

/** A message of `length` bytes that tells its number. */
function message(number: number, length = 100): Uint8Array {
  const bytes = new Uint8Array(length).fill(number)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

async function opened(more: Partial<FileLogOptions> = {}): Promise<{ disk: SimulatedDisk; log: EventLog }> {
  const disk = new SimulatedDisk([directory])
  return { disk, log: await openFileLog(options(disk, more)) }
}

async function append(log: EventLog, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await log.append(0, [message(i)])
}

/** A disk with a closed log of `count` messages. */
async function filled(count: number): Promise<SimulatedDisk> {
  const { disk, log } = await opened()
  await append(log, count)
  await log.close()
  return disk
}

async function segmentsOf(disk: SimulatedDisk): Promise<string[]> {
  return (await disk.files.list(directory)).filter((name) => name.endsWith('.segment'))
}

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'proofstream-log-'))
})
afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

let made = 0
describeEventLog('the file log on a real disk', () =>
  openFileLog({
    directory: join(root, String(made++), 'log'),
    clock: systemClock,
    logger: silentLogger,
    segmentBytes: 4096,
  }),
)
describeEventLog('the file log with large segments', () =>
  openFileLog(options(new SimulatedDisk(['/log']), { segmentBytes: 4 * MiB })),
)

describe('reopening', () => {
  test('keeps identity, positions and messages', async () => {
    const { disk, log } = await opened()
    await log.append(0, [message(0), message(1)])
    await log.close()
    const again = await openFileLog(options(disk))
    expect(again.id).toBe(log.id)
    expect(await again.append(0, [message(2)])).toBe(2)
    expect((await readAll(again)).map(({ bytes }) => Buffer.from(bytes))).toEqual(
      [0, 1, 2].map((i) => Buffer.from(message(i))),
    )
  })

  test('says nothing about a log that was closed cleanly', async () => {
    const warnings: string[] = []
    const logger: Logger = { ...silentLogger, warn: (_fields, text) => warnings.push(text) }
    const disk = await filled(30)
    await (await openFileLog(options(disk, { logger, segmentBytes: 3 * MiB }))).close()
    await (await openFileLog(options(disk, { logger, segmentBytes: 3 * MiB }))).close()
    expect(warnings).toEqual([])
  })

  test('makes durable what a killed process had only written, before anyone can read it', async () => {
    const { disk, log } = await opened()
    disk.before = (operation) => (operation === 'datasync' ? new Promise(() => {}) : undefined)
    void log.append(0, [message(0)])
    await nextTurn()
    disk.kill()
    const next = await openFileLog(options(disk))
    expect((await readAll(next)).length).toBe(1)
    disk.crash(() => false)
    expect((await readAll(await openFileLog(options(disk)))).length).toBe(1)
  })

  test('refuses a directory without the identity that its segments had', async () => {
    const disk = await filled(1)
    disk.corrupt('/log/id', () => new TextEncoder().encode('nonsense'))
    await expect(openFileLog(options(disk))).rejects.toMatchObject({ reason: 'LogDamaged' })
  })
})

describe('group commit', () => {
  test('shares one fsync among the appends that wait for the one before', async () => {
    const { disk, log } = await opened({ segmentBytes: MiB })
    const first = log.append(0, [message(0)])
    let release = (): void => {}
    disk.before = (operation) => {
      if (operation !== 'datasync') return
      return new Promise((resolve) => {
        release = resolve
      })
    }
    const before = disk.counts.datasync ?? 0
    await nextTurn()
    const rest = Array.from({ length: 64 }, (_, i) => log.append(0, [message(i + 1)]))
    expect(await log.range(0)).toEqual({ start: 0, end: 0 })
    disk.fail()
    release()
    expect(await first).toBe(0)
    expect(await Promise.all(rest)).toEqual(Array.from({ length: 64 }, (_, i) => i + 1))
    expect((disk.counts.datasync ?? 0) - before).toBe(2)
  })

  test('shows a message to readers and answers its append only after its fsync', async () => {
    const { disk, log } = await opened()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    disk.before = (operation) => (operation === 'datasync' ? held : undefined)
    let answered = false
    const append = log.append(0, [message(7)]).then((first) => {
      answered = true
      return first
    })
    const stop = new AbortController()
    let seen = 0
    const reader = (async () => {
      for await (const entries of log.read(0, 0, { signal: stop.signal })) {
        seen += entries.length
        stop.abort()
      }
    })()
    for (let i = 0; i < 20; i++) await nextTurn()
    expect(disk.bytes('/log/0.segment')[24 + 3]).toBe(7)
    expect({ answered, seen, end: (await log.range(0)).end }).toEqual({ answered: false, seen: 0, end: 0 })
    release()
    expect(await append).toBe(0)
    await reader
    expect(seen).toBe(1)
  })
})

test('refuses appends when too much waits to be written', async () => {
  const { disk, log } = await opened({ segmentBytes: 64 * MiB })
  disk.before = (operation) => (operation === 'write' ? new Promise(() => {}) : undefined)
  const large = new Uint8Array(16 * MiB)
  void log.append(0, [large])
  await nextTurn()
  for (let i = 0; i < 16; i++) void log.append(0, [large])
  await expect(log.append(0, [message(0)])).rejects.toMatchObject({ kind: 'Saturated' })
})

describe('segments', () => {
  test('are preallocated, named by their first position and read as one log', async () => {
    const { disk, log } = await opened()
    await append(log, 100)
    const names = await segmentsOf(disk)
    expect(names).toEqual(['0.segment', '33.segment', '66.segment', '99.segment'])
    expect(names.map((name) => disk.bytes(join(directory, name)).length)).toEqual([4096, 4096, 4096, 128])
    await log.close()
    const again = await openFileLog(options(disk))
    expect((await readAll(again)).map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect((await readAll(again, 50)).length).toBe(50)
    expect(Buffer.from((await again.get(0, 65)) ?? [])).toEqual(Buffer.from(message(65)))
  })

  test('take a message larger than themselves', async () => {
    const { disk, log } = await opened()
    await log.append(0, [message(0), message(1, 3 * MiB), message(2)])
    await log.close()
    const again = await openFileLog(options(disk))
    expect((await readAll(again)).map(({ bytes }) => bytes.length)).toEqual([100, 3 * MiB, 100])
  })

  test('below the floor are deleted, but the one that holds the message below the floor stays', async () => {
    const disk = await filled(100)
    const log = await openFileLog(options(disk))
    await log.release(0, 66)
    expect(await segmentsOf(disk)).toEqual(['33.segment', '66.segment', '99.segment'])
    await log.release(0, 67)
    expect(await segmentsOf(disk)).toEqual(['66.segment', '99.segment'])
    expect(await log.range(0)).toEqual({ start: 66, end: 100 })
    await log.close()
    const again = await openFileLog(options(disk))
    expect(await again.range(0)).toEqual({ start: 66, end: 100 })
    await again.release(0, 100)
    expect(await segmentsOf(disk)).toEqual(['99.segment'])
  })

  test('that go while they are being read halt the reader', async () => {
    const disk = await filled(100)
    const log = await openFileLog(options(disk))
    const reader = log.read(0, 0, {})[Symbol.asyncIterator]()
    await reader.next()
    await log.release(0, 100)
    await expect(reader.next()).rejects.toMatchObject({ reason: 'LogTruncated' })
  })

  test('lie in a directory that only its owner can enter', async () => {
    const path = join(root, 'private', 'log')
    await (await openFileLog({ directory: path, clock: systemClock, logger: silentLogger })).close()
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    const names = await readdir(path)
    expect(names.toSorted()).toEqual(['0.segment', 'id', 'lock', 'owner'])
    const { size, mode } = await stat(join(path, '0.segment'))
    expect({ size, mode: mode & 0o777 }).toEqual({ size: MiB, mode: 0o600 })
  })
})

describe('a failed write or fsync', () => {
  test.each(['write', 'datasync'] as const)(
    '%s stops the log: unknown for those in it, refused after',
    async (failing) => {
      const disk = new SimulatedDisk(['/log'])
      const failures: unknown[] = []
      const log = await openFileLog(options(disk, { onFailure: (error) => failures.push(error) }))
      await log.append(0, [message(0)])
      disk.fail(failing, 'EIO', '.segment')
      const [one, two] = [log.append(0, [message(1)]), log.append(0, [message(2)])]
      await expect(one).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
      await expect(two).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
      disk.fail()
      await expect(log.append(0, [message(3)])).rejects.toMatchObject({ kind: 'LogUnavailable' })
      expect(failures).toHaveLength(1)
      expect((await readAll(log)).length).toBe(1)
      await log.close()
    },
  )

  test('does not lose what the page cache alone has: the next process copies the segment first', async () => {
    const { disk, log } = await opened()
    await log.append(0, [message(0)])
    disk.fail('datasync', 'EIO', '.segment')
    await expect(log.append(0, [message(1)])).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
    await log.close()
    disk.fail()
    const next = await openFileLog(options(disk))
    const shown = await readAll(next)
    expect(shown.length).toBe(2)
    await next.close()
    disk.crash(() => false)
    const last = await openFileLog(options(disk))
    expect((await readAll(last)).length).toBe(shown.length)
    expect(await disk.files.list(directory)).not.toContain('failed')
  })
})

describe('a full volume', () => {
  test('refuses rows while less is free than the reserve and twice the open bytes, but not what may use it', async () => {
    const disk = new SimulatedDisk(['/log'])
    let nowMs = 0
    const clock = { ...systemClock, monotonicMs: () => nowMs }
    let open = 0
    const log = await openFileLog(options(disk, { clock, openBytes: () => open }))
    disk.freeBytes = 256 * MiB + 100
    expect(await log.append(0, [message(0)])).toBe(0)
    nowMs += 1000
    disk.freeBytes = 256 * MiB + 99
    await expect(log.append(0, [message(1)])).rejects.toMatchObject({ kind: 'StorageFull' })
    expect(await log.append(0, [message(1)], { useReserve: true })).toBe(1)
    nowMs += 1000
    disk.freeBytes = 300 * MiB
    expect(await log.append(0, [message(2)])).toBe(2)
    open = 22 * MiB
    await expect(log.append(0, [message(3)])).rejects.toMatchObject({ kind: 'StorageFull' })
    expect((await readAll(log)).length).toBe(3)
  })

  test('found out by the write itself stores nothing and does not stop the log', async () => {
    const { disk, log } = await opened()
    await log.append(0, [message(0)])
    disk.fail('write', 'ENOSPC')
    await expect(log.append(0, [message(1)])).rejects.toMatchObject({ kind: 'StorageFull' })
    disk.fail()
    expect(await log.append(0, [message(2)])).toBe(1)
    await log.close()
    const again = await openFileLog(options(disk))
    expect((await readAll(again)).map(({ bytes }) => bytes[3])).toEqual([0, 2])
  })

  test('found out by a new segment stores nothing and does not stop the log', async () => {
    const { disk, log } = await opened()
    await append(log, 33)
    disk.fail('create', 'ENOSPC')
    await expect(log.append(0, [message(33)])).rejects.toMatchObject({ kind: 'StorageFull' })
    disk.fail()
    expect(await log.append(0, [message(34)])).toBe(33)
  })
})

describe('without descriptors for another file', () => {
  test.each([
    ['create', 'EMFILE'],
    ['create', 'ENFILE'],
    ['syncDirectory', 'EMFILE'],
  ] as const)('at %s (%s) the log refuses, loses nothing, and goes on when there are some', async (operation, code) => {
    const disk = new SimulatedDisk(['/log'])
    let failed = false
    const log = await openFileLog(options(disk, { onFailure: () => (failed = true) }))
    await append(log, 33)
    disk.fail(operation, code)
    for (let tries = 0; tries < 3; tries++) {
      await expect(log.append(0, [message(33)])).rejects.toMatchObject({ kind: 'LogUnavailable' })
    }
    disk.fail()
    expect(await log.append(0, [message(34)])).toBe(33)
    expect(failed).toBe(false)
    await log.close()
    disk.crash(() => false)
    const again = await openFileLog(options(disk))
    expect((await readAll(again)).length).toBe(34)
  })
})

test('rows are refused while few more files can be made', async () => {
  const { disk, log } = await opened()
  disk.freeInodes = 9_999
  await expect(log.append(0, [message(0)])).rejects.toMatchObject({ kind: 'StorageFull' })
  expect(await log.append(0, [message(0)], { useReserve: true })).toBe(0)
})

// A volume that has no room for the next segment, but still for a small message in the one before it.
test.each<Operation>(['create', 'truncate', 'datasync', 'syncDirectory'])(
  'keeps a small message that came after a segment which failed at its %s',
  async (failing) => {
    for (const power of [false, true]) {
      const { disk, log } = await opened({ segmentBytes: 400 })
      await log.append(0, [new Uint8Array(200).fill(1)])
      disk.before = (operation) => {
        if (operation === failing) {
          disk.before = () => {}
          throw systemError('ENOSPC')
        }
      }
      await expect(log.append(0, [new Uint8Array(300).fill(2)])).rejects.toMatchObject({ kind: 'StorageFull' })
      expect(await log.append(0, [new Uint8Array(50).fill(3)])).toBe(1)
      expect(await log.append(0, [new Uint8Array(300).fill(4)])).toBe(2)
      await log.close()
      // What was not fsynced is as it was before.
      if (power) disk.crash(() => false)
      const next = await openFileLog(options(disk, { segmentBytes: 400 }))
      expect((await readAll(next)).map(({ bytes }) => bytes[0])).toEqual([1, 3, 4])
      await next.close()
    }
  },
)

test('stops when a segment that failed cannot be removed', async () => {
  const { disk, log } = await opened({ segmentBytes: 400 })
  await log.append(0, [new Uint8Array(200)])
  disk.before = (operation) => {
    if (operation === 'truncate') throw systemError('ENOSPC')
    if (operation === 'unlink') throw systemError('EIO')
  }
  await expect(log.append(0, [new Uint8Array(300)])).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
  await expect(log.append(0, [new Uint8Array(50)])).rejects.toMatchObject({ kind: 'LogUnavailable' })
})
