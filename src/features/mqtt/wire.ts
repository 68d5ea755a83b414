// One connection to the broker: a socket, plain or TLS, whose bytes are handed over as packets. While it is held nothing is
// read, so that TCP holds the broker back.

import { readFile } from 'node:fs/promises'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Packet } from 'mqtt-packet'
import { defined } from '../../libraries/base/collections.ts'
import type { MqttOptions } from './options.ts'
import { BrokerFault } from './broker-fault.ts'
import { Frames } from './frames.ts'
import { PacketReader, type ProtocolVersion } from './packets.ts'

export interface WireEvents {
  /** May throw, which ends the connection. */
  readonly onPacket: (packet: Packet, lostBytes: number) => void
  /** Whether to read on. */
  readonly isHeld: () => boolean
}

/** What is left of bytes sent to a peer that does not read them, before the connection is given up. */
const unsentMost = 1024 * 1024

export class Wire {
  readonly #socket: Socket
  readonly #frames: Frames
  readonly #reader: PacketReader
  readonly #events: WireEvents
  #bytes = 0
  /** Resolves when the connection has ended, with why. */
  readonly closed: Promise<Error>

  constructor(socket: Socket, settings: { version: ProtocolVersion; mostBytes: number }, events: WireEvents) {
    this.#socket = socket
    this.#frames = new Frames(settings.mostBytes)
    this.#reader = new PacketReader(settings.version)
    this.#events = events
    let fault: Error | undefined
    this.closed = new Promise((resolve) => {
      socket.on('error', (error) => (fault ??= error))
      socket.on('close', () => resolve(fault ?? new BrokerFault('the broker closed the connection')))
    })
    socket.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length
      this.#frames.push(chunk)
      this.pump()
    })
  }

  /** Bytes that came so far. */
  get receivedBytes(): number {
    return this.#bytes
  }

  /** False once nothing that is written reaches the broker. */
  get isOpen(): boolean {
    return this.#socket.writable
  }

  /** Reads what is there, as long as the connection is not held. */
  pump(): void {
    const { onPacket, isHeld } = this.#events
    try {
      while (!this.#socket.destroyed) {
        if (isHeld()) {
          this.#socket.pause()
          return
        }
        const frame = this.#frames.next()
        if (frame === undefined) break
        onPacket(this.#reader.read(frame.bytes), frame.lostBytes)
      }
      this.#socket.resume()
    } catch (error) {
      this.end(error instanceof Error ? error : new BrokerFault(String(error)))
    }
  }

  write(bytes: Buffer): void {
    if (this.#socket.destroyed) return
    this.#socket.write(bytes)
    if (this.#socket.writableLength > unsentMost) this.end(new BrokerFault('the broker takes no acknowledgements'))
  }

  /** Ends the connection at once; `closed` gives the reason. */
  end(reason: Error): void {
    this.#socket.destroy(reason)
  }

  /** Sends what is left and ends the connection. */
  async close(last: Buffer): Promise<void> {
    if (!this.#socket.destroyed) this.#socket.end(last)
    // The broker closes its side when it reads the last packet; what it still sends is of no use.
    this.#socket.resume()
    await this.closed
  }
}

/** A connected socket. Rejects with what the network, TLS or the file system throws, and when `signal` aborts. */
export async function openSocket({ host, port, tls }: MqttOptions, signal: AbortSignal): Promise<Socket> {
  const read = async (path: string | undefined): Promise<Buffer | undefined> =>
    path === undefined ? undefined : readFile(path)
  const [ca, cert, key] = tls === undefined ? [] : await Promise.all([tls.ca, tls.cert, tls.key].map(read))
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const isName = !/^[\d.]+$|:/.test(host)
    const socket =
      tls === undefined
        ? connectPlain({ host, port })
        : connectTls({
            host,
            port,
            ...(isName ? { servername: host } : {}),
            ...defined({ ca }),
            ...(cert === undefined || key === undefined ? {} : { cert, key }),
          })
    const onAbort = (): void => {
      socket.destroy(new BrokerFault('no connection in time'))
    }
    const settled = (): void => {
      signal.removeEventListener('abort', onAbort)
      socket.off('error', onError)
    }
    const onError = (error: Error): void => {
      settled()
      reject(error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    socket.once('error', onError)
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      settled()
      socket.setNoDelay(true)
      resolve(socket)
    })
  })
}
