// The commands about the node: serve, config, doctor, streams, token, key, fsck, chaos, version. Declarations only; the code is loaded when a
// command runs.

import { type Command, Option } from 'commander'
import type { OptionRow } from '../index.ts'
import type { ChaosOptions } from './commands/chaos.ts'
import type { ServeOptions } from './commands/serve.ts'
import type { TokenOptions } from './commands/token.ts'
import { collect, type Runner, wholeNumber } from './options.ts'

/** `serve`, with a flag for each row of the options table. */
export function addServeCommand(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const command = program
    .command('serve')
    .description('run a node')
    .option('--config <file>', 'JSON file with options by name, for those that are neither flag nor environment')
  for (const row of table) command.addOption(serveOption(row))
  command
    .addHelpText('after', '\nEach option is also PROOFSTREAM_<NAME> in the environment: PROOFSTREAM_LISTEN=:9000.')
    .action(
      runner(async (context, _, options) => {
        const { serve } = await import('./commands/serve.ts')
        return serve(context, serveOptionsOf(table, options))
      }),
    )
}

const installationCommands = {
  config: 'every option of a node, its value and where that comes from; takes the options of serve',
  doctor:
    'look at machine, files, log, store, engine and node, and say what to do; changes nothing; takes the options of serve',
} as const

/** `config` and `doctor`, with the options of `serve`. */
export function addInstallationCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  for (const name of ['config', 'doctor'] as const) {
    const command = program.command(name).description(installationCommands[name])
    command.option('--config <file>', 'JSON file with options by name, as of serve')
    for (const row of table) command.addOption(serveOption(row))
    command.action(
      runner(async (context, _, options) => {
        const asked = serveOptionsOf(table, options)
        if (name === 'config') return (await import('./commands/config.ts')).showConfig(context, asked)
        return (await import('./commands/doctor.ts')).doctor(context, asked)
      }),
    )
  }
}

/** Values by option name, and the config file, from what commander has read. */
export function serveOptionsOf(table: readonly OptionRow[], options: Readonly<Record<string, unknown>>): ServeOptions {
  const given = table.map((row) => [row.name, options[serveOption(row).attributeName()]] as const)
  const flags = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  const { config } = options
  return { flags, configFile: typeof config === 'string' ? config : undefined }
}

const streamsCommands = {
  check: 'say whether the topics of Kafka fit their contracts (exit code 8 if not)',
  diff: 'list what differs between the topics and their contracts',
  apply: 'make topics that are missing and set what differs; partitions and copies stay as they are',
} as const

/** `streams check|diff|apply`, with those options of the table that say where Kafka is. */
export function addStreamsCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const streams = program.command('streams').description('the topics of Kafka, beside their contracts in streams/')
  const rows = table.filter(({ name }) => /^(?:kafka-|topic-prefix$|partitions$)/.test(name))
  for (const action of ['check', 'diff', 'apply'] as const) {
    const command = streams.command(action).description(streamsCommands[action])
    command.option('--config <file>', 'JSON file with options by name, as of serve')
    for (const row of rows) command.addOption(serveOption(row))
    command.action(
      runner(async (context, _, options) => {
        const { runStreams } = await import('./commands/streams.ts')
        return runStreams(context, action, serveOptionsOf(rows, options))
      }),
    )
  }
}

const placeholders: Readonly<Record<OptionRow['type'], string>> = {
  text: '<text>',
  integer: '<number>',
  boolean: '[true|false]',
  list: '<a,b,…>',
  'duration-ms': '<duration>',
}

/** The flag of a row. Its value is checked with those from environment and file, in one place: not here. */
export function serveOption(row: OptionRow): Option {
  const placeholder = row.values === undefined ? placeholders[row.type] : `<${row.values.join('|')}>`
  const unit = row.type === 'duration-ms' ? ' ms' : ''
  const initial = row.default === undefined ? '' : ` (default: ${row.default}${unit})`
  const option = new Option(`--${row.name} ${placeholder}`, row.text + initial)
  return row.type === 'boolean' ? option.preset('true') : option
}

export function addNodeCommands(program: Command, runner: Runner): void {
  addTokenCommands(program, runner)
  program
    .command('key')
    .description('the keys of the node')
    .command('show')
    .description('keys with which the node signs')
    .action(
      runner(async (context) => {
        const { showKeys } = await import('./commands/node-facts.ts')
        return showKeys(context)
      }),
    )
  program
    .command('fsck [dir]')
    .description('check all that a data directory or a store holds; no node is asked (default: PROOFSTREAM_DATA)')
    .option('--sweep', 'then remove chains without rows that no name leads to and that are a day old')
    .action(
      runner(async (context, [dir], options: { readonly sweep?: boolean }) => {
        const { fsck } = await import('./commands/fsck.ts')
        return fsck(context, typeof dir === 'string' ? dir : undefined, options)
      }),
    )
  program
    .command('chaos')
    .description('kill a node of its own again and again under load, and check that no promise breaks')
    .option('--cycles <number>', 'how many times', wholeNumber, 20)
    .option('--seed <number>', 'repeats the choices of a run', wholeNumber)
    .addHelpText(
      'after',
      '\nIt works in a new temporary directory and touches no other data. Exit code 10: a promise was broken.',
    )
    .action(
      runner(async (context, _, options) => {
        const { chaos } = await import('./commands/chaos.ts')
        return chaos(context, options as unknown as ChaosOptions) // as declared above
      }),
    )
  program
    .command('version')
    .description('version of this program (also --version)')
    .action(
      runner(async (context) => {
        const { showVersion } = await import('./commands/node-facts.ts')
        return showVersion(context)
      }),
    )
}

function addTokenCommands(program: Command, runner: Runner): void {
  const token = program.command('token').description('make, list and revoke tokens (needs the scope admin)')
  token
    .command('create <name>')
    .description('make a token; its text is shown once')
    .requiredOption('--scope <scope>', 'read, ingest, create or admin (repeat)', collect)
    .option('--dataset <pattern>', 'bind it to datasets, such as acme/* (repeat)', collect)
    .option('--expires <when>', 'a duration such as 30d or 12h, or a time such as 2030-01-31T00:00:00Z')
    .action(
      runner(async (context, [name], options) => {
        const { createToken } = await import('./commands/token.ts')
        return createToken(context, String(name), options as unknown as TokenOptions) // as declared above
      }),
    )
  token
    .command('list')
    .description('tokens, without their text')
    .action(
      runner(async (context) => {
        const { listTokens } = await import('./commands/token.ts')
        return listTokens(context)
      }),
    )
  token
    .command('revoke <id>')
    .description('end a token')
    .action(
      runner(async (context, [id]) => {
        const { revokeToken } = await import('./commands/token.ts')
        return revokeToken(context, String(id))
      }),
    )
}
