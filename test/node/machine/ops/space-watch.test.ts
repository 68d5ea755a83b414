// A full volume is told: why the node is not ready, one line of log for each change, and what is free.

import { expect, test } from 'vitest'
import { type FreeSpace, spaceReserveBytes } from '../../../../src/node/machine/disk/space.ts'
import { systemClock } from '../../../../src/libraries/base/clock.ts'
import { SpaceWatch } from '../../../../src/node/machine/ops/health.ts'
import { Metrics } from '../../../../src/node/machine/ops/metrics.ts'

test('each change is told once, the reason as long as it lasts', async () => {
  const lines: string[] = []
  const keep = (_fields: object, message: string): void => void lines.push(message)
  const logger = { debug: () => {}, info: keep, warn: keep, error: keep }
  const free: Record<string, FreeSpace> = {
    log: { bytes: 2 * spaceReserveBytes, inodes: undefined },
    store: { bytes: 2 * spaceReserveBytes, inodes: 20_000 },
  }
  let openBytes = 0
  const volumes = Object.keys(free).map((name) => ({ name, freeSpace: () => free[name] }))
  const metrics = new Metrics()
  const watch = new SpaceWatch({ volumes, openBytes: () => openBytes, clock: systemClock, logger, metrics })
  expect(await watch.reason()).toBe(undefined)
  free['log'] = { bytes: spaceReserveBytes - 1, inodes: undefined }
  expect(await watch.reason()).toBe('the volume of the log has 255 MiB free; rows need 256 MiB')
  await watch.reason()
  free['store'] = { bytes: 2 * spaceReserveBytes, inodes: 17 }
  expect(await watch.reason()).toContain('the volume of the store has inodes for 17 more files')
  expect(await metrics.text()).toContain('proofstream_free_inodes{volume="store"} 17')
  expect(await metrics.text()).toContain(`proofstream_free_bytes{volume="log"} ${spaceReserveBytes - 1}`)
  expect(await metrics.text()).not.toContain('proofstream_free_inodes{volume="log"}')
  free['store'] = { bytes: 2 * spaceReserveBytes, inodes: 20_000 }
  free['log'] = { bytes: 2 * spaceReserveBytes, inodes: undefined }
  expect(await watch.reason()).toBe(undefined)
  openBytes = spaceReserveBytes
  expect(await watch.reason()).toContain('rows need 768 MiB')
  await watch.close()
  expect(lines).toHaveLength(6)
  expect(lines.filter((line) => line.startsWith('rows are refused'))).toHaveLength(4)
})
