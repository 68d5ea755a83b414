// The parameters of ingest, a row each: what it takes, what it is for, whether a dataset keeps it as a rule, its flag on the
// command line. Schema, controls, rules, flags and refusals follow from this table. Pure.

import { NodeError } from '../base/errors.ts'
import { presetNames } from './presets.ts'

export interface ParameterRow {
  /** `switch`: true or false. `text`: any but the empty one; `texts`: one or more. */
  readonly takes: 'switch' | 'text' | 'texts' | readonly string[]
  /** For documentation and help. */
  readonly about: string
  /** Kept with a dataset, for bodies whose requests do not say otherwise. */
  readonly isRule?: true
  /** Counts for the formats that name it, and for no other. */
  readonly isOfFormat?: true
  /** What stands for its value in the help of the command that takes it as a flag. A switch has none. */
  readonly flag?: string
}

export const ingestParameters = {
  create: { takes: 'switch', about: 'create the dataset if it is missing, with an inferred schema' },
  visibility: {
    takes: ['public', 'private'],
    about: 'who may read a dataset that create makes (default: the option new-datasets)',
  },
  dryRun: { takes: 'switch', about: 'validate and infer, store nothing' },
  rows: { takes: 'text', about: 'how many of the first rows a dryRun shows, at most 100' },
  unknownFields: {
    takes: ['reject', 'ignore', 'add'],
    about: 'what to do with fields that are not columns',
    flag: 'rule',
  },
  integers: {
    takes: ['int64', 'float64', 'numbers'],
    about: 'what whole JSON numbers become (numbers means int64 where a float64 would round)',
    flag: 'type',
  },
  timeZone: {
    takes: 'text',
    about: 'zone of times without one, such as UTC, Europe/Berlin or +01:00',
    isRule: true,
    flag: 'zone',
  },
  ambiguous: {
    takes: ['refuse', 'earlier', 'later', 'ordered'],
    about: 'what a time is that clocks show twice (ordered means later than the row before)',
    isRule: true,
  },
  sheet: { takes: 'text', about: 'sheet of a workbook with several sheets', isOfFormat: true, flag: 'name' },
  layer: { takes: 'text', about: 'layer of a shapefile with several layers', isOfFormat: true, flag: 'name' },
  charset: {
    takes: 'text',
    about: 'character set of the texts, such as windows-1252 (default: utf-8, and what a shapefile says)',
    isOfFormat: true,
    flag: 'name',
  },
  eventTime: {
    takes: 'text',
    about: 'field of the event time, or a JSON pointer to it, such as /up/time',
    isRule: true,
    flag: 'field',
  },
  eventTimeUnit: {
    takes: ['s', 'ms', 'us', 'ns'],
    about: 'unit of event times that are numbers since 1970',
    isRule: true,
    flag: 'unit',
  },
  geometry: {
    takes: 'text',
    about: 'fields of longitude and latitude, whose point is the geometry of each record',
    flag: 'lon,lat',
  },
  records: {
    takes: 'text',
    about: 'JSON pointer to the array of records in the body, such as /metrics',
    isRule: true,
    flag: 'pointer',
  },
  flatten: { takes: 'switch', about: 'nested objects become columns, a_b', isRule: true, flag: '' },
  dedupe: {
    takes: 'text',
    about: "key of a batch that brings none: a column, or 'body'",
    isRule: true,
    flag: 'field',
  },
  delimiter: {
    takes: 'text',
    about: 'character between cells, such as ; or tab (default: a comma)',
    isOfFormat: true,
  },
  header: { takes: ['present', 'absent'], about: 'whether the first line is a header', isOfFormat: true },
  decimal: { takes: ['.', ','], about: 'decimal sign of numbers', isOfFormat: true },
  group: { takes: 'text', about: 'sign between groups of three digits, such as . or a space', isOfFormat: true },
  quote: { takes: 'text', about: 'character around cells that hold a delimiter, or none', isOfFormat: true },
  skipRows: { takes: 'text', about: 'lines that are no records: the first 3, or lines 1,3-4', isOfFormat: true },
  comment: { takes: 'text', about: 'what begins lines that are no records, such as #', isOfFormat: true },
  nulls: {
    takes: 'texts',
    about: 'texts that are no value, such as NA; nulls.<column> for one column',
    isOfFormat: true,
  },
  trueFalse: { takes: 'text', about: 'two words for true and false, such as ja,nein', isOfFormat: true },
  trim: { takes: 'switch', about: 'white space around cells is not of them', isOfFormat: true },
  dateFormat: {
    takes: 'text',
    about: 'letters of days and times, such as dd.MM.yyyy HH:mm; dateFormat.<column> for one column',
    isOfFormat: true,
  },
  pivotYear: { takes: 'text', about: 'first of the hundred years that two digits mean', isOfFormat: true },
  preset: { takes: presetNames, about: 'stands for the parameters that the bodies of a producer need', flag: 'name' },
} as const satisfies Readonly<Record<string, ParameterRow>>

export type ParameterName = keyof typeof ingestParameters

type Taken<T> = T extends 'switch'
  ? boolean
  : T extends 'text'
    ? string
    : T extends readonly (infer W)[]
      ? W
      : string | readonly string[]

/** Values of the parameters; undefined where one is not given. */
export type ParameterValues = {
  readonly [N in ParameterName]: Taken<(typeof ingestParameters)[N]['takes']> | undefined
}

export const parameterRows: readonly (readonly [ParameterName, ParameterRow])[] = Object.entries(
  ingestParameters,
) as (readonly [ParameterName, ParameterRow])[] // of the table above

/** One shape for the values of all requests. */
const noValues = Object.fromEntries(parameterRows.map(([name]) => [name, undefined]))

function isParameter(name: string): name is ParameterName {
  return Object.hasOwn(ingestParameters, name)
}

const switchWords = ['true', 'false']

/** The words that a parameter takes; undefined where it takes any text. */
export function wordsOf({ takes }: ParameterRow): readonly string[] | undefined {
  if (takes === 'switch') return switchWords
  return typeof takes === 'string' ? undefined : takes
}

/** The value of one parameter in a query string. Throws NodeError `InvalidParameter`. */
export function readParameter<N extends ParameterName>(
  query: Readonly<Record<string, unknown>>,
  name: N,
): ParameterValues[N] {
  return taken(name, query[name]) as ParameterValues[N] // as its row says
}

/** The values of all but `without`, which do not count. Throws NodeError `InvalidParameter`. */
export function readParameters(
  query: Readonly<Record<string, unknown>>,
  without: readonly ParameterName[] = [],
): ParameterValues {
  const values: Record<string, unknown> = { ...noValues }
  for (const name of Object.keys(query)) {
    if (isParameter(name) && !without.includes(name)) values[name] = taken(name, query[name])
  }
  return values as unknown as ParameterValues // a value for each row
}

function taken(name: ParameterName, value: unknown): string | readonly string[] | boolean | undefined {
  if (value === undefined) return undefined
  const row = ingestParameters[name]
  const words = wordsOf(row)
  if (words === undefined) {
    // The empty pointer is the body.
    if (value === '' && name === 'records') return undefined
    if (typeof value === 'string' && value !== '') return value
    if (row.takes === 'texts' && Array.isArray(value)) return value.map(String)
    throw new NodeError('InvalidParameter', `The parameter ${name} is empty, or given more than once.`, {
      hint: 'Give it one value.',
    })
  }
  const word = words.find((candidate) => candidate === value)
  if (word !== undefined) return row.takes === 'switch' ? word === 'true' : word
  throw new NodeError('InvalidParameter', `The parameter ${name} is ${JSON.stringify(value)}.`, {
    hint: `Use one of: ${words.join(', ')}.`,
    candidates: words,
  })
}
