// Memory that nobody holds any more, given back while a node has nothing to do: V8 collects garbage to make room for what is
// new, so that the arrays of large bodies would stay until the next ones come, and so would the room of new objects.

import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Clock, repeat, type Repeated } from '../../../libraries/base/clock.ts'

const MiB = 1024 * 1024
export const lookMs = 5_000
/** Memory that changes by less is at rest. */
const restBytes = MiB
/** So much more than what the last collection left is worth another. */
const worthBytes = 16 * MiB
/** So much room of new objects is worth a collection of them, which takes less than a millisecond where most are garbage. */
const roomMost = 8 * MiB
/** What is asked for and never touched takes no memory. V8 counts it, and collects for it in small steps, some cycles in all. */
const askedBytes = 32 * MiB
const asks = 8
const askMs = 50
/** Where a node has this flag (bin/proofstream.js), V8 would wait for far more. */
const patientFlag = 'external-memory-accounted-in-global-limit'

/** Looks after the memory of this thread until it is closed. */
export function collectWhenIdle(clock: Clock, onError: (error: unknown) => void): Repeated {
  setFlagsFromString('--expose-gc')
  const collectNew = runInNewContext('gc') as NodeJS.GCFunction
  let heldBytes = 0
  let leftBytes = 0
  const look = async (): Promise<void> => {
    const isAtRest = Math.abs(memoryBytes() - heldBytes) < restBytes
    // V8 makes the room smaller where little was asked for lately.
    if (isAtRest && roomBytes() > roomMost) collectNew({ type: 'minor' })
    heldBytes = memoryBytes()
    leftBytes = Math.min(leftBytes, heldBytes)
    if (!isAtRest || heldBytes < leftBytes + worthBytes) return
    await collect(clock)
    heldBytes = memoryBytes()
    leftBytes = heldBytes
  }
  return repeat(look, { everyMs: lookMs, clock, onError })
}

/** Arrays and objects, with their room. */
function memoryBytes(): number {
  const { external_memory: arrays, total_heap_size: heap } = getHeapStatistics()
  return arrays + heap
}

function roomBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0
}

async function collect(clock: Clock): Promise<void> {
  const isPatient = process.execArgv.includes(`--${patientFlag}`)
  const asked: ArrayBuffer[] = []
  if (isPatient) setFlagsFromString(`--no-${patientFlag}`)
  try {
    while (asked.length < asks) {
      asked.push(new ArrayBuffer(askedBytes))
      await clock.sleep(askMs)
    }
  } finally {
    if (isPatient) setFlagsFromString(`--${patientFlag}`)
    for (const buffer of asked) buffer.transfer(0)
  }
}
