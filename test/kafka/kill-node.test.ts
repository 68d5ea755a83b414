// A node with its log in Kafka is killed under load, again and again: the same promises as with a log of its own.

import { describe } from 'vitest'
import { testKills } from '../crash/kills.ts'
import { kafkaUrl, newPrefix, noKafka } from '../helpers/kafka-shared.ts'

const topicPrefix = newPrefix()

describe.skipIf(noKafka)('with the log in Kafka', () => {
  testKills(() => ({ log: kafkaUrl(topicPrefix, 4) }))
})
