// The scripts with which shells complete commands, options and their closed choices, from the tree of commands; `proofstream
// completion` prints them. What a shell does with its table is in completion/. `generate.ts` keeps them fresh.

import type { Command, Option } from 'commander'
import { readFile } from 'node:fs/promises'
import { clientEnvironment, loadConfig, optionTable } from '../src/app/config.ts'
import { formatsBut } from '../src/app/formats.ts'
import { createProgram } from '../src/cli/program.ts'

/** The script of bash, which zsh reads too, or that of fish. */
export async function completionScript(shell: 'bash' | 'fish'): Promise<string> {
  const program = createProgram({ clientEnvironment, loadConfig, optionTable }, formatsBut([]).all, async () => {})
  const frame = await readFile(new URL(`completion/frame.${shell}`, import.meta.url), 'utf8')
  return `${frame}${shell === 'fish' ? fishTable(program) : bashTable(program)}\n`
}

interface Place {
  /** Commands with a space before each. */
  readonly path: string
  readonly command: Command
}

function placesOf(command: Command, path = ''): Place[] {
  return [{ path, command }, ...command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`))]
}

/** What may follow a command: commands, or the closed choices of its first argument. */
function wordsAfter(command: Command): readonly string[] {
  const [argument] = command.registeredArguments
  return (
    argument?.argChoices ??
    command
      .createHelp()
      .visibleCommands(command)
      .map((one) => one.name())
  )
}

/** The closed choices of an option's value; others are names of files, as far as a shell knows. */
function choicesOf({ argChoices, flags }: Option): readonly string[] | undefined {
  if (argChoices !== undefined) return argChoices
  if (flags.startsWith('-o')) return ['table', 'json', 'ndjson', 'csv']
  return flags.endsWith('[true|false]') ? ['true', 'false'] : undefined
}

function flagsOf(options: readonly Option[]): string {
  return options.flatMap(({ long, short }) => [long ?? [], short ?? []].flat()).join(' ')
}

function bashTable(program: Command): string {
  const rows = placesOf(program).flatMap(({ path, command }) => {
    const valued = flagsOf(command.options.filter(({ required, optional }) => required || optional))
    // The options of the program may come anywhere.
    const any = command === program ? '*' : ''
    return [
      `    '${path}') words='${wordsAfter(command).join(' ')}' flags='${flagsOf(command.options)}' valued='${valued}' ;;`,
      ...command.options.flatMap((option) => {
        const choices = choicesOf(option)
        const places = flagsOf([option])
          .split(' ')
          .map((flag) => `${any}'${path} ${flag}'`)
        return choices === undefined ? [] : [`    ${places.join(' | ')}) words='${choices.join(' ')}' ;;`]
      }),
    ]
  })
  return ['_proofstream_at() {', '  case $1 in', ...rows, '    *) words= flags= valued= ;;', '  esac', '}'].join('\n')
}

function fishTable(program: Command): string {
  const rows = placesOf(program).flatMap(({ path, command }) => {
    const [argument] = command.registeredArguments
    const place = path === '' ? '' : `${path.slice(1)} `
    const isGroup = command.commands.length > 0 && argument === undefined
    const at = `-n ${fishWord(`__proofstream_at '^${place}${isGroup ? '$' : ''}'`)}`
    const help = command.createHelp()
    return [
      ...help
        .visibleCommands(command)
        .map((one) => `-f ${at} -a ${one.name()} -d ${fishWord(help.subcommandDescription(one))}`),
      ...(argument?.argChoices ?? []).map((word) => `-f ${at} -a ${word}`),
      ...command.options.map((option) => `${command === program ? '' : `${at} `}${fishOption(option)}`),
    ]
  })
  return rows.map((row) => `complete -c proofstream ${row}`).join('\n')
}

function fishOption(option: Option): string {
  const choices = choicesOf(option)
  const names = [option.short?.replace('-', '-s '), option.long?.replace('--', '-l ')]
  // -x: files are none of the choices, but for --output.
  const mode = choices !== undefined && option.short !== '-o' ? '-x' : option.required ? '-r' : undefined
  const value = choices && `-a ${fishWord(choices.join(' '))}`
  return [...names, mode, value, `-d ${fishWord(option.description)}`].filter((part) => part !== undefined).join(' ')
}

function fishWord(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
