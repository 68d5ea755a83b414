// What every command is given: the options that all commands share, and what the environment says.

import type { ClientEnvironment, Config, OptionRow } from '../index.ts'

export const outputForms = ['table', 'json', 'ndjson', 'csv'] as const
export type OutputForm = (typeof outputForms)[number]

/** What `main.ts` hands over: the options table and its readers. */
export interface Entry {
  readonly clientEnvironment: () => ClientEnvironment
  readonly loadConfig: (flags: Readonly<Record<string, unknown>>, configFile?: string) => Config
  readonly optionTable: readonly OptionRow[]
}

export interface CommandContext {
  readonly environment: ClientEnvironment
  /** `--server` */
  readonly server: string | undefined
  /** `--token-file` */
  readonly tokenFile: string | undefined
  /** `--output`, else a table on a terminal and NDJSON elsewhere. */
  readonly form: OutputForm
  readonly entry: Entry
}
