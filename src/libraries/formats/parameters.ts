// The parameters of ingest, a row each: what it takes, what it is for, whether a dataset keeps it as a rule, its flag on the
// command line. Schema, controls, rules, flags and refusals follow from this table. Pure.

import { NodeError } from '../base/errors.ts'
import { presetNames } from './presets.ts'

export interface ParameterRow {
  /** `switch`: true or false. `text`: any but the empty one. */
  readonly takes: 'switch' | 'text' | readonly string[]
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
  unknownFields: {
    takes: ['reject', 'ignore', 'add'],
    about: 'what to do with fields that are not columns',
    flag: 'rule',
  },
  integers: { takes: ['int64', 'float64'], about: 'what whole JSON numbers become', flag: 'type' },
  timeZone: { takes: ['UTC'], about: 'zone of times without one', flag: 'zone' },
  layer: { takes: 'text', about: 'layer of a shapefile with several layers', isOfFormat: true, flag: 'name' },
  charset: {
    takes: 'text',
    about: 'character set of the texts of a shapefile, such as windows-1252, if it names none or a wrong one',
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
  preset: { takes: presetNames, about: 'stands for the parameters that the bodies of a producer need', flag: 'name' },
} as const satisfies Readonly<Record<string, ParameterRow>>

export type ParameterName = keyof typeof ingestParameters

type Taken<T> = T extends 'switch' ? boolean : T extends 'text' ? string : T extends readonly (infer W)[] ? W : never

/** Values of the parameters; undefined where one is not given. */
export type ParameterValues = {
  readonly [N in ParameterName]: Taken<(typeof ingestParameters)[N]['takes']> | undefined
}

export const parameterRows: readonly (readonly [ParameterName, ParameterRow])[] = Object.entries(
  ingestParameters,
) as (readonly [ParameterName, ParameterRow])[] // of the table above

const switchWords = ['true', 'false']

/** The words that a parameter takes; undefined where it takes any text. */
export function wordsOf({ takes }: ParameterRow): readonly string[] | undefined {
  return takes === 'text' ? undefined : takes === 'switch' ? switchWords : takes
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
  const counted = parameterRows.filter(([name]) => !without.includes(name))
  const values = counted.map(([name]) => [name, taken(name, query[name])] as const)
  return Object.fromEntries(values) as unknown as ParameterValues // a value for each row
}

function taken(name: ParameterName, value: unknown): string | boolean | undefined {
  if (value === undefined) return undefined
  const row = ingestParameters[name]
  const words = wordsOf(row)
  if (words === undefined) {
    // The empty pointer is the body.
    if (value === '' && name === 'records') return undefined
    if (typeof value === 'string' && value !== '') return value
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
