// What an ingest request asks for beside its body: headers and query parameters as typed controls (docs/spec/http.md §6).
// Producers that add parameters of their own go on, but a misspelt one of ours, which would silently store something else
// than was meant, is refused. Pure.

import type { IngestRules } from '../../libraries/odf/chain/records.ts'
import {
  ingestParameters,
  type ParameterName,
  parameterRows,
  type ParameterValues,
  readParameter,
  readParameters,
} from '../../libraries/formats/parameters.ts'
import {
  demandCharset,
  demandZone,
  demandZoned,
  type Dialect,
  dialectOf,
  isDialectName,
} from '../../libraries/formats/dialect/dialect.ts'
import { type Preset, presets, type WantedRecords } from '../../libraries/formats/presets.ts'
import { type Formats, libraryFormats, mediaTypeOf } from '../../libraries/formats/registry.ts'
import { defined, ownValue } from '../../libraries/base/collections.ts'
import { similarNames } from '../../libraries/base/compare.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { parseRfc3339Ms } from '../../libraries/model/instant.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type ContentDigest, readContentDigest } from './content-digest.ts'
import { parametersOfRules, rulesOfQuery } from './ingest-rules.ts'
import type { PointNames } from '../../libraries/formats/point-columns.ts'
import type { ContentEncoding } from './read-body.ts'

/** How long the caller waits for the block. */
export type Waiting =
  | { readonly kind: 'default' }
  | { readonly kind: 'async' }
  | { readonly kind: 'wait'; readonly seconds: number }

/** Parameters by their names (libraries/formats/parameters.ts), and what headers and routes say. */
export interface IngestControls extends Omit<ParameterValues, 'create' | 'dryRun' | 'unknownFields' | 'geometry'> {
  readonly contentType: string | undefined
  readonly contentLength: number | undefined
  readonly contentEncoding: ContentEncoding | undefined
  readonly contentDigests: readonly ContentDigest[]
  readonly waiting: Waiting
  /** `Prefer: return=minimal`: the answer has no body. */
  readonly isMinimal: boolean
  /** `Prefer: receipt=signed`: a refusal is signed. */
  readonly signsRefusal: boolean
  readonly idempotencyKey: string | undefined
  readonly create: boolean
  /** What a dataset that it makes is where nothing was asked; set by routes, not by callers. */
  readonly newDatasets?: 'private'
  readonly dryRun: boolean
  readonly unknownFields: NonNullable<ParameterValues['unknownFields']>
  /** Records that can be read and do not fit are left out and told; set by routes, not by callers. */
  readonly leavesOutMisfits?: boolean
  /** What of a producer's messages are rows. */
  readonly only?: WantedRecords
  /** Names of the fields that are longitude and latitude of the column of geometries. */
  readonly geometry: PointNames | undefined
  /** How cells are spelt. */
  readonly dialect?: Dialect
  /** What the request and the rules of the dataset say of how texts are read, as parameters. */
  readonly spelt: Readonly<Record<string, string | readonly string[]>>
  /** Fallback event time, milliseconds since 1970 UTC. */
  readonly eventTimeMs: number | undefined
  /** Multihash text of If-Match, without quotes. */
  readonly ifMatch: string | undefined
  /** The trace of the request, as it is passed on. */
  readonly traceparent: string | undefined
  /** What the request says of how its body is read: kept with a dataset that it makes. */
  readonly rules: IngestRules | undefined
  /** Parameters that the request does not have and rules of the dataset say. */
  readonly ruled: readonly string[]
  /** Query parameters that are none of ours. */
  readonly ignoredParameters: readonly string[]
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>
type Query = Readonly<Record<string, unknown>>

export const maxWaitSeconds = 30
const maxKeyChars = 255

/** What controls are read with. */
interface ControlFacts {
  /** The rules of the dataset, which count where neither a parameter nor a preset does. */
  readonly kept?: IngestRules | undefined
  /** The formats that a Content-Type may name; by default those that no feature brings. */
  readonly formats?: Formats
}

/** Reads the controls. Throws NodeError `InvalidParameter`, `UnsupportedEncoding`. */
export function readControls(
  headers: Headers,
  given: Query,
  { kept = {}, formats = libraryFormats }: ControlFacts = {},
): IngestControls {
  const name = readParameter(given, 'preset')
  const preset: Preset | undefined = name === undefined ? undefined : presets[name]
  const said = header(headers, 'content-type')
  const sent = (preset?.readAs && ownValue(preset.readAs, mediaTypeOf(said))) ?? said
  const { query, rules, ruled } = withRules(headers, given, { preset, kept, formats })
  const { contentType, values } = valuesOf(sent, { query, ruled }, formats)
  const { create = false, dryRun = false, unknownFields = create ? 'add' : 'reject' } = values
  const length = header(headers, 'content-length')
  const preferences = preferencesOf(header(headers, 'prefer'))
  demandTogether(values, headers)
  return {
    ...values,
    create,
    dryRun,
    unknownFields,
    geometry: pointNames(values.geometry),
    contentType,
    contentLength: length === undefined ? undefined : Number(length),
    contentEncoding: contentEncoding(header(headers, 'content-encoding')),
    contentDigests: readContentDigest(header(headers, 'content-digest')),
    waiting: waiting(preferences),
    isMinimal: preferences.find((preference) => preference.startsWith('return=')) === 'return=minimal',
    signsRefusal: preferences.includes('receipt=signed'),
    idempotencyKey: idempotencyKey(header(headers, 'idempotency-key')),
    ...defined({ only: preset?.only }),
    eventTimeMs: fallbackTime(header(headers, 'odf-event-time')),
    ifMatch: ifMatch(header(headers, 'if-match')),
    traceparent: traceparentOf(headers),
    rules,
    ruled,
    spelt: speltIn(query),
    ignoredParameters: foreignParameters(Object.keys(given)),
  }
}

/** Values of the parameters of a request, each of which counts for its format. Throws NodeError `InvalidParameter`. */
function valuesOf(
  sent: string | undefined,
  { query, ruled }: { readonly query: Query } & Pick<IngestControls, 'ruled'>,
  formats: Formats,
): { readonly contentType: string | undefined; readonly values: ParameterValues & Pick<IngestControls, 'dialect'> } {
  const ofFormat = formats.parametersOf(sent)
  const name = Object.keys(query).find((one) => {
    const [row = ''] = one.split('.', 1)
    const isOurs = Object.hasOwn(ingestParameters, one) || isDialectName(one)
    return query[one] !== undefined && isOurs && isOfFormat(row) && !ofFormat.some((known) => known === row)
  })
  if (name !== undefined) {
    const titles = formats.titlesWith(name.split('.', 1)[0] as ParameterName) // one of ours
    throw new NodeError('InvalidParameter', `The parameter ${name} counts in ${titles.join(', ')}.`, {
      hint: 'Leave it out, or name the format of the body in Content-Type.',
    })
  }
  const values = readParameters(query)
  const { timeZone, charset } = values
  if (timeZone !== undefined) demandZone(timeZone)
  if (!ofFormat.includes('nulls') && !ofFormat.includes('charset')) return { contentType: sent, values }
  const isText = ofFormat.includes('delimiter') || !ofFormat.includes('layer')
  const said = isText ? /;\s*charset="?([^";\s]+)"?/i.exec(sent ?? '') : null
  const typed = said?.[1] === undefined ? undefined : demandCharset(said[1])
  const isRule = typed !== undefined && ruled.includes('charset')
  const own = isRule ? typed : isText && charset !== undefined ? demandCharset(charset) : charset
  if (own !== undefined && typed !== undefined && own !== typed) {
    const message = `The parameter charset is ${own}, and Content-Type says ${typed}.`
    throw new NodeError('InvalidParameter', message, { hint: 'Say one of both.' })
  }
  const dialect = ofFormat.includes('nulls') ? dialectOf(query, ruled) : undefined
  if (dialect !== undefined && timeZone === undefined) demandZoned(dialect)
  return {
    contentType: said === null ? sent : sent?.replace(said[0], ''),
    values: { ...values, charset: own ?? typed, ...defined({ dialect }) },
  }
}

function speltIn(query: Query): IngestControls['spelt'] {
  const spelt = Object.entries(query).filter(
    ([name, value]) => value !== undefined && (name === 'charset' || name === 'timeZone' || isDialectName(name)),
  )
  return Object.fromEntries(
    spelt.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
  )
}

const ofFormats = new Set<string>(parameterRows.flatMap(([name, { isOfFormat: is }]) => (is ? [name] : [])))

function isOfFormat(name: string): boolean {
  return ofFormats.has(name)
}

/** The format of a body, and whether it has a header. Throws NodeError `InvalidParameter` where two places say otherwise. */
export function bodyFormatOf(
  formats: Formats,
  { contentType, header, ruled }: Pick<IngestControls, 'contentType' | 'header' | 'ruled'>,
): ReturnType<Formats['of']> {
  const said = formats.of(contentType)
  // What the request says counts before a rule.
  const isOne = said.csvHeader === undefined || header === said.csvHeader || ruled.includes('header')
  if (header === undefined || isOne) return { ...said, csvHeader: said.csvHeader ?? header }
  const message = `The parameter header is ${header}, and Content-Type says ${said.csvHeader}.`
  throw new NodeError('InvalidParameter', message, { hint: 'Say one of both.' })
}

/** The trace of a request; several headers, like a malformed one, count as none. */
export function traceparentOf({ traceparent }: Headers): string | undefined {
  return typeof traceparent === 'string' ? readTraceParent(traceparent) : undefined
}

function header(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  if (value === undefined || typeof value === 'string') return value
  throw new NodeError('InvalidParameter', `The header ${name} is given more than once.`, { hint: 'Send it once.' })
}

/** Throws NodeError `InvalidParameter` where parameters or headers exclude each other. */
function demandTogether({ create, visibility, dedupe, dryRun, rows }: ParameterValues, headers: Headers): void {
  if (rows !== undefined && (dryRun !== true || !/^(?:\d{1,2}|100)$/.test(rows))) {
    throw new NodeError('InvalidParameter', `The parameter rows is '${rows.slice(0, 20)}'.`, {
      hint: 'Say dryRun=true with it, and a number up to 100.',
    })
  }
  if (visibility !== undefined && create !== true) {
    throw new NodeError('InvalidParameter', 'The parameter visibility counts with create=true alone.', {
      hint: 'It is decided when the dataset is made.',
    })
  }
  if (dedupe !== undefined && headers['idempotency-key'] !== undefined) {
    const message = 'The request has an Idempotency-Key, and dedupe, which is to find one.'
    throw new NodeError('InvalidParameter', message, { hint: 'Say one of both.' })
  }
}

/** The parameters with those that a preset or rules of the dataset stand for; what is given counts, an Idempotency-Key too. */
function withRules(
  headers: Headers,
  given: Query,
  {
    preset,
    kept,
    formats,
  }: Required<ControlFacts> & { readonly preset: Preset | undefined; readonly kept: IngestRules },
): { readonly query: Query } & Pick<IngestControls, 'rules' | 'ruled'> {
  const hasKey = headers['idempotency-key'] !== undefined
  if (preset !== undefined) {
    const { dedupe, ...parameters } = preset.parameters
    const query = { ...parameters, ...(hasKey ? {} : { dedupe }), ...given }
    return { query, rules: rulesOfQuery({ dedupe, ...query }, false), ruled: [] }
  }
  const contentType = header(headers, 'content-type')
  const [places, ofFormat] = [formats.placesOf(contentType), formats.parametersOf(contentType)]
  const parameters = parametersOfRules(kept, { given, places, ofFormat, hasKey })
  const ruled = Object.keys(parameters).filter((parameter) => given[parameter] === undefined)
  return { query: { ...parameters, ...given }, rules: rulesOfQuery(given, ofFormat.includes('nulls')), ruled }
}

/** The one encoding of Content-Encoding; undefined for none. Throws NodeError `UnsupportedEncoding`. */
export function contentEncoding(text: string | undefined): ContentEncoding | undefined {
  const name = text?.trim().toLowerCase()
  if (name === undefined || name === '' || name === 'identity') return undefined
  if (name === 'x-gzip') return 'gzip'
  if (name === 'gzip' || name === 'deflate' || name === 'br' || name === 'zstd') return name
  throw new NodeError('UnsupportedEncoding', `The content encoding '${name}' is not supported.`, {
    hint: 'Send the body as it is, or compressed with gzip, deflate, br or zstd (one of them).',
    candidates: ['gzip', 'deflate', 'br', 'zstd'],
  })
}

/** Preferences in lower case, without parameters, quotes and space around `=`. */
function preferencesOf(prefer: string | undefined): readonly string[] {
  const parts = prefer?.split(',') ?? []
  return parts.map((part) => {
    const preference = (part.split(';')[0] ?? '').trim().toLowerCase()
    return preference.replace(/\s*=\s*("?)(.*)\1$/, '=$2')
  })
}

/**
 * The first `wait` decides, then `respond-async`; `wait=0` asks not to wait. Malformed and unknown preferences are
 * ignored, as RFC 7240 says.
 */
function waiting(preferences: readonly string[]): Waiting {
  for (const preference of preferences) {
    const seconds = /^wait=(\d+)$/.exec(preference)
    if (seconds === null) continue
    const asked = Math.min(Number(seconds[1]), maxWaitSeconds)
    return asked === 0 ? { kind: 'async' } : { kind: 'wait', seconds: asked }
  }
  return { kind: preferences.includes('respond-async') ? 'async' : 'default' }
}

/** Whether a text may be the key of a batch. */
export function isKey(text: string): boolean {
  return text.length <= maxKeyChars && /^[\x21-\x7e]+$/.test(text)
}

function idempotencyKey(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (isKey(text)) return text
  throw new NodeError('InvalidParameter', 'The Idempotency-Key is malformed.', {
    hint: `Send 1 to ${maxKeyChars} visible ASCII characters, a UUID for instance.`,
  })
}

function pointNames(text: string | undefined): PointNames | undefined {
  if (text === undefined) return undefined
  const [longitude = '', latitude = '', ...more] = text.split(',').map((name) => name.trim())
  const isPair = longitude !== '' && latitude !== '' && foldAscii(longitude) !== foldAscii(latitude)
  if (/^(?:lat|breite|y$)/i.test(longitude) && /^(?:lon|lng|länge|laenge|x$)/i.test(latitude))
    throw new NodeError('InvalidParameter', `The parameter geometry names '${longitude}' first, which is a latitude.`, {
      hint: `Longitude comes first: geometry=${latitude},${longitude}.`,
    })
  if (isPair && more.length === 0) return [longitude, latitude]
  throw new NodeError('InvalidParameter', `The parameter geometry is '${text.slice(0, 80)}'.`, {
    hint: 'Name two fields, longitude first: geometry=lon,lat.',
  })
}

function fallbackTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseRfc3339Ms(text.trim().replace(' ', 'T'))
  if (ms !== undefined) return ms
  throw new NodeError('InvalidParameter', `The header odf-event-time is '${text.slice(0, 80)}'.`, {
    hint: 'Write an RFC 3339 time with its zone, for instance 2026-01-31T12:00:00Z.',
  })
}

function ifMatch(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const tag = text.trim().replace(/^"(.*)"$/, '$1')
  if (tag !== '' && !tag.startsWith('W/') && !tag.includes(',') && tag !== '*') return tag
  throw new NodeError('InvalidParameter', 'If-Match takes one strong ETag: that of refs/head.', {
    hint: 'Read refs/head and send its ETag, or the bare hash.',
  })
}

/** Names that are told; a producer with more has other worries. */
const toldMost = 20
const toldChars = 100

/** By what they are in lower case. Of shorter names others are too near. */
const misspelt = new Map(parameterRows.flatMap(([name]) => (name.length < 6 ? [] : [[name.toLowerCase(), name]])))

/** What names were found to mean: a sender has the same ones in each request. */
const meanings = new Map<string, string | undefined>()
const meaningsMost = 1000

/** The parameter that is the same but for letter case, or one or two letters off. */
function meantBy(name: string): string | undefined {
  if (meanings.has(name)) return meanings.get(name)
  const [nearest] = similarNames(name.toLowerCase(), [...misspelt.keys()])
  const meant = nearest === undefined ? undefined : misspelt.get(nearest)
  if (meanings.size >= meaningsMost) meanings.clear()
  if (name.length <= toldChars) meanings.set(name, meant)
  return meant
}

/** Those of `given` that are ignored. Throws NodeError `InvalidParameter` for one that is nearly one of ours. */
function foreignParameters(given: readonly string[]): readonly string[] {
  const foreign = given.filter((name) => !Object.hasOwn(ingestParameters, name) && !isDialectName(name))
  for (const name of foreign) {
    const meant = meantBy(name)
    if (meant === undefined) continue
    throw new NodeError('InvalidParameter', `The parameter '${name.slice(0, toldChars)}' is not known here.`, {
      hint: `Write ${meant}.`,
      candidates: [meant],
    })
  }
  return foreign.slice(0, toldMost).map((name) => name.slice(0, toldChars))
}

/** The `traceparent` of W3C Trace Context; it is carried in messages of the log and told in log lines, never hashed. */
const traceForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * The header as this node passes it on: version 00 with the flags that version knows (bit 0, sampled). Undefined for one
 * that is missing or malformed, which counts as none (Trace Context §2.2, §4.3).
 */
export function readTraceParent(header: string | undefined): string | undefined {
  const [, version, traceId = '', parentId = '', flags = '', more] = traceForm.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined
  return `00-${traceId}-${parentId}-${version === '00' ? flags : `0${Number.parseInt(flags, 16) & 1}`}`
}

/** True when the caller may have recorded the trace (flag `sampled`). */
export function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1
}
