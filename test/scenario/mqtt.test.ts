// Messages of a real broker, Eclipse Mosquitto, in a node of its own process: as docs/devices.md configures both, with
// 1,000 devices, and while broker and node are stopped and killed.

import { spawnSync } from 'node:child_process'
import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasMosquitto } from '../helpers/mosquitto.ts'
import { MqttDevice, reading, sendAll } from '../helpers/mqtt-device.ts'
import { brokerOf, Taker } from '../helpers/mqtt-taker.ts'
import { serveNode } from '../helpers/run-node.ts'
import { until } from '../helpers/until.ts'

describe.skipIf(!hasMosquitto)('messages of a broker', () => {
  test('with TLS, a user and a certificate of the node; a wrong password is tried again, not forgotten', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'proofstream-mqtt-tls-'))
    const openssl = (...args: string[]): void => {
      const { status, stderr } = spawnSync('openssl', args, { cwd: dir, encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
    }
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      'key.pem',
      '-out',
      'cert.pem',
      '-days',
      '2',
      ...subject,
    )
    spawnSync('mosquitto_passwd', ['-c', '-b', 'passwords', 'node', 'secret'], { cwd: dir })
    await copyFile(join(dir, 'cert.pem'), join(dir, 'ca.pem'))
    const broker = await brokerOf(
      ['allow_anonymous false', `password_file ${dir}/passwords`],
      [`certfile ${dir}/cert.pem`, `keyfile ${dir}/key.pem`, `cafile ${dir}/ca.pem`, 'require_certificate true'],
    )
    const files = `ca=${dir}/ca.pem&cert=${dir}/cert.pem&key=${dir}/key.pem`
    const url = `mqtts://node@127.0.0.1:${broker.port}?${files}`
    const taker = await Taker.start(url, ['t=acme/t'], [], { PROOFSTREAM_MQTT_PASSWORD: 'secret' })
    expect(await taker.metric('connected_routes')).toBe(1)
    const wrongDir = await mkdtemp(join(tmpdir(), 'proofstream-mqtt-'))
    const wrong = await serveNode(wrongDir, ['--mqtt', url, '--mqtt-route', 't=acme/t'], {
      PROOFSTREAM_MQTT_PASSWORD: 'guess',
    })
    onTestFinished(async () => void (await wrong.end('SIGKILL')))
    await until('the log says why', async () => /bad user name or password|not authorized/.test(wrong.log()))
    expect(wrong.log()).not.toContain('guess')
  })

  test('retained messages come once to a subscription, and those of QoS 0 too', async () => {
    const broker = await brokerOf()
    const device = await MqttDevice.connect(broker.port, 'device')
    const { topic, payload } = reading('d1', 1)
    await device.publish(topic, payload, { retain: true })
    const taker = await Taker.start(broker.url, ['sensors/+/up=acme/sensors?create=true'])
    await taker.becomes('select count(*) from "acme/sensors"', [[1]])
    await taker.end('SIGTERM')
    await taker.restart()
    const next = reading('d1', 2)
    await device.publish(next.topic, next.payload, { qos: 0 })
    await until('the node is back', async () => (await taker.metric('connected_routes')) === 1)
    await device.publish(next.topic, next.payload, { qos: 0 })
    await until('the last one is there', async () => (await taker.metric('stored_messages_total')) > 0)
    await taker.becomes('select n, count(*) >= 1 from "acme/sensors" group by n order by n', [
      [1, true],
      [2, true],
    ])
    expect(await taker.query('select count(*) from "acme/sensors" where n = 1')).toEqual([[1]])
    device.close()
  })

  test(
    '1,000 devices while node and broker go and come: nothing is lost, and nothing is there twice',
    {
      timeout: 300_000,
    },
    async () => {
      const broker = await brokerOf()
      const taker = await Taker.start(broker.url, ['sensors/+/up=acme/sensors?create=true&dedupe=body&topic=topic'])
      const [devices, each] = [1_000, 10]
      const messagesOf = (device: number): { topic: string; payload: string }[] =>
        Array.from({ length: each }, (_, n) => reading(`d${device}`, n))
      const sending = Promise.all(
        Array.from({ length: devices }, async (_, device) => {
          // Not all at once: the cuts fall into the middle.
          await new Promise((resolve) => setTimeout(resolve, device * 8))
          await sendAll(broker.port, `d${device}`, messagesOf(device))
        }),
      )
      const stored = (): Promise<number> => taker.metric('stored_messages_total')
      for (let cut = 0; cut < 3; cut++) {
        await until('messages come', async () => (await stored()) > 100)
        await taker.end('SIGKILL')
        await taker.restart()
        await until('messages come again', async () => (await stored()) > 100)
        // It writes its sessions when it is told to stop; killed, Mosquitto itself loses what it has acknowledged.
        await broker.stop('SIGTERM')
        await broker.restart()
      }
      await sending
      const all = devices * each
      await taker.becomes('select count(distinct (topic, n)) from "acme/sensors"', [[all]])
      expect(await taker.query('select count(*) from "acme/sensors"')).toEqual([[all]])
      expect(await taker.query('select count(*) from "acme/quarantine"')).toEqual([])
    },
  )

  test('what a killed broker has lost and devices send again is there once', async () => {
    const broker = await brokerOf()
    const taker = await Taker.start(broker.url, ['sensors/+/up=acme/sensors?create=true&dedupe=body&topic=topic'])
    const [devices, each] = [50, 60]
    // A device that cannot trust its broker keeps what it has sent until it is stored.
    const outbox = new Map<string, { readonly topic: string; readonly payload: string }[]>()
    for (let device = 0; device < devices; device++) {
      outbox.set(
        `d${device}`,
        Array.from({ length: each }, (_, n) => reading(`d${device}`, n)),
      )
    }
    const sendAgain = (): Promise<unknown> =>
      Promise.all(
        [...outbox].map(async ([device, messages], at) => {
          await new Promise((resolve) => setTimeout(resolve, at * 20))
          await sendAll(broker.port, device, messages)
        }),
      )
    // A broker that was killed has forgotten the subscription as well; a full window sees late that it is gone.
    const isBack = (): Promise<true> =>
      until('the node is back', async () => {
        const [routes, waiting] = [taker.metric('connected_routes'), taker.metric('unacknowledged_messages')]
        return (await routes) === 1 && (await waiting) === 0
      })
    for (let kill = 0; kill < 3; kill++) {
      await isBack()
      const before = await taker.metric('received_messages_total')
      const sending = sendAgain()
      await until('messages come', async () => (await taker.metric('received_messages_total')) > before + 100)
      await broker.stop('SIGKILL')
      await broker.restart()
      await sending
    }
    await isBack()
    await sendAgain()
    await taker.becomes('select count(*), count(distinct (topic, n)) from "acme/sensors"', [
      [devices * each, devices * each],
    ])
  })
})
