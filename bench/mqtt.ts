// Messages of 100 devices through a real broker, Mosquitto, which shares its core with the devices: from the first
// publication until the last one is acknowledged as durable. Without a key, then each with a key of its own (dedupe=body).

import { hasMosquitto, Mosquitto } from '../test/helpers/mosquitto.ts'
import { MqttDevice } from '../test/helpers/mqtt-device.ts'
import { type BenchNode, cpuMicros, fail, makeDataDir, startBenchNode } from './machine.ts'
import type { Measure } from './measure.ts'

const devicesAtOnce = 100
/** Of each device: compiled by the first, measured with the second. */
const rounds = [100, 400]

export async function measureMqtt(): Promise<Measure[]> {
  if (!hasMosquitto) fail('the MQTT bench', 'it needs mosquitto (apt-get install mosquitto)')
  const plain = await measured('')
  const keyed = await measured('?dedupe=body')
  return [
    { name: 'mqtt: messages of 100 devices', value: plain.perSecond, unit: 'messages/s', bar: { least: 10_000 } },
    { name: 'mqtt: CPU of a message', value: plain.micros, unit: 'µs', bar: { most: 100 } },
    { name: 'mqtt: messages with dedupe=body', value: keyed.perSecond, unit: 'messages/s' },
    { name: 'mqtt: CPU of one of those', value: keyed.micros, unit: 'µs' },
  ]
}

const reading = (device: string, n: number): string =>
  `{"event_time":"${new Date(1_790_000_000_000 + n * 1000).toISOString()}","device":"${device}","n":${n},"celsius":21.5,"humidity":40}`

async function measured(query: string): Promise<{ readonly perSecond: number; readonly micros: number }> {
  const broker = await Mosquitto.start(['max_inflight_messages 0'])
  const data = makeDataDir()
  const first = await startBenchNode({}, { data })
  await first.post('bench/mqtt', reading('first', 0), { query: '?create=true' })
  await first.stop()
  const node = await startBenchNode({ mqtt: broker.url, 'mqtt-route': `bench/+/up=bench/mqtt${query}` }, { data })
  while ((await counted(node, 'connected_routes')) < 1) await pause()
  const names = Array.from({ length: devicesAtOnce }, (_, device) => `d${device}`)
  const devices = await Promise.all(names.map((name) => MqttDevice.connect(broker.port, name)))
  let result = { perSecond: 0, micros: 0 }
  let sent = 0
  for (const each of rounds) {
    const [from, all] = [sent, each * devicesAtOnce]
    const before = { ms: performance.now(), micros: cpuMicros(node.pid) }
    await Promise.all(
      devices.map((device, at) =>
        Promise.all(
          Array.from({ length: each }, (_, n) => device.publish(`bench/d${at}/up`, reading(`d${at}`, from + n))),
        ),
      ),
    )
    sent += all
    while ((await counted(node, 'stored_messages_total')) < sent) await pause()
    const seconds = (performance.now() - before.ms) / 1000
    result = { perSecond: all / seconds, micros: (cpuMicros(node.pid) - before.micros) / all }
  }
  for (const device of devices) device.close()
  await node.remove()
  await broker.stop()
  return result
}

async function counted(node: BenchNode, name: string): Promise<number> {
  const text = await (await node.call('/metrics')).text()
  return Number(new RegExp(`^proofstream_mqtt_${name} (\\d+)$`, 'm').exec(text)?.[1])
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
