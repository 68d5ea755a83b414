// Reference pages that are written from the code: docs/configuration.md from the options table, docs/cli.md from the
// tree of commands. `generate.ts` keeps them fresh.

import type { Argument, Command, Option } from 'commander'
import { exitCodes } from '../src/cli/failure.ts'
import { createProgram } from '../src/cli/program.ts'
import { formatsBut } from '../src/app/formats.ts'
import { clientEnvironment, loadConfig, optionTable, variableOf } from '../src/app/config.ts'
import type { OptionRow } from '../src/node/options.ts'

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
    '`--config` names. The member has the name in the table, without dashes in front. The first of these with a value',
    'decides, or the default. With an unknown or malformed option, as a flag or in the file, the node does not start,',
    'and the error names the option. `proofstream doctor` shows those that are set, and where. An option of an earlier',
    'version is refused with what is written in its place, in the environment too.',
    '',
    'Durations are a number and `ms`, `s`, `m` or `h`; milliseconds without a unit. Lists are separated by commas. In',
    'the file they are arrays.',
    '',
    ...optionRows(optionTable.filter((row) => !isLimit(row))),
    '',
    'In a URL, `%40` is an `@` and `%26` an `&`. No URL holds a password: that of the user in `--log` is in the',
    'environment as `PROOFSTREAM_LOG_PASSWORD`, or in the file that `password-file` names.',
    '',
    '## Limits',
    '',
    'A node refuses requests over these limits. `GET /limits` lists the values in force.',
    '',
    ...optionRows(optionTable.filter(isLimit)),
    '',
    '## Commands that talk to a node',
    '',
    '| Variable | Flag | Meaning |',
    '|---|---|---|',
    '| `PROOFSTREAM_SERVER` | `--server` | address of the node (default `http://127.0.0.1:8080`) |',
    '| `PROOFSTREAM_TOKEN` | `--token-file` (a file) | the token |',
    '| `PROOFSTREAM_DATA` | | data directory of a node on this machine; without a token, its `token` file is used |',
    '| `NO_COLOR` | | if set, no colours |',
  ])
}

function optionRows(rows: readonly OptionRow[]): string[] {
  return [
    '| Option | Environment | Default | Meaning |',
    '|---|---|---|---|',
    ...rows.map((row) => {
      const unit = row.type === 'duration-ms' ? ' ms' : ''
      const initial = row.default === undefined ? '' : `\`${row.default}${unit}\``
      const values = row.values === undefined ? '' : ` (${row.values.map((value) => `\`${value}\``).join(', ')})`
      return `| \`--${row.name}\` | \`${variableOf(row)}\` | ${initial} | ${html(row.text)}${values} |`
    }),
  ]
}

const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed for another reason',
  usage: 'wrong usage: command, option, value',
  notFound: 'not found: dataset, block, receipt, file',
  notAllowed: 'no token, or a token without the scope',
  refused: 'the input was refused: records, SQL, a file that is not a proof',
  unreachable: 'no node at the address, or no answer in time; a retry may help',
  conflict: 'conflict with stored data: moved head, reused key, rejected batch',
  environment: 'a problem of this machine: port or directory in use, file not writable, Node.js too old',
  verificationFailed: 'verification failed: the content differs from what was signed or stored',
  verificationImpossible: 'verification impossible: dataset, block or engine missing',
  promiseBroken: 'a promise of a receipt was broken, and others can see it',
  quorumNotMet: 'all is right, but too few of the witnesses of the policy have signed',
  notJudged: 'not judged: without a policy, a signer or entries of the ledger nobody can say',
  interrupted: 'interrupted',
}

/** docs/cli.md */
export function commandLinePage(): string {
  const program = createProgram({ clientEnvironment, loadConfig, optionTable }, formatsBut([]).all, async () => {})
  return page([
    '# Command line',
    '',
    generated,
    '',
    'Data goes to stdout, everything else to stderr. Rows are a table on a terminal, and one JSON object per line elsewhere.',
    '`-o` chooses another form. JSON keeps every number as the node wrote it. CSV writes null as an empty cell and empty',
    'text as `""`, and `ingest` reads them the same way.',
    '',
    'A shell completes commands, options and their choices, with `eval "$(proofstream completion bash)"` in `~/.bashrc`, the same',
    'with `zsh` in `~/.zshrc`, or `proofstream completion fish | source` in `~/.config/fish/config.fish`.',
    '',
    ...optionTexts(program.options),
    '',
    ...groups(program).flatMap(([heading, commands]) => [
      '',
      `## ${heading.replace(/:$/, '')}`,
      ...commands.flatMap(leaves).flatMap((command) => ['', ...commandSection(command)]),
    ]),
    '',
    '## Exit codes',
    '',
    '| Code | Meaning |',
    '|---|---|',
    // The keys of exitTexts are those of exitCodes.
    ...Object.entries(exitTexts).map(([name, text]) => `| ${exitCodes[name as keyof typeof exitCodes]} | ${text} |`),
  ])
}

/** The commands of each group of the help, in its order. */
function groups(program: Command): [string, Command[]][] {
  const headings = new Set(program.commands.map((command) => command.helpGroup()))
  return [...headings].map((heading) => [heading, program.commands.filter((one) => one.helpGroup() === heading)])
}

function leaves(command: Command): Command[] {
  // `export` is a command and has one; other groups take no arguments of their own.
  const isCommand = command.commands.length === 0 || command.registeredArguments.length > 0
  return [...(isCommand ? [command] : []), ...command.commands.flatMap(leaves)]
}

function commandSection(command: Command): string[] {
  const path = [command.parent?.parent ? command.parent.name() : '', command.name()].filter((name) => name !== '')
  const isServe = command.name() === 'serve'
  const own = command.options.filter(({ hidden }) => !hidden)
  const ofServe = command.options.filter(({ hidden }) => hidden).map(({ long }) => `\`${long}\``)
  const which = ofServe.length > 9 ? 'It takes all options of serve' : `It takes ${ofServe.join(', ')}, as serve does`
  return [
    `### ${path.join(' ')}`,
    '',
    `\`proofstream ${[...path, ...command.registeredArguments.map(argumentText)].join(' ')}\``,
    '',
    sentence(command.description()),
    ...(isServe ? ['', 'Options: see [configuration.md](configuration.md).'] : []),
    ...(isServe || own.length === 0 ? [] : ['', ...optionTexts(own)]),
    ...(ofServe.length === 0 ? [] : ['', `${which} ([configuration.md](configuration.md)).`]),
  ]
}

/** A text of the command line as a sentence of a page. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

function optionTexts(options: readonly Option[]): string[] {
  return ['| Option | Meaning |', '|---|---|', ...options.map(optionRow)]
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
