// Looks at the directory of a file log without changing anything, as far as opening it would: identity, segments, every
// frame, what comes after the last one. For `doctor`.

import { nodeFileSystem } from '../../disk/log-files.ts'
import { HaltError } from '../../model/errors.ts'
import { parseIdentity, plainForm, withoutIdentity } from './identity.ts'
import { damagedFrame, failureNote, findEnd, inspectTail, listSegments } from './recover-log.ts'
import { Segment } from './segment.ts'

export interface LogInspection {
  /** Absent where no log was ever opened. */
  readonly id: string | undefined
  /** Positions held: from `start` to below `end`. */
  readonly start: number
  readonly end: number
  readonly segments: number
  /** Bytes of a last frame that is not whole; the next opening cuts them off. */
  readonly tornBytes: number
  /** The last process could not write or fsync; the next opening copies the last segment. */
  readonly hasFailed: boolean
}

/**
 * Reads all segments of a log that no process has open. Throws HaltError `LogDamaged` where opening it would, and
 * where an earlier segment is not whole; system errors as they are.
 */
export async function inspectLog(directory: string): Promise<LogInspection> {
  const files = nodeFileSystem
  const idText = await files.readText(`${directory}/id`)
  const hasFailed = (await files.readText(failureNote({ directory }))) !== undefined
  const firsts = await listSegments({ files, directory })
  if (idText === undefined && firsts.length > 0) throw withoutIdentity()
  const identity = idText === undefined ? undefined : parseIdentity(idText)
  const form = identity?.form ?? plainForm
  let [end, tornBytes] = [firsts[0] ?? 0, 0]
  for (const [index, first] of firsts.entries()) {
    if (first !== end)
      throw new HaltError('LogDamaged', `the messages from position ${end} to ${first - 1} are missing`)
    const segment = new Segment({ files, directory, form }, first)
    const file = await files.open(segment.path, 'read')
    try {
      const place = await findEnd(file, segment)
      const next = firsts[index + 1]
      // A segment that others follow ends where the next one begins.
      if (next !== undefined && place.position !== next) throw damagedFrame(place.position)
      const tail =
        next === undefined
          ? await inspectTail(file, { ...place, form }, await file.size())
          : { used: 0, damaged: false }
      if (tail.damaged) throw damagedFrame(place.position)
      ;[end, tornBytes] = [place.position, tail.used]
    } finally {
      await file.close()
    }
  }
  return { id: identity?.id, start: firsts[0] ?? 0, end, segments: firsts.length, tornBytes, hasFailed }
}
