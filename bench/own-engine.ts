// The node's engine in a process of the bench: one statement at a time on one thread, with limits that none here meets.

import { must } from '../src/libraries/base/assert.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { type Engine, openEngine } from '../src/node/engine/engine.ts'
import { engineVersion } from '../src/node/engine/messages.ts'
import { findNativeEngine } from '../src/node/engine/native-engine.ts'

const mebibyte = 1024 * 1024

/** Reads files below `root`. To be closed. */
export function openOwnEngine(root: string): Engine {
  return openEngine({
    native: must(findNativeEngine(engineVersion, undefined), 'the engine of the release is installed'),
    cores: 1,
    processes: 1,
    exportSlots: 1,
    exportMs: 600_000,
    exportBytes: 1024 ** 4,
    queryMs: 60_000,
    memoryBytes: 1024 * mebibyte,
    resultBytes: 256 * mebibyte,
    queueLimit: 4,
    callerSharePercent: 100,
    isOpen: () => true,
    dataRoots: [root],
    logger: silentLogger,
    clock: systemClock,
  })
}
