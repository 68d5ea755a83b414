// What the options say of a broker, and what is refused at the start of a node.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { ensureMqttClientId } from '../../../src/features/mqtt/client-id.ts'
import { routeOf } from '../../../src/features/mqtt/route.ts'
import { mqttOptions } from '../../../src/features/mqtt/options.ts'
import { settingsOf } from '../../../src/node/options.ts'
import { runCommand } from '../../helpers/run-node.ts'

const optionsOf = (options: Record<string, unknown>) =>
  settingsOf(loadConfig({ mqtt: 'tcp://broker:1883', 'mqtt-route': 'a/+=acme/a', ...options }).settings, mqttOptions)

test('a broker, its routes and how to log in', () => {
  expect(settingsOf(loadConfig({}).settings, mqttOptions)).toBeUndefined()
  const options = optionsOf({
    mqtt: 'mqtts://node%40lab@[::1]?ca=ca.pem',
    'mqtt-route': '$share/g/a/#=acme/a,x=y/+=acme/b?preset=ttn&eventTime=%2Fa=b',
    'mqtt-password': 'secret',
  })
  expect(options).toEqual({
    host: '::1',
    port: 8883,
    tls: { ca: 'ca.pem' },
    login: { username: 'node@lab', password: 'secret' },
    clientId: undefined,
    routes: [
      { filter: '$share/g/a/#', alias: parseAliasText('acme/a'), query: {} },
      { filter: 'x=y/+', alias: parseAliasText('acme/b'), query: { preset: 'ttn', eventTime: '/a=b' } },
    ],
  })
  const whole = optionsOf({ mqtt: 'mqtts://broker/?client-id=lab-1&cert=%2Fetc%2Fcert.pem&key=/etc/key.pem' })
  expect(whole).toMatchObject({
    clientId: 'lab-1',
    tls: { cert: '/etc/cert.pem', key: '/etc/key.pem' },
    login: undefined,
  })
  expect(optionsOf({ mqtt: 'tcp://broker:1884' })).toMatchObject({ host: 'broker', port: 1884, tls: undefined })
})

test.each([
  [{ mqtt: 'http://broker' }, /'mqtt' must be tcp:/],
  [{ mqtt: 'constructor://broker' }, /'mqtt' must be tcp:/],
  [{ mqtt: 'tcp://u:secret@broker' }, /'mqtt' must be tcp:.*, without a password/],
  [{ mqtt: undefined }, /'mqtt-route' needs a broker/],
  [{ 'mqtt-route': undefined }, /needs routes/],
  [{ 'mqtt-route': 'acme/a' }, /expected 'topic\/filter=account\/dataset'/],
  [{ 'mqtt-route': 'a/#/b=acme/a' }, /not a topic filter/],
  [{ 'mqtt-route': 'a+/b=acme/a' }, /not a topic filter/],
  [{ 'mqtt-route': '$share/g=acme/a' }, /not a topic filter/],
  [{ 'mqtt-route': '$share/+/a=acme/a' }, /not a topic filter/],
  [{ 'mqtt-route': 'a=acme/a?create=true&create=false' }, /more than once/],
  [{ 'mqtt-route': 'a=acme/a,a=Acme/A' }, /twice/],
  [{ 'mqtt-password': 'secret' }, /no user/],
  [{ mqtt: 'tcp://broker?ca=ca.pem' }, /must begin with mqtts: mqtts/],
  [{ mqtt: 'mqtts://broker?key=key.pem' }, /belong together/],
  [{ mqtt: 'tcp://broker?client-id=a b' }, /client-id 'a b'/],
  [{ mqtt: 'tcp://broker?retain=1' }, /'retain' of option 'mqtt' is unknown; it takes ca, cert, key, client-id/],
  [{ mqtt: 'mqtts://broker?ca=a&ca=b' }, /'ca' of option 'mqtt' is given twice/],
  [{ mqtt: 'mqtts://broker?ca=' }, /'ca' of option 'mqtt' has no value/],
  [{ mqtt: 'tcp://100%25%zz@broker' }, /begins no escape/],
  [{ roles: 'replica' }, /for gateways/],
])('%j is refused', (options, message) => {
  let refusal = ''
  try {
    optionsOf(options)
  } catch (error) {
    refusal = String(error)
  }
  expect(refusal).toMatch(message)
  expect(refusal).not.toContain('secret')
})

const route = (query: Record<string, string>) =>
  routeOf({ filter: 'a/+', alias: parseAliasText('acme/a'), query }, 'node1')

test('a route has the controls of ingest, and a client id of its own that stays', () => {
  const { controlsFor, clientId } = route({ preset: 'ttn', create: 'true' })
  expect(controlsFor(undefined)).toMatchObject({
    flatten: true,
    eventTime: 'received_at',
    dedupe: 'body',
    waiting: { kind: 'async' },
  })
  expect(clientId).toBe(route({}).clientId)
  const other = routeOf({ filter: 'a/#', alias: parseAliasText('acme/a'), query: {} }, 'node1')
  expect(other.clientId).not.toBe(clientId)
  expect(clientId).toMatch(/^node1[0-9a-f]{6}$/)
})

test('a gateway has a client id by its own key, and one of its directory where others may have the key', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-client-id-'))
  const of = (did?: string, name = 'id'): Promise<string> => ensureMqttClientId(join(folder, name), did)
  const [one, again, two] = await Promise.all(['a', 'a', 'b'].map((did) => of(did)))
  expect([one === again, one === two]).toEqual([true, false])
  const own = await of()
  expect([await of(), (await of(undefined, 'other')) === own]).toEqual([own, false])
  await rm(folder, { recursive: true })
})

test('what a dataset keeps counts where its route says nothing', () => {
  const kept = { eventTime: 'ts', dedupe: 'body', records: '/metrics' }
  expect(route({}).controlsFor(kept)).toMatchObject(kept)
  expect(route({ dedupe: '/id' }).controlsFor(kept)).toMatchObject({ ...kept, dedupe: '/id' })
  expect(route({ topic: 'topic' }).controlsFor(kept)).toMatchObject({ dedupe: 'body', records: undefined })
})

test.each([
  [{ dryRun: 'true' }, /'dryRun' means nothing here/],
  [{ colour: 'red' }, /'colour' means nothing here/],
  [{ evenTime: 'ts' }, /evenTime/],
  [{ topic: '' }, /names no column/],
  [{ topic: 'topic', records: '/metrics' }, /leaves out the members beside/],
])('parameters %j are refused', (query, message) => {
  expect(() => route(query as Record<string, string>)).toThrow(message)
})

test('several flags are one list', async () => {
  const flags = ['--mqtt', 'tcp://b', '--mqtt-route', 'a=acme/a', '--mqtt-route', 'b=acme/b']
  const { stdout, code } = await runCommand(['doctor', '--data', join(tmpdir(), 'none'), ...flags])
  expect(code).toBe(0)
  expect(stdout).toContain('mqtt-route is a=acme/a,b=acme/b (flag)')
})
