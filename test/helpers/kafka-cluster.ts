// Three brokers that are controllers too, for faults that one broker cannot show.

import { must } from '../../src/libraries/base/assert.ts'
import { Broker, freePorts, newClusterId } from './kafka-broker.ts'

export class KafkaCluster {
  readonly brokers: readonly Broker[]

  private constructor(brokers: readonly Broker[]) {
    this.brokers = brokers
  }

  static async start(): Promise<KafkaCluster> {
    const ids = [1, 2, 3]
    const ports = await freePorts(6)
    const voters = ids.map((id) => `${id}@127.0.0.1:${ports[2 + id]}`).join(',')
    const clusterId = newClusterId()
    const brokers = await Promise.all(
      ids.map((nodeId) => {
        const port = must(ports[nodeId - 1], 'a port')
        return Broker.create({
          nodeId,
          clusterId,
          voters,
          replicas: 3,
          port,
          controllerPort: must(ports[2 + nodeId], 'a port'),
        })
      }),
    )
    const cluster = new KafkaCluster(brokers)
    for (const broker of brokers) broker.spawn()
    await cluster.ready()
    return cluster
  }

  get addresses(): string[] {
    return this.brokers.map(({ address }) => address)
  }

  broker(nodeId: number): Broker {
    return must(
      this.brokers.find((one) => one.nodeId === nodeId),
      `there is a broker ${nodeId}`,
    )
  }

  /** Resolves when every broker knows all three. */
  async ready(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.ready(3)))
  }

  async remove(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.remove()))
  }
}
