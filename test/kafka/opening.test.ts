// Opening a log in Kafka: topics are made as the contract says, or refused with the differences; logins and TLS on real
// listeners; what an operator is told when something does not fit.

import { spawnSync } from 'node:child_process'
import type { Admin } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { createKafka } from '../../src/drivers/kafka/client.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { topicNames } from '../../src/drivers/kafka/topics.ts'
import { topicContract } from '../../src/node/log/messages.ts'
import type { NodeError } from '../../src/libraries/base/errors.ts'
import { saslUser } from '../helpers/kafka-broker.ts'
import {
  kafkaLogOptions,
  listeningLogger,
  newPrefix,
  noKafka,
  recordsTopic,
  sharedAdmin,
  sharedKafka,
} from '../helpers/kafka-shared.ts'

const topicResource = 2

async function settingsOf(admin: Admin, topic: string): Promise<ReadonlyMap<string, string>> {
  const resources = [{ type: topicResource, name: topic }]
  const { resources: found } = await admin.describeConfigs({ includeSynonyms: false, resources })
  return new Map(found[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]))
}

async function fault(opening: Promise<{ close(): Promise<void> }>): Promise<NodeError> {
  try {
    await (await opening).close()
  } catch (error) {
    // The caller looks at kind and message.
    return error as NodeError
  }
  return expect.fail('the log was opened')
}

describe.skipIf(noKafka)('topics', () => {
  let admin: Admin
  beforeAll(async () => {
    admin = await sharedAdmin()
  })
  afterAll(() => admin.disconnect())

  test('are made with the settings of the contract, once, by however many processes', async () => {
    const options = kafkaLogOptions({ partitions: 3 })
    const logs = await Promise.all([1, 2, 3, 4].map(() => openKafkaLog(options)))
    expect(new Set(logs.map(({ id }) => id)).size).toBe(1)
    expect(logs.map(({ partitions, replicas }) => [partitions, replicas])).toEqual([1, 2, 3, 4].map(() => [3, 1]))
    await Promise.all(logs.map((log) => log.close()))
    const { records, commits } = topicNames(must(options.topicPrefix, 'a prefix'))
    for (const [topic, channel] of [
      [records, 'records'],
      [commits, 'commits'],
    ] as const) {
      const found = await settingsOf(admin, topic)
      // One broker cannot keep two copies in step.
      const wanted = { ...topicContract(channel).settings, 'min.insync.replicas': '1' }
      expect(Object.fromEntries(Object.keys(wanted).map((name) => [name, found.get(name)]))).toEqual(wanted)
    }
  })

  test('keep their number of partitions whatever is asked later', async () => {
    const options = kafkaLogOptions({ partitions: 2 })
    await (await openKafkaLog(options)).close()
    const again = await openKafkaLog({ ...options, partitions: 5 })
    expect(again.partitions).toBe(2)
    await again.close()
  })

  test.each([
    ['cleanup.policy', 'compact', 'must be delete'],
    ['retention.ms', '3600000', 'must be at least 604800000'],
    ['retention.bytes', '1000000', 'must be -1'],
    ['max.message.bytes', '500000', 'must be at least 1048588'],
    ['unclean.leader.election.enable', 'true', 'must be false'],
    ['message.timestamp.type', 'CreateTime', 'must be LogAppendTime'],
    ['compression.type', 'producer', 'must be uncompressed'],
  ])('whose %s is %s are refused, and the difference is told', async (setting, value, told) => {
    const topicPrefix = newPrefix()
    const { records } = topicNames(topicPrefix)
    const settings = Object.entries({
      ...topicContract('records').settings,
      'min.insync.replicas': '1',
      [setting]: value,
    })
    const configEntries = settings.map(([name, set]) => ({ name, value: set }))
    const topics = [{ topic: records, numPartitions: 1, replicationFactor: 1, configEntries }]
    // A broker may say for a moment that it has no such topic.
    await admin.createTopics({ waitForLeaders: false, topics })
    await expect.poll(() => admin.listTopics()).toContain(records)
    const refused = await fault(openKafkaLog(kafkaLogOptions({ topicPrefix })))
    expect(refused.kind).toBe('InvalidParameter')
    expect(refused.message).toContain(`${records}: ${setting} is ${value}, ${told}`)
  })

  test('may be kept forever', async () => {
    const options = kafkaLogOptions()
    await (await openKafkaLog(options)).close()
    const configEntries = Object.entries({
      ...topicContract('records').settings,
      'min.insync.replicas': '1',
      'retention.ms': '-1',
    }).map(([name, value]) => ({ name, value }))
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: topicResource, name: recordsTopic(options), configEntries }],
    })
    await (await openKafkaLog(options)).close()
  })
})

describe.skipIf(noKafka)('a listener', () => {
  const append = async (connection: Parameters<typeof createKafka>[0]): Promise<void> => {
    const log = await openKafkaLog(kafkaLogOptions({ connection }))
    expect(await log.append(0, [new Uint8Array([1, 2, 3])])).toBe(0)
    expect(await log.get(0, 0)).toEqual(Buffer.from([1, 2, 3]))
    await log.close()
  }

  test.each(['plain', 'scram-sha-256'] as const)('with SASL %s lets the right user in', async (mechanism) => {
    await append({ brokers: [sharedKafka().sasl], sasl: { mechanism, ...saslUser } })
  })

  test.each([
    ['a wrong password', { mechanism: 'plain', ...saslUser, password: 'wrong' }, /Authentication failed/],
    ['a mechanism that it does not have', { mechanism: 'scram-sha-512', ...saslUser }, /mechanism/],
  ] as const)('with SASL refuses %s at once, and says why', async (_what, sasl, told) => {
    const startedMs = performance.now()
    const refused = await fault(openKafkaLog(kafkaLogOptions({ connection: { brokers: [sharedKafka().sasl], sasl } })))
    expect(refused.kind).toBe('LogUnavailable')
    expect(refused.details.hint).toMatch(told)
    expect(performance.now() - startedMs).toBeLessThan(20_000)
  })

  test('with TLS is trusted through its certificate', async () => {
    await append({ brokers: [sharedKafka().tls], tls: { ca: sharedKafka().certificate } })
  })

  test('with SASL over TLS lets the right user in, and nobody else', async () => {
    const connection = { brokers: [sharedKafka().saslTls], tls: { ca: sharedKafka().certificate } }
    const sasl = { mechanism: 'scram-sha-512', ...saslUser } as const
    await append({ ...connection, sasl })
    const wrong = { ...connection, sasl: { ...sasl, password: 'wrong' } }
    expect((await fault(openKafkaLog(kafkaLogOptions({ connection: wrong })))).details.hint).toMatch(
      /[Aa]uthentication/,
    )
  })

  test.each([
    ['TLS that nobody vouches for', () => ({ brokers: [sharedKafka().tls], tls: {} }), /self-signed certificate/],
    ['TLS that is met in plain', () => ({ brokers: [sharedKafka().tls] }), /check that TLS and user of --log/],
    ['SASL without a user', () => ({ brokers: [sharedKafka().sasl] }), /check that TLS and user of --log/],
  ])('with %s is tried again, and a hint says what to look at', async (_what, connection, told) => {
    const { logger, lines } = listeningLogger()
    const clock = hurriedClock()
    const refused = await fault(openKafkaLog(kafkaLogOptions({ connection: connection(), logger, clock })))
    expect(refused.kind).toBe('LogUnavailable')
    expect(refused.details.hint).toMatch(told)
    // Once, not at every try.
    expect(lines).toEqual([expect.stringMatching(/^Kafka cannot be reached; trying for \d+ s more/)])
  })
})

/** Real time, but a minute has passed after the second try. */
function hurriedClock(): ReturnType<typeof kafkaLogOptions>['clock'] {
  const { clock } = kafkaLogOptions()
  let sleeps = 0
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs() + (sleeps >= 2 ? 60_000 : 0),
    sleep: (ms, signal) => {
      if (ms === 500) sleeps++
      return clock.sleep(ms, signal)
    },
  }
}

describe.skipIf(noKafka)('an idle log', () => {
  test('leaves the processor alone and says nothing', () => {
    const program = `
      import { openKafkaLog } from './src/drivers/kafka/kafka-log.ts'
      import { systemClock } from './src/libraries/base/clock.ts'
      import { silentLogger } from './src/libraries/base/logger.ts'
      const log = await openKafkaLog({
        connection: { brokers: ['${sharedKafka().broker}'] }, clock: systemClock, logger: silentLogger,
        topicPrefix: '${newPrefix()}', partitions: 2,
      })
      const stop = new AbortController()
      const following = [0, 1].map(async (partition) => {
        for await (const _ of log.read(partition, 0, { signal: stop.signal }));
      })
      await log.append(0, [new Uint8Array([1])])
      await systemClock.sleep(500)
      let timers = 0
      const { setTimeout: real } = globalThis
      globalThis.setTimeout = (...args) => { timers++; return real(...args) }
      await systemClock.sleep(2_000)
      process.stdout.write(String(timers))
      stop.abort()
      await Promise.all(following)
      await log.close()`
    const cwd = new URL('../../', import.meta.url)
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' })
    expect([run.stderr, run.status]).toEqual(['', 0])
    // A fetch of each partition three times a second takes a few timers; the loop it is about takes a thousand.
    expect(Number(run.stdout)).toBeLessThan(300)
  })
})
