// The body of a message: its field nodes and buffers in order, each buffer read, and inflated, when it is needed.
// Source: Apache Arrow columnar format, "RecordBatch message" and "Compression"; format/Message.fbs.

import { longVector, metadataV4 } from '../arrow/ipc-schema.ts'
import { copyBytes } from '../../base/bytes.ts'
import { readLz4Frame } from '../../base/lz4.ts'
import type { TableCursor } from '../../base/flatbuffer-reader.ts'
import { damaged, unsupported } from './faults.ts'
import type { IpcMessage, Window } from './messages.ts'

const MiB = 1024 * 1024
/** Most bytes that the buffers of one message may take together, inflated. */
const maxBodyBytes = 256 * MiB
const maxRows = 2 ** 31 - 1
const lengthBytes = 8

type Codec = 'none' | 'lz4' | 'zstd'
// Members of the enumeration CompressionType.
const codecs: readonly Codec[] = ['lz4', 'zstd']

/** Hands out nodes and buffers one after the other, as the fields need them. Methods throw DecodeError. */
export class Body {
  readonly rows: number
  /** Whether its metadata are of version V4. */
  readonly isOld: boolean
  /** Bytes of the buffers that were taken. */
  heldBytes = 0
  readonly #window: Window
  readonly #message: IpcMessage
  readonly #codec: Codec
  /** Rows and nulls of each node, place and length of each buffer, two numbers each; number of buffers of each view array. */
  readonly #nodes: readonly number[]
  readonly #buffers: readonly number[]
  readonly #viewBuffers: readonly number[]
  #node = 0
  #buffer = 0
  #views = 0

  /** Of the table of a record batch in `message`. */
  constructor(window: Window, message: IpcMessage, batch: TableCursor) {
    const { reader, metadata } = message
    const longs = (slot: number, each: number): number[] =>
      longVector(metadata, reader, reader.offset(batch, slot), each)
    const rows = reader.u64Field(batch, 0)
    this.rows = typeof rows === 'bigint' || rows > maxRows ? damaged('has impossibly many rows') : rows
    this.isOld = reader.i16Field(reader.root(), 0) === metadataV4
    this.#window = window
    this.#message = message
    this.#nodes = longs(1, 2)
    this.#buffers = longs(2, 2)
    this.#viewBuffers = longs(4, 1)
    const compressionAt = reader.offset(batch, 3)
    this.#codec = compressionAt === 0 ? oldCodec(message) : this.#codecOf(reader.table(batch, compressionAt))
  }

  #codecOf(table: TableCursor): Codec {
    const { reader } = this.#message
    const codec = codecs[reader.u8Field(table, 0)]
    if (codec === undefined || reader.u8Field(table, 1) !== 0) return unsupported('is compressed in an unknown way')
    return codec
  }

  /** Rows and nulls of the next array. */
  node(): { readonly rows: number; readonly nulls: number } {
    const [rows, nulls] = [this.#nodes[2 * this.#node], this.#nodes[2 * this.#node + 1]]
    this.#node += 1
    if (rows === undefined || nulls === undefined) return damaged('lacks its field node')
    if (rows > maxRows || nulls > rows) return damaged('has impossibly many rows or nulls')
    return { rows, nulls }
  }

  /** How many buffers the next array of views has besides the views. */
  viewBuffers(): number {
    const count = this.#viewBuffers[this.#views++] ?? damaged('lacks the number of its buffers')
    return count <= this.#buffers.length / 2 ? count : damaged('has impossibly many buffers')
  }

  skipBuffers(count: number): void {
    this.#buffer += count
  }

  /** The next buffer, aligned to 8 bytes and at least `bytes` long. */
  async buffer(bytes: number): Promise<Uint8Array> {
    const held = await this.#next()
    return held.length >= bytes ? held : damaged(`has a buffer of ${held.length} bytes where its rows need ${bytes}`)
  }

  async #next(): Promise<Uint8Array> {
    const [place, length] = [this.#buffers[2 * this.#buffer], this.#buffers[2 * this.#buffer + 1]]
    this.#buffer += 1
    if (place === undefined || length === undefined) return damaged('lacks a buffer')
    const { bodyAt, bodyBytes } = this.#message
    if (place + length > bodyBytes) return damaged('has a buffer that lies outside of its message')
    if (this.#codec === 'none') this.#hold(length)
    const stored = await this.#window.at(bodyAt + place, bodyAt + place + length)
    return aligned(this.#codec === 'none' || length === 0 ? stored : await this.#inflated(stored, this.#codec))
  }

  /** Throws unless all nodes and buffers were taken or passed over. */
  end(): void {
    if (2 * this.#node !== this.#nodes.length || 2 * this.#buffer !== this.#buffers.length) {
      damaged('has more field nodes or buffers than its columns use')
    }
  }

  async #inflated(stored: Uint8Array, codec: 'lz4' | 'zstd'): Promise<Uint8Array> {
    if (stored.length < lengthBytes) return damaged('has a compressed buffer without its length')
    const length = new DataView(stored.buffer, stored.byteOffset, lengthBytes).getBigInt64(0, true)
    const data = stored.subarray(lengthBytes)
    // What would not get smaller is stored as it is.
    const bytes = length === -1n ? data.length : Number(length)
    if (bytes < 0) return damaged('has a compressed buffer of negative length')
    this.#hold(bytes)
    if (length === -1n) return data
    if (bytes === 0) return new Uint8Array(0)
    if (codec === 'zstd') return readZstd(this.#window, data, bytes)
    const read = await readLz4Frame(data, bytes)
    return typeof read === 'string' ? damaged(`has a buffer that ${read}`) : read
  }

  #hold(bytes: number): void {
    this.heldBytes += bytes
    if (this.heldBytes > maxBodyBytes) {
      unsupported(`takes more than ${maxBodyBytes / MiB} MiB; write smaller record batches`)
    }
  }
}

async function readZstd({ inflateZstd }: Window, data: Uint8Array, bytes: number): Promise<Uint8Array> {
  const read = await inflateZstd(data, bytes).catch(() =>
    damaged('has a buffer whose zstd data are damaged or longer than announced'),
  )
  return read.length === bytes ? read : damaged(`has a buffer of ${read.length} bytes where ${bytes} were announced`)
}

/** Version 0.17 marked compressed messages in another way, which would be read as values. */
function oldCodec({ reader }: IpcMessage): 'none' {
  const root = reader.root()
  const at = reader.offset(root, 4)
  for (const position of at === 0 ? [] : reader.offsetVector(at)) {
    const keyAt = reader.offset(reader.table(root, position), 0)
    if (keyAt !== 0 && reader.string(keyAt) === 'ARROW:experimental_compression') {
      return unsupported('is compressed as Arrow 0.17 did for a while; write it with a newer version')
    }
  }
  return 'none'
}

/** The same bytes at an address that typed arrays can begin at. */
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : copyBytes(bytes)
}
