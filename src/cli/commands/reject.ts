// `dataset reject` and `log reject`: an operator's way out of a halt by one message. No node is asked; running builders
// take it within 10 s.

import type { CommandContext } from '../context.ts'
import { exitCodes, note } from '../failure.ts'
import { numberOf, objectOf } from '../json-values.ts'
import { printObject } from '../output.ts'
import type { ServeOptions } from './serve.ts'

/** What is rejected: as `RejectOptions` of the composition root, which is loaded only when the command runs. */
export interface RejectCommand extends ServeOptions {
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
  const place = { log, partition: numberOf(partition), position: numberOf(position) }
  printObject(context.form, objectOf({ ...place, dataset, reason, by, at }))
  note(
    outcome === 'rejected'
      ? `message ${position} is rejected; running builders go on within 10 s, others when they start`
      : `message ${position} was rejected before, by ${by}`,
  )
  return exitCodes.done
}
