// The messages of an Arrow stream or file, read at their places: what tells the two apart, framing, footer.
// Source: Apache Arrow columnar format, "Serialization and Interprocess Communication (IPC)"; format/Message.fbs, File.fbs.

import { decodeIpcMessage, longVector, messageHeaders } from '../arrow/ipc-schema.ts'
import { continuation } from '../arrow/ipc.ts'
import { FlatBufferReader, type TableCursor } from '../../base/flatbuffer-reader.ts'
import type { BodyFile } from '../body-file.ts'
import { at, damaged, footerTables, messageTables, unsupported } from './faults.ts'

const MiB = 1024 * 1024
const maxMetadataBytes = 16 * MiB
/** What is read at once where less was asked for. */
const windowBytes = 64 * 1024
const magic = 'ARROW1'
const magicBytes = magic.length
/** Magic, padded to 8 bytes. */
const fileHeadBytes = 8

/** Undoes Zstandard. Rejects where `data` are damaged, or become more than `bytes`. */
export type InflateZstd = (data: Uint8Array, bytes: number) => Promise<Uint8Array>

/** Bytes of a body; short ranges come from a window over what was read last. */
export class Window {
  readonly bytes: number
  readonly inflateZstd: InflateZstd
  readonly #file: BodyFile
  #start = 0
  #held: Uint8Array = new Uint8Array(0)

  constructor(file: BodyFile, inflateZstd: InflateZstd) {
    this.#file = file
    this.inflateZstd = inflateZstd
    this.bytes = file.bytes
  }

  /** As that of the body. */
  demandCaller(): void {
    this.#file.demandCaller()
  }

  /** Bytes [start, end). Throws DecodeError where the body ends before. */
  async at(start: number, end: number): Promise<Uint8Array> {
    if (end > this.bytes || start > end)
      return damaged('is shorter than it says; it was cut off or its lengths are damaged')
    if (end - start > windowBytes) return this.#file.at(start, end)
    if (start < this.#start || end > this.#start + this.#held.length) {
      this.#held = await this.#file.at(start, Math.min(this.bytes, start + windowBytes))
      this.#start = start
    }
    return this.#held.subarray(start - this.#start, end - this.#start)
  }
}

/** A message; its body is read when it is needed. `reader` reads `metadata`, in which `header` lies. */
export interface IpcMessage {
  readonly metadata: Uint8Array
  readonly reader: FlatBufferReader
  readonly member: number
  readonly header: TableCursor
  readonly bodyAt: number
  readonly bodyBytes: number
}

/** What is common to streams and files: a schema, then dictionaries and record batches. */
export interface ArrowSource {
  readonly schema: { readonly reader: FlatBufferReader; readonly table: TableCursor }
  /** Dictionaries and record batches, in the order in which they count. */
  messages(): AsyncGenerator<IpcMessage>
  /** Whether a dictionary that comes again takes the place of the one before. */
  readonly mayReplace: boolean
}

/** Opens a stream or a file, whichever the first bytes say. Throws NodeError `MalformedBody`, `UnsupportedEncoding`. */
export function openArrowSource(window: Window): Promise<ArrowSource> {
  return at({}, async () => {
    if (window.bytes === 0) return damaged('is empty; an Arrow stream has a schema at least')
    const head = textOf(await window.at(0, Math.min(fileHeadBytes, window.bytes)))
    if (head.startsWith(magic)) return openFile(window)
    if (head.startsWith('FEA1')) unsupported('is in version 1 of Feather; write it in version 2')
    if (head.startsWith('PAR1')) unsupported('is a Parquet file; send it as application/vnd.apache.parquet')
    return openStream(window)
  })
}

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

async function openStream(window: Window): Promise<ArrowSource> {
  const first = await readMessage(window, 0)
  if (first?.member !== messageHeaders.schema) {
    return damaged('does not begin with the schema of an Arrow stream, or the magic of an Arrow file')
  }
  const start = first.bodyAt + first.bodyBytes
  return {
    schema: { reader: first.reader, table: first.header },
    messages: () => streamMessages(window, start),
    mayReplace: true,
  }
}

async function* streamMessages(window: Window, start: number): AsyncGenerator<IpcMessage> {
  let next = start
  // The end of the bytes is an end of the stream too.
  while (next < window.bytes) {
    const from = next
    const message = await at({}, () => readMessage(window, from))
    if (message === undefined) return
    next = message.bodyAt + message.bodyBytes
    yield message
  }
}

/**
 * The message at `from`; undefined at the mark that ends a stream, behind which nothing may stand. Streams of versions before
 * 0.15 have no mark before the length.
 */
async function readMessage(window: Window, from: number): Promise<IpcMessage | undefined> {
  const word = await uint32(window, from)
  const isMarked = word === continuation
  const length = isMarked ? await uint32(window, from + 4) : word
  const metadataAt = from + (isMarked ? 8 : 4)
  if (length === 0)
    return metadataAt === window.bytes ? undefined : damaged('goes on after the end of the Arrow stream')
  if (length > Math.min(maxMetadataBytes, window.bytes)) {
    return damaged(from === 0 ? 'is not an Arrow stream or file' : 'has a message of impossible length')
  }
  const metadata = (await window.at(metadataAt, metadataAt + length)).slice()
  const reader = new FlatBufferReader(metadata, messageTables)
  const { member, header, bodyBytes } = decodeIpcMessage(reader)
  const bodyAt = metadataAt + length
  if (bodyAt + bodyBytes > window.bytes) return damaged('ends inside of a message')
  return { metadata, reader, member, header, bodyAt, bodyBytes }
}

async function uint32(window: Window, from: number): Promise<number> {
  const bytes = await window.at(from, from + 4)
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true)
}

async function openFile(window: Window): Promise<ArrowSource> {
  const tailAt = window.bytes - magicBytes - 4
  if (tailAt < fileHeadBytes) return damaged('is an Arrow file without a footer; it was cut off')
  if (textOf(await window.at(tailAt + 4, window.bytes)) !== magic) {
    return damaged('is an Arrow file without its end; it was cut off')
  }
  const footerBytes = await uint32(window, tailAt)
  const footerAt = tailAt - footerBytes
  if (footerBytes > maxMetadataBytes || footerAt < fileHeadBytes) return damaged('has a footer of impossible length')
  const metadata = (await window.at(footerAt, tailAt)).slice()
  const reader = new FlatBufferReader(metadata, footerTables)
  const root = reader.root()
  const schemaAt = reader.offset(root, 1)
  if (schemaAt === 0) return damaged('has a footer without a schema')
  const blocks = [2, 3].flatMap((slot) => readBlocks(longVector(metadata, reader, reader.offset(root, slot), 3)))
  // Else a small file could be read without end.
  if (blocks.reduce((sum, { bytes }) => sum + bytes, 0) > footerAt) {
    return damaged('has a footer whose batches take more than the file')
  }
  return {
    schema: { reader, table: reader.table(root, schemaAt) },
    messages: () => fileMessages(window, blocks),
    mayReplace: false,
  }
}

/** Where the footer says that a message lies. */
interface Block {
  readonly start: number
  readonly metadataBytes: number
  readonly bytes: number
}

function readBlocks(longs: readonly number[]): Block[] {
  return Array.from({ length: longs.length / 3 }, (_, i) => {
    const [start = 0, metadata = 0, body = 0] = longs.slice(3 * i, 3 * i + 3)
    // The length of the metadata has 32 bits, and as many of padding.
    const metadataBytes = metadata % 2 ** 32
    return { start, metadataBytes, bytes: metadataBytes + body }
  })
}

async function* fileMessages(window: Window, blocks: readonly Block[]): AsyncGenerator<IpcMessage> {
  for (const block of blocks) {
    const message = await at({}, () => readMessage(window, block.start))
    if (
      message?.bodyAt !== block.start + block.metadataBytes ||
      message.bodyBytes !== block.bytes - block.metadataBytes
    ) {
      await at({}, () => damaged('has a footer that does not agree with its messages'))
    } else yield message
  }
}
