// Reference pages that are written from the code: docs/configuration.md from the options table, docs/cli.md from the
// tree of commands. `generate.ts` keeps them fresh.

import type { Argument, Command, Option } from 'commander'
import { exitCodes } from '../src/cli/failure.ts'
import { createProgram } from '../src/cli/program.ts'
import { formats } from '../src/formats/registry.ts'
import { clientEnvironment, loadConfig, type OptionRow, optionTable, variableOf } from '../src/config.ts'

const generated = '<!-- Written by `npm run generate`. -->'

/** docs/configuration.md */
export function configurationPage(): string {
  const isLimit = (row: OptionRow): boolean => row.name.startsWith('limit-')
  return page([
    '# Configuration',
    '',
    generated,
    '',
    'Each option of a node is a flag of `proofstream serve`, an environment variable, or a member of the JSON file that',
    '`--config` names, by the name in the table without dashes in front. The first of these that has a value decides;',
    'else the default does. An option that is unknown or malformed, as a flag or in the file, keeps the node from',
    'starting, with an error that names it. `proofstream config` shows every value and where it comes from.',
    '',
    'Durations are a number and `ms`, `s`, `m` or `h` (without a unit: milliseconds). Lists are separated by commas; in',
    'the file they are arrays.',
    '',
    ...optionRows(optionTable.filter((row) => !isLimit(row))),
    '',
    '## Limits',
    '',
    'What a node refuses to do more of. `GET /limits` lists the values in force.',
    '',
    ...optionRows(optionTable.filter(isLimit)),
    '',
    '## Commands that talk to a node',
    '',
    '| Variable | Flag | Meaning |',
    '|---|---|---|',
    '| `PROOFSTREAM_SERVER` | `--server` | address of the node; default `http://127.0.0.1:8080` |',
    '| `PROOFSTREAM_TOKEN` | `--token-file` (a file) | the token |',
    '| `PROOFSTREAM_DATA` | | where a node on this machine keeps its data: without a token, its `token` file is used |',
    '| `NO_COLOR` | | any value: no colours |',
  ])
}

function optionRows(rows: readonly OptionRow[]): string[] {
  return [
    '| Option | Environment | Default | Meaning |',
    '|---|---|---|---|',
    ...rows.map((row) => {
      const unit = row.type === 'duration-ms' ? ' ms' : ''
      const initial = row.default === undefined ? '' : `\`${row.default}${unit}\``
      const values = row.values === undefined ? '' : `: ${row.values.map((value) => `\`${value}\``).join(', ')}`
      return `| \`--${row.name}\` | \`${variableOf(row)}\` | ${initial} | ${html(row.text)}${values} |`
    }),
  ]
}

const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed, and no other code says why',
  usage: 'wrong usage: command, option, value',
  notFound: 'not found: dataset, block, receipt, file',
  notAllowed: 'no token, or one without the right',
  refused: 'the input was refused: records, SQL, a file that is no proof',
  unreachable: 'no node there, or it did not answer in time; trying again may help',
  conflict: 'in conflict with what is stored: moved head, reused key, rejected batch',
  environment: 'this machine is in the way: port or directory in use, file not writable, Node.js too old',
  verificationFailed: 'verification failed: the content is not what was signed or stored',
  verificationImpossible: 'verification impossible: dataset, block or engine not here',
  interrupted: 'interrupted',
}

/** docs/cli.md */
export function commandLinePage(): string {
  const program = createProgram({ clientEnvironment, loadConfig, optionTable }, formats, async () => {})
  return page([
    '# Command line',
    '',
    generated,
    '',
    'Data goes to stdout, everything else to stderr. On a terminal rows are a table, elsewhere one JSON object a line;',
    '`-o` chooses. JSON keeps every number as the node wrote it; CSV writes null as an empty cell and empty text as `""`,',
    'as `ingest` reads them.',
    '',
    ...optionTexts(program),
    '',
    ...leaves(program).flatMap((command) => ['', ...commandSection(command)]),
    '',
    '## Exit codes',
    '',
    '| Code | Meaning |',
    '|---|---|',
    // The keys of exitTexts are those of exitCodes.
    ...Object.entries(exitTexts).map(([name, text]) => `| ${exitCodes[name as keyof typeof exitCodes]} | ${text} |`),
  ])
}

function leaves(command: Command): Command[] {
  // `export` is a command and has one; other groups take no arguments of their own.
  const isCommand = command.commands.length === 0 || command.registeredArguments.length > 0
  return [...(isCommand ? [command] : []), ...command.commands.flatMap(leaves)]
}

function commandSection(command: Command): string[] {
  const path = [command.parent?.parent ? command.parent.name() : '', command.name()].filter((name) => name !== '')
  const takesNodeOptions = command.options.some(({ long }) => long === '--listen')
  return [
    `## ${path.join(' ')}`,
    '',
    `\`proofstream ${[...path, ...command.registeredArguments.map(argumentText)].join(' ')}\`: ${command.description()}`,
    ...(takesNodeOptions ? ['', 'Options: see [configuration.md](configuration.md).'] : []),
    ...(takesNodeOptions || command.options.length === 0 ? [] : ['', ...optionTexts(command)]),
  ]
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function optionTexts(command: Command): string[] {
  return ['| Option | Meaning |', '|---|---|', ...command.options.map(optionRow)]
}

function optionRow(option: Option): string {
  const choices = option.argChoices === undefined ? '' : ` (${option.argChoices.join(', ')})`
  const initial = typeof option.defaultValue === 'number' ? ` (default: ${option.defaultValue})` : ''
  return `| \`${escapeCell(option.flags)}\` | ${html(option.description)}${choices}${initial} |`
}

/** Placeholders such as <data> are text, not tags. */
function html(text: string): string {
  return escapeCell(text).replaceAll('<', '&lt;')
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function page(lines: readonly string[]): string {
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`
}
