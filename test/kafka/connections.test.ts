// Connections to Kafka: as many as are needed, and none left open, which would keep a process from ending.

import { connect, type Socket } from 'node:net'
import type { ISocketFactory } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { openKafkaLog } from '../../src/log/kafka/kafka-log.ts'
import { until } from '../builder/support.ts'
import { kafkaLogOptions, noKafka, sharedKafka } from '../helpers/kafka-shared.ts'

describe.skipIf(noKafka)('connections', () => {
  test('end with the log, also those for messages of many partitions that were asked for at once', async () => {
    const partitions = 4
    const all = Array.from({ length: partitions }, (_, partition) => partition)
    const options = kafkaLogOptions({ partitions })
    const writing = await openKafkaLog(options)
    for (const partition of all) await writing.append(partition, [Uint8Array.of(partition)])
    await writing.close()

    const sockets: Socket[] = []
    const socketFactory: ISocketFactory = ({ host, port, onConnect }) => {
      const socket = connect(port, host, onConnect)
      sockets.push(socket)
      return socket
    }
    const brokers = [sharedKafka().broker]
    const reading = await openKafkaLog({ ...options, connection: { brokers, socketFactory } })
    const found = await Promise.all(all.map((partition) => reading.get(partition, 0)))
    expect(found).toEqual(all.map((partition) => Buffer.of(partition)))
    await reading.close()
    await until('every connection has ended', () => sockets.every((socket) => socket.destroyed))
  })
})
