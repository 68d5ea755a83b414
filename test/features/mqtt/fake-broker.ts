// A broker that does what a test tells it: every packet of a client is handed over, and any bytes go back.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { generate, type Packet, parser } from 'mqtt-packet'
import { onTestFinished } from 'vitest'
import { until } from '../../helpers/until.ts'

/** One connection of a client. */
export class FakePeer {
  readonly socket: Socket
  readonly packets: Packet[] = []
  readonly version: number

  constructor(socket: Socket, version: number) {
    this.socket = socket
    this.version = version
  }

  send(packet: Packet): void {
    this.socket.write(generate(packet, { protocolVersion: this.version }))
  }

  publish(messageId: number, payload: string | Buffer, more: { dup?: boolean; topic?: string } = {}): void {
    this.send({ cmd: 'publish', qos: 1, dup: false, retain: false, topic: 'a/b', payload, messageId, ...more })
  }

  /** Packet ids of the PUBACKs so far. */
  get acknowledged(): readonly (number | undefined)[] {
    return this.packets.filter(({ cmd }) => cmd === 'puback').map(({ messageId }) => messageId)
  }

  has(cmd: Packet['cmd']): boolean {
    return this.packets.some((packet) => packet.cmd === cmd)
  }
}

/** Answers a packet of a client. */
export type Script = (peer: FakePeer, packet: Packet, connection: number) => void

/** Takes every client and grants every subscription. */
export const friendly: Script = (peer, packet, connection) => {
  if (packet.cmd === 'connect')
    peer.send({ cmd: 'connack', sessionPresent: connection > 1, returnCode: 0, reasonCode: 0 })
  if (packet.cmd === 'subscribe') peer.send({ cmd: 'suback', messageId: packet.messageId ?? 0, granted: [1] })
}

export class FakeBroker {
  readonly port: number
  readonly peers: FakePeer[] = []
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
  }

  /** Listens until the test ends. */
  static async start(script: Script = friendly): Promise<FakeBroker> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const broker = new FakeBroker(server)
    server.on('connection', (socket) => broker.#accept(socket, script))
    onTestFinished(() => broker.#close())
    return broker
  }

  /** The peer that has sent SUBSCRIBE, or whose session has the subscription: the latest connection. */
  async peer(number: number): Promise<FakePeer> {
    await until(`connection ${number} is there`, async () => this.peers[number - 1]?.has('connect') === true)
    return this.peers[number - 1] as FakePeer
  }

  #accept(socket: Socket, script: Script): void {
    socket.on('error', () => {})
    const packets = parser()
    let peer: FakePeer | undefined
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connect') {
        peer = new FakePeer(socket, packet.protocolVersion ?? 4)
        this.peers.push(peer)
      }
      if (peer === undefined) return
      peer.packets.push(packet)
      script(peer, packet, this.peers.indexOf(peer) + 1)
    })
    socket.on('data', (bytes: Buffer) => packets.parse(bytes))
  }

  #close(): void {
    for (const { socket } of this.peers) socket.destroy()
    this.#server.close()
  }
}
