// The commands about logs. Declarations only; the code is loaded when a command runs.

import type { Command } from 'commander'
import type { OptionRow } from '../index.ts'
import { serveOption, serveOptionsOf } from './node-commands.ts'
import type { Runner } from './options.ts'

/** `log adopt`, with those options of the table that say where store and logs are. */
export function addLogCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = table.filter(({ name }) => /^(?:data$|store$|kafka-|topic-prefix$|partitions$)/.test(name))
  const adopt = program
    .command('log')
    .description('the logs of a store')
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
}
