// Options that more than one command has, and how commander's values become those of a command.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CommandContext, type Entry, type OutputForm, outputForms } from './context.ts'

/** A command's code: context, positional arguments, its own options. Resolves to the exit code. */
export type CommandCode = (
  context: CommandContext,
  args: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
) => Promise<number>

/** Makes commander's action of a command's code. */
export type Runner = (code: CommandCode) => (...args: unknown[]) => Promise<void>

export function outputOption(): Option {
  return new Option('-o, --output <form>', 'form of the data (default: table on a terminal, ndjson elsewhere)').choices(
    outputForms,
  )
}

/** What the options that all commands share come to. */
export function contextOf(command: Command, entry: Entry): CommandContext {
  // The tree declares these options, with these types.
  const { server, tokenFile, output } = command.optsWithGlobals<{
    server?: string
    tokenFile?: string
    output?: OutputForm
  }>()
  const form = output ?? (process.stdout.isTTY ? 'table' : 'ndjson')
  return { environment: entry.clientEnvironment(), server, tokenFile, form, entry }
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

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }

/** Parser of a duration; milliseconds. */
export function durationMs(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|m)$/.exec(text) ?? []
  const factor = unitMs[unit]
  if (factor !== undefined) return Number(digits) * factor
  throw new InvalidArgumentError('It is not a duration such as 200ms, 1s or 2m.')
}

/** Parser of an option that may be given more than once. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text]
}
