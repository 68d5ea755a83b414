// The commands about logs. Declarations only; the code is loaded when a command runs.

import type { Command } from 'commander'
import type { OptionRow } from '../index.ts'
import { serveOption, serveOptionsOf } from './node-commands.ts'
import { type Runner, wholeNumber } from './options.ts'

/** `log adopt` and `log reject`, with those options of the table that say where store and logs are. */
export function addLogCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = table.filter(({ name }) => /^(?:data$|store$|kafka-|topic-prefix$|partitions$)/.test(name))
  const log = program.command('log').description('the logs of a store')
  const adopt = log
    .command('adopt <old> <new>')
    .description(
      'give up one log for another: file, file:DIR, kafka, kafka:PREFIX, or the id of a log that is gone; no node may run',
    )
    .option('--accept-loss', 'give up also what cannot be built, or never will')
    .option('--config <file>', 'JSON file with options by name, as of serve')
  for (const row of rows) adopt.addOption(serveOption(row))
  adopt.action(
    runner(async (context, [old, next], options) => {
      const { adoptLog } = await import('./commands/log.ts')
      const acceptLoss = options['acceptLoss'] === true
      return adoptLog(context, { ...serveOptionsOf(rows, options), old: String(old), next: String(next), acceptLoss })
    }),
  )
  addRejectCommand(log, runner, table)
}

function addRejectCommand(log: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = table.filter(({ name }) => /^(?:data|store)$/.test(name))
  const command = log
    .command('reject')
    .description('let builders skip a message that cannot be read (LogDamaged); what was in it is lost')
    .requiredOption('--position <position>', 'place of the message in the log, as the halt names it', wholeNumber)
    .requiredOption('--reason <text>', 'kept beside it')
    .option('--partition <number>', 'partition of the log', wholeNumber, 0)
    .option('--log <id>', 'id of the log, where the store has several')
    .option('--config <file>', 'JSON file with options by name, as of serve')
  for (const row of rows) command.addOption(serveOption(row))
  command.action(
    runner(async (context, _, options) => {
      const { reject } = await import('./commands/reject.ts')
      const { position, partition, reason, log: id } = options
      const place = { position: Number(position), partition: Number(partition), reason: String(reason) }
      const what = { ...place, ...(typeof id === 'string' ? { log: id } : {}) }
      return reject(context, { ...serveOptionsOf(rows, options), what })
    }),
  )
}
