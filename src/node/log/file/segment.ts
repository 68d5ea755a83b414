// One segment of the file log: a file `<first position>.segment` of frames with rising positions, preallocated with
// zeros. Knows where its frames lie (a sparse index that grows as frames are written or read) and reads them back.

import { join } from 'node:path'
import { type FileSystem, type OpenFile, withFile } from '../../machine/disk/files.ts'
import { must } from '../../../libraries/base/assert.ts'
import { firstIndex } from '../../../libraries/base/collections.ts'
import { HaltError } from '../../../libraries/base/errors.ts'
import type { LogEntry } from '../event-log.ts'
import { readStepBytes, readStepEntries } from '../tail.ts'
import { frameHeaderBytes, messageInFrame, readFrameHeader } from './frame.ts'

/** A frame boundary: the frame of `position` begins at `offset` bytes of the file. */
export interface Place {
  readonly position: number
  readonly offset: number
}

/** Frames read from one place on. `next` is the place after the last one; `bad` says that no good frame is there. */
export interface FrameRun {
  readonly entries: LogEntry[]
  readonly next: Place
  readonly bad: boolean
}

const indexStepBytes = 64 * 1024

/** Where segments lie, and what the checksums of their frames begin with. */
export interface SegmentsPlace {
  readonly files: FileSystem
  readonly directory: string
  readonly seed: number
}

export class Segment {
  readonly first: number
  readonly path: string
  readonly seed: number
  readonly #files: FileSystem
  /** Places in rising order, at least 64 KiB apart, of a prefix of the file. */
  readonly #index: Place[]

  constructor(at: SegmentsPlace, first: number) {
    this.#files = at.files
    this.seed = at.seed
    this.first = first
    this.path = join(at.directory, `${first}.segment`)
    this.#index = [{ position: first, offset: 0 }]
  }

  /** Remembers where a frame begins. To be called in order; places beyond the indexed prefix extend it. */
  note(place: Place): void {
    const last = must(this.#index.at(-1), 'the index holds the first frame')
    if (place.position > last.position && place.offset - last.offset >= indexStepBytes) this.#index.push(place)
  }

  /**
   * Entries of positions [from, below), as many as fit in one step; at least one. All of them must be in this segment
   * and durable. Throws HaltError `LogDamaged` when one of them is not intact; system errors as they are.
   */
  async read(from: number, below: number, stepBytes = readStepBytes): Promise<LogEntry[]> {
    return withFile(this.#files, this.path, 'read', async (file) => {
      const wanted = { from, below, stepBytes, seed: this.seed, note: (at: Place) => this.note(at) }
      let place = this.#placeBefore(from)
      for (;;) {
        const run = await readFrames(file, place, wanted)
        if (run.entries.length > 0) return run.entries
        if (run.bad) throw new HaltError('LogDamaged', `the frame of position ${run.next.position} is not intact`)
        place = run.next
      }
    })
  }

  /** The last known place at or before `position`. */
  #placeBefore(position: number): Place {
    const place = (at: number): Place => must(this.#index[at], 'inside the index')
    return place(firstIndex(1, this.#index.length, (at) => place(at).position > position) - 1)
  }
}

interface Wanted {
  readonly from: number
  readonly below: number
  readonly stepBytes: number
  readonly seed: number
  readonly note: (place: Place) => void
}

/**
 * Reads about `stepBytes` of the file from `start` on and returns the good frames among them with positions
 * [from, below): positions must rise by one from `start.position`. The messages are views of one buffer.
 */
export async function readFrames(file: OpenFile, start: Place, wanted: Wanted): Promise<FrameRun> {
  let asked = wanted.stepBytes
  let chunk = await readChunk(file, start.offset, asked)
  const entries: LogEntry[] = []
  let { position } = start
  let at = 0
  while (position < wanted.below && entries.length < readStepEntries) {
    const header = readFrameHeader(chunk, at)
    const end = header === undefined ? at + frameHeaderBytes : at + frameHeaderBytes + header.length
    if (end > chunk.length && chunk.length === asked) {
      // The chunk, not the file, ends within this frame: it begins the next step, or is read whole if it is the first.
      if (at > 0) break
      asked = end
      chunk = await readChunk(file, start.offset, asked)
      continue
    }
    const { seed } = wanted
    const isWhole = header?.position === position && end <= chunk.length
    const bytes = isWhole ? messageInFrame(chunk, at, { ...header, seed }) : undefined
    if (bytes === undefined) return { entries, next: { position, offset: start.offset + at }, bad: true }
    wanted.note({ position, offset: start.offset + at })
    if (position >= wanted.from) entries.push({ position, bytes })
    position++
    at = end
  }
  return { entries, next: { position, offset: start.offset + at }, bad: false }
}

async function readChunk(file: OpenFile, at: number, length: number): Promise<Uint8Array> {
  const chunk = Buffer.allocUnsafeSlow(length)
  return chunk.subarray(0, await file.read(chunk, at))
}
