// The Kafka log against the contract of event logs, on a real broker.

import { describe } from 'vitest'
import { openKafkaLog } from '../../src/log/kafka/kafka-log.ts'
import { kafkaLogOptions, noKafka } from '../helpers/kafka-shared.ts'
import { describeEventLog } from '../log/contract-suite.ts'

describe.skipIf(noKafka)('on a broker', () => {
  describeEventLog('the Kafka log', () => openKafkaLog(kafkaLogOptions()))
})
