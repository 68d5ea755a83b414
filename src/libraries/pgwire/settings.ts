// Settings of a session, by PostgreSQL's names: those that programs set or ask for. What the node cannot do otherwise is refused,
// not ignored (22023); a name that is not here is unknown (42704), but for names with a point, which are a program's own.

import { PostgresFault } from './report.ts'

interface Setting {
  readonly initial: string
  /** The client is told when it changes. */
  readonly isReported?: boolean
  /** The value as it is kept; undefined where the node does not do so. Absent where it never changes. */
  readonly read?: (value: string) => string | undefined
}

const anyText = (value: string): string => value
const only =
  (...values: readonly string[]) =>
  (value: string): string | undefined =>
    values.includes(value.toLowerCase()) ? values[0] : undefined
const onOff = (value: string): string | undefined => {
  if (/^(?:on|true|yes|1)$/i.test(value)) return 'on'
  return /^(?:off|false|no|0)$/i.test(value) ? 'off' : undefined
}
const always = (wanted: 'on' | 'off') => (value: string) => (onOff(value) === wanted ? wanted : undefined)
const isolation = (value: string): string | undefined =>
  /^(?:read committed|read uncommitted|repeatable read|serializable)$/i.test(value) ? value.toLowerCase() : undefined

/** Milliseconds: a number, or one with a unit. */
function duration(value: string): string | undefined {
  const [, digits, unit = 'ms'] = /^(\d{1,10}(?:\.\d{1,6})?)\s*(us|ms|s|min|h|d)?$/.exec(value.trim()) ?? []
  if (digits === undefined) return undefined
  const millis = { us: 0.001, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 1
  const ms = Math.round(Number(digits) * millis)
  if (ms > longestMs) return undefined
  const shown = shownUnits.find(([, size]) => ms % size === 0)
  return ms === 0 || shown === undefined ? String(ms) : `${ms / shown[1]}${shown[0]}`
}

/** What a timer holds. */
const longestMs = 2 ** 31 - 1
/** As PostgreSQL shows times: in the largest unit of which they are a whole number. */
const shownUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** Milliseconds of a duration as it is kept. */
export function millisOf(duration: string): number {
  const unit = shownUnits.find(([name]) => duration.endsWith(name) && /^\d+$/.test(duration.slice(0, -name.length)))
  return unit === undefined ? Number(duration) : Number.parseInt(duration) * unit[1]
}

const settings: Readonly<Record<string, Setting>> = {
  server_version: { initial: '', isReported: true },
  server_version_num: { initial: '150000' },
  server_encoding: { initial: 'UTF8', isReported: true },
  client_encoding: {
    initial: 'UTF8',
    isReported: true,
    read: (value) => (/^(?:utf8|unicode)$/i.test(value.replaceAll(/[^a-z0-9]/gi, '')) ? 'UTF8' : undefined),
  },
  datestyle: {
    initial: 'ISO, MDY',
    isReported: true,
    read: (value) => (/^iso\b/i.test(value) ? 'ISO, MDY' : undefined),
  },
  intervalstyle: { initial: 'postgres', isReported: true, read: only('postgres') },
  timezone: { initial: 'UTC', isReported: true, read: (value) => (isUtc(value) ? 'UTC' : undefined) },
  integer_datetimes: { initial: 'on', isReported: true },
  standard_conforming_strings: { initial: 'on', isReported: true, read: always('on') },
  application_name: { initial: '', isReported: true, read: anyText },
  default_transaction_read_only: { initial: 'on', isReported: true, read: always('on') },
  transaction_read_only: { initial: 'on', read: always('on') },
  in_hot_standby: { initial: 'off', isReported: true },
  is_superuser: { initial: 'off', isReported: true },
  session_authorization: { initial: '', isReported: true },
  transaction_isolation: { initial: 'read committed' },
  default_transaction_isolation: { initial: 'read committed', read: isolation },
  extra_float_digits: { initial: '1', read: (value) => (/^[123]$/.test(value) ? value : undefined) },
  bytea_output: { initial: 'hex', read: only('hex') },
  search_path: { initial: '"$user", public', read: anyText },
  statement_timeout: { initial: '0', read: duration },
  lock_timeout: { initial: '0', read: duration },
  idle_in_transaction_session_timeout: { initial: '0', read: (value) => (duration(value) === '0' ? '0' : undefined) },
  client_min_messages: {
    initial: 'notice',
    read: (value) =>
      /^(?:debug[1-5]?|info|log|notice|warning|error|fatal|panic)$/i.test(value) ? value.toLowerCase() : undefined,
  },
  escape_string_warning: { initial: 'on', read: onOff },
  backslash_quote: { initial: 'safe_encoding', read: only('safe_encoding') },
  row_security: { initial: 'on', read: onOff },
  synchronize_seqscans: { initial: 'on', read: onOff },
  jit: { initial: 'off', read: onOff },
  max_identifier_length: { initial: '63' },
  max_index_keys: { initial: '32' },
  lc_collate: { initial: 'C.UTF-8' },
  lc_ctype: { initial: 'C.UTF-8' },
  lc_messages: { initial: 'C.UTF-8' },
  lc_monetary: { initial: 'C.UTF-8', read: anyText },
}

function isUtc(value: string): boolean {
  return /^(?:utc|gmt|z|zulu|universal|uct|etc\/(?:utc|gmt|uct|zulu|universal)|[+-]?0+(?::?0+)?)$/i.test(value)
}

/** How names are written where they are reported. */
const written: ReadonlyMap<string, string> = new Map([
  ['datestyle', 'DateStyle'],
  ['intervalstyle', 'IntervalStyle'],
  ['timezone', 'TimeZone'],
])

const charactersMost = 64 * 1024

export class SessionSettings {
  readonly #fixed: ReadonlyMap<string, string>
  /** What was set, by name. */
  #now = new Map<string, string>()

  /** `fixed`: values of this server and this session. */
  constructor(fixed: Readonly<Record<string, string>>) {
    this.#fixed = new Map(Object.entries(fixed))
  }

  /** Throws PostgresFault 42704. */
  get(name: string): string {
    const key = keyOf(name)
    const value = this.#now.get(key) ?? this.#fixed.get(key) ?? settings[key]?.initial
    if (value === undefined) throw unknown(name)
    return value
  }

  /** Sets a value, or the first one again. Whether the client is to be told. Throws PostgresFault 42704, 22023, 55P02. */
  set(name: string, value: string | undefined): boolean {
    const key = keyOf(name)
    const setting = settings[key] ?? (key.includes('.') ? { initial: '', read: anyText } : undefined)
    if (setting === undefined) throw unknown(name)
    const before = key.includes('.') ? this.#now.get(key) : this.get(key)
    if (value === undefined) this.#now.delete(key)
    else {
      if (setting.read === undefined) throw new PostgresFault('55P02', `The parameter "${name}" cannot be changed.`)
      const kept = setting.read(value)
      if (kept === undefined) throw otherValue(key, name, value)
      this.#demandRoom(key, kept)
      this.#now.set(key, kept)
    }
    return setting.isReported === true && this.get(key) !== before
  }

  /** Throws PostgresFault 53400 where a session would hold too much. */
  #demandRoom(key: string, value: string): void {
    const length = [...this.#now].reduce((sum, [name, one]) => sum + (name === key ? 0 : name.length + one.length), 0)
    if (length + key.length + value.length > charactersMost) {
      throw new PostgresFault('53400', `The settings of a session are longer than ${charactersMost} characters.`)
    }
  }

  /** What a client says at its start; what only later is refused is answered with the value that holds. */
  begin(parameters: ReadonlyMap<string, string>): void {
    for (const [name, value] of parameters) {
      if (keyOf(name) === 'timezone' && !isUtc(value)) continue
      this.set(name, value)
    }
  }

  /** All values are the first ones again. The names that the client is to be told of. */
  reset(): string[] {
    return [...this.#now.keys()].filter((name) => this.set(name, undefined))
  }

  /** As ParameterStatus says it. */
  status(name: string): readonly [name: string, value: string] {
    const key = keyOf(name)
    return [written.get(key) ?? key, this.get(key)]
  }

  /** Names that a client is told of at its start. */
  static get reported(): readonly string[] {
    return Object.entries(settings).flatMap(([name, { isReported }]) => (isReported === true ? [name] : []))
  }

  /** All with their values, by name. */
  all(): [name: string, value: string][] {
    return Object.keys(settings)
      .sort()
      .map((name) => [written.get(name) ?? name, this.get(name)])
  }

  /** To be put back where a transaction is rolled back. */
  get state(): ReadonlyMap<string, string> {
    return new Map(this.#now)
  }

  /** The names that the client is to be told of. */
  putBack(state: ReadonlyMap<string, string>): string[] {
    const before = new Map(SessionSettings.reported.map((name) => [name, this.get(name)]))
    this.#now = new Map(state)
    return SessionSettings.reported.filter((name) => this.get(name) !== before.get(name))
  }
}

function keyOf(name: string): string {
  return name.toLowerCase()
}

function unknown(name: string): PostgresFault {
  return new PostgresFault('42704', `The configuration parameter "${name.slice(0, 100)}" is not known here.`)
}

function otherValue(key: string, name: string, value: string): PostgresFault {
  const hint =
    key === 'timezone'
      ? 'Times are told in UTC: convert them in the program that shows them.'
      : `It is ${JSON.stringify(settings[key]?.initial)} here.`
  return new PostgresFault('22023', `The parameter "${name}" cannot be "${value.slice(0, 100)}".`, hint)
}
