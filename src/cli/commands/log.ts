// `log adopt` gives up one log of a store for another; no node may run. `dataset reject` and `log reject` end a halt by
// one message; running builders take it within 10 s. No node is asked.

import type { JsonValue } from '../../index.ts'
import type { CommandContext, NodeOptions } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { objectOf } from '../json-values.ts'
import { printObject, printObjects } from '../output.ts'

export interface AdoptCommand extends NodeOptions {
  readonly old: string
  readonly next: string
  readonly acceptLoss: boolean
}

const columns = ['partition', 'from', 'to', 'dataset', 'reason']

/** What is given up goes to stdout. Throws CommandFailure (conflict) when that is something and loss is not accepted. */
export async function adoptLog(context: CommandContext, command: AdoptCommand): Promise<number> {
  const { adopt, logNameOf } = await import('../../repair.ts')
  const [old, next] = [logNameOf(command.old), logNameOf(command.next)]
  const log = old.kind === 'kafka' || next.kind === 'kafka' ? 'kafka' : 'file'
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...command.flags, log }, command.configFile)
  if (old.kind !== 'id') note(`building what ${command.old} still holds`)
  const adoption = await adopt(config, { old, next, acceptLoss: command.acceptLoss })
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

/** What is rejected: as `RejectOptions` of the composition root, which is loaded only when the command runs. */
export interface RejectCommand extends NodeOptions {
  readonly what: { readonly reason: string; readonly position: number } & (
    | { readonly dataset: string }
    | { readonly log?: string | undefined; readonly partition: number }
  )
}

/** What was written goes to stdout. */
export async function reject(context: CommandContext, { what, flags, configFile }: RejectCommand): Promise<number> {
  const { rejectMessage } = await import('../../repair.ts')
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...flags }, configFile)
  const { outcome, log, partition, position, record } = await rejectMessage(config, what)
  const { dataset, reason, by, at } = record
  printObject(context.form, objectOf({ log, partition, position, dataset, reason, by, at }))
  note(
    outcome === 'rejected'
      ? `message ${position} is rejected; running builders go on within 10 s, others when they start`
      : `message ${position} was rejected before, by ${by}`,
  )
  return exitCodes.done
}
