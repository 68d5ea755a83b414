// What the options say of Kafka: read, and held against each other.

import { defined } from '../../libraries/base/collections.ts'
import { invalidOption, type OptionGroup, type OptionRow, type OptionValues } from '../../node/options.ts'

const rows: readonly OptionRow[] = [
  { name: 'kafka-brokers', type: 'list', text: 'host:port of some Kafka brokers, for the kafka log' },
  { name: 'topic-prefix', type: 'text', default: 'proofstream', text: 'first word of the names of the Kafka topics' },
  { name: 'partitions', type: 'integer', default: 8, text: 'number of partitions when a Kafka log is created' },
  { name: 'kafka-tls', type: 'boolean', text: 'use TLS with Kafka (default: true if one of its files is given)' },
  { name: 'kafka-tls-ca', type: 'text', text: 'file with the certificates (PEM) of the authority of the brokers' },
  { name: 'kafka-tls-cert', type: 'text', text: 'file with the certificate (PEM) that this node shows to the brokers' },
  { name: 'kafka-tls-key', type: 'text', text: 'file with the key (PEM) of that certificate' },
  {
    name: 'kafka-sasl-mechanism',
    type: 'text',
    default: 'plain',
    values: ['plain', 'scram-sha-256', 'scram-sha-512'],
    text: 'login mechanism for Kafka, if a user name is given',
  },
  { name: 'kafka-sasl-username', type: 'text', text: 'user name for Kafka' },
  {
    name: 'kafka-sasl-password',
    type: 'text',
    isSecret: true,
    text: 'password for Kafka; better in the environment than in a flag',
  },
]

/** How to reach Kafka. TLS texts are names of files. */
export interface KafkaConfig {
  readonly brokers: readonly string[]
  readonly topicPrefix: string
  readonly partitions: number
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined
  readonly sasl:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
        readonly username: string
        readonly password: string
      }
    | undefined
}

export const kafkaOptions: OptionGroup<KafkaConfig> = {
  name: 'kafka',
  rows,
  needs: 'the log in Kafka: --log kafka',
  read: (values) => (values.get('log') === 'kafka' ? kafkaConfig(values) : undefined),
}

function kafkaConfig(values: OptionValues): KafkaConfig {
  // parseValue has given each option the type that its row names.
  const text = (name: string): string | undefined => values.get(name) as string | undefined
  const brokers = (values.get('kafka-brokers') as readonly string[] | undefined) ?? [] // a list by its row
  if (brokers.length === 0) throw invalidOption("Option 'kafka-brokers' is not given; the kafka log needs it.")
  for (const broker of brokers) {
    const isAddress = /^[^\s:[\]]+:\d{1,5}$|^\[[0-9a-fA-F:.]+\]:\d{1,5}$/.test(broker)
    if (!isAddress) throw invalidOption(`Option 'kafka-brokers' holds '${broker}'; expected host:port.`)
  }
  const partitions = values.get('partitions') as number // an integer by its row
  if (partitions < 1 || partitions > 1000)
    throw invalidOption(`Option 'partitions' is '${partitions}'; expected 1 to 1000.`)
  const topicPrefix = text('topic-prefix') ?? ''
  if (!/^[A-Za-z0-9._-]{1,200}$/.test(topicPrefix)) {
    throw invalidOption(`Option 'topic-prefix' is '${topicPrefix}'; expected letters, digits, '.', '_' and '-'.`)
  }
  const [ca, cert, key] = ['kafka-tls-ca', 'kafka-tls-cert', 'kafka-tls-key'].map(text)
  if ((cert === undefined) !== (key === undefined)) {
    throw invalidOption("Options 'kafka-tls-cert' and 'kafka-tls-key' belong together; only one is given.")
  }
  const files = {
    ...defined({ ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  }
  const wantsTls = (values.get('kafka-tls') as boolean | undefined) ?? Object.keys(files).length > 0 // boolean by its row
  const [username, password] = [text('kafka-sasl-username'), text('kafka-sasl-password')]
  if ((username === undefined) !== (password === undefined)) {
    throw invalidOption("Options 'kafka-sasl-username' and 'kafka-sasl-password' belong together; only one is given.")
  }
  const mechanism = text('kafka-sasl-mechanism') as NonNullable<KafkaConfig['sasl']>['mechanism'] // checked against its values
  const sasl = username === undefined || password === undefined ? undefined : { mechanism, username, password }
  return { brokers, topicPrefix, partitions, tls: wantsTls ? files : undefined, sasl }
}
