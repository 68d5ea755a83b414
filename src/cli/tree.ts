// The tree of commands: names, arguments, options, help. Declarations only; the code of a command is loaded when it
// runs, so that help and short commands start at once. Order here is order in the help and in docs/cli.md.

import { Argument, type Command, Option } from 'commander'
import type { FormatFacts } from '../libraries/formats/format.ts'
import type { OptionRow } from '../index.ts'
import type { BundleOptions } from './commands/bundle.ts'
import type {
  CreateOptions,
  DeleteOptions,
  ListOptions,
  LogOptions,
  RestoreOptions,
  SetOptions,
} from './commands/dataset.ts'
import type { ExportOptions } from './commands/export.ts'
import type { IngestOptions } from './commands/ingest-request.ts'
import type { AuditOptions } from './commands/ledger-audit.ts'
import type { PackOptions } from './commands/pack-evidence.ts'
import type { QueryOptions, TailOptions } from './commands/query.ts'
import type { VerifyOptions } from './commands/verify-answer.ts'
import { flagOf } from '../libraries/formats/flags.ts'
import { type ParameterName, type ParameterRow, parameterRows } from '../libraries/formats/parameters.ts'
import { fileFormNames } from './file-forms.ts'
import { collect, durationOption, positiveNumber, type Runner, wholeNumber } from './context.ts'
import { addOperatorCommands, addRenewCommand, addServeCommands } from './node-tree.ts'

/** The code of commands, loaded when one of them runs. */
const code = {
  audit: () => import('./commands/ledger-audit.ts'),
  bundle: () => import('./commands/bundle.ts'),
  completion: () => import('./commands/completion.ts'),
  dataset: () => import('./commands/dataset.ts'),
  export: () => import('./commands/export.ts'),
  facts: () => import('./commands/node-facts.ts'),
  ingest: () => import('./commands/ingest.ts'),
  ledger: () => import('./commands/ledger.ts'),
  packEvidence: () => import('./commands/pack-evidence.ts'),
  query: () => import('./commands/query.ts'),
  signedReceipt: () => import('./commands/signed-receipt.ts'),
  verify: () => import('./commands/verify.ts'),
} as const

export function addCommands(
  program: Command,
  runner: Runner,
  table: readonly OptionRow[],
  formats: readonly FormatFacts[],
): void {
  addServeCommands(program, runner, table)
  addDatasetCommands(program, runner)
  addIngestCommand(program, runner, formats)
  addReadCommands(program, runner)
  program
    .command('completion')
    .description('print the script with which a shell completes this command: eval "$(proofstream completion bash)"')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(runner(async (_, args) => (await code.completion()).printCompletion(args)))
  program.commandsGroup('Proofs:')
  addProofCommands(program, runner)
  const ledger = program.command('ledger').description('the ledger of a node')
  addLedgerCommands(ledger, runner)
  addRenewCommand(ledger, runner, table)
  program.commandsGroup('Operating a node:')
  addOperatorCommands(program, runner, table)
}

/** Adds to the group `ledger`. */
function addLedgerCommands(ledger: Command, runner: Runner): void {
  ledger
    .command('status')
    .description('show how the ledger of a node is doing: its size, its witnesses, how late it is')
    .action(runner(async (context) => (await code.ledger()).ledgerStatus(context)))
  ledger
    .command('prove <what>')
    .description(
      'save the proof that something is in the ledger (-o FILE.tlog-proof or FILE.json), or print it. It takes the id of a receipt, the hash of a block, or account/dataset@offset for a row',
    )
    .action(runner(async (context, args) => (await code.ledger()).prove(context, args)))
  ledger
    .command('audit <url>')
    .description(
      'recompute the ledger of a node from its entries, check its head by the policy, compare it with chains that you may read; list its statements',
    )
    .option('--policy <file>', 'which ledgers and witnesses count (default: the policy of the node, which is named)')
    .option('--state <file>', 'keep the head here, and check that the ledger goes on from the one that is there')
    .action(runner<AuditOptions>(async (...given) => (await code.audit()).auditLedger(...given)))
}

function addLifeCommands(dataset: Command, runner: Runner): void {
  dataset
    .command('set <name>')
    .description('change the name, the metadata (info, license, attachments) or the settings of a dataset')
    .option('--name <new-name>', 'new name; the old name redirects to it until another dataset takes it')
    .option('--visibility <word>', 'public (every reader may read it) or private (only tokens that cover it may)')
    .option(
      '--freshness <time>',
      "age by which a row of a steady stream can be read, such as 5s ('default' for the pace of the node)",
    )
    .option('--description <text>', 'what the dataset contains')
    .option('--keyword <word>', 'keyword (repeat)', collect)
    .addOption(proofsOption())
    .addOption(ledgerOption())
    .option('--license <file>', "JSON {shortName, name, spdxId, websiteUrl} ('-': stdin)")
    .option(
      '--set <name=value>',
      'rule of how batches are read, such as decimal=,; without a value it is taken away (repeat)',
      collect,
    )
    .option('--attach <file>', 'text file to attach to the chain; replaces the former ones (repeat)', collect)
    .action(runner<SetOptions>(async (...given) => (await code.dataset()).setDataset(...given)))
  dataset
    .command('delete <name>')
    .description('delete a dataset; its name is free at once, and it can be restored for some days')
    .option('--yes', 'do not ask')
    .option('--grace <time>', "how long it can be restored, such as 0s or 24h (default: the node's --delete-grace)")
    .option('--if-match <hash>', 'only if this is the head of the dataset')
    .action(runner<DeleteOptions>(async (...given) => (await code.dataset()).deleteDataset(...given)))
  dataset
    .command('restore <id>')
    .description('restore a deleted dataset; delete has printed its id (did:odf:…)')
    .option('--as <name>', 'restore under another name')
    .action(runner<RestoreOptions>(async (...given) => (await code.dataset()).restoreDataset(...given)))
}

function proofsOption(): Option {
  const text = 'smallest part that can be proved alone, from now on: rows, or batches (default)'
  return new Option('--proofs <what>', text).choices(['rows', 'batches'])
}

function ledgerOption(): Option {
  const text =
    'whether its blocks are entries of the ledger, which cannot be taken back (default: those of a public one are)'
  return new Option('--ledger <whether>', text).choices(['true', 'false'])
}

function addDatasetCommands(program: Command, runner: Runner): void {
  const dataset = program.command('dataset').description('create, inspect and change datasets')
  dataset
    .command('create <name>')
    .description('create a dataset (account/name); without columns, they are inferred from the first batch')
    .option('--column <name:type>', 'a column, such as temp:Float64? (repeat; ? = may be null)', collect)
    .option('--schema <file>', "schema in ODF JSON, {fields: [{name, type}]} ('-' for stdin)")
    .option('--description <text>', 'what the dataset contains')
    .option('--keyword <word>', 'keyword (repeat)', collect)
    .option('--private', 'readable only with a token')
    .option('--freshness <time>', 'age by which a row of a steady stream can be read, such as 5s or 1h')
    .addOption(proofsOption())
    .addOption(ledgerOption())
    .action(runner<CreateOptions>(async (...given) => (await code.dataset()).createDataset(...given)))
  dataset
    .command('list')
    .description('list the datasets that you may read')
    .option('--account <name>', 'only of this account')
    .option('--deleted', 'deleted datasets that can be restored, with their ids')
    .action(runner<ListOptions>(async (context, _, options) => (await code.dataset()).listDatasets(context, options)))
  dataset
    .command('show <name>')
    .description('show the metadata of a dataset')
    .action(runner(async (context, args) => (await code.dataset()).showDataset(context, args)))
  addLifeCommands(dataset, runner)
  dataset
    .command('log <name>')
    .description('show the chain of blocks, newest first')
    .option('-n, --limit <blocks>', 'maximum number of blocks', wholeNumber)
    .option('--before <hash>', 'start at the block before this one')
    .action(runner<LogOptions>(async (...given) => (await code.dataset()).logDataset(...given)))
}

const ingestHelp = `
Each file is one batch: all of its records are stored, or none. The name gives the format (.csv, .tsv, .json, .ndjson,
.jsonl, .geojson, .ndgeojson, .parquet, .arrow, .xlsx, .zip with a shapefile, also with .gz, .zst, .br), or else the content.
Stdin is NDJSON unless --format says otherwise.
Where it is in doubt how a file is read, a terminal asks. Elsewhere the flags that settle it are printed.
NDJSON, CSV, TSV and NDGeoJSON from a pipe may be endless: they are sent in batches, each with its own key.
With -o json, receipts are printed whole, with the ids that receipt and ledger prove take.

  proofstream ingest me/lab readings.csv
  curl -s https://example.org/feed.json | proofstream ingest me/feed --format json
  mosquitto_sub -t 'sensors/#' | proofstream ingest me/sensors`

function addIngestCommand(program: Command, runner: Runner, formats: readonly FormatFacts[]): void {
  const choice = (flags: string, text: string, ...choices: readonly string[]): Option =>
    new Option(flags, text).choices(choices)
  const ingest = program
    .command('ingest <dataset> [files...]')
    .description('store records from files or stdin')
    .addOption(choice('-f, --format <format>', 'format of all files', ...formats.map(({ name }) => name)))
    .option('--no-create', 'fail if the dataset is missing, instead of creating it')
    .option('--no-wait', 'return once the records are durable in the log, before they are in a block')
    .option('--dry-run', 'check everything, store nothing')
    .addOption(
      new Option(
        '--yes',
        'ask nothing: of a file, take the way to read it that the node offers, if it is the only one',
      ).conflicts('dryRun'),
    )
    .option('--key <key>', 'idempotency key of the batch; a batch stored under it is not stored again')
    .option('--retries <count>', 'retries after the first try', wholeNumber, 8)
    .option('--batch-rows <rows>', 'from a pipe: maximum number of records in a batch', positiveNumber, 1000)
    .option(
      '--batch-age <time>',
      'from a pipe: longest wait before a record is sent, such as 1s or 200ms',
      durationOption,
      1000,
    )
    .option('--stream', 'NDJSON from a pipe: send it over one connection, confirmed four times a second')
    .addOption(choice('--header <header>', 'whether CSV has a header line', 'present', 'absent'))
    .option('--set <name=value>', 'any parameter of ingest by its name, such as eventTimeUnit=ms (repeat)', collect)
    .addHelpText('after', ingestHelp)
    .action(runner<IngestOptions>(async (...given) => (await code.ingest()).ingest(...given)))
  for (const [name, row] of parameterRows) for (const option of flagsOf(name, row)) ingest.addOption(option)
  program
    .command('receipt <id>')
    .description('show the outcome of a batch')
    .option(
      '--signed',
      'as the node signs it, with the proofs of the ledger and its policy: a file to hand on (-o FILE.json)',
    )
    .action(
      runner<{ readonly signed?: boolean }>(async (context, args, { signed }) =>
        signed === true
          ? await (await code.signedReceipt()).saveSignedReceipt(context, args[0] ?? '')
          : await (await code.facts()).showReceipt(context, args),
      ),
    )
}

/** The flags of a parameter that has some. */
function flagsOf(name: ParameterName, row: ParameterRow): readonly Option[] {
  if (row.flag === undefined) return []
  const flag = flagOf(name)
  if (row.takes === 'switch') {
    return [
      new Option(flag, row.about),
      new Option(flag.replace('--', '--no-'), `not ${flag}, even if that is a rule of the dataset`),
    ]
  }
  const option = new Option(`${flag} <${row.flag}>`, row.about)
  return [Array.isArray(row.takes) ? option.choices(row.takes) : option]
}

function addReadCommands(program: Command, runner: Runner): void {
  program
    .command('tail <dataset>')
    .description('the newest rows of a dataset')
    .option('-n, --limit <rows>', 'maximum number of rows', wholeNumber, 10)
    .option('--skip <rows>', 'rows to skip, counted from the newest', wholeNumber)
    .option('--at <hash>', 'as of this block')
    .addOption(
      new Option('-f, --follow', 'keep printing the rows of new blocks until Ctrl-C').conflicts(['skip', 'at']),
    )
    .action(runner<TailOptions>(async (...given) => (await code.query()).tail(...given)))
  program
    .command('query <sql>')
    .description('one SELECT over any datasets, named "account/dataset" (\'-\' for stdin)')
    .option('-n, --limit <rows>', 'maximum number of rows (default: 100, or all in a file)', wholeNumber)
    .option('--skip <rows>', 'rows to skip at the start', wholeNumber)
    .option('--all', 'print every row as it arrives')
    .option('--param <name=value>', 'value of $name or $1, as name=text, or name:=json for numbers (repeat)', collect)
    .option('--proof <file>', "also save the signed answer to a file ('-' for stdout, without the rows)")
    .action(runner<QueryOptions>(async (...given) => (await code.query()).query(...given)))
  program
    .command('export <dataset>')
    .description('all rows of a dataset in the order of offsets')
    .addOption(
      new Option(
        '-f, --format <format>',
        'form of the rows (default: by the name of the file). With iceberg, -o names the directory of a table, and a repeat adds what is new',
      ).choices([...fileFormNames, 'iceberg']),
    )
    .option('--at <block>', 'as of this block, by its hash; of an Iceberg table by its sequence, too')
    .option(
      '--base <uri>',
      'where engines will find an Iceberg table, such as s3://bucket/weather (default: its own path)',
    )
    .option('--columns <a,b>', 'only these columns')
    .option('--where <condition>', 'only rows that fulfil this SQL condition')
    .option('--bbox <w,s,e,n>', 'only rows whose geometry meets this box, in degrees')
    .option('--datetime <interval>', 'only rows with an event time in from/to (../to, from/..)')
    .option('--system', 'with system columns (default: with them, except in GeoJSON)')
    .option('--no-system', 'without system columns')
    .option('--geometry <column>', 'column with the geometry, for GeoJSON and GeoParquet')
    .action(runner<ExportOptions>(async (...given) => (await code.export()).exportDataset(...given)))
}

function addProofCommands(program: Command, runner: Runner): void {
  program
    .command('verify <files...>')
    .description(
      "check saved answers, bundles, proofs of the ledger, signed receipts and signed heads ('-' for stdin). The node runs the query of an answer again",
    )
    .option('--offline', 'check only what the files and the policy show, without a node')
    .option('--bundle', 'the files are bundles: run their queries again here, over their rows, without a node')
    .option('--signer <did>', 'the signer of answers and receipts that is expected (did:key:…)')
    .option(
      '--policy <file>',
      'which ledgers and witnesses count (default: the policy of the node, which is named; for bundles none)',
    )
    .option('--tsa-ca <file>', 'certificates (PEM) of the authorities whose time stamps count')
    .option('--verbose', 'hashes, too')
    .action(runner<VerifyOptions>(async (...given) => (await code.verify()).verify(...given)))
  program
    .command('bundle <proof>')
    .description('write one file with a saved answer and every block and row needed to run its query again')
    .option('--ledger', 'with the proofs of the ledger that it has the blocks which the answer names')
    .action(runner<BundleOptions>(async (...given) => (await code.bundle()).bundle(...given)))
  program
    .command('pack-evidence <datasets...>')
    .description(
      'write one zip for somebody without an account: datasets with all blocks and rows, proofs, answers, receipts, and a page to read first',
    )
    .option(
      '--query <file>',
      'with the signed answer to the statement in this file, or the answer that it is (repeat)',
      collect,
    )
    .option('--receipt <id>', 'with this receipt and its proofs, by its id or as a saved file (repeat)', collect)
    .option(
      '--from <block>',
      'with the proofs of the ledger from this block on, by its number or time (default: of the newest alone)',
    )
    .option('--to <block>', 'up to this block, by its number or time')
    .option('--head <size>', 'all proofs lead to the head of the ledger with so many entries', positiveNumber)
    .action(runner<PackOptions>(async (...given) => (await code.packEvidence()).packEvidence(...given)))
}
