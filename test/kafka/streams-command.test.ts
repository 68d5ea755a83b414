// `proofstream streams apply` against a real broker: topics that are missing, wrong and right.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import kafkajs, { type Admin } from 'kafkajs'
import { kafkaUrl, newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

const prefix = newPrefix()
const topic = `${prefix}.records.v1`
let admin: Admin

function apply(...more: readonly string[]): Promise<Finished> {
  return runCommand(['streams', 'apply', ...more, '--log', kafkaUrl(prefix, 3), '-o', 'ndjson'])
}

function settingsOf({ stdout }: Finished): string[] {
  const lines = stdout.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const { topic: name, setting, found } = JSON.parse(line) as Record<string, string>
    return `${name?.slice(prefix.length + 1)} ${setting} ${found}`
  })
}

async function ownSettings(): Promise<Record<string, string>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
  })
  return Object.fromEntries(resources[0]?.configEntries.map((one) => [one.configName, one.configValue]) ?? [])
}

describe.skipIf(noKafka)('streams', () => {
  beforeAll(async () => {
    admin = new kafkajs.Kafka({ brokers: [sharedKafka().broker], logLevel: kafkajs.logLevel.NOTHING }).admin()
    await admin.connect()
  })

  afterAll(async () => {
    await admin.disconnect()
  })

  test('a dry run says which topics are missing, apply makes them, and then all fits', async () => {
    const missing = await apply('--dry-run')
    expect([missing.code, settingsOf(missing)]).toEqual([8, ['records.v1 topic ', 'commits.v1 topic ']])
    const applied = await apply()
    expect([applied.code, applied.stdout]).toEqual([0, ''])
    expect(applied.stderr).toContain(`${topic} fits its contract (partitions: 3, copies: 1)`)
    expect((await apply('--dry-run')).code).toBe(0)
  })

  test('a dry run lists settings that differ, and apply sets them and leaves others as they are', async () => {
    const configEntries = [
      { name: 'retention.bytes', value: '1000000' },
      { name: 'retention.ms', value: '60000' },
      { name: 'message.timestamp.type', value: 'LogAppendTime' },
      { name: 'segment.bytes', value: '12345678' },
      { name: 'max.message.bytes', value: '2000000' },
    ]
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }],
    })
    const differing = await apply('--dry-run')
    expect(differing.code).toBe(8)
    expect(settingsOf(differing)).toEqual(
      expect.arrayContaining(['records.v1 retention.bytes 1000000', 'records.v1 retention.ms 60000']),
    )
    expect((await apply()).code).toBe(0)
    expect(settingsOf(await apply('--dry-run'))).toEqual([])
    expect(await ownSettings()).toMatchObject({ 'retention.bytes': '-1', 'segment.bytes': '12345678' })
  })

  test('says what is wrong when no broker is there', async () => {
    const { code, stderr } = await runCommand(['streams', 'apply', '--dry-run', '--log', 'kafka://127.0.0.1:9'])
    expect(code).toBe(6)
    expect(stderr).toContain('Kafka at 127.0.0.1:9 cannot be used')
  })
})
