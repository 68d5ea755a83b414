// What an option is, and what features and drivers say of theirs: rows or a URL, and what they come to. config.ts reads them.
// Options that are URLs are `SCHEME://[USER@]HOSTS[/PATH][?PARAMETERS]`. Secrets are not in them: an address with an '@' may hold
// one by mistake, so no such address is repeated in an error.

import { defined } from '../libraries/base/collections.ts'
import { NodeError } from '../libraries/base/errors.ts'

type OptionType = 'text' | 'integer' | 'boolean' | 'list' | 'duration-ms'

/** One option: flag `--name`, environment `PROOFSTREAM_NAME`, member `name` of the config file. */
export interface OptionRow {
  readonly name: string
  readonly type: OptionType
  readonly default?: string | number | boolean
  /** The one feature that it means anything for. */
  readonly feature?: string
  /** Values admitted, for text and for the items of a list. */
  readonly values?: readonly string[]
  /** True for what must not be shown. */
  readonly isSecret?: boolean
  readonly text: string
}

export type OptionValue = string | number | boolean | readonly string[]

/** Values by the names of options; each has the type that its row names. */
export type OptionValues = ReadonlyMap<string, unknown>

/** Holds the password of the user in `log`, which no flag and no file of options takes. */
export const passwordVariable = 'PROOFSTREAM_LOG_PASSWORD'

/** Variables of the process: those of AWS's own programs, and `passwordVariable`; none is empty. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The options of one feature. */
export interface OptionGroup<T> {
  /** That of the feature. */
  readonly name: string
  readonly rows: readonly OptionRow[]
  /** Schemes of a URL in `store` that it opens. */
  readonly schemes?: readonly string[]
  /** What the options need to mean something: `a broker: --mqtt tcp://host:1883`. */
  readonly needs: string
  /** What they come to; undefined where nothing calls for it. Throws NodeError `InvalidParameter`. */
  readonly read: (values: OptionValues) => T | undefined
}

/** What a driver makes of a URL in `store` or `log`. */
export interface UrlOptions<T> {
  /** Of the driver, and the scheme of its URLs. */
  readonly name: string
  /** Continues the text of the option. */
  readonly text: string
  /** Throws NodeError `InvalidParameter`. */
  readonly read: (url: string, environment: Environment) => T
}

/** What each driver and each group came to, by its name. */
export type Settings = ReadonlyMap<string, unknown>

/** What the options of a group or a driver came to; undefined where nothing calls for it, and where it is left out. */
export function settingsOf<T>(settings: Settings, { name }: OptionGroup<T> | UrlOptions<T>): T | undefined {
  return settings.get(name) as T | undefined // as its `read` gave it
}

/** The scheme of a `store` that is a URL, in lower case: `s3`. Undefined for a directory. */
export function schemeOf(store: string | undefined): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(store ?? '')?.[1]?.toLowerCase()
}

/** The address of a host, where that is all that `text` says. */
export function originOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  return isOrigin ? url : undefined
}

/** What an option takes, for reading it and for errors. */
export interface UrlForm<Name extends string> {
  readonly option: string
  /** Such as `tcp://host:1883`. */
  readonly expected: string
  readonly parameters: readonly Name[]
}

/** `HOST[:PORT]`, with the host of IPv6 in brackets. */
interface HostOption {
  readonly text: string
  /** Without brackets. */
  readonly host: string
  readonly port: number | undefined
}

export interface OptionUrl<Name extends string> {
  /** In lower case. */
  readonly scheme: string
  readonly user: string | undefined
  /** At least one. */
  readonly hosts: readonly HostOption[]
  /** Without the slash before it and one after it. */
  readonly path: string
  /** Each once, not empty. */
  readonly parameters: Readonly<Partial<Record<Name, string>>>
}

/** Names of files (PEM). */
export interface TlsFiles {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

const pattern = /^([a-z][a-z0-9+.-]*):\/\/(?:([^@/?#:]+)@)?([^@/?#]+)(?:\/([^@?#]*))?(?:\?([^#]*))?$/i

/** Throws NodeError `InvalidParameter`, also for a password, and for parameters that are unknown, repeated or empty. */
export function readOptionUrl<Name extends string>(text: string, form: UrlForm<Name>): OptionUrl<Name> {
  const [, scheme = '', user, hosts = '', path = '', query = ''] = pattern.exec(text) ?? []
  const { option, expected } = form
  const read = hosts.split(',').map(hostOf)
  const known = read.filter((host) => host !== undefined)
  if (known.length < read.length) throw invalidOption(`Option '${option}' must be ${expected}, without a password.`)
  return {
    scheme: scheme.toLowerCase(),
    user: user === undefined ? undefined : decodedUser(option, user),
    hosts: known,
    path: path.replace(/\/$/, ''),
    parameters: readParameters(query, form),
  }
}

function readParameters<Name extends string>(query: string, form: UrlForm<Name>): OptionUrl<Name>['parameters'] {
  const given = [...new URLSearchParams(query)]
  const bad = (name: string, fault: string): NodeError => {
    const named = /^[\w-]{1,50}$/.test(name) ? `Parameter '${name}'` : 'A parameter'
    return invalidOption(`${named} of option '${form.option}' ${fault}; it takes ${form.parameters.join(', ')}.`)
  }
  for (const [at, [name, value]] of given.entries()) {
    if (!form.parameters.some((known) => known === name)) throw bad(name, 'is unknown')
    if (value === '') throw bad(name, 'has no value')
    if (given.findIndex(([other]) => other === name) < at) throw bad(name, 'is given twice')
  }
  return Object.fromEntries(given) as OptionUrl<Name>['parameters'] // of known names by the lines above
}

function decodedUser(option: string, escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch (error) {
    throw invalidOption(`Option '${option}' has a user with a '%' that begins no escape; a '%' itself is %25.`, error)
  }
}

function hostOf(part: string): HostOption | undefined {
  const text = part.trim()
  const [, inBrackets, name, digits] = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const host = inBrackets ?? name
  const port = digits === undefined ? undefined : Number(digits)
  return host === undefined || (port ?? 0) > 65_535 ? undefined : { text, host, port }
}

/** The files for TLS that the parameters `ca`, `cert` and `key` name. Throws NodeError `InvalidParameter` for half a pair. */
export function tlsFilesOf(option: string, { ca, cert, key }: TlsFiles): TlsFiles {
  if ((cert === undefined) === (key === undefined)) return defined({ ca, cert, key })
  throw invalidOption(`Option '${option}' names 'cert' or 'key'; they belong together.`)
}

/** The value of a parameter that has few. Throws NodeError `InvalidParameter` for another. */
export function oneOf<T extends string>(option: string, parameter: string, value: string, values: readonly T[]): T {
  const found = values.find((one) => one === value)
  if (found !== undefined) return found
  throw invalidOption(`Parameter '${parameter}' of option '${option}' must be one of ${values.join(', ')}.`)
}

/** An option that is none, or is not as it must be. */
export function invalidOption(message: string, cause?: unknown): NodeError {
  return new NodeError('InvalidParameter', message, { hint: 'proofstream serve --help lists the options.', cause })
}
