// A query as asked and as normalised: the `input` that a proof signs (docs/spec/http.md §4). Pure.

import { NodeError } from '../base/errors.ts'
import type { DatasetId, Hash } from '../base/ids/identifiers.ts'
import type { Instant } from './events.ts'
import type { Parameters } from './parameters.ts'

export type SchemaFormat = 'ArrowJson' | 'OdfJson' | 'OdfYaml' | 'Parquet' | 'ParquetJson'
export type Include = 'Input' | 'Proof' | 'Schema'

/** A name in the SQL bound to a dataset at a block. */
export interface PinnedDataset {
  readonly id: DatasetId
  /** The name as written in the SQL. */
  readonly alias: string
  readonly blockHash: Hash
  readonly blockTime: Instant
}

/** `datasets` of a request: blockHash is the head when absent. A `blockTime` that is given is that of the block. */
export interface DatasetPin {
  readonly id: DatasetId
  readonly alias: string
  readonly blockHash?: Hash
  readonly blockTime?: string
}

/** A name in the SQL, or the DID of the dataset that it means, at a block: as a query string gives it. */
export interface NamePin {
  readonly name: string
  /** The name in the SQL where that is another one, without a slash. */
  readonly alias?: string
  readonly blockHash: Hash
}

/** A request with its defaults applied and its names canonical. */
export interface QueryRequest {
  readonly query: string
  readonly queryDialect: string
  /** Name of an output format. */
  readonly dataFormat: string
  /** As the input spells it (`JsonAoS` of a deployed node stays). */
  readonly dataFormatText: string
  readonly schemaFormat: SchemaFormat
  /** In the order Input, Proof, Schema. */
  readonly include: readonly Include[]
  /** True when the request named no `include` at all: rows as arrays then come with their schema. */
  readonly includeAbsent: boolean
  readonly datasets: readonly DatasetPin[] | undefined
  /** In place of `datasets`. */
  readonly pins?: readonly NamePin[]
  /** Values for `$1`, `$name` in the statement, where the request gives any. */
  readonly parameters?: Parameters
  readonly skip: number
  readonly limit: number
  /** It is to be run, and what was read for it told. No part of the input. */
  readonly explain?: boolean
}

/** Canonical names, as candidates of errors list them. */
export const schemaFormats: readonly SchemaFormat[] = ['ArrowJson', 'OdfJson', 'OdfYaml', 'Parquet', 'ParquetJson']

/** `ArrowJson`, `arrow-json`, `arrowjson`. */
function spellings(format: SchemaFormat): readonly string[] {
  const dashed = format.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
  return [format, dashed, format.toLowerCase()]
}

/** The schema format of any accepted spelling, or undefined. */
export function schemaFormatOf(text: string): SchemaFormat | undefined {
  return schemaFormats.find((format) => spellings(format).includes(text))
}

const includeOrder: readonly Include[] = ['Input', 'Proof', 'Schema']

/** `include` of a request: as `readInclude`; a proof brings input and schema, a format of schemas the schema. */
export function normaliseInclude(names: readonly string[], schemaAsked: boolean): readonly Include[] {
  const wanted = new Set(readInclude(names))
  const isProof = wanted.has('Proof')
  if (isProof) wanted.add('Input')
  if (isProof || schemaAsked) wanted.add('Schema')
  return includeOrder.filter((name) => wanted.has(name))
}

/** The aspects that are named: letters of either case, in canonical order. Throws NodeError `InvalidParameter`. */
export function readInclude(names: readonly string[]): readonly Include[] {
  const wanted = new Set<Include>()
  for (const name of names) {
    const found = includeOrder.find((candidate) => candidate.toLowerCase() === name.toLowerCase())
    if (found === undefined) {
      throw new NodeError('InvalidParameter', `include names '${name.slice(0, 80)}'.`, {
        hint: 'Use Input, Proof, Schema or Ledger.',
        candidates: [...includeOrder, 'Ledger'],
      })
    }
    wanted.add(found)
  }
  return includeOrder.filter((name) => wanted.has(name))
}

/** Dialects of deployed nodes: known, and refused, because we never sign a dialect that did not run. */
const foreignDialects: ReadonlySet<string> = new Set([
  'SqlDataFusion',
  'SqlSpark',
  'SqlFlink',
  'SqlRisingWave',
  'datafusion',
  'spark',
  'flink',
  'risingwave',
])

const fullDialect = /^SqlDuckDb\/((?:(?:0|[1-9]\d{0,3})\.){2}(?:0|[1-9]\d{0,3}))-([1-9]\d{0,3})$/

/**
 * Version of the engine in a dialect that a release up to this one may have signed: neither it nor the version of its rules is
 * later than in `full`. Undefined for all others.
 */
export function engineOfDialect(dialect: string, full: string): string | undefined {
  const [asked, own] = [fullDialect.exec(dialect), fullDialect.exec(full)]
  if (asked === null || own === null || Number(asked[2]) > Number(own[2])) return undefined
  const [version = '', newest = ''] = [asked[1], own[1]]
  const sortable = (one: string): string => one.replaceAll(/\d+/g, (digits) => digits.padStart(4, '0'))
  return sortable(version) > sortable(newest) ? undefined : version
}

/**
 * Throws NodeError unless `dialect` is ours: `EngineUnavailable` for one of an earlier release, `UnsupportedDialect` for all
 * others. `full` names the engine and version that run.
 */
export function checkDialect(dialect: string, full: string): void {
  if (dialect === 'SqlDuckDb' || dialect === full) return
  if (engineOfDialect(dialect, full) !== undefined) {
    throw new NodeError('EngineUnavailable', `This node runs ${full}, not ${dialect}.`, {
      candidates: ['SqlDuckDb', full],
    })
  }
  const known = foreignDialects.has(dialect) ? ' of other nodes' : ''
  throw new NodeError(
    'UnsupportedDialect',
    `The query dialect '${dialect.slice(0, 80)}'${known} is not one that runs here.`,
    {
      hint: dialect.startsWith('SqlDuckDb/') ? 'Use SqlDuckDb. A later release may know it.' : 'Use SqlDuckDb.',
      candidates: ['SqlDuckDb', full],
    },
  )
}
