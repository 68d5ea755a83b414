// Opening the file log: which segments there are, where the last one's good frames end, and what comes after them.
// Zeros are preallocation. A torn tail is cut off. A bad frame below a later frame's durable mark is damage: the log
// refuses to start rather than lose what it has acknowledged. For `doctor`, the same is looked at without a change.

import { join } from 'node:path'
import {
  type FileSystem,
  ifThere,
  nodeFileSystem,
  type OpenFile,
  readText,
  withFile,
} from '../../machine/disk/files.ts'
import { must } from '../../../libraries/base/assert.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import type { Logger } from '../../../libraries/base/logger.ts'
import { HaltError } from '../../../libraries/base/errors.ts'
import {
  type FrameHeader,
  frameHeaderBytes,
  messageInFrame,
  maxMessageBytes,
  parseIdentity,
  readFrameHeader,
  withoutIdentity,
} from './frame.ts'
import { type Place, readFrames, Segment, type SegmentsPlace } from './segment.ts'

const stepBytes = 1024 * 1024
/** Bound on the bytes checked while looking for frames in a tail; beyond it the tail counts as damage. */
const searchBudgetBytes = 1024 * 1024 * 1024

export interface LogDirectory extends SegmentsPlace {
  readonly segmentBytes: number
  readonly logger: Logger
}

export interface RecoveredLog {
  /** In rising order; at least one. The last one is written to. */
  readonly segments: Segment[]
  /** The last segment, open for writing. */
  readonly file: OpenFile
  /** Where the next frame goes. All before it is durable. */
  readonly end: Place
  /** Of the last segment's file. */
  readonly sizeBytes: number
}

/**
 * Opens the segments of a directory; makes the first one in an empty directory. Everything kept is durable when it
 * resolves. Throws HaltError `LogDamaged`; system errors as they are.
 */
export async function recoverLog(at: LogDirectory): Promise<RecoveredLog> {
  const firsts = await listSegments(at)
  if (firsts.length === 0) {
    const made = await createSegment(at, 0)
    return { segments: [made.segment], file: made.file, end: { position: 0, offset: 0 }, sizeBytes: sizeFor(at, 0) }
  }
  const segments = firsts.map((first) => new Segment(at, first))
  const last = must(segments.at(-1), 'there is a segment')
  if ((await readText(failureNote(at), at.files)) !== undefined) await copySegment(at, last)
  const file = await at.files.open(last.path, 'write')
  try {
    await makeDurable(at, file)
    const end = await findEnd(file, last)
    return { segments, file, end, sizeBytes: await clearTail(at, file, end) }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** A file begins with so much of its segment, and doubles. */
const firstPart = 64

/** Size of a file that has room for frames up to `offset`. */
export function sizeFor({ segmentBytes }: Pick<LogDirectory, 'segmentBytes'>, offset: number): number {
  let size = Math.ceil(segmentBytes / firstPart)
  while (size < offset) size *= 2
  return Math.max(offset, Math.min(size, segmentBytes))
}

/** A new segment for `first` and the positions after it, preallocated (`sizeFor` no frames); its name is durable. */
export async function createSegment(
  at: LogDirectory,
  first: number,
): Promise<{ readonly segment: Segment; readonly file: OpenFile }> {
  const segment = new Segment(at, first)
  const file = await at.files.open(segment.path, 'create')
  try {
    await file.truncate(sizeFor(at, 0))
    await file.datasync()
    await at.files.syncDirectory(at.directory)
  } catch (error) {
    await file.close()
    throw error
  }
  return { segment, file }
}

/**
 * Notes, as well as a failing disk can take a note, that a write or fsync failed: the next process must not trust the
 * page cache. Never throws.
 */
export async function noteFailure(at: LogDirectory, error: unknown): Promise<void> {
  try {
    await writeText(at.files, failureNote(at), `${String(error)}\n`)
    await at.files.syncDirectory(at.directory)
  } catch (second) {
    at.logger.error({ err: second }, 'the failure of the log could not be noted')
  }
}

/** Writes a small file, durable but for its name. */
export async function writeText(files: FileSystem, path: string, text: string): Promise<void> {
  await withFile(files, path, 'create', async (file) => {
    await file.write(utf8(text), 0)
    await file.datasync()
  })
}

/** Where it is noted that a write or fsync failed. */
function failureNote(at: Pick<LogDirectory, 'directory'>): string {
  return join(at.directory, 'failed')
}

/** Makes durable what an earlier process wrote, so that no reader sees what a power cut could take away. */
async function makeDurable(at: LogDirectory, file: OpenFile): Promise<void> {
  try {
    await file.datasync()
    await at.files.syncDirectory(at.directory)
  } catch (error) {
    await noteFailure(at, error)
    throw error
  }
}

/** First positions of the segments, in rising order. */
export async function listSegments(at: Pick<LogDirectory, 'files' | 'directory'>): Promise<number[]> {
  const firsts: number[] = []
  for (const name of await at.files.list(at.directory)) {
    const match = /^(0|[1-9][0-9]*)\.segment$/.exec(name)
    if (match !== null) firsts.push(Number(match[1]))
  }
  return firsts.toSorted((a, b) => a - b)
}

/** The place after the last good frame. */
async function findEnd(file: OpenFile, segment: Segment): Promise<Place> {
  let place: Place = { position: segment.first, offset: 0 }
  for (;;) {
    const run = await readFrames(file, place, {
      from: Number.POSITIVE_INFINITY,
      below: Number.POSITIVE_INFINITY,
      stepBytes,
      seed: segment.seed,
      note: (frame) => segment.note(frame),
    })
    place = run.next
    if (run.bad) return place
  }
}

/**
 * Makes all after `end` zeros again, or throws HaltError `LogDamaged` when acknowledged frames are among it. Returns the
 * size of the file.
 */
async function clearTail(at: LogDirectory, file: OpenFile, end: Place): Promise<number> {
  const size = await file.size()
  const tornBytes = await tornBytesAfter(file, { ...end, seed: at.seed }, size)
  if (tornBytes === 0) return size
  at.logger.warn({ position: end.position, bytes: tornBytes }, tornText)
  await file.truncate(end.offset)
  await file.truncate(sizeFor(at, end.offset))
  await file.datasync()
  return sizeFor(at, end.offset)
}

/** A torn last write and a damaged last message look the same: the log cannot know which it is. */
const tornText =
  'the log ends in a frame that is not whole; it is cut off: after a crash or power cut that is a write that was not ' +
  'acknowledged, without one the disk has damaged the last message, which may have been acknowledged'

/** A frame that was durable and is not intact any more. */
function damagedFrame(position: number): HaltError {
  return new HaltError(
    'LogDamaged',
    `the frame of position ${position} is not intact although later frames say that it was stored durably`,
  )
}

/**
 * Bytes after the last good frame, up to the last one that is not zero. Throws HaltError `LogDamaged` when they are not
 * a torn write: a later frame says that this one was durable, or so much would have to be searched for one.
 */
async function tornBytesAfter(file: OpenFile, end: Place & { readonly seed: number }, size: number): Promise<number> {
  let used = 0
  let budget = searchBudgetBytes
  // Steps overlap by one frame header, so that a frame that begins near the end of a step is seen whole.
  const chunk = Buffer.alloc(stepBytes + frameHeaderBytes)
  const zeros = Buffer.alloc(chunk.length)
  for (let at = end.offset; at < size; at += stepBytes) {
    const part = chunk.subarray(0, await file.read(chunk, at))
    if (part.equals(zeros.subarray(0, part.length))) continue
    used = at - end.offset + usedBytes(part)
    for (let i = 0; i < Math.min(part.length, stepBytes); i++) {
      const header = frameAbove(part, i, { position: end.position, distance: at + i - end.offset })
      if (header === undefined || at + i + frameHeaderBytes + header.length > size) continue
      const frame = Buffer.allocUnsafeSlow(frameHeaderBytes + header.length)
      await file.read(frame, at + i)
      budget -= frame.length
      if (messageInFrame(frame, 0, { ...header, seed: end.seed }) !== undefined || budget < 0)
        throw damagedFrame(end.position)
    }
  }
  return used
}

/**
 * Header at `at` if it can be that of a frame written when the bad position was already durable. Each frame between
 * the two takes at least a header's bytes of the distance.
 */
function frameAbove(
  bytes: Uint8Array,
  at: number,
  bad: { readonly position: number; readonly distance: number },
): FrameHeader | undefined {
  // The length's highest byte alone tells most offsets apart.
  if (((bytes[at + 3] ?? 0) & 0x7f) * 0x100_0000 > maxMessageBytes) return undefined
  const header = readFrameHeader(bytes, at)
  if (header === undefined || header.mark <= bad.position) return undefined
  return (header.position - bad.position) * frameHeaderBytes <= bad.distance ? header : undefined
}

function usedBytes(bytes: Uint8Array): number {
  let used = bytes.length
  while (used > 0 && bytes[used - 1] === 0) used--
  return used
}

/**
 * Writes what a segment holds into a new file that takes its place. After a failed fsync the page cache may
 * hold, and call clean, what the disk does not.
 */
async function copySegment(at: LogDirectory, segment: Segment): Promise<void> {
  at.logger.warn({ segment: segment.first }, 'the last process could not write the log; its last segment is copied')
  const path = `${segment.path}.copy`
  await withFile(at.files, segment.path, 'read', async (source) => {
    const size = await source.size()
    await withFile(at.files, path, 'create', async (target) => {
      const buffer = Buffer.alloc(stepBytes)
      const zeros = Buffer.alloc(stepBytes)
      await target.truncate(size)
      for (let offset = 0; offset < size; offset += stepBytes) {
        const part = buffer.subarray(0, await source.read(buffer, offset))
        if (!part.equals(zeros.subarray(0, part.length))) await target.write(part, offset)
      }
      await target.datasync()
    })
  })
  await at.files.rename(path, segment.path)
  await at.files.syncDirectory(at.directory)
  await ifThere(at.files.unlink(failureNote(at)))
  await at.files.syncDirectory(at.directory)
}

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
  const idText = await readText(`${directory}/id`)
  const hasFailed = (await readText(failureNote({ directory }))) !== undefined
  const firsts = await listSegments({ files, directory })
  if (idText === undefined && firsts.length > 0) throw withoutIdentity()
  const identity = idText === undefined ? undefined : parseIdentity(idText)
  // Without an identity there are no segments.
  const seed = identity?.seed ?? 0
  let end = firsts[0] ?? 0
  let tornBytes = 0
  for (const [index, first] of firsts.entries()) {
    if (first !== end)
      throw new HaltError('LogDamaged', `the messages from position ${end} to ${first - 1} are missing`)
    const segment = new Segment({ files, directory, seed }, first)
    const next = firsts[index + 1]
    await withFile(files, segment.path, 'read', async (file) => {
      const place = await findEnd(file, segment)
      end = place.position
      // A segment that others follow ends where the next one begins.
      if (next === undefined) tornBytes = await tornBytesAfter(file, { ...place, seed }, await file.size())
      else if (end !== next) throw damagedFrame(end)
    })
  }
  return { id: identity?.id, start: firsts[0] ?? 0, end, segments: firsts.length, tornBytes, hasFailed }
}
