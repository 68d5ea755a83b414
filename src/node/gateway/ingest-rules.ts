// Rules that are kept with a dataset and hold for bodies whose requests do not say otherwise: from the parameters of the
// batch that makes it or from `ingest` of PUT and PATCH, and as the parameters that they stand for
// (docs/decisions/senders.md). A preset is kept as what it stood for. Pure.

import { defined } from '../../libraries/base/collections.ts'
import type { IngestRules } from '../../libraries/odf/chain/records.ts'
import { received } from '../../libraries/formats/event-time.ts'
import { pointerPath } from '../../libraries/formats/field-place.ts'
import { parameterRows, wordsOf } from '../../libraries/formats/parameters.ts'
import { type Preset, presetNames, presets } from '../../libraries/formats/presets.ts'
import {
  demandCharset,
  demandZone,
  dialectNames,
  dialectOf,
  isDialectName,
} from '../../libraries/formats/dialect/dialect.ts'
import type { Formats } from '../../libraries/formats/registry.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { JsonValue } from '../../libraries/base/json/value.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { DataSchema, Vocabulary } from '../../libraries/model/schema.ts'

type Query = Readonly<Record<string, unknown>>

const rows = parameterRows.filter(([, { isRule }]) => isRule)
const members = [...rows.map(([name]) => name), 'charset', ...dialectNames, 'preset']
/** As the schema of `create` messages has it. */
const longest = 1000
const mostTexts = 200

/**
 * The rules that parameters say, once a preset is spelt out; undefined for none. `hasCells`: of a format of cells. Throws
 * NodeError `InvalidParameter`.
 */
export function rulesOfQuery(query: Query, hasCells: boolean): IngestRules | undefined {
  // Lines by their numbers are of one file: another may have rows there.
  const isOfFile = ([name = '', text = '']: readonly string[]): boolean => name === 'skipRows' && !/^\d+$/.test(text)
  const { cells: said, ...others } = rulesOf(query)
  const left = said?.filter((one) => !isOfFile(one))
  const cells = left?.length === 0 ? undefined : left
  const rules = cells !== undefined && hasCells ? { ...others, cells } : others
  const long = lengthFault(rules)
  if (long !== undefined) throw new NodeError('InvalidParameter', `The parameter ${long}`)
  return Object.keys(rules).length === 0 ? undefined : rules
}

/** From texts in their form; others do not count. */
function rulesOf(said: Query): IngestRules {
  if (Object.keys(said).length === 0) return {}
  const given = rows.flatMap(([name, row]): [string, string | true][] => {
    const value = said[name]
    if (typeof value !== 'string' || value === '' || wordsOf(row)?.includes(value) === false) return []
    if (row.takes !== 'switch') return [[name, value]]
    return value === 'true' ? [[name, true]] : []
  })
  const cells = cellsOf(said)
  // The rows with `isRule`, as the record has them.
  return { ...(Object.fromEntries(given) as IngestRules), ...(cells.length === 0 ? {} : { cells }) }
}

/** What is said of how cells are spelt, by parameter, sorted by name. */
function cellsOf(said: Query): (readonly string[])[] {
  const given = Object.entries(said).flatMap(([name, value]) => {
    if (value === undefined || !isCellName(name)) return []
    return [[name, ...[value].flat().map(String)]]
  })
  return given.sort(([one = ''], [other = '']) => (one < other ? -1 : 1))
}

function lengthFault(rules: IngestRules): string | undefined {
  const { cells = [], ...texts } = rules
  const many = cells.find(({ length }, at) => length > mostTexts || at >= mostTexts)
  if (many !== undefined) return `${many[0]} is one too many, or has too many texts (${mostTexts}).`
  const all = [
    ...Object.entries(texts),
    ...cells.flatMap(([name = '', ...own]) => own.map((text) => [name, text] as const)),
  ]
  const long = all.find(([, value]) => String(value).length > longest)
  return long === undefined ? undefined : `${long[0]} has more than ${longest} characters.`
}

/**
 * The parameters that `rules` stand for beside those that a request has: what it says counts, and what its format has no
 * place for is left out.
 */
export function parametersOfRules(
  rules: IngestRules,
  {
    given,
    places,
    ofFormat,
    hasKey,
  }: {
    readonly given: Query
    readonly places: ReturnType<Formats['placesOf']>
    readonly ofFormat: readonly string[]
    readonly hasKey: boolean
  },
): Readonly<Record<string, string | readonly string[]>> {
  const { nesting, hasRecords, hasOwnTime } = places
  const { eventTime, eventTimeUnit, records, flatten, dedupe, timeZone, ambiguous, cells = [] } = rules
  const own = new Set(Object.keys(given).map(foldAscii))
  const ofCells = cells.filter(([name = '']) => {
    const [row = ''] = name.split('.', 1)
    if (own.has(foldAscii(name))) return false
    return ofFormat.includes(row) && (row !== 'charset' || ofFormat.includes('delimiter'))
  })
  const isOwnTime = given['eventTime'] !== undefined || hasOwnTime === true
  return {
    ...(eventTime === undefined || isOwnTime ? {} : { eventTime }),
    ...(eventTimeUnit === undefined || isOwnTime ? {} : { eventTimeUnit }),
    ...(records === undefined || !hasRecords ? {} : { records }),
    ...(flatten === undefined || nesting === undefined ? {} : { flatten: 'true' }),
    ...(dedupe === undefined || hasKey ? {} : { dedupe }),
    ...defined({ timeZone, ambiguous }),
    ...Object.fromEntries(
      ofCells.map(([name = '', ...texts]) => [name, texts.length === 1 ? (texts[0] ?? '') : texts]),
    ),
  }
}

/** Rules as `ingest` of a body has them: parameters by their names. */
export function shownRules({ cells = [], ...rules }: IngestRules): Readonly<Record<string, unknown>> {
  const spelt = cells.map(([name = '', ...texts]) => {
    const value = texts.length === 1 ? texts[0] : texts
    return [name, name === 'trim' ? value === 'true' : value] as const
  })
  return { ...rules, ...Object.fromEntries(spelt) }
}

/** Reads `ingest` of a body, for a dataset with this schema. Throws NodeError `InvalidRequest`. */
export function ingestOf(value: JsonValue, vocabulary: Vocabulary, schema: DataSchema | undefined): IngestRules {
  if (!(value instanceof Map) || value.size === 0) throw invalid(`ingest is not {${members.join('?, ')}?}.`)
  const said: Record<string, string | readonly string[]> = {}
  for (const [name, member] of value) said[name] = textsOf(name, member)
  const { preset, ...own } = said
  const known = presetNames.find((one) => one === preset)
  if (preset !== undefined && known === undefined)
    throw invalid(`ingest.preset is '${preset.slice(0, 80)}'.`, presetNames)
  const stands: Preset | undefined = known === undefined ? undefined : presets[known]
  if (stands?.readAs !== undefined)
    throw invalid(
      `ingest.preset '${preset}' says what a body is: it is sent with each, and is not a rule of a dataset.`,
    )
  const rules = rulesOf({ ...stands?.parameters, ...own })
  demandDialect(own)
  const long = lengthFault(rules)
  if (long !== undefined) throw invalid(`ingest.${long}`)
  if (Object.keys(rules).length === 0) throw invalid('ingest has no rule: flatten=false is none.')
  demandPlaces(rules, vocabulary, schema)
  return rules
}

function isCellName(name: string): boolean {
  return name === 'charset' || isDialectName(name)
}

function textsOf(name: string, value: JsonValue): string | readonly string[] {
  const isOfNulls = name === 'nulls' || name.startsWith('nulls.')
  if (!isOfNulls || !Array.isArray(value) || value.length === 0) return textOf(name, value)
  return value.map((item) => textOf(name, item))
}

/** Throws NodeError `InvalidRequest` where parameters that a dataset would keep are wrong. */
function demandDialect(said: Query): void {
  try {
    dialectOf(said)
    if (typeof said['charset'] === 'string') demandCharset(said['charset'])
    if (typeof said['timeZone'] === 'string') demandZone(said['timeZone'])
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    throw new NodeError('InvalidRequest', error.message.replace('The parameter ', 'ingest.'), error.details)
  }
}

function textOf(name: string, value: JsonValue): string {
  const [, row] = parameterRows.find(([one, { isRule }]) => one === name && (isRule || isCellName(one))) ?? []
  if (row === undefined && name !== 'preset' && !isCellName(name))
    throw invalid(`'${name.slice(0, 80)}' is not a member of ingest.`, members)
  if (row?.takes === 'switch') {
    if (typeof value === 'boolean') return String(value)
    throw invalid(`ingest.${name} is neither true nor false.`)
  }
  if (typeof value !== 'string' || value === '') throw invalid(`ingest.${name} is not a text.`)
  const words = row && wordsOf(row)
  if (words?.includes(value) === false) throw invalid(`ingest.${name} is '${value.slice(0, 80)}'.`, words)
  return value
}

/** Throws NodeError `InvalidRequest` where rules would refuse every body. */
function demandPlaces(rules: IngestRules, { eventTimeColumn }: Vocabulary, schema: DataSchema | undefined): void {
  for (const name of ['eventTime', 'records', 'dedupe'] as const) {
    const text = rules[name]
    if (text === undefined || (name !== 'records' && !text.startsWith('/'))) continue
    try {
      pointerPath(`ingest.${name}`, text)
    } catch {
      throw invalid(`ingest.${name} is '${text.slice(0, 80)}', which is not a JSON pointer.`)
    }
  }
  const { eventTime = eventTimeColumn } = rules
  if (eventTime === received || foldAscii(eventTime) === foldAscii(eventTimeColumn)) return
  const column = schema?.fields.find(({ name }) => foldAscii(name) === foldAscii(eventTime))
  if (column === undefined) return
  throw invalid(`ingest.eventTime is '${column.name}', which is a column: a field is one or the other.`)
}

export function invalid(message: string, candidates?: readonly string[]): NodeError {
  return new NodeError('InvalidRequest', message, candidates === undefined ? {} : { candidates })
}
