// What the URL of a log in Kafka says: how to reach the brokers, and which topics are its own.

import {
  type Environment,
  invalidOption,
  oneOf,
  type OptionUrl,
  passwordVariable,
  readOptionUrl,
  type TlsFiles,
  tlsFilesOf,
  type UrlOptions,
} from '../../node/options.ts'
import type { KafkaSasl } from './client.ts'

/** How to reach Kafka. */
export interface KafkaConfig {
  readonly brokers: readonly string[]
  readonly topicPrefix: string
  /** Of a log that is made. */
  readonly partitions: number
  readonly tls: TlsFiles | undefined
  readonly login: KafkaLogin | undefined
}

export interface KafkaLogin extends Omit<KafkaSasl, 'password'> {
  /** Itself, or the file that holds it. */
  readonly password: { readonly text: string } | { readonly file: string }
}

const form = {
  option: 'log',
  expected: 'kafka://host:9092,host:9092/prefix or kafka://user@host:9092/prefix',
  parameters: ['partitions', 'tls', 'ca', 'cert', 'key', 'mechanism', 'password-file'],
} as const

export const kafkaOptions: UrlOptions<KafkaConfig> = {
  name: 'kafka',
  text: 'or Apache Kafka, kafka://[user@]host:9092,host2:9092/prefix. The prefix begins the names of the topics (proofstream without one). Parameters after ? are partitions=<number> of a log that is made (8 without). TLS takes tls=true, ca=<file> (certificates of the authority of the brokers) and cert=<file>&key=<file> (the certificate of this node). A user takes mechanism=<plain, scram-sha-256 or scram-sha-512> and password-file=<file>. Without that file, the password is in PROOFSTREAM_LOG_PASSWORD',
  read: kafkaConfig,
}

function kafkaConfig(url: string, environment: Environment): KafkaConfig {
  const read = readOptionUrl(url, form)
  const { hosts, path, parameters } = read
  if (hosts.some(({ port }) => port === undefined)) {
    throw invalidOption(`Option 'log' has a broker that is not host:port; expected ${form.expected}.`)
  }
  const { partitions = '8' } = parameters
  if (!/^(?:[1-9]\d{0,2}|1000)$/.test(partitions)) {
    throw invalidOption(`Option 'log' has partitions=${partitions}; expected 1 to 1000.`)
  }
  const topicPrefix = path === '' ? 'proofstream' : path
  if (!/^[A-Za-z0-9._-]{1,200}$/.test(topicPrefix)) {
    throw invalidOption(`Option 'log' has the prefix '${topicPrefix}'; expected letters, digits, '.', '_' and '-'.`)
  }
  const files = tlsFilesOf(form.option, parameters)
  const hasFiles = Object.keys(files).length > 0
  const wantsTls = oneOf(form.option, 'tls', parameters.tls ?? String(hasFiles), ['true', 'false']) === 'true'
  if (hasFiles && !wantsTls) throw invalidOption("Option 'log' names files for TLS, and tls=false.")
  return {
    brokers: hosts.map(({ text }) => text),
    topicPrefix,
    partitions: Number(partitions),
    tls: wantsTls ? files : undefined,
    login: loginOf(read, environment[passwordVariable]),
  }
}

function loginOf({ user: username, parameters }: OptionUrl<string>, text: string | undefined): KafkaLogin | undefined {
  const { mechanism: wanted, 'password-file': file } = parameters
  if (username === undefined) {
    if ((wanted ?? file ?? text) === undefined) return undefined
    throw invalidOption("Option 'log' has a password or a mechanism, but no user: kafka://user@host:9092.")
  }
  if (text !== undefined && file !== undefined) {
    throw invalidOption(`The password of 'log' is given twice: in ${passwordVariable} and as password-file.`)
  }
  if ((file ?? text) === undefined) {
    throw invalidOption(`Option 'log' has a user without a password: set ${passwordVariable}, or password-file=<file>.`)
  }
  const password = text === undefined ? { file: file ?? '' } : { text }
  const mechanism = oneOf(form.option, 'mechanism', wanted ?? 'plain', ['plain', 'scram-sha-256', 'scram-sha-512'])
  return { mechanism, username, password }
}
