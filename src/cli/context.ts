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
  /** `--output` where it names no form. */
  readonly path: string | undefined
  /** The same, with its form, where it names a file of rows. */
  readonly file: { readonly path: string; readonly form: FileForm } | undefined
  readonly entry: Entry
}

/** Options of a node, for commands that read its configuration. */
export interface NodeOptions {
  /** Values by option name of the options table; absent where no flag was given. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly configFile: string | undefined
}

/** What they come to, where the command works on what is stored. */
export interface StoredOptions extends NodeOptions {
  readonly config: Config
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
    `form of the data (${forms}; table on a terminal and ndjson elsewhere by default), or a file for rows. The name of the file decides its form (${files}; .tar for a bundle, .zip for an evidence pack, .tlog-proof for a proof). An Iceberg table is a directory`,
  ).argParser(readOutput)
}

/** What a path of `--output` is, by its end; what ends otherwise may be a directory. */
type PathKind = 'files' | 'bundles' | 'packs' | 'proofs' | 'directories'

/** `--output` as read. */
type Output =
  | { readonly form: OutputForm }
  | { readonly kind: PathKind; readonly path: string; readonly fileForm: FileForm | undefined }

function readOutput(text: string): Output {
  const form = outputForms.find((one) => one === text)
  if (form !== undefined) return { form }
  const fileForm = fileFormOfPath(text)
  return { kind: fileForm === undefined ? kindOfPath(text) : 'files', path: text, fileForm }
}

function kindOfPath(path: string): PathKind {
  if (/\.tar$/i.test(path)) return 'bundles'
  if (/\.zip$/i.test(path)) return 'packs'
  return /\.tlog-proof$/i.test(path) ? 'proofs' : 'directories'
}

/** What commands write. */
const written: Readonly<Record<string, readonly PathKind[]>> = {
  query: ['files'],
  tail: ['files'],
  export: ['files', 'directories'],
  prove: ['files', 'proofs'],
  receipt: ['files'],
  bundle: ['bundles'],
  'pack-evidence': ['packs'],
}

/** Throws CommandFailure (usage) where the command writes no such thing. */
function demandWritten(command: string, { kind, path }: Extract<Output, { path: string }>): void {
  const kinds = written[command] ?? []
  if (kinds.includes(kind)) return
  const files = fileFormNames.map((name) => `.${name}`).join(', ')
  const forms = outputForms.join(', ') + (kinds.includes('files') ? `, and files that end in ${files}` : '')
  const what = kind === 'directories' ? `'${path}' is no form` : `${command} writes no ${kind}`
  throw new CommandFailure(exitCodes.usage, `${what}: -o takes ${forms}.`)
}

/** What the options that all commands share come to. Throws CommandFailure (usage). */
export function contextOf(command: Command, entry: Entry): CommandContext {
  // The tree declares these options, with these types.
  const { server, tokenFile, output } = command.optsWithGlobals<{
    server?: string
    tokenFile?: string
    output?: Output
  }>()
  const form = output !== undefined && 'form' in output ? output.form : undefined
  const given = output !== undefined && 'path' in output ? output : undefined
  if (given !== undefined) demandWritten(command.name(), given)
  return {
    environment: entry.clientEnvironment(),
    server,
    tokenFile,
    form: form ?? (process.stdout.isTTY ? 'table' : 'ndjson'),
    isFormSaid: form !== undefined,
    path: given?.path,
    file: given?.fileForm && { path: given.path, form: given.fileForm },
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
