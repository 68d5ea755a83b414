// Before the Kafka tests: one real broker for all of them, with plain, SASL and TLS listeners, and one of both. Without Java and Maven
// the tests say loudly that they did not run; in CI that is a failure.

import type { TestProject } from 'vitest/node'
import { Broker } from '../helpers/kafka-broker.ts'
import { missingKafkaTools } from '../helpers/kafka-broker-tools.ts'

/** The shared broker. */
export interface SharedKafka {
  readonly broker: string
  readonly sasl: string
  readonly tls: string
  readonly saslTls: string
  readonly certificate: string
  readonly clusterId: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** `null` when the machine cannot run a broker. */
    kafka: SharedKafka | null
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = missingKafkaTools()
  if (missing !== undefined) {
    if (process.env['CI'] === 'true') throw new Error(`The Kafka tests need ${missing}.`)
    const line = '='.repeat(78)
    process.stderr.write(
      `\n${line}\nKAFKA TESTS DID NOT RUN: ${missing} not found; the Kafka log is NOT tested.\n${line}\n\n`,
    )
    project.provide('kafka', null)
    return async () => {}
  }
  const broker = await Broker.start({ secured: true })
  project.provide('kafka', {
    broker: broker.address,
    sasl: `127.0.0.1:${broker.saslPort}`,
    tls: `127.0.0.1:${broker.tlsPort}`,
    saslTls: `127.0.0.1:${broker.saslTlsPort}`,
    certificate: broker.certificate,
    clusterId: broker.clusterId,
  })
  return () => broker.remove()
}
