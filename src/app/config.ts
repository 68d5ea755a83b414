// The node's options table: flags, environment, config file, defaults, help and docs. The only reader of process.env.

import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { logDrivers, storeDrivers } from './drivers.ts'
import { features } from './features.ts'
import { goneOptions } from './gone-options.ts'
import { limitOption, limitOptions, limitsOf, queriesInMemory } from '../libraries/base/limits.ts'
import { hostAndPort, isLoopback } from '../libraries/base/loopback.ts'
import { nodeRoles, type Role, roles } from '../libraries/model/names.ts'
import type { Config } from '../node/config.ts'
import type { LogDriver, StoreDriver } from '../node/driver.ts'
import { parseValue } from './option-forms.ts'
import {
  type Environment,
  invalidOption,
  type OptionGroup,
  type OptionRow,
  type OptionValue,
  type OptionValues,
  originOf,
  passwordVariable,
  schemeOf,
} from '../node/options.ts'

/** The groups of options of features but for those that are left out. */
export function optionGroups(without: readonly string[] = []): readonly OptionGroup<unknown>[] {
  return features.flatMap(({ name, options }) => (options === undefined || without.includes(name) ? [] : options))
}

const rowsOfFeatures: readonly OptionRow[] = features.flatMap(({ name, options }) =>
  (options?.rows ?? []).map((row) => ({ ...row, feature: name })),
)

function textsOf(drivers: readonly (LogDriver | StoreDriver)[]): string {
  return drivers.map(({ options }) => options.text).join(', ')
}

const defaultDataDir = './proofstream-data'

const fixedOptions: readonly OptionRow[] = [
  {
    name: 'data',
    type: 'text',
    default: defaultDataDir,
    text: 'data directory for keys, token, cache and the file log; only one process may use it',
  },
  {
    name: 'store',
    type: 'text',
    text: `directory of the store (default: <data>/store), ${textsOf(storeDrivers)}. The store is shared by processes with other roles. With the https:// address of a node, a replica follows its datasets into <data>/store`,
  },
  {
    name: 'roles',
    type: 'list',
    default: nodeRoles.join(','),
    text: 'roles of this process. With the file log, gateway and builder must be one process. A replica needs only the store. A witness cosigns ledgers of others, and has no other role and no log',
  },
  {
    name: 'without',
    type: 'list',
    values: features.map(({ name }) => name),
    text: `features to leave out, with their code, routes and options`,
  },
  {
    name: 'listen',
    type: 'text',
    default: '127.0.0.1:8080',
    text: 'address and port to listen on; port 0 picks a free port',
  },
  {
    name: 'node-key',
    type: 'text',
    text: 'file with the node key (default: <data>/keys/node.json, created at the first start)',
  },
  {
    name: 'anonymous-read',
    type: 'boolean',
    text: 'let callers without a token read public datasets (default: true on loopback, otherwise false)',
  },
  {
    name: 'new-datasets',
    type: 'text',
    default: 'public',
    values: ['public', 'private'],
    text: 'visibility of datasets that records create (create=true, an MQTT route, a write), unless the request sets it',
  },
  { name: 'allowed-hosts', type: 'list', text: 'further Host names to answer to' },
  {
    name: 'public-url',
    type: 'text',
    text: 'address of this node for others, such as https://data.example. It is the base of absolute links and an accepted Host name (default: as each request names it)',
  },
  {
    name: 'cors-origins',
    type: 'list',
    text: 'origins whose pages may read (default: loopback origins on loopback, otherwise any)',
  },
  { name: 'trusted-signers', type: 'list', text: 'nodes (did:key) whose proofs /verify calls known' },
  {
    name: 'cut-interval',
    type: 'duration-ms',
    default: 5000,
    text: 'time between blocks of a dataset after 60 in a row',
  },
  {
    name: 'delete-grace',
    type: 'duration-ms',
    default: 7 * 24 * 3_600_000,
    text: 'how long a deleted dataset can be restored before the store removes it',
  },
  {
    name: 'keep-loose',
    type: 'boolean',
    default: false,
    text: 'keep a file for each object of a chain, even if packs hold it. The store then stays an ODF repository for file:// clients',
  },
  {
    name: 'log',
    type: 'text',
    default: 'file',
    text: `the log of records: file (in the data directory), ${textsOf(logDrivers)}`,
  },
  ...rowsOfFeatures,
  {
    name: 'log-level',
    type: 'text',
    default: 'info',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
    text: 'lowest level of log lines',
  },
]

const limitRows: readonly OptionRow[] = limitOptions.map(([name, { value, unit, text }]) => ({
  name: limitOption(name) ?? '',
  type: 'integer',
  default: value,
  text: `${text} (${unit})`,
}))

export const optionTable: readonly OptionRow[] = [...fixedOptions, ...limitRows]

/** Four answers a second to the sender of a stream, and batches that are some hundred KiB of readings. */
const streamBatches = { ageMs: 250, rows: 10_000 } as const

type RawValues = Readonly<Record<string, unknown>>

/** What one option comes to; without a value where nothing was given and the table has no default. */
export interface ReadOption {
  readonly row: OptionRow
  readonly value: OptionValue | undefined
  readonly source: 'flag' | 'environment' | 'file' | 'default'
}

/**
 * Reads options from `flags` (by option name), then the environment, then `configFile`, then defaults.
 * Throws NodeError `InvalidParameter` that names an unknown or malformed one.
 */
export function loadConfig(flags: RawValues, configFile?: string): Config {
  return assemble(new Map(readOptions(flags, configFile).map(({ row, value }) => [row.name, value])))
}

/** Every option of the table, as `loadConfig` reads it. Throws as `loadConfig`, but for what options say together. */
export function readOptions(flags: RawValues, configFile?: string): readonly ReadOption[] {
  const file = configFile === undefined ? {} : readConfigFile(configFile)
  const limits: Readonly<Record<string, number>> = limitsOf({}, machineMemoryBytes())
  const defaults = new Map(limitOptions.map(([name]) => [limitOption(name), limits[name]]))
  const sourcesOf = (row: OptionRow) =>
    [
      ['flag', flags[row.name]],
      ['environment', process.env[variableOf(row)]],
      ['file', file[row.name]],
    ] as const
  const read = (row: OptionRow): ReadOption => {
    const [source, raw] =
      sourcesOf(row).find(([, value]) => isGiven(value)) ??
      (['default', defaults.get(row.name) ?? row.default] as const)
    return { row, source, value: raw === undefined ? undefined : parseValue(row, raw) }
  }
  refuseGone({ flags, file })
  const without = optionTable.filter(({ name }) => name === 'without').flatMap((row) => read(row).value ?? [])
  const rows = optionTable.filter(({ feature }) => feature === undefined || !without.includes(feature))
  const idle = optionTable.find((row) => !rows.includes(row) && sourcesOf(row).some(([, value]) => isGiven(value)))
  if (idle !== undefined) {
    throw invalidOption(`Option '${idle.name}' is of the feature '${idle.feature}', which option 'without' leaves out.`)
  }
  const names = new Set(rows.map(({ name }) => name))
  const unknownIn = (values: RawValues): string | undefined => Object.keys(values).find((name) => !names.has(name))
  const flag = unknownIn(flags)
  if (flag !== undefined) throw invalidOption(`Unknown option '${flag}'.`)
  const member = unknownIn(file)
  if (member !== undefined) {
    const hint = "which is not an option; 'proofstream serve --help' lists all."
    throw invalidOption(`The config file '${configFile}' names '${member}', ${hint}`)
  }
  return rows.map(read)
}

function refuseGone({ flags, file }: { readonly flags: RawValues; readonly file: RawValues }): void {
  for (const [name, text] of goneOptions) {
    if ([flags[name], process.env[variableOf({ name })], file[name]].some(isGiven)) throw invalidOption(text)
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Set for programs beside a service by Kubernetes and Docker, by the name of the service. */
const ofServices = /_(?:SERVICE_(?:HOST|PORT)\w*|PORT|PORT_\d+_[A-Z]+\w*)$/

/** Variables that are called as options are, but name none: nothing reads them. The file log has no password. */
export function strayVariables({ log }: Pick<Config, 'log'>): readonly string[] {
  const others = ['PROOFSTREAM_SERVER', 'PROOFSTREAM_TOKEN', ...(log === 'file' ? [] : [passwordVariable])]
  const known = new Set([...optionTable.map(variableOf), ...others])
  const isStray = (name: string): boolean => !known.has(name) && !ofServices.test(name)
  return Object.keys(process.env).filter((name) => name.startsWith('PROOFSTREAM_') && isStray(name))
}

/** The environment variable of an option. */
export function variableOf({ name }: Pick<OptionRow, 'name'>): string {
  return `PROOFSTREAM_${name.toUpperCase().replaceAll('-', '_')}`
}

/** What the environment says to the commands that are clients of a node; empty values count as absent. */
export interface ClientEnvironment {
  /** Base address of the node. */
  readonly server: string | undefined
  /** Text of a token. */
  readonly token: string | undefined
  /** Data directory, in which a node on this machine keeps its first token. */
  readonly dataDir: string
  /** Where its key lies, if not there. */
  readonly nodeKeyFile: string | undefined
}

/** Reads `PROOFSTREAM_SERVER`, `PROOFSTREAM_TOKEN`, `PROOFSTREAM_DATA`, `PROOFSTREAM_NODE_KEY`. */
export function clientEnvironment(): ClientEnvironment {
  const text = (name: string): string | undefined => process.env[`PROOFSTREAM_${name}`] || undefined
  const dataDir = text('DATA') ?? defaultDataDir
  return { server: text('SERVER'), token: text('TOKEN'), dataDir, nodeKeyFile: text('NODE_KEY') }
}

function assemble(values: OptionValues): Config {
  // parseValue has given each option the type that its row names.
  const text = (name: string): string => values.get(name) as string
  const number = (name: string): number => values.get(name) as number
  const list = (name: string): readonly string[] | undefined => values.get(name) as readonly string[] | undefined
  const listen = hostAndPort(text('listen'))
  if (listen === undefined) throw invalidOption(`Option 'listen' is '${text('listen')}'; expected host:port.`)
  const { host, port } = listen
  const loopbackOnly = isLoopback(host)
  const store = values.get('store') as string | undefined // text by its row
  const publicUrl = readPublicUrl(values.get('public-url') as string | undefined) // text by its row
  const without = list('without') ?? []
  const groups = optionGroups(without)
  const log = readLog(text('log'))
  const driven = store === undefined ? undefined : readStore(store)
  const isUrl = driven !== undefined || groups.some(({ schemes }) => schemes?.includes(schemeOf(store) ?? '') === true)
  if (!isUrl && store !== undefined) refuseOddStore(store, groups)
  const settings = new Map(groups.map(({ name, read }) => [name, read(values)]))
  for (const one of [log, driven]) if (one !== undefined) settings.set(one.driver.options.name, one.options)
  const given = Object.fromEntries(limitOptions.map(([name]) => [name, number(limitOption(name) ?? '')]))
  const memoryBytes = machineMemoryBytes()
  const concurrentQueries = Math.min(availableParallelism(), queriesInMemory(memoryBytes))
  const limits = limitsOf({ ...given, concurrentQueries }, memoryBytes)
  return {
    dataDir: text('data'),
    storeDir: isUrl ? undefined : store,
    storeUrl: isUrl ? store : undefined,
    roles: rolesOf(list('roles') ?? [], log === undefined),
    without,
    log: log?.driver.options.name ?? 'file',
    settings,
    listenHost: host,
    listenPort: port,
    nodeKeyFile: values.get('node-key') as string | undefined, // text by its row
    deleteGraceMs: number('delete-grace'),
    keepLoose: values.get('keep-loose') === true,
    anonymousRead: (values.get('anonymous-read') as boolean | undefined) ?? loopbackOnly, // boolean by its row
    newDatasets: text('new-datasets') === 'private' ? 'private' : 'public',
    loopbackOnly,
    allowedHosts: [publicUrl?.hostname.replace(/^\[|\]$/g, '') ?? [], list('allowed-hosts') ?? []].flat(),
    publicUrl: publicUrl?.origin,
    corsOrigins: list('cors-origins'),
    trustedSigners: list('trusted-signers') ?? [],
    cut: { intervalMs: number('cut-interval') },
    stream: streamBatches,
    logLevel: text('log-level'),
    limits,
  }
}

function readPublicUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? undefined : originOf(text)
  if (text === undefined || url !== undefined) return url
  throw invalidOption(`Option 'public-url' is '${text}'; expected https://host or http://host:port.`)
}

/** A driver, and what it makes of a URL. */
export interface ReadUrl<D extends LogDriver | StoreDriver> {
  readonly driver: D
  readonly options: ReturnType<D['options']['read']>
}

/** Reads `text` as the option `log` has it; undefined for `file`. Throws NodeError `InvalidParameter`. */
export function readLog(text: string): ReadUrl<LogDriver> | undefined {
  const driver = driverOf(logDrivers, text)
  if (driver !== undefined) return { driver, options: driver.options.read(text, driverEnvironment()) }
  if (text === 'file') return undefined
  const expected = ['file', ...logDrivers.map(({ options }) => `${options.name}://…`)].join(', or ')
  throw invalidOption(`Option 'log' is ${withoutSecret(text)}; expected ${expected}.`)
}

/** An address that may have a password in it is not repeated. */
function withoutSecret(text: string): string {
  return /[@?]/.test(text) ? 'another text' : `'${text}'`
}

/** Undefined for what no driver opens. Throws NodeError `InvalidParameter`. */
function readStore(text: string): ReadUrl<StoreDriver> | undefined {
  const driver = driverOf(storeDrivers, text)
  return driver && { driver, options: driver.options.read(text, driverEnvironment()) }
}

function driverOf<D extends LogDriver | StoreDriver>(drivers: readonly D[], url: string): D | undefined {
  return drivers.find(({ options }) => options.name === schemeOf(url))
}

function driverEnvironment(): Environment {
  const isOfDrivers = (name: string): boolean => name.startsWith('AWS_') || name === passwordVariable
  return Object.fromEntries(Object.entries(process.env).filter(([name, value]) => isOfDrivers(name) && value !== ''))
}

/** Throws NodeError `InvalidParameter` for a store that looks like a URL, but is none that a driver or a feature opens. */
function refuseOddStore(store: string, groups: readonly OptionGroup<unknown>[]): void {
  // `s3:bucket` is a slip, and no directory that anybody wants. One letter is a drive.
  if (!/^[a-z][a-z0-9+.-]+:/i.test(store)) return
  const known = [...storeDrivers.map(({ options }) => options.name), ...groups.flatMap(({ schemes }) => schemes ?? [])]
  const candidates = known.map((name) => `${name}://…`).join(', ')
  throw invalidOption(`Option 'store' is ${withoutSecret(store)}; expected a directory, or ${candidates}.`)
}

function rolesOf(named: readonly string[], hasFileLog: boolean): readonly Role[] {
  const unknown = named.find((name) => !roles.some((role) => role === name))
  if (unknown !== undefined || named.length === 0) {
    throw invalidOption(`Option 'roles' is '${named.join(',')}'; expected some of ${roles.join(', ')}.`)
  }
  const has = roles.filter((role) => named.includes(role))
  if (has.includes('witness') && (has.length > 1 || !hasFileLog)) {
    throw invalidOption(
      `Option 'roles' is '${named.join(',')}', but a witness is a process of its own, without a log. A gateway witnesses the ledgers of its --ledger-policy.`,
    )
  }
  if (hasFileLog && has.includes('gateway') !== has.includes('builder')) {
    throw invalidOption(
      `Option 'roles' is '${named.join(',')}', but one process has a file log: gateway and builder go together there.`,
    )
  }
  return has
}

function readConfigFile(path: string): RawValues {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw invalidOption(`The config file '${path}' cannot be read as JSON.`, cause)
  }
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  if (!isObject) throw invalidOption(`The config file '${path}' is not a JSON object.`)
  return parsed as RawValues // an object by the lines above
}

/** Version of the package, such as `0.2.0`. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version // our manifest
}

/** Bytes of memory that this process and those that it starts may have: of their container, else of the machine. */
export function machineMemoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}
