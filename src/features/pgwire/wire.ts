// The bytes of one connection: messages in the order that they come, and answers that wait for their reader. A reader who takes
// less than the slowest rate for a while loses the connection, as over HTTP.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { TLSSocket, type SecureContext } from 'node:tls'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { type Clock, nextTurn } from '../../libraries/base/clock.ts'
import { type ClientMessage, MessageCutter, ProtocolFault, type StartMessage } from '../../libraries/pgwire/frontend.ts'

/** What a client may send ahead of its answers. */
const aheadBytes = 256 * 1024
const windowMs = 30_000
const lingerMs = 2_000
/** The first byte of a record of a TLS handshake (RFC 8446 §5.1). */
const tlsHandshake = 0x16
/** Answers are gathered up to so many bytes. */
const gatheredBytes = 64 * 1024
/** Other connections have their turn after so long. */
const turnMs = 5

export interface WireOptions {
  readonly clock: Clock
  /** Bytes a second of the slowest reader. */
  readonly answerRate: number
}

/** The connection is gone. */
export class WireClosed extends Error {}

export class Wire {
  readonly #options: WireOptions
  readonly #cutter: MessageCutter
  #socket: Socket
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #isEnded = false
  #turnBeganMs = 0
  /** Of the one who waits for bytes. */
  #wake: () => void = () => {}
  /** Makes room for a large message; frees it again. Before it is set none may come. Throws NodeError `Saturated`, ProtocolFault. */
  admit: (bytes: number) => () => void = (bytes) => {
    throw new ProtocolFault(`a message of ${bytes} bytes`)
  }
  #release: () => void = () => {}
  /** Aborts when the connection is gone. */
  readonly #gone = new AbortController()

  constructor(socket: Socket, options: WireOptions) {
    this.#socket = socket
    this.#options = options
    this.#cutter = new MessageCutter((bytes) => {
      this.#release = this.admit(bytes)
    })
    this.#listen(socket)
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  get address(): string {
    return this.#socket.remoteAddress ?? ''
  }

  get isSecure(): boolean {
    return this.#socket instanceof TLSSocket
  }

  /** The hash of the server's certificate for channel binding is taken of this. */
  get certificate(): Uint8Array | undefined {
    if (!(this.#socket instanceof TLSSocket)) return undefined
    const own = this.#socket.getCertificate()
    return own !== null && 'raw' in own ? own.raw : undefined
  }

  /** Undefined where the client has left. Throws ProtocolFault. */
  start(): Promise<StartMessage | undefined> {
    return this.#next(() => this.#cutter.start())
  }

  /** As `start`. */
  message(): Promise<ClientMessage | undefined> {
    // That before has been answered.
    this.#release()
    this.#release = () => {}
    return this.#next(() => this.#cutter.next())
  }

  /** Whether the client begins with TLS unasked; waits for its first byte. */
  async beginsInTls(): Promise<boolean> {
    return (await this.#next(() => this.#cutter.first)) === tlsHandshake
  }

  /**
   * Goes on in TLS; false where that fails. Bytes that came in the clear before it are a fault: somebody may have put them there.
   * A client that begins so unasked says by ALPN which protocol it means.
   */
  async secure(context: SecureContext, how: 'asked' | 'unasked'): Promise<boolean> {
    const plain = this.#socket
    const held = this.#cutter.giveBack()
    if (held.length > 0 && how === 'asked') return false
    plain.pause()
    plain.removeAllListeners('data').removeAllListeners('end').removeAllListeners('close')
    if (held.length > 0) plain.unshift(held)
    const secure = new TLSSocket(plain, { isServer: true, secureContext: context, ALPNProtocols: ['postgresql'] })
    secure.on('error', () => secure.destroy())
    this.#socket = secure
    this.#listen(secure)
    await once(secure, 'secure', { signal: this.signal }).catch(() => undefined)
    return !this.signal.aborted && (how === 'asked' || secure.alpnProtocol === 'postgresql')
  }

  /** Puts answers behind those that wait. */
  queue(bytes: Uint8Array): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
  }

  /** Sends what waits, once it is much. Throws WireClosed. */
  async send(bytes: Uint8Array): Promise<void> {
    this.queue(bytes)
    await this.relieve()
  }

  /** Sends what waits; resolves when there is room for more. Throws WireClosed. */
  async flush(): Promise<void> {
    if (this.signal.aborted) throw new WireClosed()
    const bytes = concatBytes(this.#waiting.splice(0))
    this.#waitingBytes = 0
    if (bytes.length === 0 || this.#socket.write(bytes)) return
    await this.#drained()
  }

  /** Sends what waits, once it is much, and lets others have their turn. Throws WireClosed. */
  async relieve(): Promise<void> {
    if (this.#waitingBytes >= gatheredBytes) await this.flush()
    const { clock } = this.#options
    if (clock.monotonicMs() - this.#turnBeganMs < turnMs) return
    await nextTurn()
    this.#turnBeganMs = clock.monotonicMs()
  }

  /** Sends what waits and ends the connection; a client that does not hear it has no more than a moment. */
  end(): void {
    if (this.signal.aborted) return
    this.#socket.end(concatBytes(this.#waiting.splice(0)))
    this.#waitingBytes = 0
    void this.#options.clock.sleep(lingerMs, this.signal).then(() => this.#socket.destroy())
  }

  destroy(): void {
    this.#socket.destroy()
  }

  async #drained(): Promise<void> {
    const { clock, answerRate } = this.#options
    const socket = this.#socket
    const moved = (): number => socket.bytesWritten - socket.writableLength
    while (socket.writableNeedDrain && !this.signal.aborted) {
      const [before, startedMs] = [moved(), clock.monotonicMs()]
      const over = new AbortController()
      const drained = once(socket, 'drain', { signal: AbortSignal.any([this.signal, over.signal]) }).catch(() => [])
      await Promise.race([drained, clock.sleep(windowMs, over.signal)])
      over.abort('over')
      const elapsedMs = clock.monotonicMs() - startedMs
      const isSlow = elapsedMs >= windowMs && (moved() - before) * 1000 < answerRate * elapsedMs
      if (socket.writableNeedDrain && isSlow) socket.destroy()
    }
    if (this.signal.aborted) throw new WireClosed()
  }

  async #next<T>(take: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const message = take()
      if (message !== undefined || this.#isEnded || this.signal.aborted) return message
      this.#socket.resume()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#turnBeganMs = this.#options.clock.monotonicMs()
    }
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      this.#cutter.push(chunk)
      if (this.#cutter.heldBytes > aheadBytes) socket.pause()
      this.#wake()
    })
    socket.on('end', () => {
      this.#isEnded = true
      this.#wake()
    })
    socket.on('close', () => {
      this.#release()
      this.#gone.abort('closed')
      this.#wake()
    })
  }
}
