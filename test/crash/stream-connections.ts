// Connections of senders of streams, which can be cut at any byte: by POST, and over WebSocket, frame by frame.

import { randomBytes } from 'node:crypto'
import { type ClientRequest, IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { closeCode, frame, textCode, unframed } from '../helpers/websocket-frames.ts'

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
