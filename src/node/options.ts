// What an option is, and what a feature or a driver says of its own: their rows, and what they come to. config.ts reads them.

import { NodeError } from '../libraries/base/errors.ts'

type OptionType = 'text' | 'integer' | 'boolean' | 'list' | 'duration-ms'

/** One option: flag `--name`, environment `PROOFSTREAM_NAME`, member `name` of the config file. */
export interface OptionRow {
  readonly name: string
  readonly type: OptionType
  readonly default?: string | number | boolean
  /** The one feature that it means anything for. */
  readonly feature?: string
  /** Set for those of drivers. */
  readonly driverOf?: 'log' | 'store'
  /** Values admitted, for text and for the items of a list. */
  readonly values?: readonly string[]
  /** True for what must not be shown. */
  readonly isSecret?: boolean
  readonly text: string
}

export type OptionValue = string | number | boolean | readonly string[]

/** Values by the names of options; each has the type that its row names. */
export type OptionValues = ReadonlyMap<string, unknown>

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The options of one feature or driver. */
export interface OptionGroup<T> {
  /** That of the feature or driver. */
  readonly name: string
  readonly rows: readonly OptionRow[]
  /** Schemes of a URL in `store` that it opens. */
  readonly schemes?: readonly string[]
  /** What the options need to mean something: `the log in Kafka: --log kafka`. */
  readonly needs: string
  /** What they come to; undefined where nothing calls for it. Throws NodeError `InvalidParameter`. */
  readonly read: (values: OptionValues, environment: Environment) => T | undefined
}

/** What each group came to, by its name. */
export type Settings = ReadonlyMap<string, unknown>

/** What the options of `group` came to; undefined where nothing calls for it, and where it is left out. */
export function settingsOf<T>(settings: Settings, { name }: OptionGroup<T>): T | undefined {
  return settings.get(name) as T | undefined // as its `read` gave it
}

/** The scheme of a `store` that is a URL, in lower case: `s3`. Undefined for a directory. */
export function schemeOf(store: string | undefined): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(store ?? '')?.[1]?.toLowerCase()
}

/** The address of a host, which is all that `text` says. Throws NodeError `InvalidParameter`, which names the option. */
export function originOption(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === ''
  if (isAddress && url.username === '' && url.hash === '') return url
  throw invalidOption(`Option '${option}' is '${text}'; expected https://host or http://host:port.`)
}

/** An option that is none, or is not as it must be. */
export function invalidOption(message: string, cause?: unknown): NodeError {
  return new NodeError('InvalidParameter', message, { hint: 'proofstream serve --help lists the options.', cause })
}
