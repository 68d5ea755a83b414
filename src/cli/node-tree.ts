// The tree of commands, continued: those for operators of a node, with the options of a node as flags. Declarations only, as in
// tree.ts.

import { type Command, Option } from 'commander'
import type { OptionRow } from '../index.ts'
import type { FsckCommand } from './commands/fsck.ts'
import type { RejectCommand } from './commands/log.ts'
import type { TokenOptions } from './commands/node-facts.ts'
import { collect, commaList, type NodeOptions, positiveNumber, type Runner, wholeNumber } from './context.ts'

type Values = Readonly<Record<string, unknown>>

/** The code of commands, loaded when one of them runs. */
const code = {
  backup: () => import('./commands/backup.ts'),
  demo: () => import('./commands/demo.ts'),
  doctor: () => import('./commands/doctor.ts'),
  engine: () => import('./commands/engine.ts'),
  facts: () => import('./commands/node-facts.ts'),
  fsck: () => import('./commands/fsck.ts'),
  key: () => import('./commands/key.ts'),
  ledger: () => import('./commands/ledger.ts'),
  log: () => import('./commands/log.ts'),
  serve: () => import('./commands/serve.ts'),
} as const

/** `serve`, with a flag for each row of the options table, and `demo`. */
export function addServeCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const serve = program
    .command('serve')
    .description('run a node')
    .option('--config <file>', 'JSON file with options by name; flags and environment variables override it')
  for (const row of table) serve.addOption(optionOf(row))
  serve
    .addHelpText('after', '\nEach option is also PROOFSTREAM_<NAME> in the environment: PROOFSTREAM_LISTEN=:9000.')
    .action(
      runner<Values>(async (context, _, options) => (await code.serve()).serve(context, nodeOptionsOf(table, options))),
    )
  program
    .command('demo')
    .description('load real data into a running node, and suggest what to try')
    .action(runner(async (context) => (await code.demo()).demo(context)))
}

/** `doctor`, with all options of `serve`. */
export function addDoctorCommand(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  withNodeOptions(program.command('doctor'), table)
    .description(
      'say whether all is well with an installation, and what to do, without changing anything. Looks at the options that are set, volumes, secrets, log, store, halts, engines and Kafka',
    )
    .action(
      runner<Values>(async (context, _, options) =>
        (await code.doctor()).doctor(context, nodeOptionsOf(table, options)),
      ),
    )
}

/** Options of `serve`, with the same text: its help and docs/configuration.md have it, the help of this command their names. */
function withNodeOptions(command: Command, rows: readonly OptionRow[]): Command {
  const options = [new Option('--config <file>', 'JSON file with options by name, as for serve'), ...rows.map(optionOf)]
  for (const option of options) command.addOption(option.hideHelp())
  const which =
    rows.length > 9 ? 'All options of serve' : `Options of serve: ${options.map(({ flags }) => flags).join(', ')}`
  return command.addHelpText('after', `\n${which}. They are explained by: proofstream serve --help`)
}

const placeholders: Readonly<Record<OptionRow['type'], string>> = {
  text: '<text>',
  integer: '<number>',
  boolean: '[true|false]',
  list: '<a,b,…>',
  'duration-ms': '<duration>',
}

/** The flag of a row. Its value is checked with those from environment and file, in one place: not here. */
function optionOf(row: OptionRow): Option {
  const unit = row.type === 'duration-ms' ? ' ms' : ''
  const initial = row.default === undefined ? '' : ` (default: ${row.default}${unit})`
  const option = new Option(`--${row.name} ${placeholders[row.type]}`, row.text + initial)
  if (row.values !== undefined) option.choices(row.values).argParser((text: string) => text)
  // A list that is given in several flags is one list.
  if (row.type === 'list') option.argParser((text: string, before?: string) => [before ?? [], text].flat().join(','))
  return row.type === 'boolean' ? option.preset('true') : option
}

/** Values by option name, and the config file, from what commander has read. */
function nodeOptionsOf(rows: readonly OptionRow[], options: Values): NodeOptions {
  const given = rows.map((row) => [row.name, options[optionOf(row).attributeName()]] as const)
  const flags = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  const { config } = options
  return { flags, configFile: typeof config === 'string' ? config : undefined }
}

function backupRows(table: readonly OptionRow[]): readonly OptionRow[] {
  return [...storeRows(table), ...table.filter(({ name }) => name === 'node-key')]
}

function logRows(table: readonly OptionRow[]): readonly OptionRow[] {
  return table.filter(({ name }) => name === 'log')
}

/** The options that say where the store is. */
function storeRows(table: readonly OptionRow[]): readonly OptionRow[] {
  return table.filter(({ name }) => name === 'data' || name === 'store')
}

/** `streams apply`, with those options of the table that say where Kafka is. */
export function addStreamsCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = logRows(table)
  const apply = program
    .command('streams')
    .description('the Kafka topics and their contracts in streams/')
    .command('apply')
    .description(
      'create missing topics and correct settings; partitions and replicas stay as they are. Lists what differs after that (exit code 8 if anything does)',
    )
    .option('--dry-run', 'change nothing: list what differs now')
  withNodeOptions(apply, rows).action(
    runner<Values & { readonly dryRun?: boolean }>(async (context, _, { dryRun = false, ...options }) =>
      (await code.log()).applyStreams(context, { ...nodeOptionsOf(rows, options), dryRun }),
    ),
  )
}

/** `log adopt` and `log reject`, with those options of the table that say where store and logs are. */
export function addLogCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const log = program.command('log').description('the logs of a store')
  const rows = storeRows(table)
  const adopt = log
    .command('adopt <old> <new>')
    .description(
      'give up one log for another: file, file:DIR, a URL such as kafka://host:9092/prefix, or the id of a lost log. No node may be running',
    )
    .option('--accept-loss', 'also give up messages that cannot be built')
  withNodeOptions(adopt, rows).action(
    runner<Values>(async (context, [old = '', next = ''], options) => {
      const acceptLoss = options['acceptLoss'] === true
      const { adoptLog } = await code.log()
      return adoptLog(context, { ...nodeOptionsOf(rows, options), old, next, acceptLoss })
    }),
  )
  const reject = log
    .command('reject [dataset]')
    .description(
      'end a halt caused by one message. With a dataset, the records of the message are rejected for good. Without a dataset, an unreadable message (LogDamaged) is skipped, and its content is lost',
    )
    .requiredOption('--position <position>', 'position of the message in the log, from the halt', wholeNumber)
    .requiredOption('--reason <text>', 'recorded with your name, and shown to the senders of these records')
    .option('--partition <number>', 'without a dataset: partition of the log (default: 0)', wholeNumber)
    .option('--log <id>', 'without a dataset: id of the log, if the store has several')
  withNodeOptions(reject, rows).action(
    runner<Values & RejectCommand>(async (context, [dataset], options) => {
      const { position, reason, partition, log: id } = options
      const what = { position, reason, dataset, partition, log: id }
      return (await code.log()).reject(context, { ...nodeOptionsOf(rows, options), ...what })
    }),
  )
}

/** `ledger renew`, with the options that say where store and key are. */
export function addRenewCommand(ledger: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = [...storeRows(table), ...table.filter(({ name }) => name === 'ledger-key')]
  const renew = ledger
    .command('renew [origin]')
    .description(
      'begin another ledger where one cannot go on, because entries or its key are lost. The old one stays readable. No node may be running',
    )
    .requiredOption('--reason <text>', 'why, for the readers of the old ledger')
  withNodeOptions(renew, rows).action(
    runner<Values & { readonly reason: string }>(async (context, [origin], options) =>
      (await code.ledger()).renewLedger(context, {
        ...nodeOptionsOf(rows, options),
        origin,
        reason: options.reason,
      }),
    ),
  )
}

export function addTokenCommands(program: Command, runner: Runner): void {
  const token = program.command('token').description('create, list and revoke tokens (needs the scope admin)')
  token
    .command('create [name]')
    .description('create a token, or many as CSV; the text of a token is shown only once')
    .option('--scope <scope>', 'read, ingest, create or admin (repeat; with --count, ingest)', collect)
    .option(
      '--dataset <pattern>',
      'limit the token to datasets, such as acme/* (repeat; every dataset by default)',
      collect,
    )
    .option('--count <tokens>', 'number of tokens, named <name>-0001 and so on (default name: device)', positiveNumber)
    .option('--datasets <patterns>', "limit each token to datasets by its name, such as 'fleet/{name}'", commaList)
    .option('--expires <when>', 'a duration such as 30d or 12h, or a time such as 2030-01-31T00:00:00Z')
    .action(runner<TokenOptions>(async (...given) => (await code.facts()).createToken(...given)))
  token
    .command('list')
    .description('list tokens, without their text')
    .action(runner(async (context) => (await code.facts()).listTokens(context)))
  token
    .command('revoke <id>')
    .description('revoke a token')
    .action(runner(async (context, args) => (await code.facts()).revokeToken(context, args)))
}

/** `key show` and `key rotate`, with the options that say where key and store are. */
function addKeyCommands(program: Command, runner: Runner, rows: readonly OptionRow[]): void {
  const key = program.command('key').description('the keys of the node')
  key
    .command('show')
    .description('show the keys with which the node signs, and those with which it once signed')
    .action(runner(async (context) => (await code.key()).showKeys(context)))
  const rotate = key
    .command('rotate')
    .description(
      'put a new key in the place of the present one, which stays known as a former key. No node may be running',
    )
    .option(
      '--leaked [did]',
      'others may have the present key: its signatures alone prove nothing any more. With the DID of a former key: others may have that one, and no key is changed',
    )
  withNodeOptions(rotate, rows).action(
    runner<Values & { readonly leaked?: true | string }>(async (context, _, { leaked = false, ...options }) =>
      (await code.key()).rotateKey(context, { ...nodeOptionsOf(rows, options), leaked }),
    ),
  )
}

/** `engine add`, with the option that says where the data directory is. */
function addEngineCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = table.filter(({ name }) => name === 'data')
  const engine = program.command('engine').description('the engines on which proofs of other versions are run again')
  const add = engine
    .command('add <version>')
    .description('add the engine of a version, from the registry that npm is set to. Nodes may be running')
    .option('--file <archive>', 'an archive of npm pack, on a machine without a registry (repeat)', collect)
  withNodeOptions(add, rows).action(
    runner<Values & { readonly file?: readonly string[] }>(async (context, [version = ''], { file = [], ...options }) =>
      (await code.engine()).addEngine(context, { ...nodeOptionsOf(rows, options), version, files: file }),
    ),
  )
}

export function addUpkeepCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  addKeyCommands(program, runner, backupRows(table))
  addEngineCommands(program, runner, table)
  program
    .command('fsck [place]')
    .description(
      'check everything in a data directory, a store, or the store at a URL such as s3://bucket/prefix, without a node (default: PROOFSTREAM_DATA)',
    )
    .option('--sweep', 'then remove chains without rows that have no name and are a day old; with --pack, packed files')
    .option('--pack', 'instead pack chains of 256 or more blocks into a few files; no node may be running')
    .option('--dataset <name>', 'with --pack: only this one (default: all)')
    .action(runner<FsckCommand>(async (...given) => (await code.fsck()).fsck(...given)))
  withNodeOptions(program.command('backup <dir>'), backupRows(table))
    .description(
      'copy everything committed, and the key, to a directory. A repeat adds what is new. Nodes may be running',
    )
    .action(
      runner<Values>(async (context, [dir = ''], options) =>
        (await code.backup()).backup(context, { ...nodeOptionsOf(backupRows(table), options), dir }),
      ),
    )
  const restore = program
    .command('restore <dir>')
    .description('make a data directory from a backup, and check it; its datasets continue in a new log')
    .option('--same-log', 'continue in the former log, if its Kafka still exists')
  const restoreRows = [...backupRows(table), ...logRows(table)]
  withNodeOptions(restore, restoreRows).action(
    runner<Values & { readonly sameLog?: boolean }>(async (context, [dir = ''], options) => {
      const { sameLog = false } = options
      return (await code.backup()).restore(context, { ...nodeOptionsOf(restoreRows, options), dir, sameLog })
    }),
  )
}
