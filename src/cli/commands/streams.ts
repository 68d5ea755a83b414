// `streams`: the topics of Kafka beside their contracts. No node is asked.

import type { JsonValue } from '../../index.ts'
import type { CommandContext, NodeOptions } from '../context.ts'
import { CommandFailure, exitCodes, failureOf, note } from '../failure.ts'
import { objectOf } from '../json-values.ts'
import { printObjects } from '../output.ts'

/** Changes the topics, but in a dry run, and compares them; what differs then goes to stdout. */
export async function applyStreams(
  context: CommandContext,
  { dryRun, flags, configFile }: NodeOptions & { readonly dryRun: boolean },
): Promise<number> {
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...flags }, configFile)
  const { openStreams } = await import('../../app/open-storage.ts')
  const streams = await openStreams(config)
  const topics = await (dryRun ? streams.compare() : streams.apply()).catch(unreachable)
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
