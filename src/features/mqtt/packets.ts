// The packets that a client of a broker sends and gets, in MQTT 5 and 3.1.1. The door to mqtt-packet. Pure.

import { generate, type Packet, parser } from 'mqtt-packet'
import { DecodeError } from '../../libraries/base/errors.ts'

/** As CONNECT writes it: 4 is 3.1.1. */
export type ProtocolVersion = 4 | 5

export interface Greeting {
  readonly version: ProtocolVersion
  readonly clientId: string
  readonly login: { readonly username: string; readonly password: string | undefined } | undefined
  readonly keepAliveSeconds: number
  /** Messages that the broker may send before their PUBACK; 3.1.1 knows no such number. */
  readonly receiveMaximum: number
  /** How long the broker keeps the session; with 3.1.1 that is the broker's to say. */
  readonly sessionSeconds: number
}

/** CONNECT to a session that goes on. */
export function connectPacket(greeting: Greeting): Buffer {
  const { version, clientId, login, receiveMaximum, sessionSeconds } = greeting
  return generate(
    {
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: version,
      clientId,
      clean: false,
      keepalive: greeting.keepAliveSeconds,
      ...(login === undefined ? {} : { username: login.username }),
      ...(login?.password === undefined ? {} : { password: Buffer.from(login.password) }),
      ...(version === 5 ? { properties: { receiveMaximum, sessionExpiryInterval: sessionSeconds } } : {}),
    },
    { protocolVersion: version },
  )
}

/** SUBSCRIBE with QoS 1; retained messages come only where the subscription is new, as far as the version can say so. */
export function subscribePacket(filter: string, version: ProtocolVersion): Buffer {
  // A shared subscription may not ask for it, and gets no retained messages (MQTT 5 §4.8.2).
  const rh = version === 5 && !filter.startsWith('$share/') ? { rh: 1 } : {}
  return generate(
    { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: filter, qos: 1, ...rh }] },
    { protocolVersion: version },
  )
}

/** PUBACK of each, in one piece: without reason code and properties both versions write the same. */
export function acknowledgements(ids: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * ids.length)
  let at = 0
  for (const id of ids) {
    bytes.writeUInt16BE(0x4002, at)
    at = bytes.writeUInt16BE(id, at + 2)
  }
  return bytes
}

/** PINGREQ. */
export const pingPacket = Buffer.of(0xc0, 0)

/** DISCONNECT that keeps the session. */
export const disconnectPacket = Buffer.of(0xe0, 0)

/** Reads whole packets, one at a time. */
export class PacketReader {
  readonly #parser: ReturnType<typeof parser>
  #packet: Packet | undefined
  #fault: unknown

  constructor(version: ProtocolVersion) {
    this.#parser = parser({ protocolVersion: version })
    this.#parser.on('packet', (packet) => {
      this.#packet = packet
    })
    this.#parser.on('error', (fault: unknown) => {
      this.#fault = fault
    })
  }

  /** Throws DecodeError. */
  read(bytes: Buffer): Packet {
    this.#packet = undefined
    try {
      this.#parser.parse(bytes)
    } catch (error) {
      this.#fault = error
    }
    const packet = this.#packet
    if (packet !== undefined && this.#fault === undefined) return packet
    throw new DecodeError('MQTT packet', this.#fault instanceof Error ? this.#fault.message : 'is malformed')
  }
}
