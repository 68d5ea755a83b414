// A subscription with a broker that does not behave: when is what acknowledged, and what comes after a fault.

import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { routeOf } from '../../../src/features/mqtt/route.ts'
import { type State, Subscription } from '../../../src/features/mqtt/subscription.ts'
import type { Publish } from '../../../src/features/mqtt/window.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { until } from '../../helpers/until.ts'
import { FakeBroker, friendly, type Script } from './fake-broker.ts'

/** An intake that stores a message when the test says so. */
class HandIntake {
  readonly fault = undefined
  readonly taken: Publish[] = []
  readonly #waiting = new Map<string, (outcome: 'stored' | 'quarantined') => void>()

  take(message: Publish, signal: AbortSignal): Promise<'stored' | 'quarantined'> {
    this.taken.push(message)
    return new Promise((resolve, reject) => {
      this.#waiting.set(message.payload.toString(), resolve)
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  }

  store(payload: string): void {
    this.#waiting.get(payload)?.('stored')
  }

  get payloads(): readonly string[] {
    return this.taken.map(({ payload }) => payload.toString())
  }
}

async function subscribed(
  script: Script = friendly,
  limits: { mqttInFlight?: number; mqttMessageBytes?: number } = {},
) {
  const broker = await FakeBroker.start(script)
  const route = routeOf({ filter: 'a/+', alias: parseAliasText('a/b'), query: {} }, 'test')
  const intake = new HandIntake()
  const options = {
    host: '127.0.0.1',
    port: broker.port,
    tls: undefined,
    login: { username: 'u', password: 'p' },
    clientId: undefined,
    routes: [],
  }
  const deps = { options, intake, clock: systemClock, logger: silentLogger }
  const subscription = new Subscription(
    { ...deps, limits: { mqttInFlight: 100, mqttMessageBytes: 1_000, ...limits } },
    route,
  )
  onTestFinished(async () => {
    for (const payload of intake.payloads) intake.store(payload)
    await subscription.close()
  })
  const reaches = (state: State): Promise<true> => until(state, async () => subscription.state === state)
  return { broker, intake, subscription, reaches }
}

test('it asks for a session that goes on, and subscribes with QoS 1', async () => {
  const { broker, reaches } = await subscribed()
  await reaches('receiving')
  const [peer] = broker.peers
  expect(peer?.packets[0]).toMatchObject({
    protocolVersion: 5,
    clean: false,
    clientId: expect.stringMatching(/^test[0-9a-f]{6}$/),
    username: 'u',
    properties: { receiveMaximum: 100, sessionExpiryInterval: 604_800 },
  })
  expect(peer?.packets[1]).toMatchObject({ cmd: 'subscribe', subscriptions: [{ topic: 'a/+', qos: 1, rh: 1 }] })
})

test('what is durable is acknowledged, in order, and nothing before', async () => {
  const { broker, intake, reaches } = await subscribed()
  await reaches('receiving')
  const peer = await broker.peer(1)
  for (const id of [1, 2, 3]) peer.publish(id, `m${id}`)
  await until('all came', async () => intake.taken.length === 3)
  intake.store('m2')
  intake.store('m1')
  await until('two are acknowledged', async () => peer.acknowledged.length === 2)
  expect(peer.acknowledged).toEqual([1, 2])
})

test('a full window holds the broker back until there is room', async () => {
  const { broker, intake, subscription, reaches } = await subscribed(friendly, { mqttInFlight: 2 })
  await reaches('receiving')
  const peer = await broker.peer(1)
  for (const id of [1, 2, 3, 4, 5]) peer.publish(id, `m${id}`)
  await until('two came', async () => intake.taken.length === 2)
  // What is there already is not read either.
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([intake.payloads, subscription.unacknowledged]).toEqual([['m1', 'm2'], 2])
  intake.store('m1')
  await until('the next came', async () => intake.taken.length === 3)
  for (const payload of ['m2', 'm3', 'm4', 'm5', 'm4', 'm5']) {
    intake.store(payload)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await until('all are stored', async () => {
    for (const payload of intake.payloads) intake.store(payload)
    return peer.acknowledged.length === 5
  })
  expect(peer.acknowledged).toEqual([1, 2, 3, 4, 5])
})

test('after a cut the session goes on: what is being stored is not stored again, and is acknowledged there', async () => {
  const { broker, intake, subscription, reaches } = await subscribed()
  await reaches('receiving')
  const peer = await broker.peer(1)
  peer.publish(1, 'm1')
  peer.publish(2, 'm2')
  await until('both came', async () => intake.taken.length === 2)
  peer.socket.destroy()
  await reaches('waiting')
  intake.store('m1')
  const next = await broker.peer(2)
  await reaches('receiving')
  next.publish(1, 'm1', { dup: true })
  next.publish(2, 'm2', { dup: true })
  await until('the one that is durable is acknowledged', async () => next.acknowledged.length === 1)
  intake.store('m2')
  await until('the other too', async () => next.acknowledged.length === 2)
  expect([next.acknowledged, intake.payloads, subscription.counts.repeated]).toEqual([[1, 2], ['m1', 'm2'], 2])
  // The session has the subscription.
  expect(next.has('subscribe')).toBe(false)
})

test('a broker of 3.1.1 alone is asked again with that', async () => {
  const { broker, intake, reaches } = await subscribed((peer, packet, connection) => {
    if (packet.cmd !== 'connect' || packet.protocolVersion === 4) return friendly(peer, packet, connection)
    // As a broker writes it that knows nothing of version 5.
    peer.socket.end(Buffer.of(0x20, 2, 0, 1))
  })
  await reaches('receiving')
  const peer = await broker.peer(2)
  expect(peer.packets[0]).toMatchObject({ protocolVersion: 4, clean: false })
  peer.publish(9, 'm')
  await until('it came', async () => intake.taken.length === 1)
  intake.store('m')
  await until('it is acknowledged', async () => peer.acknowledged.length === 1)
})

const grant =
  (code: number): Script =>
  (peer, packet, connection) => {
    if (packet.cmd === 'subscribe') peer.send({ cmd: 'suback', messageId: 1, granted: [code] })
    else friendly(peer, packet, connection)
  }
const refuse =
  (code: number): Script =>
  (peer, packet) => {
    if (packet.cmd === 'connect')
      peer.send({ cmd: 'connack', sessionPresent: false, returnCode: code, reasonCode: code })
  }
const bytes =
  (...all: number[]): Script =>
  (peer, packet, connection) => {
    friendly(peer, packet, connection)
    if (packet.cmd === 'subscribe') peer.socket.write(Buffer.from(all))
  }

const faults: readonly (readonly [string, Script, RegExp])[] = [
  ['bad credentials', refuse(0x86), /refuses the connection: bad user name or password/],
  ['an unknown code', refuse(0xb7), /refuses the connection: code 183/],
  ['a refused subscription', grant(0x87), /refuses the subscription: not authorized/],
  ['QoS 0 alone', grant(0), /QoS 0 alone/],
  ['a malformed packet', bytes(0x36, 4, 0, 1, 0x61, 0), /QoS/],
  ['a malformed length', bytes(0x30, 0xff, 0xff, 0xff, 0xff), /length is malformed/],
  ['QoS 2', bytes(0x34, 8, 0, 1, 0x61, 0, 7, 0, 1, 1), /PUBLISH where it may not/],
  ['a packet of clients', bytes(0xc0, 0), /PINGREQ where it may not/],
  ['a second CONNACK', bytes(0x20, 3, 0, 0, 0), /CONNACK twice/],
  ['a session taken over', bytes(0xe0, 2, 0x8e, 0), /client-id in --mqtt/],
  ['HTTP', (peer) => peer.socket.write(`HTTP/1.1 400 Bad Request\r\n\r\n${'x'.repeat(100)}`), /MQTT packet|may not/],
]

test.each(faults)('%s ends the connection, and it is tried again', async (_, script, fault) => {
  const { broker, subscription, reaches } = await subscribed(script)
  await reaches('waiting')
  expect(subscription.fault).toMatch(fault)
  await broker.peer(2)
})

test('a broker that is not there, or goes away while it is greeted, is tried again', async () => {
  let isThere = false
  const { subscription, reaches, broker } = await subscribed((peer, packet, connection) => {
    if (isThere) friendly(peer, packet, connection)
    else peer.socket.destroy()
  })
  await reaches('waiting')
  expect(subscription.fault).toMatch(/closed the connection|ECONNRESET/)
  isThere = true
  await reaches('receiving')
  expect([subscription.fault, broker.peers.length]).toEqual([undefined, 2])
})

test('a message that is too large comes with its beginning', async () => {
  const { broker, intake, reaches } = await subscribed(friendly, { mqttMessageBytes: 100 })
  await reaches('receiving')
  const peer = await broker.peer(1)
  peer.publish(1, Buffer.alloc(1_000_000, 'x'))
  peer.publish(2, 'small')
  await until('both came', async () => intake.taken.length === 2)
  const [large, small] = intake.taken
  expect((large?.payload.length ?? 0) + (large?.lostBytes ?? 0)).toBe(1_000_000)
  expect(large?.payload.length).toBeLessThan(140_000)
  expect(small).toMatchObject({ topic: 'a/b', lostBytes: 0 })
})

test('when the node stops, what can be stored is acknowledged and the session is left to the broker', async () => {
  const { broker, intake, subscription, reaches } = await subscribed()
  await reaches('receiving')
  const peer = await broker.peer(1)
  peer.publish(1, 'm1')
  await until('it came', async () => intake.taken.length === 1)
  const closed = subscription.close()
  peer.publish(2, 'too late')
  intake.store('m1')
  await closed
  await until('the broker knows', async () => peer.has('disconnect'))
  expect([subscription.state, peer.acknowledged, intake.payloads]).toEqual(['closed', [1], ['m1']])
})

test('it stops while the broker is away', async () => {
  const { subscription, reaches } = await subscribed(refuse(0x88))
  await reaches('waiting')
  await subscription.close()
  expect(subscription.state).toBe('closed')
})

test('a window that is full when the connection ends does not keep the node from coming back', async () => {
  const { broker, intake, reaches } = await subscribed(friendly, { mqttInFlight: 1 })
  await reaches('receiving')
  const peer = await broker.peer(1)
  peer.publish(1, 'm1')
  await until('it came', async () => intake.taken.length === 1)
  peer.socket.destroy()
  const next = await broker.peer(2)
  await reaches('receiving')
  next.publish(1, 'm1', { dup: true })
  intake.store('m1')
  await until('it is acknowledged', async () => next.acknowledged.length === 1)
  expect(intake.payloads).toEqual(['m1'])
})

test('the keep-alive is what the broker asks for', async () => {
  const { broker, reaches } = await subscribed((peer, packet, connection) => {
    if (packet.cmd !== 'connect') return friendly(peer, packet, connection)
    const properties = { serverKeepAlive: 1 }
    peer.send({ cmd: 'connack', sessionPresent: false, returnCode: 0, reasonCode: 0, properties })
  })
  await reaches('receiving')
  const peer = await broker.peer(1)
  await until('it pings', async () => peer.has('pingreq'))
})
