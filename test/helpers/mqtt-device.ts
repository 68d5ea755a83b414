// Devices of a broker: a client that publishes with QoS 1, knows what the broker has taken, and sends the rest again after a
// cut. Written on the packets alone.

import { connect, type Socket } from 'node:net'
import { generate, parser, type IConnectPacket, type IPublishPacket } from 'mqtt-packet'

/** Publications of one device that the broker has not taken yet, at most. */
const inFlightMost = 20

export class MqttDevice {
  readonly #socket: Socket
  readonly #waiting = new Map<number, { readonly resolve: () => void; readonly reject: (error: Error) => void }>()
  readonly #room: (() => void)[] = []
  #nextId = 1
  #onConnack: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    const packets = parser({ protocolVersion: 4 })
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connack') this.#onConnack()
      if (packet.cmd !== 'puback') return
      this.#waiting.get(packet.messageId ?? 0)?.resolve()
      this.#waiting.delete(packet.messageId ?? 0)
      this.#room.shift()?.()
    })
    socket.on('data', (bytes: Buffer) => packets.parse(bytes))
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the broker closed the connection of a device'))
      this.#waiting.clear()
      for (const resolve of this.#room.splice(0)) resolve()
    })
  }

  /** Rejects when the broker is not there. */
  static async connect(port: number, clientId: string, more: Partial<IConnectPacket> = {}): Promise<MqttDevice> {
    const socket = connect({ host: '127.0.0.1', port })
    socket.setNoDelay(true)
    const device = new MqttDevice(socket)
    await new Promise<void>((resolve, reject) => {
      device.#onConnack = resolve
      socket.once('close', () => reject(new Error('the broker closed the connection of a device')))
      const packet = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId, clean: true, keepalive: 0 }
      socket.write(generate({ ...packet, ...more } as IConnectPacket)) // its names are those of the protocol
    })
    return device
  }

  /** Resolves when the broker has taken the message; rejects when the connection ended before. */
  async publish(topic: string, payload: string | Buffer, more: Partial<IPublishPacket> = {}): Promise<void> {
    while (this.#waiting.size >= inFlightMost) await new Promise<void>((resolve) => this.#room.push(resolve))
    const id = this.#nextId
    this.#nextId = (id % 65_535) + 1
    const packet: IPublishPacket = {
      cmd: 'publish',
      qos: 1,
      dup: false,
      retain: false,
      topic,
      payload,
      messageId: id,
      ...more,
    }
    if (this.#socket.destroyed) throw new Error('the broker closed the connection of a device')
    const isTaken = new Promise<void>((resolve, reject) => {
      if (packet.qos === 0) resolve()
      else this.#waiting.set(id, { resolve, reject })
    })
    this.#socket.write(generate(packet))
    await isTaken
  }

  close(): void {
    this.#socket.end(generate({ cmd: 'disconnect' }))
  }
}

/** A message of a device, the same for the same `n`. */
export const reading = (device: string, n: number): { topic: string; payload: string } => ({
  topic: `sensors/${device}/up`,
  payload: JSON.stringify({ event_time: new Date(1_790_000_000_000 + n * 1000).toISOString(), n, celsius: 21.5 }),
})

/** Sends each message until the broker has taken it, over as many connections as that takes. */
export async function sendAll(
  port: number,
  device: string,
  messages: readonly { readonly topic: string; readonly payload: string }[],
): Promise<void> {
  let left = [...messages]
  while (left.length > 0) {
    try {
      const connection = await MqttDevice.connect(port, device)
      const sent = await Promise.allSettled(left.map(({ topic, payload }) => connection.publish(topic, payload)))
      left = left.filter((_, at) => sent[at]?.status === 'rejected')
      if (left.length === 0) connection.close()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
