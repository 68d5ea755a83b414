// The stored record of an access token, and the rules for a new one. The token's text is not in it, only its hash.

import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain, parseJson, toPlain } from '../json/json.ts'
import { DecodeError, NodeError } from '../model/errors.ts'
import { isPattern, type Scope, scopes } from './scopes.ts'

/** `tokens/<id>` in the store. Times are RFC 3339 UTC with milliseconds. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Patterns; absent: every dataset. */
  readonly datasets?: readonly string[]
  readonly expiresAt?: string
  readonly createdAt: string
  /** Last four characters of the token, to tell tokens apart in a list. */
  readonly lastFour: string
  /** SHA-256 of the token's text, hex. */
  readonly hash: string
}

/** What is asked for when a token is made. */
export interface TokenRequest {
  readonly name: string
  readonly scopes: readonly string[]
  readonly datasets?: readonly string[]
  /** RFC 3339, any offset, in the future. */
  readonly expiresAt?: string
}

const maxNameChars = 100
const maxPatterns = 100
const recordMembers = ['id', 'name', 'scopes', 'createdAt', 'lastFour', 'hash', 'datasets', 'expiresAt']
const optionalMembers = new Set(['datasets', 'expiresAt'])

/** The part of a record that the request decides, normalised. Throws NodeError `InvalidRequest`. */
export function checkTokenRequest(
  request: TokenRequest,
  nowMs: number,
): Pick<TokenRecord, 'name' | 'scopes' | 'datasets' | 'expiresAt'> {
  const name = request.name.trim()
  if (name === '' || name.length > maxNameChars || /\p{Cc}/u.test(name)) {
    throw invalid(`name: is not 1 to ${maxNameChars} characters without control characters.`)
  }
  const asked = new Set(request.scopes)
  const unknown = request.scopes.find((scope) => !isScope(scope))
  if (unknown !== undefined)
    throw invalid(`scopes: ${JSON.stringify(unknown.slice(0, 40))} is not one of ${scopes.join(', ')}.`)
  if (asked.size === 0) throw invalid('scopes: is empty.')
  return {
    name,
    scopes: scopes.filter((scope) => asked.has(scope)),
    ...(request.datasets === undefined ? {} : { datasets: checkPatterns(request.datasets) }),
    ...(request.expiresAt === undefined ? {} : { expiresAt: checkExpiry(request.expiresAt, nowMs) }),
  }
}

function checkPatterns(patterns: readonly string[]): readonly string[] {
  if (patterns.length === 0 || patterns.length > maxPatterns)
    throw invalid(`datasets: has not 1 to ${maxPatterns} patterns.`)
  const bad = patterns.find((pattern) => !isPattern(pattern))
  if (bad !== undefined) {
    throw invalid(`datasets: ${JSON.stringify(bad.slice(0, 100))} is no pattern such as acme/weather, acme/* or */*.`)
  }
  return patterns
}

function checkExpiry(text: string, nowMs: number): string {
  const ms = parseTime(text)
  if (ms === undefined) throw invalid('expiresAt: is no RFC 3339 time such as 2030-01-31T12:00:00Z.')
  if (ms <= nowMs) throw invalid('expiresAt: is not in the future.')
  return timeText(ms)
}

const timePattern = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

function parseTime(text: string): number | undefined {
  const match = timePattern.exec(text)
  if (match === null) return undefined
  const [, date = '', time = '', fraction = '', zone = ''] = match
  const asUtcMs = Date.parse(`${date}T${time}Z`)
  // A date that rolls over (30 February) or an hour of 24 prints differently from how it was written.
  if (Number.isNaN(asUtcMs) || !timeText(asUtcMs).startsWith(`${date}T${time}`)) return undefined
  const ms = Date.parse(`${date}T${time}${fraction.slice(0, 4)}${zone.toUpperCase()}`)
  return Number.isNaN(ms) ? undefined : ms
}

/** RFC 3339 UTC with milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString()
}

function invalid(message: string): NodeError {
  return new NodeError('InvalidRequest', message)
}

/** Canonical JSON of the record. */
export function encodeTokenRecord(record: TokenRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

/** Reads a stored record. Throws DecodeError when it is not one: nobody is let in by a damaged record. */
export function decodeTokenRecord(bytes: Uint8Array): TokenRecord {
  const value = toPlain(parseJson(bytes))
  if (!isRecord(value)) throw new DecodeError('token record', 'does not have the members of one')
  return value
}

function isRecord(value: unknown): value is TokenRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = new Map<string, unknown>(Object.entries(value))
  if ([...members.keys()].some((name) => !recordMembers.includes(name))) return false
  if (recordMembers.some((name) => !optionalMembers.has(name) && !members.has(name))) return false
  const datasets = members.get('datasets')
  const expiresAt = members.get('expiresAt')
  return (
    ['id', 'name', 'lastFour'].every((name) => typeof members.get(name) === 'string') &&
    /^[0-9a-f]{64}$/.test(String(members.get('hash'))) &&
    isListOf(members.get('scopes'), isScope) &&
    (datasets === undefined || isListOf(datasets, (item) => typeof item === 'string' && isPattern(item))) &&
    isTime(members.get('createdAt')) &&
    (expiresAt === undefined || isTime(expiresAt))
  )
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isItem)
}

function isScope(value: unknown): boolean {
  return scopes.some((scope) => scope === value)
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && parseTime(value) !== undefined
}
