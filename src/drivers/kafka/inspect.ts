// The brokers of Kafka that an installation depends on, and their topics beside their contracts.

import { NodeError } from '../../libraries/base/errors.ts'
import type { Streams, TopicState } from '../../node/driver.ts'
import { fail, type Finding, ok, warn } from '../../node/upkeep/finding.ts'

const copiesWanted = 3

/** Asks the brokers. */
export async function inspectKafka(open: () => Promise<Streams>): Promise<readonly Finding[]> {
  try {
    const streams = await open()
    const { clusterId, brokers } = await streams.cluster()
    const topics = await streams.compare()
    return [clusterFinding(clusterId, brokers), ...topics.map(topicFinding)]
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const hint = error.details.hint ?? 'Check the brokers that --log names, and that the brokers run.'
    return [{ ...fail('kafka', error.message, hint), isRemote: true }]
  }
}

function clusterFinding(clusterId: string, brokers: number): Finding {
  const found = `Cluster ${clusterId} has ${brokers} ${brokers === 1 ? 'broker' : 'brokers'}.`
  if (brokers >= copiesWanted) return ok('kafka', found)
  const survives = 'What is logged survives the kill of a broker, not a loss of power of all.'
  return warn('kafka', `${found} ${survives}`, `Run ${copiesWanted} brokers or more, in different places.`)
}

function topicFinding({ topic, partitions, replicas, differences }: TopicState): Finding {
  if (partitions === 0) {
    const found = `${topic} is not there yet; the first start makes it.`
    return warn('topic', found, 'To make it before: proofstream streams apply')
  }
  if (differences.length > 0) {
    const told = differences.map((one) => `${one.setting} is ${one.found || 'not set'}, must be ${one.wanted}`)
    return fail('topic', `${topic} differs from its contract: ${told.join('; ')}.`, 'Run: proofstream streams apply')
  }
  const found = `${topic} fits its contract (partitions: ${partitions}, copies: ${replicas}).`
  return replicas >= copiesWanted
    ? ok('topic', found)
    : warn('topic', found, `Raise it to ${copiesWanted} copies, with Kafka's own tools.`)
}
