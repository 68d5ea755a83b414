// The writing end of the file log: frames into the last segment, fsync, next segment, removal of old ones.
// One write at a time; the caller sees to that.

import { hasCode, ifThere, isFull, type OpenFile } from '../../machine/disk/files.ts'
import { must } from '../../../libraries/base/assert.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { Tail } from '../tail.ts'
import { frameHeaderBytes, writeFrame } from './frame.ts'
import { createSegment, type LogDirectory, noteFailure, type RecoveredLog, sizeFor } from './recover-log.ts'
import { Segment } from './segment.ts'

/** Frames of up to so many bytes are written from one buffer that is used again and again. */
const scratchBytes = 4 * 1024 * 1024

export class SegmentWriter {
  readonly #at: LogDirectory
  readonly #tail: Tail
  /** In rising order; the last one is written to. */
  #segments: Segment[]
  #file: OpenFile
  /** Offset in the last segment where the next frame goes; all before it is durable. */
  #offset: number
  /** Of its file: what is not written yet is zeros. */
  #sizeBytes: number
  /** First position of a segment that could not be made whole and may be there. */
  #unfinished: number | undefined
  #scratch = Buffer.allocUnsafeSlow(64 * 1024)

  constructor(at: LogDirectory, recovered: RecoveredLog, tail: Tail) {
    this.#at = at
    this.#tail = tail
    this.#segments = recovered.segments
    this.#file = recovered.file
    this.#offset = recovered.end.offset
    this.#sizeBytes = recovered.sizeBytes
  }

  /** First position kept. */
  get start(): number {
    return must(this.#segments[0], 'a log has a segment').first
  }

  /** The segment that holds `position`, and the position after its last one (no bound for the last segment). */
  segmentOf(position: number): { readonly segment: Segment; readonly end: number } {
    let index = this.#segments.length - 1
    while (index > 0 && must(this.#segments[index], 'inside the log').first > position) index--
    const segment = must(this.#segments[index], 'inside the log')
    return { segment, end: this.#segments[index + 1]?.first ?? this.#tail.end }
  }

  /**
   * Stores messages from the tail's end on, durably, and shows them to readers segment by segment. Returns the bytes
   * written. Throws NodeErrors `StorageFull` when the volume is full, `LogUnavailable` while no file can be opened: what
   * the tail does not show is not stored. After any other error nothing may be written any more: what the tail does not
   * show may or may not be stored.
   */
  async write(messages: readonly Uint8Array[]): Promise<number> {
    await this.#removeUnfinished()
    let written = 0
    for (let done = 0; done < messages.length;) {
      let count = this.#fitting(messages, done)
      if (count === 0) {
        await this.#startSegment()
        count = Math.max(1, this.#fitting(messages, done))
      }
      const run = messages.slice(done, done + count)
      written += await this.#writeRun(run)
      done += count
    }
    return written
  }

  /** Deletes segments that lie wholly below floor - 1. */
  async release(floor: number): Promise<void> {
    const kept = this.#segments.findLastIndex((segment) => segment.first < floor)
    const old = this.#segments.slice(0, Math.max(0, kept))
    // Readers are turned away before the files go.
    this.#segments = this.#segments.slice(old.length)
    for (const segment of old) await ifThere(this.#at.files.unlink(segment.path))
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** How many of the messages from `index` on fit into what is left of the last segment. */
  #fitting(messages: readonly Uint8Array[], index: number): number {
    let room = this.#at.segmentBytes - this.#offset
    let count = 0
    for (let i = index; i < messages.length; i++) {
      room -= frameHeaderBytes + must(messages[i], 'inside the messages').length
      if (room < 0) break
      count++
    }
    return count
  }

  async #startSegment(): Promise<void> {
    try {
      const { segment, file } = await createSegment(this.#at, this.#tail.end)
      await this.#file.close()
      this.#segments = [...this.#segments, segment]
      this.#file = file
      this.#offset = 0
      this.#sizeBytes = sizeFor(this.#at, 0)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) throw await this.#failed(error)
      this.#unfinished = this.#tail.end
      await this.#removeUnfinished()
      throw refusal
    }
  }

  /**
   * Durably removes a segment that could not be made whole, before anything is written: a smaller message may still fit
   * into the one before it, and would be looked for in the one that bears its position.
   */
  async #removeUnfinished(): Promise<void> {
    if (this.#unfinished === undefined) return
    const { files, directory } = this.#at
    try {
      await ifThere(files.unlink(new Segment(this.#at, this.#unfinished).path))
      await files.syncDirectory(directory)
    } catch (error) {
      if (isOutOfFiles(error)) throw outOfFiles(error)
      throw await this.#failed(error)
    }
    this.#unfinished = undefined
  }

  async #writeRun(messages: readonly Uint8Array[]): Promise<number> {
    const bytes = this.#frames(messages)
    try {
      await this.#grow(this.#offset + bytes.length)
      // mutant: no fsync of the log
      await this.#file.writeDurably(bytes, this.#offset)
    } catch (error) {
      if (!isFull(error)) throw await this.#failed(error)
      await this.#undo()
      throw full(error)
    }
    this.#noteFrames(messages)
    this.#tail.push(messages)
    return bytes.length
  }

  /** An fsync has a size to write only where the file grows, a few times for a segment. */
  async #grow(end: number): Promise<void> {
    if (end <= this.#sizeBytes) return
    const sizeBytes = sizeFor(this.#at, end)
    await this.#file.truncate(sizeBytes)
    this.#sizeBytes = sizeBytes
  }

  #frames(messages: readonly Uint8Array[]): Uint8Array {
    let size = 0
    for (const message of messages) size += frameHeaderBytes + message.length
    if (size > this.#scratch.length && size <= scratchBytes) this.#scratch = Buffer.allocUnsafeSlow(size)
    const out = size <= scratchBytes ? this.#scratch.subarray(0, size) : Buffer.allocUnsafeSlow(size)
    const mark = this.#tail.end
    let at = 0
    let position = mark
    for (const message of messages) {
      at = writeFrame(out, at, { position, mark, message, seed: this.#at.seed })
      position++
    }
    return out
  }

  #noteFrames(messages: readonly Uint8Array[]): void {
    const segment = must(this.#segments.at(-1), 'a log has a segment')
    let position = this.#tail.end
    for (const message of messages) {
      segment.note({ position, offset: this.#offset })
      this.#offset += frameHeaderBytes + message.length
      position++
    }
  }

  /** Takes back a write that did not fit on the volume: nothing of it was durable or shown. */
  async #undo(): Promise<void> {
    try {
      await this.#file.truncate(this.#offset)
      await this.#file.truncate(this.#sizeBytes)
      await this.#file.datasync()
    } catch (error) {
      throw await this.#failed(error)
    }
  }

  /** Leaves a note for the next process and returns `error`. */
  async #failed(error: unknown): Promise<unknown> {
    await noteFailure(this.#at, error)
    return error
  }
}

/** What a failure to begin a segment means where the log can go on; undefined for all others. */
function refusalOf(error: unknown): NodeError | undefined {
  if (isFull(error)) return full(error)
  return isOutOfFiles(error) ? outOfFiles(error) : undefined
}

/** True when this process, or the machine, has as many files open as it may. */
function isOutOfFiles(error: unknown): boolean {
  return hasCode(error, 'EMFILE', 'ENFILE')
}

function outOfFiles(cause: unknown): NodeError {
  return new NodeError('LogUnavailable', 'The log cannot open a file because too many are open. Nothing was stored.', {
    hint: 'Send it again in a moment. An operator can raise the limit of open files (ulimit -n).',
    retryAfterSeconds: 1,
    cause,
  })
}

/** Rows are refused for want of space. */
export function full(cause?: unknown): NodeError {
  return new NodeError('StorageFull', 'The volume of the log is full; nothing was stored.', { cause })
}
