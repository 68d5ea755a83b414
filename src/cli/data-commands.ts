// The commands about data: dataset, ingest, tail, query, verify, receipt. Declarations only; the code is loaded when
// a command runs.

import { type Command, Option } from 'commander'
import type { Format } from '../formats/format.ts'
import type { OptionRow } from '../index.ts'
import type { CreateOptions, LogOptions } from './commands/dataset.ts'
import type { IngestOptions } from './commands/ingest.ts'
import type { QueryOptions, TailOptions } from './commands/query.ts'
import type { VerifyOptions } from './commands/verify.ts'
import { serveOption, serveOptionsOf } from './node-commands.ts'
import { collect, durationMs, positiveNumber, type Runner, wholeNumber } from './options.ts'

// Commander has checked arguments and options against what is declared here: each cast below names that declaration.

export function addDatasetCommands(program: Command, runner: Runner, table: readonly OptionRow[]): void {
  const dataset = program.command('dataset').description('make and look at datasets')
  dataset
    .command('create <name>')
    .description('make a dataset (account/name); without columns its first batch decides them')
    .option('--column <name:type>', 'a column, such as temp:Float64? (repeat; ? = may be null)', collect)
    .option('--schema <file>', "schema in ODF JSON: {fields: [{name, type}]} ('-': stdin)")
    .option('--description <text>', 'what it holds')
    .option('--keyword <word>', 'keyword (repeat)', collect)
    .option('--private', 'readable only with a token')
    .action(
      runner(async (context, [name], options) => {
        const { createDataset } = await import('./commands/dataset.ts')
        return createDataset(context, String(name), options as CreateOptions) // as declared above
      }),
    )
  dataset
    .command('list')
    .description('datasets that you may read')
    .option('--account <name>', 'of one account')
    .action(
      runner(async (context, _, options) => {
        const { listDatasets } = await import('./commands/dataset.ts')
        return listDatasets(context, options as { account?: string }) // as declared above
      }),
    )
  dataset
    .command('show <name>')
    .description('what a dataset says of itself')
    .action(
      runner(async (context, [name]) => {
        const { showDataset } = await import('./commands/dataset.ts')
        return showDataset(context, String(name))
      }),
    )
  dataset
    .command('log <name>')
    .description('its chain of blocks, newest first')
    .option('-n, --limit <blocks>', 'blocks at most', wholeNumber)
    .option('--before <hash>', 'begin at the block before this one')
    .action(
      runner(async (context, [name], options) => {
        const { logDataset } = await import('./commands/dataset.ts')
        return logDataset(context, String(name), options as LogOptions) // as declared above
      }),
    )
  addRejectCommand(dataset, runner, table)
}

/** `dataset reject`, with those options of the table that say where the store is. */
function addRejectCommand(dataset: Command, runner: Runner, table: readonly OptionRow[]): void {
  const rows = table.filter(({ name }) => /^(?:data|store)$/.test(name))
  const command = dataset
    .command('reject <name>')
    .description(
      'end the halt of a dataset by one message: its records are rejected for ever, in the name of who says so',
    )
    .requiredOption('--position <position>', 'place of the message in the log, as the halt names it', wholeNumber)
    .requiredOption('--reason <text>', 'told to those whose records these are')
    .option('--config <file>', 'JSON file with options by name, as of serve')
  for (const row of rows) command.addOption(serveOption(row))
  command.action(
    runner(async (context, [name], options) => {
      const { reject } = await import('./commands/reject.ts')
      const what = { dataset: String(name), position: Number(options['position']), reason: String(options['reason']) }
      return reject(context, { ...serveOptionsOf(rows, options), what })
    }),
  )
}

const ingestHelp = `
Each file is one batch: all of its records are stored, or none. The format comes from the name (.csv, .json, .ndjson,
.jsonl, .geojson, .ndgeojson, .geojsonl, also with .gz, .zst, .br); stdin is NDJSON unless --format says otherwise.
NDJSON, CSV and NDGeoJSON from a pipe need not end: they are sent in batches, each with a key of its own.

  proofstream ingest me/lab readings.csv
  curl -s https://example.org/feed.json | proofstream ingest me/feed --format json
  mosquitto_sub -t 'sensors/#' | proofstream ingest me/sensors`

export function addIngestCommand(program: Command, runner: Runner, formats: readonly Format[]): void {
  program
    .command('ingest <dataset> [files...]')
    .description('store records from files or stdin')
    .addOption(new Option('-f, --format <format>', 'format of all files').choices(formats.map(({ name }) => name)))
    .option('--no-create', 'fail when the dataset is missing, instead of making it')
    .option('--no-wait', 'be content with records that are safe in the log, not yet in a block')
    .option('--dry-run', 'check everything, store nothing')
    .option('--key <key>', 'idempotency key of the batch: what was stored under it is not stored again')
    .option('--retries <count>', 'tries after the first', wholeNumber, 8)
    .option('--batch-rows <rows>', 'from a pipe: records in a batch at most', positiveNumber, 1000)
    .option('--batch-age <time>', 'from a pipe: time until a record is sent, such as 1s or 200ms', durationMs, 1000)
    .addOption(new Option('--header <header>', 'whether CSV has a header line').choices(['present', 'absent']))
    .addOption(
      new Option('--unknown-fields <rule>', 'what to do with fields that are no columns').choices([
        'reject',
        'ignore',
        'add',
      ]),
    )
    .addOption(new Option('--integers <type>', 'what whole JSON numbers become').choices(['int64', 'float64']))
    .addOption(new Option('--time-zone <zone>', 'zone of times that have none').choices(['UTC']))
    .addOption(new Option('--event-time-unit <unit>', 'unit of numeric event times').choices(['s', 'ms', 'us', 'ns']))
    .addHelpText('after', ingestHelp)
    .action(
      runner(async (context, [dataset, files], options) => {
        const { ingest } = await import('./commands/ingest.ts')
        return ingest(context, String(dataset), files as string[], options as unknown as IngestOptions) // as declared
      }),
    )
}

export function addDataCommands(program: Command, runner: Runner): void {
  program
    .command('tail <dataset>')
    .description('the newest rows of a dataset')
    .option('-n, --limit <rows>', 'rows at most', wholeNumber, 10)
    .option('--skip <rows>', 'rows to leave out, counted from the newest', wholeNumber)
    .option('--at <hash>', 'as of this block')
    .action(
      runner(async (context, [dataset], options) => {
        const { tail } = await import('./commands/query.ts')
        return tail(context, String(dataset), options as TailOptions) // as declared above
      }),
    )
  program
    .command('query <sql>')
    .description('one SELECT over any datasets, named "account/dataset" (\'-\': read it from stdin)')
    .option('-n, --limit <rows>', 'rows at most (default: 100)', wholeNumber)
    .option('--skip <rows>', 'rows to leave out at the start', wholeNumber)
    .option('--proof <file>', "save the answer with its signed proof ('-': to stdout, without the rows)")
    .action(
      runner(async (context, [sql], options) => {
        const { query } = await import('./commands/query.ts')
        return query(context, String(sql), options as QueryOptions) // as declared above
      }),
    )
  program
    .command('verify <file>')
    .description("check a saved answer and have the node run its query again ('-': stdin)")
    .option('--offline', 'hashes and signature only: no node is asked')
    .option('--signer <did>', 'who must have signed (did:key:…)')
    .action(
      runner(async (context, [file], options) => {
        const { verify } = await import('./commands/verify.ts')
        return verify(context, String(file), options as VerifyOptions) // as declared above
      }),
    )
  program
    .command('receipt <id>')
    .description('what became of a batch')
    .action(
      runner(async (context, [id]) => {
        const { showReceipt } = await import('./commands/node-facts.ts')
        return showReceipt(context, String(id))
      }),
    )
}
