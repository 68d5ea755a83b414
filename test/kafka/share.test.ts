// Builders that share the partitions of a topic by a group, on a broker that they share with other tests.

import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { openKafkaLog } from '../../src/log/kafka-log.ts'
import { openKafkaShare } from '../../src/log/kafka-share.ts'
import { kafkaLogOptions, listeningLogger, newPrefix, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'

const partitions = 8
const all = Array.from({ length: partitions }, (_, number) => number)

interface Sharer {
  readonly given: () => readonly number[] | undefined
  readonly lines: readonly string[]
  readonly leave: () => Promise<void>
}

const joined: Sharer[] = []

/** A builder's part in the group `group` of a topic. */
function share(topicPrefix: string, group: string, brokers = [sharedKafka().broker]): Sharer {
  const { logger, lines } = listeningLogger()
  const stop = new AbortController()
  const told = openKafkaShare({ connection: { brokers }, clock: systemClock, logger, topicPrefix, partitions, group })
  let given: readonly number[] | undefined
  const done = (async () => {
    for await (const numbers of told.assignments(stop.signal)) given = numbers
  })()
  const sharer: Sharer = {
    given: () => given,
    lines,
    leave: async () => {
      stop.abort()
      await done
    },
  }
  joined.push(sharer)
  return sharer
}

/** Waits until `sharers` have all partitions among them, each once; resolves with how long that took. */
async function spread(sharers: readonly Sharer[]): Promise<number> {
  const fromMs = performance.now()
  const counts = sharers.map((_, at) => Math.floor((partitions + at) / sharers.length))
  await expect
    .poll(() => sharers.map(({ given }) => given()?.length ?? -1).sort((a, b) => a - b), { timeout: 20_000 })
    .toEqual(counts.sort((a, b) => a - b))
  expect(sharers.flatMap(({ given }) => given() ?? []).sort((a, b) => a - b)).toEqual(all)
  return performance.now() - fromMs
}

async function newTopic(): Promise<string> {
  const options = kafkaLogOptions({ partitions })
  await (await openKafkaLog(options)).close()
  return options.topicPrefix ?? ''
}

describe.skipIf(noKafka)('sharing partitions through Kafka', () => {
  afterEach(async () => {
    await Promise.all(joined.splice(0).map(({ leave }) => leave()))
  })

  test('one alone has all, two have halves, and who stays keeps what it has when the other leaves', async () => {
    const prefix = await newTopic()
    const first = share(prefix, prefix)
    await spread([first])
    const second = share(prefix, prefix)
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
    const sharers = [share(prefix, prefix), share(prefix, prefix)]
    await spread(sharers)
    const before = sharers.map(({ given }) => given())
    await systemClock.sleep(20_000)
    expect(sharers.map(({ given }) => given())).toEqual(before)
    expect(sharers.flatMap(({ lines }) => lines).filter((line) => line.includes('cannot be asked'))).toEqual([])
  })

  test('more builders than partitions: some stand by with nothing, and step in', async () => {
    const prefix = await newTopic()
    const sharers = Array.from({ length: partitions + 2 }, () => share(prefix, prefix))
    await spread(sharers)
    const idle = sharers.filter(({ given }) => given()?.length === 0)
    expect(idle).toHaveLength(2)
    const busy = sharers.filter((one) => !idle.includes(one))
    await Promise.all(busy.slice(0, 3).map(({ leave }) => leave()))
    await spread(sharers.filter((one) => !busy.slice(0, 3).includes(one)))
  })

  test('builders of another group have partitions of their own', async () => {
    const prefix = await newTopic()
    const [ours, theirs] = [share(prefix, `${prefix}-a`), share(prefix, `${prefix}-b`)]
    await spread([ours])
    await spread([theirs])
  })

  test('who can ask nobody builds everything', async () => {
    const alone = share(newPrefix(), 'nobody', ['127.0.0.1:1'])
    await spread([alone])
    await expect.poll(() => alone.lines.join('\n')).toContain('the group of builders cannot be asked')
  })
})
