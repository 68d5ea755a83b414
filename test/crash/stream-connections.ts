// Connections of senders of streams, which can be cut at any byte: by POST, and over WebSocket, whose frames are written and
// read here (RFC 6455 §5.2).

import { randomBytes } from 'node:crypto'
import { type ClientRequest, IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'

export interface StreamConnection {
  readonly isCut: boolean
  /** Bytes of the body that `records` make; it can be cut anywhere. */
  bytesOf(records: readonly string[]): Uint8Array
  /** Resolves when the peer may be written to. */
  ready(): Promise<void>
  write(bytes: Uint8Array): void
  /** All records are sent. */
  end(): void
  cut(): void
  /** Ends when the connection does; throws where it breaks. */
  lines(): AsyncIterable<string>
}

export interface ConnectionSpec {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly silentMs: number
  readonly onSilence: () => void
}

export class PostConnection implements StreamConnection {
  readonly #call: ClientRequest
  readonly #answer: Promise<IncomingMessage>

  constructor({ url, headers, silentMs, onSilence }: ConnectionSpec) {
    this.#call = request(url, { method: 'POST', agent: false, headers })
    this.#call.setTimeout(silentMs, () => {
      onSilence()
      this.#call.destroy()
    })
    this.#answer = answerOf(this.#call)
    this.#answer.catch(() => {})
  }

  get isCut(): boolean {
    return this.#call.destroyed
  }

  bytesOf(records: readonly string[]): Uint8Array {
    return Buffer.from(records.join(''))
  }

  ready(): Promise<void> {
    return Promise.resolve()
  }

  write(bytes: Uint8Array): void {
    this.#call.write(bytes)
  }

  end(): void {
    this.#call.end()
  }

  cut(): void {
    this.#call.on('error', () => {})
    this.#call.destroy()
  }

  async *lines(): AsyncGenerator<string> {
    yield* createInterface({ input: await this.#answer }).on('error', () => {})
  }
}

export class SocketConnection implements StreamConnection {
  readonly #call: ClientRequest
  /** The answer, where the handshake is refused. */
  readonly #opened: Promise<Socket | IncomingMessage>
  #socket: Socket | undefined
  #isCut = false

  constructor({ url, headers, silentMs, onSilence }: ConnectionSpec) {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
    const key = { 'sec-websocket-key': randomBytes(16).toString('base64') }
    this.#call = request(url, { agent: false, headers: { ...headers, ...upgrade, ...key } })
    this.#call.setTimeout(silentMs, () => {
      onSilence()
      this.cut()
    })
    this.#call.end()
    this.#opened = this.#handshake()
    this.#opened.catch(() => {})
  }

  get isCut(): boolean {
    return this.#isCut || (this.#socket?.destroyed ?? this.#call.destroyed)
  }

  /** A message of one record, or of several, in turns. */
  bytesOf(records: readonly string[]): Uint8Array {
    const frames: Buffer[] = []
    for (let at = 0; at < records.length; at += 1 + (at % 3))
      frames.push(frame(records.slice(at, at + 1 + (at % 3)).join('')))
    return Buffer.concat(frames)
  }

  async ready(): Promise<void> {
    await this.#opened.catch(() => {})
  }

  write(bytes: Uint8Array): void {
    this.#socket?.write(bytes)
  }

  end(): void {
    this.#socket?.write(frame(''))
  }

  cut(): void {
    this.#isCut = true
    this.#call.on('error', () => {})
    this.#call.destroy()
    this.#socket?.destroy()
  }

  /** Texts of messages; ends at the frame that closes. */
  async *lines(): AsyncGenerator<string> {
    const opened = await this.#opened
    if (opened instanceof IncomingMessage) {
      yield* createInterface({ input: opened }).on('error', () => {})
      return
    }
    let rest = Buffer.alloc(0)
    for await (const chunk of opened) {
      rest = Buffer.concat([rest, chunk as Buffer])
      for (let one = unframed(rest); one !== undefined; one = unframed(rest)) {
        rest = rest.subarray(one.size)
        if (one.code === closeCode) return
        if (one.code === textCode) yield one.payload.toString()
      }
    }
    throw new Error('closed')
  }

  async #handshake(): Promise<Socket | IncomingMessage> {
    const opened = await Promise.race([
      answerOf(this.#call),
      new Promise<Socket>((resolve) => this.#call.once('upgrade', (_answer, socket) => resolve(socket as Socket))),
    ])
    if (opened instanceof IncomingMessage) return opened
    opened.on('error', () => {})
    this.#socket = opened
    return opened
  }
}

function answerOf(call: ClientRequest): Promise<IncomingMessage> {
  return new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve)
    call.once('error', reject)
    call.once('close', () => reject(new Error('closed')))
  })
}

const textCode = 1
const closeCode = 8

/** A text message, masked with zeros. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  const head = Buffer.alloc(14)
  head[0] = 0x80 | textCode
  if (payload.length < 126) head[1] = 0x80 | payload.length
  else {
    head[1] = 0x80 | (payload.length < 65_536 ? 126 : 127)
    if (payload.length < 65_536) head.writeUInt16BE(payload.length, 2)
    else head.writeBigUInt64BE(BigInt(payload.length), 2)
  }
  const sizeBytes = payload.length < 126 ? 0 : payload.length < 65_536 ? 2 : 8
  return Buffer.concat([head.subarray(0, 2 + sizeBytes), Buffer.alloc(4), payload])
}

/** The first frame of what a node sent, when it is there as a whole; `size` is all its bytes. */
function unframed(
  bytes: Buffer,
): { readonly code: number; readonly payload: Buffer; readonly size: number } | undefined {
  const short = (bytes[1] ?? 0) & 0x7f
  const head = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < head) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < head + length) return undefined
  return { code: (bytes[0] ?? 0) & 0x0f, payload: bytes.subarray(head, head + length), size: head + length }
}
