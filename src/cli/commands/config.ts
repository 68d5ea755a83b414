// `config`: every option of a node with its value and where that comes from. `streams`: the topics of Kafka beside their
// contracts. No node is asked.

import { kafkaOptions } from '../../drivers/kafka/options.ts'
import {
  type Config,
  fromPlain,
  type JsonValue,
  type OptionValue,
  type ReadOption,
  readOptions,
  refuseIdleOptions,
  variableOf,
} from '../../index.ts'
import { settingsOf } from '../../node/options.ts'
import { placesOf } from '../../node/open-storage.ts'
import type { CommandContext, NodeOptions } from '../context.ts'
import { CommandFailure, exitCodes, failureOf, note } from '../failure.ts'
import { objectOf } from '../json-values.ts'
import { printObjects } from '../output.ts'

const masked = '********'

/** Prints what `serve` would run with. Throws NodeError `InvalidParameter` where `serve` would. */
export async function showConfig(context: CommandContext, { flags, configFile }: NodeOptions): Promise<number> {
  const config = context.entry.loadConfig(flags, configFile)
  const options = readOptions(flags, configFile)
  refuseIdleOptions(options)
  const rows = options.map((option): JsonValue => {
    const { row, source } = option
    const shown = shownValue(option, config) ?? null
    // A column of numbers alone is aligned as such; this one is of everything.
    const value = context.form === 'table' && typeof shown === 'number' ? String(shown) : fromPlain(shown)
    return objectOf({ option: row.name, value, source, variable: variableOf(row) })
  })
  printObjects(context.form, ['option', 'value', 'source', 'variable'], rows)
  return exitCodes.done
}

/** The value; where none is given, what the node takes instead. */
function shownValue({ row, value }: ReadOption, config: Config): OptionValue | undefined {
  if (value !== undefined) return row.isSecret === true ? masked : value
  const { store, nodeKey } = placesOf(config)
  switch (row.name) {
    case 'store':
      return store
    case 'node-key':
      return nodeKey
    case 'anonymous-read':
      return config.anonymousRead
    case 'cors-origins':
      return config.loopbackOnly ? 'loopback origins' : 'any'
    case 'kafka-tls':
      return settingsOf(config.settings, kafkaOptions)?.tls !== undefined
    default:
      return undefined
  }
}

/** Compares the topics, after `apply` has changed them; what differs goes to stdout. */
export async function runStreams(
  context: CommandContext,
  action: 'check' | 'apply',
  { flags, configFile }: NodeOptions,
): Promise<number> {
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...flags, log: 'kafka' }, configFile)
  const { openStreams } = await import('../../node/open-storage.ts')
  const streams = await openStreams(config)
  const topics = await (action === 'apply' ? streams.apply() : streams.compare()).catch(unreachable)
  const rows = topics.flatMap(({ differences }) => differences).map((one): JsonValue => objectOf({ ...one }))
  if (rows.length > 0) printObjects(context.form, ['topic', 'setting', 'found', 'wanted'], rows)
  for (const { topic, partitions, replicas, differences } of topics) {
    if (differences.length === 0) note(`${topic} fits its contract (partitions: ${partitions}, copies: ${replicas})`)
  }
  return rows.length > 0 ? exitCodes.conflict : exitCodes.done
}

/** Brokers that do not answer are no fault of this machine. */
function unreachable(error: unknown): never {
  const { message, details } = failureOf(error)
  throw new CommandFailure(exitCodes.unreachable, message, { ...details, retryable: true })
}
