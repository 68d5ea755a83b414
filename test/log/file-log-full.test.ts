// A volume that has no room for the next segment, but still for a small message in the one before it.

import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import type { EventLog } from '../../src/log/event-log.ts'
import { openFileLog } from '../../src/log/file/file-log.ts'
import { readAll } from './contract-suite.ts'
import { type Operation, SimulatedDisk, systemError } from '../adapters/simulated-disk.ts'

function open(disk: SimulatedDisk): Promise<EventLog> {
  return openFileLog({
    directory: '/log',
    clock: systemClock,
    logger: silentLogger,
    segmentBytes: 400,
    fileSystem: disk.files,
  })
}

test.each<Operation>(['create', 'truncate', 'datasync', 'syncDirectory'])(
  'keeps a small message that came after a segment which failed at its %s',
  async (failing) => {
    for (const power of [false, true]) {
      const disk = new SimulatedDisk(['/log'])
      const log = await open(disk)
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
      const next = await open(disk)
      expect((await readAll(next)).map(({ bytes }) => bytes[0])).toEqual([1, 3, 4])
      await next.close()
    }
  },
)

test('stops when a segment that failed cannot be removed', async () => {
  const disk = new SimulatedDisk(['/log'])
  const log = await open(disk)
  await log.append(0, [new Uint8Array(200)])
  disk.before = (operation) => {
    if (operation === 'truncate') throw systemError('ENOSPC')
    if (operation === 'unlink') throw systemError('EIO')
  }
  await expect(log.append(0, [new Uint8Array(300)])).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
  await expect(log.append(0, [new Uint8Array(50)])).rejects.toMatchObject({ kind: 'LogUnavailable' })
})
