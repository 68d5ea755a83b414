// The event log in a directory of this machine: one partition, segment files, group commit.
// Appends that arrive while an fsync is in flight share the next one; no timer is involved. An append is answered, and
// its messages shown to readers, when the fsync after its write has ended.

import { join } from 'node:path'
import { type FileSystem, hasCode, makeDurableDirectory, nodeFileSystem, readText } from '../../machine/disk/files.ts'
import { SpaceReserve } from '../../machine/disk/space.ts'
import { assert, must } from '../../../libraries/base/assert.ts'
import { copyBytes } from '../../../libraries/base/bytes.ts'
import type { Clock } from '../../../libraries/base/clock.ts'
import { limitTable } from '../../../libraries/base/limits.ts'
import type { Logger } from '../../../libraries/base/logger.ts'
import { HaltError, NodeError } from '../../../libraries/base/errors.ts'
import type { EventLog, LogEntry } from '../event-log.ts'
import { prepareContract } from '../messages.ts'
import { AppendQueue, type WaitingAppend } from '../append-queue.ts'
import { checkInRange, Tail, truncated } from '../tail.ts'
import { type LogIdentity, maxMessageBytes, newIdentityText, parseIdentity, withoutIdentity } from './frame.ts'
import { listSegments, recoverLog, writeText } from './recover-log.ts'
import { full, SegmentWriter } from './segment-writer.ts'

const MiB = 1024 * 1024
const defaultSegmentBytes = 64 * MiB
/** Most bytes of one group commit (a larger append is a group of its own). */
const groupBytes = 8 * MiB
/** Most bytes that wait for their group commit. */
const queueBytes = 256 * MiB

export interface FileLogOptions {
  /** Made if missing (mode 0700). */
  readonly directory: string
  readonly clock: Clock
  readonly logger: Logger
  /** Bytes of rows that are in the log and not yet in a block; rows leave twice that much free. */
  readonly openBytes?: () => number
  /** Called once when a write or fsync failed and the log takes no more: the process should stop. */
  readonly onFailure?: (error: unknown) => void
  readonly segmentBytes?: number
  /** Newest entries kept in memory, so that readers that keep up do not touch the disk. */
  readonly tailBytes?: number
  readonly fileSystem?: FileSystem
}

/**
 * Opens the log, or makes it. Everything that readers will see is durable when it resolves.
 * Throws NodeError `LogUnavailable` when another process has the directory, HaltError `LogDamaged` when acknowledged
 * messages are not intact; system errors as they are.
 */
export async function openFileLog(options: FileLogOptions): Promise<EventLog> {
  const { directory, logger, fileSystem: files = nodeFileSystem, segmentBytes = defaultSegmentBytes } = options
  const { tailBytes = limitTable.logMemoryBytes.value } = options
  await makeDurableDirectory(directory, files)
  const unlock = files.lock(directory)
  try {
    const { id, seed } = await readOrMakeIdentity(files, directory)
    const at = { files, directory, segmentBytes, logger, seed }
    prepareContract()
    const recovered = await recoverLog(at)
    const tail = new Tail(recovered.end.position, tailBytes)
    const writer = new SegmentWriter(at, recovered, tail)
    return new FileLog({ id, tail, writer, unlock, options, files })
  } catch (error) {
    unlock()
    throw error
  }
}

interface Parts {
  readonly id: string
  readonly tail: Tail
  readonly writer: SegmentWriter
  readonly unlock: () => void
  readonly options: FileLogOptions
  readonly files: FileSystem
}

class FileLog implements EventLog {
  readonly kind = 'file'
  readonly id: string
  readonly partitions = 1
  readonly #tail: Tail
  readonly #writer: SegmentWriter
  readonly #space: SpaceReserve
  readonly #unlock: () => void
  readonly #logger: Logger
  readonly #onFailure: (error: unknown) => void
  readonly #queue: AppendQueue
  #closing: Promise<void> | undefined
  #failed = false

  constructor({ id, tail, writer, unlock, options, files }: Parts) {
    this.id = id
    this.#tail = tail
    this.#writer = writer
    this.#unlock = unlock
    this.#logger = options.logger
    this.#onFailure = options.onFailure ?? (() => {})
    this.#queue = new AppendQueue({ bytesMost: queueBytes, clock: options.clock, storeNext: () => this.#writeNext() })
    this.#space = new SpaceReserve({
      freeSpace: () => files.freeSpace(options.directory),
      openBytes: options.openBytes ?? (() => 0),
      clock: options.clock,
    })
  }

  append(
    partition: number,
    messages: readonly Uint8Array[],
    options: { readonly useReserve?: boolean } = {},
  ): Promise<number> {
    assert(partition === 0, 'a file log has one partition')
    assert(messages.length > 0, 'an append holds at least one message')
    if (this.#failed || this.#closing !== undefined) return Promise.reject(this.#unavailable())
    let bytes = 0
    for (const message of messages) {
      assert(message.length <= maxMessageBytes, 'a message fits into a frame')
      bytes += message.length
    }
    return this.#queue.add(messages, bytes, { useReserve: options.useReserve === true })
  }

  async *read(
    partition: number,
    from: number,
    options: { readonly signal?: AbortSignal; readonly follow?: boolean },
  ): AsyncGenerator<readonly LogEntry[]> {
    assert(partition === 0, 'a file log has one partition')
    checkInRange(from, this.#writer.start, this.#tail.end)
    const stop = options.follow === false ? this.#tail.end : Number.POSITIVE_INFINITY
    let next = from
    while (next < stop && options.signal?.aborted !== true) {
      if (next < this.#tail.end) {
        const entries = this.#tail.entriesFrom(next, stop) ?? (await this.#readSegment(next, stop))
        next += entries.length
        yield entries
      } else {
        if (this.#tail.closed) return
        await this.#tail.waitAbove(next, options.signal)
      }
    }
  }

  async get(partition: number, position: number): Promise<Uint8Array | undefined> {
    assert(partition === 0, 'a file log has one partition')
    if (position < this.#writer.start || position >= this.#tail.end) return undefined
    const recent = this.#tail.get(position)
    if (recent !== undefined) return recent
    try {
      const [entry] = await this.#readSegment(position, position + 1, 64 * 1024)
      // A copy, so that one small message does not keep a whole chunk in memory.
      return copyBytes(must(entry, 'a read gives at least one entry').bytes)
    } catch (error) {
      if (error instanceof HaltError && error.reason === 'LogTruncated') return undefined
      throw error
    }
  }

  async range(partition: number): Promise<{ readonly start: number; readonly end: number }> {
    assert(partition === 0, 'a file log has one partition')
    return { start: this.#writer.start, end: this.#tail.end }
  }

  async release(partition: number, floor: number): Promise<void> {
    assert(partition === 0, 'a file log has one partition')
    await this.#writer.release(floor)
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish()
    return this.#closing
  }

  async #finish(): Promise<void> {
    await this.#queue.idle()
    this.#tail.close()
    await this.#writer.close()
    this.#unlock()
  }

  async #readSegment(from: number, below: number, stepBytes?: number): Promise<LogEntry[]> {
    if (from < this.#writer.start) throw truncated(from, this.#writer.start)
    const { segment, end } = this.#writer.segmentOf(from)
    try {
      return await segment.read(from, Math.min(below, end), stepBytes)
    } catch (error) {
      if (hasCode(error, 'ENOENT') && from < this.#writer.start) throw truncated(from, this.#writer.start)
      throw error
    }
  }

  /** Writes the next group: appends in order, less those that are refused for want of space. */
  async #writeNext(): Promise<void> {
    await this.#space.refresh()
    let bytes = 0
    const group = this.#queue.take((call) => {
      if (bytes > 0 && bytes + call.bytes > groupBytes) return 'wait'
      if (!call.useReserve && !this.#space.admits(bytes + call.bytes)) return full()
      bytes += call.bytes
      return 'take'
    })
    if (group.length > 0) await this.#writeGroup(group)
  }

  async #writeGroup(group: readonly WaitingAppend[]): Promise<void> {
    const first = this.#tail.end
    const messages =
      group.length === 1 ? must(group[0], 'a group of one').messages : group.flatMap((call) => call.messages)
    try {
      // mutant: acknowledged before the fsync
      this.#space.wrote(await this.#writer.write(messages))
    } catch (error) {
      // A refusal: what is not shown is not stored, and the log goes on.
      if (error instanceof NodeError) return this.#answer(group, first, error)
      this.#fail(error)
      this.#answer(group, first, outcomeUnknown(error))
      this.#queue.rejectAll(() => this.#unavailable())
      return
    }
    this.#answer(group, first)
  }

  /** Resolves the calls whose messages are all durable; rejects the others. */
  #answer(group: readonly WaitingAppend[], first: number, error?: NodeError): void {
    let position = first
    for (const call of group) {
      const end = position + call.messages.length
      if (end <= this.#tail.end) call.resolve(position)
      else if (error !== undefined) call.reject(position < this.#tail.end ? outcomeUnknown(error) : error)
      position = end
    }
  }

  #fail(error: unknown): void {
    this.#failed = true
    this.#logger.error({ err: error }, 'the log could not be written; it takes no more messages')
    this.#onFailure(error)
  }

  #unavailable(): NodeError {
    const why = this.#failed ? 'The log could not be written and takes no more until a restart.' : 'The log is closed.'
    return new NodeError('LogUnavailable', why)
  }
}

function outcomeUnknown(cause: unknown): NodeError {
  return new NodeError(
    'OutcomeUnknown',
    'The log failed while it was being written; the rows may or may not be stored.',
    {
      hint: 'Repeat the request with the same Idempotency-Key.',
      cause,
    },
  )
}

async function readOrMakeIdentity(files: FileSystem, directory: string): Promise<LogIdentity> {
  const path = join(directory, 'id')
  const held = await readText(path, files)
  if (held !== undefined) return parseIdentity(held)
  if ((await listSegments({ files, directory })).length > 0) throw withoutIdentity()
  const text = newIdentityText()
  await writeText(files, `${path}.new`, text)
  await files.rename(`${path}.new`, path)
  await files.syncDirectory(directory)
  return parseIdentity(text)
}
