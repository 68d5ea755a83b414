// `proofstream doctor` against a real broker: topics that are missing, right and wrong, and what one broker means.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import kafkajs from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { saslUser } from '../helpers/kafka-broker.ts'
import { kafkaUrl, newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

interface Row {
  readonly check: string
  readonly status: string
  readonly found: string
}

const prefix = newPrefix()

function where(): string[] {
  return ['--log', kafkaUrl(prefix, 3)]
}

async function doctor(): Promise<Finished & { readonly rows: readonly Row[] }> {
  const data = await mkdtemp(join(tmpdir(), 'proofstream-doctor-kafka-'))
  const done = await runCommand(['doctor', '--data', data, '--listen', '127.0.0.1:0', ...where()])
  const rows = done.stdout.split('\n').filter((line) => line !== '')
  return { ...done, rows: rows.map((line) => JSON.parse(line) as Row).filter(({ check }) => /kafka|topic/.test(check)) }
}

describe.skipIf(noKafka)('doctor', () => {
  test('tells what one broker means, and of each topic whether it is there and as it should be', async () => {
    const before = await doctor()
    expect([before.code, before.rows.map(({ check, status }) => `${check} ${status}`)]).toEqual([
      0,
      ['kafka warn', 'topic warn', 'topic warn'],
    ])
    expect(before.rows[0]?.found).toMatch(/^Cluster \S+ has 1 broker\. .* not a loss of power/)
    expect(before.rows[1]?.found).toBe(`${prefix}.records.v1 is not there yet; the first start makes it.`)
    await runCommand(['streams', 'apply', ...where()])
    const applied = await doctor()
    expect([applied.code, applied.rows[1]?.found]).toEqual([
      0,
      `${prefix}.records.v1 fits its contract (partitions: 3, copies: 1).`,
    ])
    const admin = new kafkajs.Kafka({ brokers: [sharedKafka().broker], logLevel: kafkajs.logLevel.NOTHING }).admin()
    await admin.connect()
    const configEntries = [{ name: 'retention.bytes', value: '1000000' }]
    const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: `${prefix}.records.v1`, configEntries }
    await admin.alterConfigs({ validateOnly: false, resources: [resource] })
    await admin.disconnect()
    const wrong = await doctor()
    expect([wrong.code, wrong.rows[1]?.status]).toEqual([9, 'fail'])
    expect(wrong.rows[1]?.found).toContain('retention.bytes is 1000000, must be -1')
  })

  test('reaches brokers that want a login over TLS, with the password in the environment or in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'proofstream-doctor-kafka-'))
    const [ca, secret] = [join(folder, 'ca.pem'), join(folder, 'secret')]
    await Promise.all([writeFile(ca, sharedKafka().certificate), writeFile(secret, `${saslUser.password}\n`)])
    const url = `kafka://${saslUser.username}@${sharedKafka().saslTls}/${prefix}?ca=${ca}&mechanism=scram-sha-512`
    const check = async (log: string, env: Record<string, string> = {}) =>
      runCommand(['streams', 'apply', '--log', log], { env })
    expect(await check(`${url}&password-file=${secret}`)).toMatchObject({ code: 0 })
    expect(await check(url, { PROOFSTREAM_LOG_PASSWORD: saslUser.password })).toMatchObject({ code: 0 })
    expect(await check(url, { PROOFSTREAM_LOG_PASSWORD: 'wrong' })).toMatchObject({ code: 6 })
  })
})
