// Builders' parts in a group that shares partitions, without the building: who is given what, and how soon.

import { expect } from 'vitest'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { openKafkaAssignment } from '../../src/drivers/kafka/assignment.ts'
import type { KafkaConnection } from '../../src/drivers/kafka/client.ts'
import { listeningLogger } from './kafka-shared.ts'

/** Partitions of the topics that are shared. */
export const partitions = 8
const all = Array.from({ length: partitions }, (_, number) => number)

export interface Sharer {
  readonly given: () => readonly number[] | undefined
  /** What it logged. */
  readonly lines: readonly string[]
  readonly leave: () => Promise<void>
}

const joined: Sharer[] = []

/** A builder's part in the group `group` of the topic with this prefix. */
export function share(connection: KafkaConnection, topicPrefix: string, group = topicPrefix): Sharer {
  const { logger, lines } = listeningLogger()
  const stop = new AbortController()
  const told = openKafkaAssignment({ connection, clock: systemClock, logger, topicPrefix, partitions, group })
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

/** All that were made since the last time leave. */
export async function leaveAll(): Promise<void> {
  await Promise.all(joined.splice(0).map(({ leave }) => leave()))
}

/** Waits until `sharers` have all partitions among them, each once; resolves with how long that took, milliseconds. */
export async function spread(sharers: readonly Sharer[]): Promise<number> {
  const fromMs = performance.now()
  const counts = sharers.map((_, at) => Math.floor((partitions + at) / sharers.length)).sort((a, b) => a - b)
  const wanted = { counts, all }
  const found = (): typeof wanted => {
    const given = sharers.map((sharer) => sharer.given() ?? [])
    return {
      counts: given.map(({ length }) => length).sort((a, b) => a - b),
      all: given.flat().sort((a, b) => a - b),
    }
  }
  await expect.poll(found).toEqual(wanted)
  return performance.now() - fromMs
}
