// What a real Apache Kafka needs on this machine: Java, and Maven or its jars.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mavenJars, missingJava, missingMaven } from './maven-jars.ts'

const kafkaDirectory = fileURLToPath(new URL('../kafka/', import.meta.url))

export const log4jProperties = join(kafkaDirectory, 'log4j2.properties')

/** What is missing to run a broker, or undefined when everything is there. */
export function missingKafkaTools(): string | undefined {
  return missingJava() ?? (process.env['PROOFSTREAM_KAFKA_JARS'] === undefined ? missingMaven() : undefined)
}

/** Directory with the broker's jars; fetched once. */
export async function kafkaJars(): Promise<string> {
  return process.env['PROOFSTREAM_KAFKA_JARS'] ?? mavenJars(join(kafkaDirectory, 'pom.xml'), 'kafka')
}
