// The topics of an installation: made with the settings of `streams/asyncapi.json`, or checked against them.
// A topic whose settings could lose or reorder messages is refused, with the differences named.

import type { TopicDifference, TopicState } from '../../node/driver.ts'
import kafkajs from 'kafkajs'
import type { Admin, Kafka } from 'kafkajs'
import type { Logger } from '../../libraries/base/logger.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { topicContract, type TopicSettings } from '../../node/log/messages.ts'
import { hasType } from './errors.ts'

export type TopicNames = Readonly<Record<'records' | 'commits', string>>

export interface TopicsOptions {
  readonly kafka: Kafka
  readonly logger: Logger
  readonly names: TopicNames
  /** Partitions of the records topic when it is made; an existing one keeps its number. */
  readonly partitions: number
}

const channels = ['records', 'commits'] as const
type Channel = (typeof channels)[number]

const replicasWanted = 3
/** How the broker says that a setting is the topic's own. */
const ofTheTopic = 1

/** Names of the topics: those of the contract, with `prefix` for their first word. */
export function topicNames(prefix: string): TopicNames {
  const name = (channel: Channel): string => topicContract(channel).address.replace(/^proofstream(?=\.)/, prefix)
  return { records: name('records'), commits: name('commits') }
}

/**
 * Makes the topics that are missing and checks the others; resolves with the identity of the cluster and the number
 * of partitions of the records topic. Throws NodeError `InvalidParameter` that names each difference.
 */
export async function ensureTopics(
  options: TopicsOptions,
): Promise<{ clusterId: string; partitions: number; replicas: number; retentionMs: number }> {
  return withAdmin(options.kafka, async (admin) => {
    const { clusterId, brokers } = await admin.describeCluster()
    for (const channel of channels) await create(admin, channel, brokers.length, options)
    const records = await check(admin, options.names.records, 'records')
    const commits = await check(admin, options.names.commits, 'commits')
    const differences = [...records.differences, ...commits.differences]
    if (differences.length > 0) throw contradiction(differences)
    const { partitions, replicas, retentionMs } = records
    return { clusterId, partitions, replicas, retentionMs }
  })
}

/** Who the brokers are together, and how many of them there are now. */
export async function describeBrokers(kafka: Kafka): Promise<{ clusterId: string; brokers: number }> {
  const { clusterId, brokers } = await withAdmin(kafka, (admin) => admin.describeCluster())
  return { clusterId, brokers: brokers.length }
}

/** Compares the topics with their contracts; changes nothing. */
export async function compareTopics({ kafka, names }: Pick<TopicsOptions, 'kafka' | 'names'>): Promise<TopicState[]> {
  return withAdmin(kafka, async (admin) => {
    const held = await admin.listTopics()
    return Promise.all(
      channels.map(async (channel): Promise<TopicState> => {
        const topic = names[channel]
        if (held.includes(topic)) return { topic, ...(await check(admin, topic, channel)) }
        const missing = { topic, setting: 'topic', found: '', wanted: 'to be there' }
        return { topic, partitions: 0, replicas: 0, differences: [missing] }
      }),
    )
  })
}

/** Makes the topics that are missing and sets what differs in the others; resolves with what still differs. */
export async function applyTopics(options: TopicsOptions): Promise<TopicState[]> {
  await withAdmin(options.kafka, async (admin) => {
    const { brokers } = await admin.describeCluster()
    for (const channel of channels) {
      const topic = options.names[channel]
      await create(admin, channel, brokers.length, options)
      const found = await check(admin, topic, channel)
      if (found.differences.length > 0) await setSettings(admin, topic, wantedSettings(channel, found.replicas))
    }
  })
  return compareTopics(options)
}

/** Adds `settings` to those that the topic has of its own: the broker drops what is not named. */
async function setSettings(admin: Admin, topic: string, settings: ReadonlyMap<string, string>): Promise<void> {
  const type = kafkajs.ConfigResourceTypes.TOPIC
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name: topic }] })
  const own = (resources[0]?.configEntries ?? []).filter(({ configSource }) => Number(configSource) === ofTheTopic)
  const all = new Map([...own.map((one) => [one.configName, one.configValue] as const), ...settings])
  const configEntries = [...all].map(([name, value]) => ({ name, value }))
  await admin.alterConfigs({ validateOnly: false, resources: [{ type, name: topic, configEntries }] })
}

async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

/** Makes the topic of a channel, unless it is there. */
async function create(admin: Admin, channel: Channel, brokers: number, options: TopicsOptions): Promise<void> {
  const topic = options.names[channel]
  const partitions = channel === 'records' ? options.partitions : 1
  const replicas = Math.min(replicasWanted, brokers)
  if ((await admin.listTopics()).includes(topic)) return
  const configEntries = [...wantedSettings(channel, replicas)].map(([name, value]) => ({ name, value }))
  try {
    const made = await admin.createTopics({
      waitForLeaders: true,
      topics: [{ topic, numPartitions: partitions, replicationFactor: replicas, configEntries }],
    })
    if (made) options.logger.info({ topic, partitions, replicas }, 'topic made')
  } catch (error) {
    // Another process may have made it at the same moment.
    if (!hasType(error, 'TOPIC_ALREADY_EXISTS')) throw error
  }
}

/** Settings of the contract for a topic with `replicas` copies. */
function wantedSettings(channel: Channel, replicas: number): Map<string, string> {
  const { settings } = topicContract(channel)
  const valueOf = (name: string, value: string): string =>
    name === 'min.insync.replicas' ? String(Math.min(Number(value), replicas)) : value
  return new Map(Object.entries(settings).map(([name, value]) => [name, valueOf(name, value)]))
}

interface Checked {
  readonly differences: TopicDifference[]
  readonly partitions: number
  readonly replicas: number
  /** Infinity: without end. */
  readonly retentionMs: number
}

async function check(admin: Admin, topic: string, channel: Channel): Promise<Checked> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  const partitions = topics[0]?.partitions ?? []
  const replicas = Math.min(...partitions.map((one) => one.replicas.length))
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
  })
  const found = new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]))
  const differences = differencesOf(topicContract(channel).settings, found, replicas)
  const kept = Number(found.get('retention.ms'))
  const retentionMs = kept >= 0 ? kept : Number.POSITIVE_INFINITY
  return {
    differences: differences.map((one) => ({ topic, ...one })),
    partitions: partitions.length,
    replicas,
    retentionMs,
  }
}

/** Settings that must be at least the contract's; -1 of a retention means without end. */
const atLeast: ReadonlySet<string> = new Set(['retention.ms', 'max.message.bytes', 'min.insync.replicas'])

/** Differences of a topic's settings, with `replicas` copies, from those of the contract. */
export function differencesOf(
  wanted: TopicSettings,
  found: ReadonlyMap<string, string>,
  replicas: number,
): Omit<TopicDifference, 'topic'>[] {
  const out: Omit<TopicDifference, 'topic'>[] = []
  for (const [setting, value] of Object.entries(wanted)) {
    const has = found.get(setting) ?? ''
    if (!atLeast.has(setting)) {
      if (has !== value) out.push({ setting, found: has, wanted: value })
      continue
    }
    const least = setting === 'min.insync.replicas' ? Math.min(Number(value), replicas) : Number(value)
    const isUnbounded = setting === 'retention.ms' && has === '-1'
    if (!isUnbounded && !(Number(has) >= least)) out.push({ setting, found: has, wanted: `at least ${least}` })
  }
  return out
}

function contradiction(differences: readonly TopicDifference[]): NodeError {
  const lines = differences.map(
    ({ topic, setting, found, wanted }) =>
      `${topic}: ${setting} is ${found === '' ? 'not set' : found}, must be ${wanted}`,
  )
  return new NodeError('InvalidParameter', `Topics of Kafka have settings that could lose data. ${lines.join('; ')}.`, {
    hint: 'Change the settings of the topics, or give --log another prefix.',
  })
}
