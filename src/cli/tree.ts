// The tree of commands: names, arguments, options, help. Declarations only; the code of a command is loaded when it
// runs, so that help and short commands start at once. Order here is order in the help and in docs/cli.md.

import { type Command, Option } from 'commander'
import type { FormatFacts } from '../formats/format.ts'
import type { OptionRow } from '../index.ts'
import type { CreateOptions, ListOptions, LogOptions, SetOptions } from './commands/dataset.ts'
import type { DeleteOptions, RestoreOptions } from './commands/deleting.ts'
import type { ExportOptions } from './commands/export.ts'
import type { ExportIcebergOptions } from './commands/export-iceberg.ts'
import type { IngestOptions } from './commands/ingest-request.ts'
import type { QueryOptions, TailOptions } from './commands/query.ts'
import type { VerifyOptions } from './commands/verify.ts'
import { fileFormNames } from './file-forms.ts'
import { collect, durationOption, positiveNumber, type Runner, wholeNumber } from './context.ts'
import {
  addLogCommands,
  addNodeCommands,
  addStreamsCommands,
  addTokenCommands,
  addUpkeepCommands,
} from './node-tree.ts'

/** The code of commands, loaded when one of them runs. */
const code = {
  bundle: () => import('./commands/bundle.ts'),
  dataset: () => import('./commands/dataset.ts'),
  deleting: () => import('./commands/deleting.ts'),
  export: () => import('./commands/export.ts'),
  exportIceberg: () => import('./commands/export-iceberg.ts'),
  facts: () => import('./commands/node-facts.ts'),
  ingest: () => import('./commands/ingest.ts'),
  query: () => import('./commands/query.ts'),
  verify: () => import('./commands/verify.ts'),
} as const

export function addCommands(
  program: Command,
  runner: Runner,
  table: readonly OptionRow[],
  formats: readonly FormatFacts[],
): void {
  addNodeCommands(program, runner, table)
  addDatasetCommands(program, runner)
  addIngestCommand(program, runner, formats)
  addReadCommands(program, runner)
  addStreamsCommands(program, runner, table)
  addLogCommands(program, runner, table)
  addTokenCommands(program, runner)
  addUpkeepCommands(program, runner, table)
}

function addLifeCommands(dataset: Command, runner: Runner): void {
  dataset
    .command('set <name>')
    .description('change the name of a dataset, what it says of itself (info, license, attachments) or how it is kept')
    .option('--name <new-name>', 'another name; the old one leads to it until it is taken')
    .option('--visibility <word>', 'public: readers need no right of their own; private: only tokens that cover it')
    .option(
      '--freshness <time>',
      "age at which a row of a steady stream can be read, such as 5s; 'default': the node's",
    )
    .option('--description <text>', 'what it holds')
    .option('--keyword <word>', 'keyword (repeat)', collect)
    .option('--license <file>', "JSON {shortName, name, spdxId, websiteUrl} ('-': stdin)")
    .option('--attach <file>', 'text file that the chain carries, in place of those it has (repeat)', collect)
    .action(runner<SetOptions>(async (...given) => (await code.dataset()).setDataset(...given)))
  dataset
    .command('delete <name>')
    .description('delete a dataset: its name is free at once, and it can be restored for some days')
    .option('--yes', 'do not ask')
    .option('--grace <time>', "how long it can be restored, such as 0s or 24h; by default the node's --delete-grace")
    .option('--if-match <hash>', 'only if this is its head')
    .action(runner<DeleteOptions>(async (...given) => (await code.deleting()).deleteDataset(...given)))
  dataset
    .command('restore <id>')
    .description('take a deletion back; the id (did:odf:…) is what delete has told')
    .option('--as <name>', 'under another name than it had')
    .action(runner<RestoreOptions>(async (...given) => (await code.deleting()).restoreDataset(...given)))
}

function addDatasetCommands(program: Command, runner: Runner): void {
  const dataset = program.command('dataset').description('create, inspect and change datasets')
  dataset
    .command('create <name>')
    .description('create a dataset (account/name); without columns, its first batch decides them')
    .option('--column <name:type>', 'a column, such as temp:Float64? (repeat; ? = may be null)', collect)
    .option('--schema <file>', "schema in ODF JSON: {fields: [{name, type}]} ('-': stdin)")
    .option('--description <text>', 'what it holds')
    .option('--keyword <word>', 'keyword (repeat)', collect)
    .option('--private', 'readable only with a token')
    .option('--freshness <time>', 'age at which a row of a steady stream can be read, such as 5s or 1h')
    .action(runner<CreateOptions>(async (...given) => (await code.dataset()).createDataset(...given)))
  dataset
    .command('list')
    .description('list the datasets that you may read')
    .option('--account <name>', 'of one account')
    .option('--deleted', 'those that can be restored, with their ids')
    .action(runner<ListOptions>(async (context, _, options) => (await code.dataset()).listDatasets(context, options)))
  dataset
    .command('show <name>')
    .description('show the metadata of a dataset')
    .action(runner(async (context, args) => (await code.dataset()).showDataset(context, args)))
  addLifeCommands(dataset, runner)
  dataset
    .command('log <name>')
    .description('show its chain of blocks, newest first')
    .option('-n, --limit <blocks>', 'most blocks', wholeNumber)
    .option('--before <hash>', 'start at the block before this one')
    .action(runner<LogOptions>(async (...given) => (await code.dataset()).logDataset(...given)))
}

const ingestHelp = `
Each file is one batch: all of its records are stored, or none. The format comes from the name (.csv, .tsv, .json,
.ndjson, .jsonl, .geojson, .ndgeojson, .parquet, .arrow, .zip with a shapefile, also with .gz, .zst, .br) or from what
is inside; stdin is NDJSON unless --format says otherwise.
NDJSON, CSV, TSV and NDGeoJSON from a pipe need not end: they are sent in batches, each with a key of its own.

  proofstream ingest me/lab readings.csv
  curl -s https://example.org/feed.json | proofstream ingest me/feed --format json
  mosquitto_sub -t 'sensors/#' | proofstream ingest me/sensors`

function addIngestCommand(program: Command, runner: Runner, formats: readonly FormatFacts[]): void {
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
    .option('--stream', 'NDJSON from a pipe: over one connection, told of four times a second')
    .addOption(choice('--header <header>', 'whether CSV has a header line', 'present', 'absent'))
    .addOption(
      choice('--unknown-fields <rule>', 'what to do with fields that are not columns', 'reject', 'ignore', 'add'),
    )
    .addOption(choice('--integers <type>', 'what whole JSON numbers become', 'int64', 'float64'))
    .addOption(choice('--time-zone <zone>', 'zone of times that have none', 'UTC'))
    .option('--layer <name>', 'of a shapefile with several layers: which')
    .option('--charset <name>', 'of a shapefile: the character set of its texts, such as windows-1252')
    .option('--event-time <field>', 'the field, or the JSON pointer to it, that holds the event time')
    .addOption(choice('--event-time-unit <unit>', 'unit of numeric event times', 's', 'ms', 'us', 'ns'))
    .option('--records <pointer>', 'of JSON: where in the body the array of records is, such as /metrics')
    .option('--flatten', 'objects inside of records become columns, a_b')
    .option('--no-flatten', 'objects inside are JSON text, whatever the rules of the dataset say')
    .option('--dedupe <field>', "what is the key of a batch instead of --key: a column, or 'body'")
    .option('--preset <name>', 'what the bodies of a known producer need; GET /presets lists them')
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
    .addOption(
      new Option('-f, --follow', 'then the rows of each block as it is committed, until Ctrl-C').conflicts([
        'skip',
        'at',
      ]),
    )
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
  const exporting = program
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
  exporting
    .command('iceberg <dataset> <dir>')
    .description('a dataset as the files of an Iceberg table, in a directory; again: what is new')
    .option('--as-of <block>', 'as of this block: its hash or its sequence')
    .option('--base <uri>', 'where engines will find the directory, such as s3://bucket/weather (default: where it is)')
    .action(runner<ExportIcebergOptions>(async (...given) => (await code.exportIceberg()).exportIceberg(...given)))
  program
    .command('verify <file>')
    .description("check a saved answer and have the node run its query again ('-': stdin)")
    .option('--offline', 'hashes and signature only: no node is asked')
    .option('--bundle', 'the file is a bundle: its query is run again here, over the rows in it; no node is asked')
    .option('--signer <did>', 'who must have signed (did:key:…)')
    .action(runner<VerifyOptions>(async (...given) => (await code.verify()).verify(...given)))
  program
    .command('bundle <proof>')
    .description('one file with a saved answer and all that it takes to run its query again: every block and every row')
    .action(runner(async (context, args) => (await code.bundle()).bundle(context, args)))
  program
    .command('receipt <id>')
    .description('what became of a batch')
    .action(runner(async (context, args) => (await code.facts()).showReceipt(context, args)))
}
