// What every command is given: the options that all commands share, and what the environment says. Also the parsers of
// option values, which report to commander.

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ClientEnvironment, Config, OptionRow } from '../index.ts'
import { durationMs } from '../libraries/base/clock.ts'
import { CommandFailure, exitCodes } from './failure.ts'
import { type FileForm, fileFormNames, fileFormOfPath } from './file-forms.ts'

const outputForms = ['table', 'json', 'ndjson', 'csv'] as const
export type OutputForm = (typeof outputForms)[number]

/** What `main.ts` hands over: the options table and its readers. */
export interface Entry {
  readonly clientEnvironment: () => ClientEnvironment
  readonly loadConfig: (flags: Readonly<Record<string, unknown>>, configFile?: string) => Config
  readonly optionTable: readonly OptionRow[]
}

/** Positional arguments, the variadic ones one by one. */
export type Args = readonly string[]

export interface CommandContext {
  readonly environment: ClientEnvironment
  /** `--server` */
  readonly server: string | undefined
  /** `--token-file` */
  readonly tokenFile: string | undefined
  /** `--output`, else a table on a terminal and NDJSON elsewhere. */
  readonly form: OutputForm
  /** Whether `--output` names it. */
  readonly isFormSaid: boolean
  /** `--output` where it names a file. */
  readonly file: { readonly path: string; readonly form: FileForm } | undefined
  /** `--output` where it names a bundle. */
  readonly bundle: string | undefined
  /** `--output` where it names a proof of the ledger. */
  readonly proofFile: string | undefined
  readonly entry: Entry
}

/** Options of a node, for commands that read its configuration. */
export interface NodeOptions {
  /** Values by option name of the options table; absent where no flag was given. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly configFile: string | undefined
}

/**
 * Makes commander's action of a command's code, which resolves to the exit code. `options` are of the type that the
 * command declares, which commander has checked.
 */
export type Runner = <Options>(
  code: (context: CommandContext, args: Args, options: Options) => Promise<number>,
) => (...args: unknown[]) => Promise<void>

export function outputOption(): Option {
  const forms = outputForms.join(', ')
  const files = fileFormNames.map((name) => `.${name}`).join(' ')
  return new Option(
    '-o, --output <form|file>',
    `form of the data (${forms}; table on a terminal and ndjson elsewhere by default), or a file for rows. The name of the file decides its form (${files}; .tar for a bundle, .tlog-proof for a proof of the ledger)`,
  ).argParser(readOutput)
}

/** `--output` as read. */
type Output =
  | { readonly form: OutputForm }
  | { readonly path: string; readonly form: FileForm }
  | { readonly bundle: string }
  | { readonly proofFile: string }

function readOutput(text: string): Output {
  const form = outputForms.find((one) => one === text)
  if (form !== undefined) return { form }
  if (/\.tar$/i.test(text)) return { bundle: text }
  if (/\.tlog-proof$/i.test(text)) return { proofFile: text }
  const fileForm = fileFormOfPath(text)
  if (fileForm !== undefined) return { path: text, form: fileForm }
  const files = fileFormNames.map((name) => `.${name}`).join(', ')
  throw new InvalidArgumentError(`Allowed are ${outputForms.join(', ')}, and files that end in ${files}.`)
}

/** Commands whose rows may go to a file. */
const rowCommands: ReadonlySet<string> = new Set(['query', 'tail', 'export', 'prove'])

/** What the options that all commands share come to. Throws CommandFailure (usage). */
export function contextOf(command: Command, entry: Entry): CommandContext {
  // The tree declares these options, with these types.
  const { server, tokenFile, output } = command.optsWithGlobals<{
    server?: string
    tokenFile?: string
    output?: Output
  }>()
  const file = output !== undefined && 'path' in output ? output : undefined
  if (file !== undefined && !rowCommands.has(command.name())) {
    throw new CommandFailure(exitCodes.usage, `${command.name()} writes no files: -o takes ${outputForms.join(', ')}.`)
  }
  const bundle = output !== undefined && 'bundle' in output ? output.bundle : undefined
  const proofFile = output !== undefined && 'proofFile' in output ? output.proofFile : undefined
  if (
    (bundle !== undefined && command.name() !== 'bundle') ||
    (proofFile !== undefined && command.name() !== 'prove')
  ) {
    const what = bundle === undefined ? 'proofs' : 'bundles'
    throw new CommandFailure(
      exitCodes.usage,
      `${command.name()} writes no ${what}: -o takes ${outputForms.join(', ')}.`,
    )
  }
  const form = output !== undefined && 'form' in output && !('path' in output) ? output.form : undefined
  return {
    environment: entry.clientEnvironment(),
    server,
    tokenFile,
    form: form ?? (process.stdout.isTTY ? 'table' : 'ndjson'),
    isFormSaid: form !== undefined,
    file,
    bundle,
    proofFile,
    entry,
  }
}

/** Parser of a whole number of at least 0. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is not a whole number.')
}

/** Parser of a whole number of at least 1. */
export function positiveNumber(text: string): number {
  const value = wholeNumber(text)
  if (value > 0) return value
  throw new InvalidArgumentError('It must be at least 1.')
}

/** Parser of a duration; milliseconds. */
export function durationOption(text: string): number {
  const ms = durationMs(text)
  if (ms !== undefined) return ms
  throw new InvalidArgumentError('It is not a duration such as 200ms, 1s or 2m.')
}

/** Parser of names with commas between them. */
export function commaList(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim())
}

/** Parser of an option that may be given more than once. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text]
}

/** The flag of a name: `eventTime` is `--event-time`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
