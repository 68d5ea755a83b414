// The tree of commands, continued: those for operators of a node, with the options of a node as flags. Declarations only, as in
// tree.ts.

import { type Command, Option } from 'commander'
import type { OptionRow } from '../index.ts'
import type { FsckCommand } from './commands/fsck.ts'
import type { RejectCommand } from './commands/log.ts'
import type { TokenOptions } from './commands/node-facts.ts'
import {
  type Args,
  collect,
  commaList,
  type CommandContext,
  type NodeOptions,
  positiveNumber,
  type Runner,
  type StoredOptions,
  wholeNumber,
} from './context.ts'

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

/** The commands of those who run a node. `doctor` takes all options of `serve`. */
export function addOperatorCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const doctor = program
    .command('doctor')
    .description(
      'say whether all is well with an installation, and what to do, without changing anything. Looks at the options that are set, volumes, secrets, log, store, halts, engines and Kafka',
    )
  runWith(doctor, runner, table, async (context, _, options) => (await code.doctor()).doctor(context, options))
  addTokenCommands(program, runner)
  addUpkeepCommands(program, runner, table)
  addLogCommands(program, runner, table)
  addStreamsCommands(program, runner, table)
}

type Code<Own> = (context: CommandContext, args: Args, options: StoredOptions & Own) => Promise<number>

/**
 * Runs `code` with the options of `serve` in these rows, beside those that the command declares. Their texts are in the help of
 * `serve` and docs/configuration.md; the help of the command names them.
 */
function runWith<Own = unknown>(command: Command, runner: Runner, rows: readonly OptionRow[], code: Code<Own>): void {
  const options = [new Option('--config <file>', 'JSON file with options by name, as for serve'), ...rows.map(optionOf)]
  for (const option of options) command.addOption(option.hideHelp())
  const which =
    rows.length > 9 ? 'All options of serve' : `Options of serve: ${options.map(({ flags }) => flags).join(', ')}`
  command.addHelpText('after', `\n${which}. They are explained by: proofstream serve --help`).action(
    runner<Values & Own>(async (context, args, given) => {
      const options = nodeOptionsOf(rows, given)
      const config = context.entry.loadConfig({ 'log-level': 'warn', ...options.flags }, options.configFile)
      return code(context, args, { ...given, ...options, config })
    }),
  )
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

function rowsOf(table: readonly OptionRow[], ...names: readonly string[]): readonly OptionRow[] {
  return table.filter(({ name }) => names.includes(name))
}

/** `streams apply`, with those options of the table that say where Kafka is. */
function addStreamsCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const apply = program
    .command('streams')
    .description('the Kafka topics and their contracts in streams/')
    .command('apply')
    .description(
      'create missing topics and correct settings; partitions and replicas stay as they are. Lists what differs after that (exit code 8 if anything does)',
    )
    .option('--dry-run', 'change nothing: list what differs now')
  runWith<{ readonly dryRun?: boolean }>(apply, runner, rowsOf(table, 'log'), async (context, _, options) =>
    (await code.log()).applyStreams(context, options),
  )
}

/** `log adopt` and `log reject`, with those options of the table that say where store and logs are. */
function addLogCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const log = program.command('log').description('the logs of a store')
  const rows = rowsOf(table, 'data', 'store')
  const adopt = log
    .command('adopt <old> <new>')
    .description(
      'give up one log for another: file, file:DIR, a URL such as kafka://host:9092/prefix, or the id of a lost log. No node may be running',
    )
    .option('--accept-loss', 'also give up messages that cannot be built')
  runWith<{ readonly acceptLoss?: boolean }>(adopt, runner, rows, async (context, [old = '', next = ''], options) =>
    (await code.log()).adoptLog(context, { ...options, old, next }),
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
  runWith<RejectCommand>(reject, runner, rows, async (context, [dataset], options) =>
    (await code.log()).reject(context, { ...options, dataset }),
  )
}

/** `ledger renew`, with the options that say where store and key are. */
export function addRenewCommand(ledger: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = rowsOf(table, 'data', 'store', 'ledger-key')
  const renew = ledger
    .command('renew [origin]')
    .description(
      'begin another ledger where one cannot go on, because entries or its key are lost. The old one stays readable. No node may be running',
    )
    .requiredOption('--reason <text>', 'why, for the readers of the old ledger')
  runWith<{ readonly reason: string }>(renew, runner, rows, async (context, [origin], options) =>
    (await code.ledger()).renewLedger(context, { ...options, origin }),
  )
}

function addTokenCommands(program: Command, runner: Runner): void {
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
  runWith<{ readonly leaked?: true | string }>(rotate, runner, rows, async (context, _, options) =>
    (await code.key()).rotateKey(context, options),
  )
}

/** `engine add`, with the option that says where the data directory is. */
function addEngineCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = rowsOf(table, 'data')
  const engine = program.command('engine').description('the engines on which proofs of other versions are run again')
  const add = engine
    .command('add <version>')
    .description('add the engine of a version, from the registry that npm is set to. Nodes may be running')
    .option('--file <archive>', 'an archive of npm pack, on a machine without a registry (repeat)', collect)
  runWith<{ readonly file?: readonly string[] }>(add, runner, rows, async (context, [version = ''], options) =>
    (await code.engine()).addEngine(context, { ...options, version }),
  )
}

function addUpkeepCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = rowsOf(table, 'data', 'store', 'node-key')
  addKeyCommands(program, runner, rows)
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
  const backup = program
    .command('backup <dir>')
    .description(
      'copy everything committed, and the key, to a directory. A repeat adds what is new. Nodes may be running',
    )
  runWith(backup, runner, rows, async (context, [dir = ''], options) =>
    (await code.backup()).backup(context, { ...options, dir }),
  )
  const restore = program
    .command('restore <dir>')
    .description('make a data directory from a backup, and check it; its datasets continue in a new log')
    .option('--same-log', 'continue in the former log, if its Kafka still exists')
  runWith<{ readonly sameLog?: boolean }>(
    restore,
    runner,
    [...rows, ...rowsOf(table, 'log')],
    async (context, [dir = ''], options) => (await code.backup()).restore(context, { ...options, dir }),
  )
}
