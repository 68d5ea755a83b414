// Devices of a broker: a client that publishes with QoS 1 and knows what the broker has taken. Written on the packets alone.

import { connect, type Socket } from 'node:net'
import { generate, parser, type IPublishPacket } from 'mqtt-packet'

/** Publications of one device that the broker has not taken yet, at most. */
const inFlightMost = 20

export class MqttDevice {
  readonly #socket: Socket
  readonly #waiting = new Map<number, () => void>()
  readonly #room: (() => void)[] = []
  #nextId = 1
  #onConnack: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    const packets = parser({ protocolVersion: 4 })
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connack') this.#onConnack()
      if (packet.cmd !== 'puback') return
      this.#waiting.get(packet.messageId ?? 0)?.()
      this.#waiting.delete(packet.messageId ?? 0)
      this.#room.shift()?.()
    })
    socket.on('data', (bytes: Buffer) => packets.parse(bytes))
  }

  static async connect(port: number, clientId: string): Promise<MqttDevice> {
    const socket = connect({ host: '127.0.0.1', port })
    socket.setNoDelay(true)
    const device = new MqttDevice(socket)
    await new Promise<void>((resolve, reject) => {
      device.#onConnack = resolve
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('the broker closed the connection of a device')))
      socket.write(
        generate({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId, clean: true, keepalive: 0 }),
      )
    })
    return device
  }

  /** Resolves when the broker has taken the message. */
  async publish(topic: string, payload: string | Buffer, more: Partial<IPublishPacket> = {}): Promise<void> {
    if (this.#waiting.size >= inFlightMost) await new Promise<void>((resolve) => this.#room.push(resolve))
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
    const isTaken =
      packet.qos === 0 ? Promise.resolve() : new Promise<void>((resolve) => this.#waiting.set(id, resolve))
    this.#socket.write(generate(packet))
    await isTaken
  }

  close(): void {
    this.#socket.end(generate({ cmd: 'disconnect' }))
  }
}
