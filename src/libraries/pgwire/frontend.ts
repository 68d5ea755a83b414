// Messages of a client of PostgreSQL's protocol 3 (PostgreSQL documentation, Frontend/Backend Protocol, Message Formats), cut out of
// the bytes of its connection and decoded. What a message may hold is bounded; a fault ends the connection.

import { concatBytes, decodeUtf8 } from '../base/bytes.ts'

/** What a client sends first, once or, after an encryption is refused or begun, again. */
export type StartMessage =
  | { readonly kind: 'tls' | 'gss' }
  | { readonly kind: 'cancel'; readonly process: number; readonly secret: Uint8Array }
  | {
      readonly kind: 'start'
      readonly major: number
      readonly minor: number
      readonly parameters: ReadonlyMap<string, string>
    }

export type Target = { readonly of: 'statement' | 'portal'; readonly name: string }

export type ClientMessage =
  | { readonly kind: 'query'; readonly sql: string }
  | { readonly kind: 'parse'; readonly name: string; readonly sql: string; readonly types: readonly number[] }
  | BindMessage
  | ({ readonly kind: 'describe' | 'close' } & Target)
  | { readonly kind: 'execute'; readonly portal: string; readonly rows: number }
  | { readonly kind: 'answer'; readonly bytes: Uint8Array }
  | { readonly kind: 'sync' | 'flush' | 'end' | 'call' | 'copy' }

export interface BindMessage {
  readonly kind: 'bind'
  readonly portal: string
  readonly statement: string
  readonly formats: readonly number[]
  /** Undefined for null. */
  readonly values: readonly (Uint8Array | undefined)[]
  readonly resultFormats: readonly number[]
}

/** A message that is none: nothing that follows can be trusted. */
export class ProtocolFault extends Error {}

/** Of a first message (PostgreSQL: MAX_STARTUP_PACKET_LENGTH). */
const startBytesMost = 10_000
const tlsCode = 80_877_103
const gssCode = 80_877_104
const cancelCode = 80_877_102

/** A message that is larger is announced, once its length is there. */
const smallBytes = 64 * 1024

/** Cuts messages out of bytes as they come. At most one message is held. */
export class MessageCutter {
  readonly #announce: (bytes: number) => void
  #isAnnounced = false
  #chunks: Uint8Array[] = []
  #bytes = 0

  /** `announce` is told how long a large message will be, and throws where it may not come. */
  constructor(announce: (bytes: number) => void) {
    this.#announce = announce
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** The next first message, or undefined. Throws ProtocolFault. */
  start(): StartMessage | undefined {
    const body = this.#take(0, startBytesMost)
    return body && decodeStart(body.rest)
  }

  /** The next message, or undefined. Throws ProtocolFault. */
  next(): ClientMessage | undefined {
    const body = this.#take(1, Number.POSITIVE_INFINITY)
    return body && decode(body.type, body.rest)
  }

  /** The first byte that waits here. */
  get first(): number | undefined {
    return this.#chunks.find(({ length }) => length > 0)?.[0]
  }

  /** Gives all bytes that wait here back. */
  giveBack(): Uint8Array {
    this.#bytes = 0
    return concatBytes(this.#chunks.splice(0))
  }

  /** Bytes that wait here. */
  get heldBytes(): number {
    return this.#bytes
  }

  #take(headerBytes: 0 | 1, most: number): { readonly type: string; readonly rest: Uint8Array } | undefined {
    if (this.#bytes < headerBytes + 4) return undefined
    const head = this.#first(headerBytes + 4)
    const length = new DataView(head.buffer, head.byteOffset).getInt32(headerBytes)
    if (length < 4 || length > most) throw new ProtocolFault(`a message of ${length} bytes`)
    if (length > smallBytes && !this.#isAnnounced) {
      this.#announce(length)
      this.#isAnnounced = true
    }
    if (this.#bytes < headerBytes + length) return undefined
    this.#isAnnounced = false
    const all = this.#first(headerBytes + length)
    this.#chunks[0] = all.subarray(headerBytes + length)
    this.#bytes -= headerBytes + length
    const type = headerBytes === 0 ? '' : String.fromCharCode(all[0] ?? 0)
    return { type, rest: all.subarray(headerBytes + 4, headerBytes + length) }
  }

  /** The first chunk, with at least so many bytes. Chunks are joined once a message is whole, or for its head. */
  #first(count: number): Uint8Array {
    const [first] = this.#chunks
    if (first !== undefined && first.length >= count) return first
    const joined = concatBytes(this.#chunks)
    this.#chunks = [joined]
    return joined
  }
}

function decodeStart(body: Uint8Array): StartMessage {
  const fields = new Fields(body)
  const code = fields.int32()
  if (code === tlsCode) return { kind: 'tls' }
  if (code === gssCode) return { kind: 'gss' }
  // A secret of protocol 3.2 may be longer.
  if (code === cancelCode) return { kind: 'cancel', process: fields.int32(), secret: fields.rest() }
  const parameters = new Map<string, string>()
  for (let name = fields.text(); name !== ''; name = fields.text()) parameters.set(name, fields.text())
  fields.end()
  return { kind: 'start', major: code >> 16, minor: code & 0xffff, parameters }
}

function decode(type: string, body: Uint8Array): ClientMessage {
  const fields = new Fields(body)
  const message = decodeFields(type, fields)
  fields.end()
  return message
}

function decodeFields(type: string, fields: Fields): ClientMessage {
  switch (type) {
    case 'Q':
      return { kind: 'query', sql: fields.text() }
    case 'P': {
      const [name, sql] = [fields.text(), fields.text()]
      return { kind: 'parse', name, sql, types: fields.list(() => fields.int32()) }
    }
    case 'B':
      return decodeBind(fields)
    case 'D':
    case 'C':
      return { kind: type === 'D' ? 'describe' : 'close', ...targetOf(fields) }
    case 'E':
      return { kind: 'execute', portal: fields.text(), rows: fields.int32() }
    case 'p':
      return { kind: 'answer', bytes: fields.rest() }
    case 'F':
      fields.rest()
      return { kind: 'call' }
    case 'd':
    case 'c':
    case 'f':
      fields.rest()
      return { kind: 'copy' }
    case 'S':
      return { kind: 'sync' }
    case 'H':
      return { kind: 'flush' }
    case 'X':
      return { kind: 'end' }
    default:
      throw new ProtocolFault(`a message of type ${JSON.stringify(type)}`)
  }
}

function decodeBind(fields: Fields): BindMessage {
  const [portal, statement] = [fields.text(), fields.text()]
  const formats = fields.list(() => fields.int16())
  const values = fields.list(() => {
    const length = fields.int32()
    return length === -1 ? undefined : fields.bytes(length)
  })
  const resultFormats = fields.list(() => fields.int16())
  return { kind: 'bind', portal, statement, formats, values, resultFormats }
}

function targetOf(fields: Fields): Target {
  const kind = fields.letter()
  if (kind !== 'S' && kind !== 'P') throw new ProtocolFault(`neither a statement nor a portal: ${JSON.stringify(kind)}`)
  return { of: kind === 'S' ? 'statement' : 'portal', name: fields.text() }
}

/** The fields of a message, one after the other. Throws ProtocolFault where there are fewer, or more. */
class Fields {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  letter(): string {
    return String.fromCharCode(this.bytes(1)[0] ?? 0)
  }

  int16(): number {
    return this.#view.getInt16(this.#move(2))
  }

  int32(): number {
    return this.#view.getInt32(this.#move(4))
  }

  bytes(length: number): Uint8Array {
    if (length < 0) throw new ProtocolFault(`a value of ${length} bytes`)
    const at = this.#move(length)
    return this.#bytes.subarray(at, at + length)
  }

  text(): string {
    const end = this.#bytes.indexOf(0, this.#at)
    if (end < 0) throw new ProtocolFault('a text without its end')
    const bytes = this.bytes(end - this.#at)
    this.#at++
    try {
      return decodeUtf8(bytes)
    } catch {
      throw new ProtocolFault('a text that is not UTF-8')
    }
  }

  /** As many items as a number of 16 bits says. */
  list<T>(item: () => T): T[] {
    const count = this.int16() & 0xffff
    const items: T[] = []
    for (let i = 0; i < count; i++) items.push(item())
    return items
  }

  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.#at)
  }

  end(): void {
    if (this.#at < this.#bytes.length) throw new ProtocolFault('a message that goes on behind its end')
  }

  #move(count: number): number {
    const at = this.#at
    if (at + count > this.#bytes.length) throw new ProtocolFault('a message that is cut short')
    this.#at += count
    return at
  }
}
