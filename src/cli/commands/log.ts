// `log adopt` gives up one log of a store for another; no node may run. `log reject` ends a halt by one message; running
// builders take it within 10 s. `streams apply` makes the topics of a log in Kafka what their contracts say. No node is asked.

import type { JsonValue } from '../../index.ts'
import type { CommandContext, StoredOptions } from '../context.ts'
import { CommandFailure, exitCodes, failureOf, note } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { printObject, printObjects } from '../output.ts'

export interface AdoptCommand extends StoredOptions {
  readonly old: string
  readonly next: string
  readonly acceptLoss?: boolean
}

const columns = ['partition', 'from', 'to', 'dataset', 'reason']

/** What is given up goes to stdout. Throws CommandFailure (conflict) when that is something and loss is not accepted. */
export async function adoptLog(context: CommandContext, command: AdoptCommand): Promise<number> {
  const { adopt, logNameOf } = await import('../../app/upkeep/repair.ts')
  const [old, next] = [await logNameOf(command.old), await logNameOf(command.next)]
  if (old.kind !== 'id') note(`building what ${command.old} still holds`)
  const adoption = await adopt(command.config, { old, next, acceptLoss: command.acceptLoss === true })
  const givenUp = adoption.givenUp.map(({ partition, from, to, dataset, reason }): JsonValue => {
    return objectOf({ partition, from, to, dataset, reason })
  })
  if (givenUp.length > 0) printObjects(context.form, columns, givenUp)
  if (adoption.outcome === 'refused') {
    throw new CommandFailure(exitCodes.conflict, `Log ${adoption.old} holds or held messages that cannot be built.`, {
      facts: adoption.givenUp.map(givenUpText),
      hint: 'Nothing was changed. Give them up with --accept-loss, or bring the log back.',
    })
  }
  note(`log ${adoption.old} ${adoption.outcome === 'adopted' ? 'is' : 'was'} given up for log ${adoption.new}`)
  if (adoption.outcome === 'adopted') note(lossText(adoption.givenUp.length))
  return exitCodes.done
}

function lossText(ranges: number): string {
  return ranges === 0 ? 'nothing is lost' : `${ranges === 1 ? 'one range is' : `${ranges} ranges are`} lost`
}

function givenUpText(lost: {
  readonly partition: number
  readonly from: number
  readonly to?: number
  readonly dataset?: string
  readonly reason: string
}): string {
  const { partition, from, to, dataset, reason } = lost
  const whose = dataset === undefined ? '' : ` of ${dataset}`
  return `partition ${partition}: messages from ${from} ${to === undefined ? 'on' : `to below ${to}`}${whose} (${reason})`
}

export interface RejectCommand {
  readonly position: number
  readonly reason: string
  /** Whose message it is; without one it is a message that cannot be read, of a partition of a log. */
  readonly dataset?: string | undefined
  readonly partition?: number | undefined
  readonly log?: string | undefined
}

/** What was written goes to stdout. */
export async function reject(context: CommandContext, command: RejectCommand & StoredOptions): Promise<number> {
  const { dataset, partition, log, position, reason, config } = command
  if (dataset !== undefined && (partition ?? log) !== undefined) {
    throw new CommandFailure(
      exitCodes.usage,
      'A dataset says which log it is of: --partition and --log go without one.',
    )
  }
  const { rejectMessage } = await import('../../app/upkeep/repair.ts')
  const of = dataset === undefined ? { log, partition: partition ?? 0 } : { dataset }
  const { outcome, record, ...place } = await rejectMessage(config, { position, reason, ...of })
  const word = { dataset: record.dataset, reason: record.reason, by: record.by, at: record.at }
  printObject(context.form, objectOf({ ...place, ...word }))
  note(
    outcome === 'rejected'
      ? `message ${position} is rejected; running builders go on within 10 s, others when they start`
      : `message ${position} was rejected before, by ${record.by}`,
  )
  return exitCodes.done
}

/** Changes the topics, but in a dry run, and compares them; what differs then goes to stdout. */
export async function applyStreams(
  context: CommandContext,
  { dryRun = false, config }: StoredOptions & { readonly dryRun?: boolean },
): Promise<number> {
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
