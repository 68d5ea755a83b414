// The tree of commands: names, arguments, options, help. Declarations only; the code of a command is loaded when it
// runs, so that help and short commands start at once. Order here is order in the help and in docs/cli.md.

import { type Command, Option } from 'commander'
import type { Format } from '../formats/format.ts'
import type { OptionRow } from '../index.ts'
import type { CreateOptions, ListOptions, LogOptions } from './commands/dataset.ts'
import type { ExportOptions } from './commands/export.ts'
import type { ChaosOptions } from './commands/fsck.ts'
import type { IngestOptions } from './commands/ingest.ts'
import type { TokenOptions } from './commands/node-facts.ts'
import type { QueryOptions, TailOptions } from './commands/query.ts'
import type { VerifyOptions } from './commands/verify.ts'
import { fileFormNames } from './file-forms.ts'
import {
  type Args,
  collect,
  commaList,
  type CommandContext,
  durationOption,
  type NodeOptions,
  positiveNumber,
  wholeNumber,
} from './context.ts'

/**
 * Makes commander's action of a command's code, which resolves to the exit code. `options` are of the type that the
 * command declares, which commander has checked.
 */
export type Runner = <Options>(
  code: (context: CommandContext, args: Args, options: Options) => Promise<number>,
) => (...args: unknown[]) => Promise<void>

type Values = Readonly<Record<string, unknown>>

/** The code of commands, loaded when one of them runs. */
const code = {
  config: () => import('./commands/config.ts'),
  dataset: () => import('./commands/dataset.ts'),
  doctor: () => import('./commands/doctor.ts'),
  export: () => import('./commands/export.ts'),
  facts: () => import('./commands/node-facts.ts'),
  fsck: () => import('./commands/fsck.ts'),
  ingest: () => import('./commands/ingest.ts'),
  log: () => import('./commands/log.ts'),
  query: () => import('./commands/query.ts'),
  serve: () => import('./commands/serve.ts'),
  verify: () => import('./commands/verify.ts'),
} as const

export function addCommands(
  program: Command,
  runner: Runner,
  table: readonly OptionRow[],
  formats: readonly Format[],
): void {
  addNodeCommands(program, runner, table)
  addDatasetCommands(program, runner, table)
  addIngestCommand(program, runner, formats)
  addReadCommands(program, runner)
  addStreamsCommands(program, runner, table)
  addLogCommands(program, runner, table)
  addTokenCommands(program, runner)
  addUpkeepCommands(program, runner, table)
}

/** `serve`, `config` and `doctor`, with a flag for each row of the options table. */
function addNodeCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const serve = program
    .command('serve')
    .description('run a node')
    .option('--config <file>', 'JSON file with options by name, for those that are neither flag nor environment')
  addRows(serve, table)
    .addHelpText('after', '\nEach option is also PROOFSTREAM_<NAME> in the environment: PROOFSTREAM_LISTEN=:9000.')
    .action(
      runner<Values>(async (context, _, options) => (await code.serve()).serve(context, nodeOptionsOf(table, options))),
    )
  withNodeOptions(program.command('config'), table)
    .description('every option of a node, its value and where that comes from; takes the options of serve')
    .action(
      runner<Values>(async (context, _, options) =>
        (await code.config()).showConfig(context, nodeOptionsOf(table, options)),
      ),
    )
  withNodeOptions(program.command('doctor'), table)
    .description(
      'check machine, files, log, store, engine and node, and say what to do; changes nothing; takes the options of serve',
    )
    .action(
      runner<Values>(async (context, _, options) =>
        (await code.doctor()).doctor(context, nodeOptionsOf(table, options)),
      ),
    )
}

function withNodeOptions(command: Command, rows: readonly OptionRow[]): Command {
  return addRows(command.option('--config <file>', 'JSON file with options by name, as of serve'), rows)
}

function addRows(command: Command, rows: readonly OptionRow[]): Command {
  for (const row of rows) command.addOption(optionOf(row))
  return command
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
  const placeholder = row.values === undefined ? placeholders[row.type] : `<${row.values.join('|')}>`
  const unit = row.type === 'duration-ms' ? ' ms' : ''
  const initial = row.default === undefined ? '' : ` (default: ${row.default}${unit})`
  const option = new Option(`--${row.name} ${placeholder}`, row.text + initial)
  return row.type === 'boolean' ? option.preset('true') : option
}

/** Values by option name, and the config file, from what commander has read. */
function nodeOptionsOf(rows: readonly OptionRow[], options: Values): NodeOptions {
  const given = rows.map((row) => [row.name, options[optionOf(row).attributeName()]] as const)
  const flags = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  const { config } = options
  return { flags, configFile: typeof config === 'string' ? config : undefined }
}

function addDatasetCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const dataset = program.command('dataset').description('create and inspect datasets')
  dataset
    .command('create <name>')
    .description('create a dataset (account/name); without columns, its first batch decides them')
    .option('--column <name:type>', 'a column, such as temp:Float64? (repeat; ? = may be null)', collect)
    .option('--schema <file>', "schema in ODF JSON: {fields: [{name, type}]} ('-': stdin)")
    .option('--description <text>', 'what it holds')
    .option('--keyword <word>', 'keyword (repeat)', collect)
    .option('--private', 'readable only with a token')
    .option('--freshness <time>', 'age at which a row of a steady stream can be read, such as 5s or 1h')
    .option('--sort-by <columns>', 'columns, such as city,day, by which replicas sort copies', commaList)
    .action(runner<CreateOptions>(async (...given) => (await code.dataset()).createDataset(...given)))
  dataset
    .command('list')
    .description('list the datasets that you may read')
    .option('--account <name>', 'of one account')
    .action(runner<ListOptions>(async (context, _, options) => (await code.dataset()).listDatasets(context, options)))
  dataset
    .command('show <name>')
    .description('show the metadata of a dataset')
    .action(runner(async (context, args) => (await code.dataset()).showDataset(context, args)))
  dataset
    .command('log <name>')
    .description('show its chain of blocks, newest first')
    .option('-n, --limit <blocks>', 'most blocks', wholeNumber)
    .option('--before <hash>', 'start at the block before this one')
    .action(runner<LogOptions>(async (...given) => (await code.dataset()).logDataset(...given)))
  const rows = storeRows(table)
  const reject = dataset
    .command('reject <name>')
    .description(
      'end the halt of a dataset by one message: its records are rejected for good, which is recorded with your name',
    )
    .requiredOption('--position <position>', 'place of the message in the log, as the halt names it', wholeNumber)
    .requiredOption('--reason <text>', 'shown to the senders of these records')
  withNodeOptions(reject, rows).action(
    runner<Values & { position: number; reason: string }>(async (context, [name = ''], options) => {
      const what = { dataset: name, position: options.position, reason: options.reason }
      return (await code.log()).reject(context, { ...nodeOptionsOf(rows, options), what })
    }),
  )
}

/** The options that say where the store is. */
function storeRows(table: readonly OptionRow[]): readonly OptionRow[] {
  return table.filter(({ name }) => /^(?:data|store)$/.test(name))
}

const ingestHelp = `
Each file is one batch: all of its records are stored, or none. The format comes from the name (.csv, .tsv, .json,
.ndjson, .jsonl, .geojson, .ndgeojson, .parquet, .arrow, .zip with a shapefile, also with .gz, .zst, .br) or from what
is inside; stdin is NDJSON unless --format says otherwise.
NDJSON, CSV, TSV and NDGeoJSON from a pipe need not end: they are sent in batches, each with a key of its own.

  proofstream ingest me/lab readings.csv
  curl -s https://example.org/feed.json | proofstream ingest me/feed --format json
  mosquitto_sub -t 'sensors/#' | proofstream ingest me/sensors`

function addIngestCommand(program: Command, runner: Runner, formats: readonly Format[]): void {
  const choice = (flags: string, text: string, ...choices: readonly string[]): Option =>
    new Option(flags, text).choices(choices)
  program
    .command('ingest <dataset> [files...]')
    .description('store records from files or stdin')
    .addOption(choice('-f, --format <format>', 'format of all files', ...formats.map(({ name }) => name)))
    .option('--no-create', 'fail when the dataset is missing, instead of creating it')
    .option('--no-wait', 'return when the records are safe in the log, before they are in a block')
    .option('--dry-run', 'check everything, store nothing')
    .option('--key <key>', 'idempotency key of the batch: what was stored under it is not stored again')
    .option('--retries <count>', 'retries after the first try', wholeNumber, 8)
    .option('--batch-rows <rows>', 'from a pipe: most records in a batch', positiveNumber, 1000)
    .option('--batch-age <time>', 'from a pipe: time until a record is sent, such as 1s or 200ms', durationOption, 1000)
    .addOption(choice('--header <header>', 'whether CSV has a header line', 'present', 'absent'))
    .addOption(
      choice('--unknown-fields <rule>', 'what to do with fields that are not columns', 'reject', 'ignore', 'add'),
    )
    .addOption(choice('--integers <type>', 'what whole JSON numbers become', 'int64', 'float64'))
    .addOption(choice('--time-zone <zone>', 'zone of times that have none', 'UTC'))
    .option('--layer <name>', 'of a shapefile with several layers: which')
    .option('--charset <name>', 'of a shapefile: the character set of its texts, such as windows-1252')
    .addOption(choice('--event-time-unit <unit>', 'unit of numeric event times', 's', 'ms', 'us', 'ns'))
    .addHelpText('after', ingestHelp)
    .action(runner<IngestOptions>(async (...given) => (await code.ingest()).ingest(...given)))
}

function addReadCommands(program: Command, runner: Runner): void {
  program
    .command('tail <dataset>')
    .description('the newest rows of a dataset')
    .option('-n, --limit <rows>', 'most rows', wholeNumber, 10)
    .option('--skip <rows>', 'rows to skip, counted from the newest', wholeNumber)
    .option('--at <hash>', 'as of this block')
    .action(runner<TailOptions>(async (...given) => (await code.query()).tail(...given)))
  program
    .command('query <sql>')
    .description('one SELECT over any datasets, named "account/dataset" (\'-\': read it from stdin)')
    .option('-n, --limit <rows>', 'most rows (default: 100; all of them in a file)', wholeNumber)
    .option('--skip <rows>', 'rows to skip at the start', wholeNumber)
    .option('--all', 'every row, as they come')
    .option('--param <name=value>', 'value of $name or $1: name=text, or name:=json for numbers (repeat)', collect)
    .option(
      '--proof <file>',
      "save the signed answer, beside the rows or their -o file ('-': to stdout, without the rows)",
    )
    .action(runner<QueryOptions>(async (...given) => (await code.query()).query(...given)))
  program
    .command('export <dataset>')
    .description('all rows of a dataset in the order of offsets')
    .addOption(
      new Option('-f, --format <format>', 'form of the rows (default: as the file is named)').choices(fileFormNames),
    )
    .option('--at <hash>', 'as of this block')
    .option('--columns <a,b>', 'only these columns')
    .option('--where <condition>', 'only rows for which this SQL is true')
    .option('--bbox <w,s,e,n>', 'only rows whose geometry meets this box, in degrees')
    .option('--datetime <interval>', 'only rows whose event time is in from/to (../to, from/..)')
    .option('--system', 'with system columns (default: with them, in GeoJSON without)')
    .option('--no-system', 'without system columns')
    .option('--geometry <column>', 'column with the geometry, for GeoJSON and GeoParquet')
    .action(runner<ExportOptions>(async (...given) => (await code.export()).exportDataset(...given)))
  program
    .command('verify <file>')
    .description("check a saved answer and have the node run its query again ('-': stdin)")
    .option('--offline', 'hashes and signature only: no node is asked')
    .option('--signer <did>', 'who must have signed (did:key:…)')
    .action(runner<VerifyOptions>(async (...given) => (await code.verify()).verify(...given)))
  program
    .command('receipt <id>')
    .description('what became of a batch')
    .action(runner(async (context, args) => (await code.facts()).showReceipt(context, args)))
}

const streamsCommands = {
  check: 'check that the Kafka topics match their contracts (exit code 8 if not)',
  diff: 'list the differences between the topics and their contracts',
  apply: 'create missing topics and correct settings that differ; partitions and replicas stay as they are',
} as const

/** `streams check|diff|apply`, with those options of the table that say where Kafka is. */
function addStreamsCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const streams = program.command('streams').description('compare the Kafka topics with their contracts in streams/')
  const rows = table.filter(({ name }) => /^(?:kafka-|topic-prefix$|partitions$)/.test(name))
  for (const action of ['check', 'diff', 'apply'] as const) {
    withNodeOptions(streams.command(action), rows)
      .description(streamsCommands[action])
      .action(
        runner<Values>(async (context, _, options) =>
          (await code.config()).runStreams(context, action, nodeOptionsOf(rows, options)),
        ),
      )
  }
}

/** `log adopt` and `log reject`, with those options of the table that say where store and logs are. */
function addLogCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const log = program.command('log').description('the logs of a store')
  const adoptRows = table.filter(({ name }) => /^(?:data$|store$|kafka-|topic-prefix$|partitions$)/.test(name))
  const adopt = log
    .command('adopt <old> <new>')
    .description(
      'give up one log for another: file, file:DIR, kafka, kafka:PREFIX, or the id of a log that is gone; no node may be running',
    )
    .option('--accept-loss', 'also give up what cannot be built')
  withNodeOptions(adopt, adoptRows).action(
    runner<Values>(async (context, [old = '', next = ''], options) => {
      const acceptLoss = options['acceptLoss'] === true
      const { adoptLog } = await code.log()
      return adoptLog(context, { ...nodeOptionsOf(adoptRows, options), old, next, acceptLoss })
    }),
  )
  const rows = storeRows(table)
  const reject = log
    .command('reject')
    .description('let builders skip a message that cannot be read (LogDamaged); what was in it is lost')
    .requiredOption('--position <position>', 'place of the message in the log, as the halt names it', wholeNumber)
    .requiredOption('--reason <text>', 'stored with the rejection')
    .option('--partition <number>', 'partition of the log', wholeNumber, 0)
    .option('--log <id>', 'id of the log, where the store has several')
  withNodeOptions(reject, rows).action(
    runner<Values & { position: number; partition: number; reason: string; log?: string }>(
      async (context, _, options) => {
        const { position, partition, reason, log: id } = options
        const what = { position, partition, reason, ...(id === undefined ? {} : { log: id }) }
        return (await code.log()).reject(context, { ...nodeOptionsOf(rows, options), what })
      },
    ),
  )
}

function addTokenCommands(program: Command, runner: Runner): void {
  const token = program.command('token').description('create, list and revoke tokens (needs the scope admin)')
  token
    .command('create <name>')
    .description('create a token; its text is shown once')
    .requiredOption('--scope <scope>', 'read, ingest, create or admin (repeat)', collect)
    .option('--dataset <pattern>', 'bind it to datasets, such as acme/* (repeat)', collect)
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

function addUpkeepCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  program
    .command('key')
    .description('the keys of the node')
    .command('show')
    .description('keys with which the node signs')
    .action(runner(async (context) => (await code.facts()).showKeys(context)))
  program
    .command('fsck [dir]')
    .description('check all that a data directory or a store holds; no node is asked (default: PROOFSTREAM_DATA)')
    .option('--sweep', 'then remove chains without rows that no name leads to and that are a day old')
    .action(runner<{ readonly sweep?: boolean }>(async (...given) => (await code.fsck()).fsck(...given)))
  const rows = storeRows(table)
  const pack = program
    .command('pack [dataset]')
    .description('pack chains of 256 blocks and more into few files; no node may be running (default: all datasets)')
    .option(
      '--sweep',
      'then remove the loose files of what is packed; older releases cannot write to the store any more',
    )
  withNodeOptions(pack, rows).action(
    runner<Values & { readonly sweep?: boolean }>(async (context, [dataset], { sweep, ...options }) =>
      (await code.fsck()).pack(context, { ...nodeOptionsOf(rows, options), dataset, sweep }),
    ),
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
    .action(runner<ChaosOptions>(async (context, _, options) => (await code.fsck()).chaos(context, options)))
  program
    .command('version')
    .description('version of this program (also --version)')
    .action(runner(async (context) => (await code.facts()).showVersion(context)))
}
