// One route at work: a client of the broker with a session of its own, so that what one dataset cannot take holds up no
// other. Messages are read while the window has room, stored, and acknowledged together once they are durable. A connection
// that ends is made again, ever more slowly.

import type { Packet } from 'mqtt-packet'
import { assert } from '../../libraries/base/assert.ts'
import { type Clock, nextTurn } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { MqttOptions } from './options.ts'
import { BrokerFault, reasonText } from './broker-fault.ts'
import type { Intake } from './intake.ts'
import {
  acknowledgements,
  connectPacket,
  disconnectPacket,
  pingPacket,
  type ProtocolVersion,
  subscribePacket,
} from './packets.ts'
import type { Route } from './route.ts'
import { type Publish, Window } from './window.ts'
import { openSocket, Wire } from './wire.ts'

export type State = 'connecting' | 'greeting' | 'subscribing' | 'receiving' | 'waiting' | 'closing' | 'closed'

/** Which states may follow each. */
const transitions: Readonly<Record<State, readonly State[]>> = {
  connecting: ['greeting', 'waiting', 'closing'],
  greeting: ['subscribing', 'waiting', 'closing'],
  subscribing: ['receiving', 'waiting', 'closing'],
  receiving: ['waiting', 'closing'],
  waiting: ['connecting', 'closing'],
  closing: ['closed'],
  closed: [],
}

const keepAliveSeconds = 30
/** The broker must have sent something within this time, unless it is held back. */
const silentMostMs = 45_000
const beatMs = 5_000
/** From the first byte to the granted subscription. */
const greetWithinMs = 10_000
const [firstPauseMs, longestPauseMs] = [500, 30_000]
/** A connection that has lasted so long was a good one. */
const steadyMs = 10_000
/** How long a broker that speaks MQTT 5 keeps the session while this node is away. */
const sessionSeconds = 7 * 24 * 3600
/** Bytes being stored, of several messages. */
const storingBytesMost = 16 * 1024 * 1024
/** How long what is under way may take when the node stops. */
const closeWithinMs = 5_000
const closedWithinMs = 1_000
/** `Connection refused, unacceptable protocol version` of 3.1.1, `Unsupported Protocol Version` of 5. */
const wrongVersion: readonly number[] = [1, 0x84]

export interface SubscriptionDeps {
  readonly options: MqttOptions
  readonly intake: Pick<Intake, 'take' | 'fault'>
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: { readonly mqttInFlight: number; readonly mqttMessageBytes: number }
}

/** What a subscription has done since the start. */
export interface Counts {
  received: number
  /** Copies of messages whose first copy was under way. */
  repeated: number
  stored: number
  quarantined: number
}

export class Subscription {
  readonly route: Route
  readonly counts: Counts = { received: 0, repeated: 0, stored: 0, quarantined: 0 }
  readonly #deps: SubscriptionDeps
  readonly #window: Window
  readonly #stop = new AbortController()
  /** Ends what cannot be stored in time when the node stops. */
  readonly #giveUp = new AbortController()
  readonly #ended: Promise<void>
  #state: State = 'connecting'
  #version: ProtocolVersion = 5
  /** The broker may ask for less. */
  #keepAliveSeconds = keepAliveSeconds
  #wire: Wire | undefined
  #isFlushing = false
  /** In this process: a session that is kept then has the subscription. */
  #hasSubscribed = false
  #fault: string | undefined

  constructor(deps: SubscriptionDeps, route: Route) {
    this.#deps = deps
    this.route = route
    this.#window = new Window({ messages: deps.limits.mqttInFlight, bytes: storingBytesMost })
    this.#ended = this.#run()
  }

  get state(): State {
    return this.#state
  }

  /** Messages that came and have no PUBACK yet. */
  get unacknowledged(): number {
    return this.#window.unacknowledged
  }

  /** Why no messages come, or none are stored. */
  get fault(): string | undefined {
    return this.#fault ?? this.#deps.intake.fault
  }

  /** Reads no more, stores and acknowledges what is under way, and leaves the session to the broker. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#deps
    const { filter } = this.route
    const { signal } = this.#stop
    let pauseMs = firstPauseMs
    while (!signal.aborted) {
      const version = this.#version
      const beganMs = clock.monotonicMs()
      const fault = await this.#connection()
      if (signal.aborted) break
      // Another version is tried at once.
      if (version !== this.#version) pauseMs = 0
      else if (this.#state === 'receiving' && clock.monotonicMs() - beganMs > steadyMs) pauseMs = firstPauseMs
      if (this.#fault !== fault && pauseMs > 0)
        logger.warn({ filter, cause: fault }, 'No messages come from the MQTT broker')
      this.#fault = fault
      this.#go('waiting')
      await clock.sleep(pauseMs, signal)
      pauseMs = Math.min(Math.max(2 * pauseMs, firstPauseMs), longestPauseMs)
      if (!signal.aborted) this.#go('connecting')
    }
    this.#go('closing')
    await this.#finish()
    this.#go('closed')
  }

  #go(next: State): void {
    assert(transitions[this.#state].includes(next), `a subscription does not go from ${this.#state} to ${next}`)
    this.#state = next
  }

  /** One connection from its begin to its end, or until the node stops; why it ended. */
  async #connection(): Promise<string> {
    const { options, clock, limits } = this.#deps
    const over = new AbortController()
    const stopped = AbortSignal.any([this.#stop.signal, over.signal])
    let wire: Wire | undefined
    const late = new AbortController()
    void clock.sleep(greetWithinMs, stopped).then(() => {
      const isHeld = this.#state === 'subscribing' && this.#window.isFull
      if (this.#state === 'receiving' || isHeld || stopped.aborted) return
      late.abort()
      wire?.end(new BrokerFault('the broker does not answer'))
    })
    try {
      const socket = await openSocket(options, AbortSignal.any([this.#stop.signal, late.signal]))
      this.#go('greeting')
      wire = new Wire(
        socket,
        { version: this.#version, mostBytes: limits.mqttMessageBytes + packetHeadBytes },
        {
          onPacket: (packet, lostBytes) => this.#on(packet, lostBytes),
          isHeld: () => this.#stop.signal.aborted || (this.#state !== 'greeting' && this.#window.isFull),
        },
      )
      this.#wire = wire
      wire.write(this.#connectPacket())
      void this.#beat(wire, stopped)
      const stop = new Promise<Error>((resolve) => {
        const onStop = (): void => resolve(new BrokerFault('the node stops'))
        this.#stop.signal.addEventListener('abort', onStop, { signal: over.signal })
      })
      const { message } = await Promise.race([wire.closed, stop])
      // On a connection that has ended nothing is acknowledged; one that the node ends has its last acknowledgements yet.
      if (!this.#stop.signal.aborted) this.#window.disconnected()
      return message
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      over.abort()
    }
  }

  #connectPacket(): Buffer {
    const { options, limits } = this.#deps
    const { login } = options
    return connectPacket({
      version: this.#version,
      clientId: this.route.clientId,
      login,
      keepAliveSeconds,
      receiveMaximum: Math.min(limits.mqttInFlight, 65_535),
      sessionSeconds,
    })
  }

  /** Tells the broker that the client is there, and notices when the broker is not. */
  async #beat(wire: Wire, over: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    let [heardMs, pingedMs, bytes] = [clock.monotonicMs(), clock.monotonicMs(), 0]
    for (;;) {
      const keepAliveMs = this.#keepAliveSeconds * 1000
      await clock.sleep(Math.min(beatMs, keepAliveMs / 4), over)
      if (over.aborted) return
      const nowMs = clock.monotonicMs()
      if (wire.receivedBytes > bytes || this.#window.isFull) heardMs = nowMs
      bytes = wire.receivedBytes
      if (nowMs - heardMs > silentMostMs) wire.end(new BrokerFault('the broker is silent'))
      if (nowMs - pingedMs < keepAliveMs / 2) continue
      pingedMs = nowMs
      wire.write(pingPacket)
    }
  }

  /** Throws where the broker says what it may not say now. */
  #on(packet: Packet, lostBytes: number): void {
    switch (packet.cmd) {
      case 'connack':
        return this.#welcomed(packet)
      case 'suback':
        return this.#subscribed(packet.granted)
      case 'publish':
        if (this.#state !== 'receiving' && this.#state !== 'subscribing') break
        if (packet.qos === 2 || packet.topic === '') break
        return this.#take({
          id: packet.qos === 0 ? undefined : packet.messageId,
          isDup: packet.dup,
          topic: packet.topic,
          payload: Buffer.from(packet.payload),
          lostBytes,
        })
      case 'pingresp':
        return
      case 'disconnect':
        throw new BrokerFault(`the broker ends the connection: ${reasonText(packet.reasonCode)}`)
      default:
    }
    throw new BrokerFault(`the broker sent ${packet.cmd.toUpperCase()} where it may not`)
  }

  #welcomed(packet: Extract<Packet, { cmd: 'connack' }>): void {
    if (this.#state !== 'greeting') throw new BrokerFault('the broker sent CONNACK twice')
    const code =
      (this.#version === 5 ? packet.reasonCode : packet.returnCode) ?? packet.returnCode ?? packet.reasonCode ?? 0
    if (code !== 0) {
      if (this.#version === 5 && wrongVersion.includes(code)) this.#version = 4
      throw new BrokerFault(`the broker refuses the connection: ${reasonText(code)}`)
    }
    this.#keepAliveSeconds = packet.properties?.serverKeepAlive || keepAliveSeconds
    this.#window.reopen(packet.sessionPresent)
    this.#go('subscribing')
    // With 3.1.1 a subscription that is made again brings the retained messages again.
    if (packet.sessionPresent && this.#hasSubscribed) this.#receiving()
    else this.#wire?.write(subscribePacket(this.route.filter, this.#version))
  }

  #subscribed(granted: readonly unknown[]): void {
    if (this.#state !== 'subscribing') throw new BrokerFault('the broker sent SUBACK where it may not')
    const [qos] = granted
    if (qos === 0) throw new BrokerFault('the broker grants QoS 0 alone, with which messages are lost')
    if (qos !== 1) throw new BrokerFault(`the broker refuses the subscription: ${reasonText(qos)}`)
    this.#hasSubscribed = true
    this.#receiving()
  }

  #receiving(): void {
    const { filter, alias } = this.route
    this.#go('receiving')
    this.#fault = undefined
    this.#deps.logger.info(
      { filter, dataset: alias.text, mqtt: this.#version === 5 ? '5' : '3.1.1' },
      'MQTT messages come',
    )
  }

  #take(publish: Publish): void {
    this.counts.received++
    const delivery = this.#window.receive(publish)
    if (delivery === undefined) {
      this.counts.repeated++
      void this.#flush()
      return
    }
    void this.#deps.intake
      .take(publish, this.#giveUp.signal)
      .then(
        (outcome) => {
          this.counts[outcome]++
          this.#window.settle(delivery, 'stored')
        },
        () => this.#window.settle(delivery, 'given up'),
      )
      .then(() => this.#flush())
  }

  /** Acknowledges what is durable, all that became so in one turn in one piece; then there may be room to read on. */
  async #flush(): Promise<void> {
    if (this.#isFlushing) return
    this.#isFlushing = true
    await nextTurn()
    this.#isFlushing = false
    this.#acknowledge()
    this.#wire?.pump()
  }

  #acknowledge(): void {
    const wire = this.#wire
    if (wire === undefined || !wire.isOpen) return
    const ids = this.#window.takeAcknowledged()
    if (ids.length > 0) wire.write(acknowledgements(ids))
  }

  /** What is under way becomes durable and is acknowledged, as far as the time allows. */
  async #finish(): Promise<void> {
    const { clock } = this.#deps
    const endMs = clock.monotonicMs() + closeWithinMs
    while (this.#window.storing > 0 && clock.monotonicMs() < endMs) await clock.sleep(finishLookMs)
    this.#giveUp.abort(new BrokerFault('the node stops'))
    this.#acknowledge()
    const wire = this.#wire
    if (wire === undefined) return
    // A broker that does not close its side is not waited for.
    void clock.sleep(closedWithinMs).then(() => wire.end(new BrokerFault('the node stops')))
    await wire.close(disconnectPacket)
  }
}

const finishLookMs = 10
/** Of a PUBLISH, what may stand before its payload: header, topic, packet id, properties. */
const packetHeadBytes = 128 * 1024
