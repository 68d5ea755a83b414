// Builders that share the partitions of a topic by a group, on a broker that they share with other tests.

import type { Socket } from 'node:net'
import type { ISocketFactory } from 'kafkajs'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { openKafkaAnnouncements } from '../../src/drivers/kafka/announcements.ts'
import { openKafkaLog } from '../../src/drivers/kafka/kafka-log.ts'
import { KafkaProxy } from '../helpers/kafka-proxy.ts'
import { kafkaLogOptions, newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'
import { leaveAll, partitions, share, spread } from '../helpers/kafka-sharers.ts'

/** Keys of the requests that concern a group: its coordinator, joining, heartbeats, leaving, assignments. */
const groupKeys = [10, 11, 12, 13, 14]

function connection(): { brokers: string[] } {
  return { brokers: [sharedKafka().broker] }
}

async function newTopic(): Promise<string> {
  const options = kafkaLogOptions({ partitions })
  await (await openKafkaLog(options)).close()
  return options.topicPrefix ?? ''
}

describe.skipIf(noKafka)('sharing partitions through Kafka', () => {
  afterEach(leaveAll)

  test('one alone has all, two have halves, and who stays keeps what it has when the other leaves', async () => {
    const prefix = await newTopic()
    const first = share(connection(), prefix)
    await spread([first])
    const second = share(connection(), prefix)
    const joinMs = await spread([first, second])
    const kept = [...(first.given() ?? [])]
    await second.leave()
    const leaveMs = await spread([first])
    expect(first.given()).toEqual(expect.arrayContaining(kept))
    console.log(`shared after ${Math.round(joinMs)} ms, taken over after ${Math.round(leaveMs)} ms`)
    expect(leaveMs).toBeLessThan(5_000)
  })

  test('who hears nothing new stays a member', async () => {
    const prefix = await newTopic()
    const sharers = [share(connection(), prefix), share(connection(), prefix)]
    await spread(sharers)
    const before = sharers.map(({ given }) => given())
    await systemClock.sleep(20_000)
    expect(sharers.map(({ given }) => given())).toEqual(before)
    expect(sharers.flatMap(({ lines }) => lines).filter((line) => line.includes('cannot be asked'))).toEqual([])
  })

  test('more builders than partitions: some stand by with nothing, and step in', async () => {
    const prefix = await newTopic()
    const sharers = Array.from({ length: partitions + 2 }, () => share(connection(), prefix))
    await spread(sharers)
    const idle = sharers.filter(({ given }) => given()?.length === 0)
    expect(idle).toHaveLength(2)
    const busy = sharers.filter((one) => !idle.includes(one))
    await Promise.all(busy.slice(0, 3).map(({ leave }) => leave()))
    await spread(sharers.filter((one) => !busy.slice(0, 3).includes(one)))
  })

  test('builders of another group have partitions of their own', async () => {
    const prefix = await newTopic()
    const [ours, theirs] = [share(connection(), prefix, `${prefix}-a`), share(connection(), prefix, `${prefix}-b`)]
    await spread([ours])
    await spread([theirs])
  })

  test('who can ask nobody builds everything', async () => {
    const alone = share({ brokers: ['127.0.0.1:1'] }, newPrefix())
    await spread([alone])
    await expect.poll(() => alone.lines.join('\n')).toContain('the group of builders cannot be asked')
  })

  test('what was closed leaves no connection open', async () => {
    const prefix = await newTopic()
    const proxy = await KafkaProxy.before(sharedKafka().broker)
    const sockets: Socket[] = []
    const socketFactory: ISocketFactory = (asked) => {
      const socket = proxy.socketFactory(asked)
      sockets.push(socket)
      return socket
    }
    const options = kafkaLogOptions({ connection: { ...connection(), socketFactory }, topicPrefix: prefix })
    const log = await openKafkaLog(options)
    const announcements = openKafkaAnnouncements(options)
    const sharer = share(options.connection, prefix)
    await log.append(0, [new Uint8Array(1)])
    await spread([sharer])
    await sharer.leave()
    await announcements.close()
    await log.close()
    expect(sockets.length).toBeGreaterThan(3)
    expect(sockets.filter(({ destroyed }) => !destroyed)).toEqual([])
    await proxy.close()
  })

  test('who is cut off from the group goes on with what it has, then with everything, and shares again', async () => {
    const prefix = await newTopic()
    const proxy = await KafkaProxy.before(sharedKafka().broker)
    const cutOff = share({ ...connection(), socketFactory: proxy.socketFactory }, prefix)
    const other = share(connection(), prefix)
    await spread([cutOff, other])
    const before = cutOff.given()
    proxy.fate = (key) => (groupKeys.includes(key) ? 'before' : 'pass')
    await spread([other])
    expect(cutOff.given()).toEqual(before)
    const lostMs = await spread([cutOff])
    expect(other.given()).toHaveLength(partitions)
    proxy.fate = () => 'pass'
    const healedMs = await spread([cutOff, other])
    console.log(
      `built everything ${Math.round(lostMs)} ms after the other did, shared ${Math.round(healedMs)} ms after`,
    )
    await leaveAll()
    await proxy.close()
  })
})
