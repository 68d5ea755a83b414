// Work that is too heavy for the main thread: jobs, pure functions of bytes and plain values, one row each. What goes in
// and comes out is copied between threads, so it is small or a few large arrays of bytes. Run by the port of work-pool.ts.

import { isPresent } from '../../../libraries/columnar/arrow/columns.ts'
import { doublesOf } from '../../../libraries/columnar/arrow/numbers.ts'
import { type FeatureColumns, featureTexts, type TileOf, tileOfRows } from '../../../libraries/geo/feature-rows.ts'
import { isPoint, type Place, placeNames } from '../../../libraries/geo/place.ts'
import { type SpatialIndex, SpatialIndexer } from '../../../libraries/geo/spatial-index.ts'
import { type Hash, sha3Hash } from '../../../libraries/base/ids/identifiers.ts'
import { parseJson, type PlainJson, toPlain } from '../../../libraries/base/json/json.ts'
import { JsonError } from '../../../libraries/base/json/parser.ts'
import { concatBytes, decodeUtf8 } from '../../../libraries/base/bytes.ts'
import { DecodeError, NodeError } from '../../../libraries/base/errors.ts'
import type { HeadFacts } from '../../../libraries/formats/dialect/table-finds.ts'
import type { Offer } from '../../../libraries/formats/dialect/offers.ts'
import { JsonNumber, type JsonValue } from '../../../libraries/base/json/value.ts'
import { type Column, type DataType, innerType } from '../../../libraries/model/schema.ts'
import { openSlice } from '../../../libraries/columnar/parquet/read-slice.ts'
import { type ReadProof, readProof } from '../../../libraries/proof/read-proof.ts'
import { checkSliceRows, type ExpectedSlice, type SliceCheck } from '../../../libraries/odf/chain/check-slice.ts'
import { inflatePage } from './zstd-page.ts'
import type { RowLeaves, RowLeavesOf } from './row-leaves.ts'
import { type MergedBytes, type MergeOrder, mergeSlices } from './merge.ts'

/** A bound on the values of a JSON text, and the limit that it is. */
export interface ValuesLimit {
  readonly name: string
  readonly value: number
}

export interface ProofSettings {
  readonly values: ValuesLimit
  readonly sqlBytes: number
}

/** By kind, a function of the bytes and the settings. */
const jobs = {
  /** A JSON request as plain values. Throws NodeErrors `MalformedJson`, `BodyTooLarge`. */
  json: (bytes: Uint8Array, values: ValuesLimit): PlainJson =>
    inWords(() => toPlain(parse(bytes, values), { largeIntegers: 'bigint' })),
  /** A JSON request with its number tokens. Throws as `json`. */
  tokens: (bytes: Uint8Array, values: ValuesLimit): JsonValue => inWords(() => parse(bytes, values)),
  /** A proof whose hashes and signature are good. Throws as `json` and as `readProof`. */
  proof: (bytes: Uint8Array, { values, sqlBytes }: ProofSettings): ReadProof =>
    readProof(jobs.tokens(bytes, values), sqlBytes),
  /** The sha3-256 multihash. */
  hash: (bytes: Uint8Array, _settings: undefined): Hash => sha3Hash(bytes),
  /** Rows as GeoJSON features. Throws as `featureTexts`. */
  features: (bytes: Uint8Array, columns: FeatureColumns): string[] => featureTexts(bytes, columns),
  /** Rows as a vector tile. Throws as `tileOfRows`. */
  tile: (bytes: Uint8Array, of: TileOf): ReturnType<typeof tileOfRows> => tileOfRows(bytes, of),
  /** Where and when the rows of a slice are. Throws NodeError `SqlValue` for a text that is no geometry; DecodeError. */
  spatialIndex: (bytes: Uint8Array, columns: IndexedColumns): Promise<SliceIndex> => indexSlice(bytes, columns),
  /** What is wrong with a slice as its block describes it. */
  slice: (bytes: Uint8Array, expected: ExpectedSlice): Promise<SliceCheck> =>
    checkSliceRows(bytes, expected, inflatePage),
  /** The leaves of a row root. Throws as `rowLeaves`. */
  rowLeaves: async (bytes: Uint8Array, of: RowLeavesOf): Promise<RowLeaves> =>
    await (await import('./row-leaves.ts')).rowLeaves(bytes, of),
  /** Dialects for the first bytes of a body of cells. */
  offers: async (bytes: Uint8Array, facts: HeadFacts): Promise<readonly Offer[]> =>
    (await import('../../../libraries/formats/dialect/offers.ts')).offersOf(bytes, facts),
  /** The rows of many slices in one file, checked. Throws DecodeError. */
  merge: (bytes: Uint8Array, order: MergeOrder): Promise<MergedBytes> => mergeSlices(bytes, order),
} as const

export type JobKind = keyof typeof jobs
export type JobSettings<K extends JobKind> = Parameters<(typeof jobs)[K]>[1]
export type JobResult<K extends JobKind> = Awaited<ReturnType<(typeof jobs)[K]>>

/** Runs a job in this thread. Throws what the job throws. */
export async function runJob<K extends JobKind>(
  kind: K,
  pieces: readonly Uint8Array[],
  settings: JobSettings<K>,
): Promise<JobResult<K>> {
  const [first] = pieces
  const bytes = pieces.length === 1 && first !== undefined ? first : concatBytes(pieces)
  // The row of a kind takes the settings of that kind and gives its result; the union of all rows does not say so.
  const run = jobs[kind] as (bytes: Uint8Array, settings: JobSettings<K>) => JobResult<K> | Promise<JobResult<K>>
  return await run(bytes, settings)
}

/** Names of columns. */
export interface IndexedColumns {
  readonly place: Place
  readonly time: string
}

export interface SliceIndex extends SpatialIndex {
  /** First and last time, in milliseconds since 1970, rounded outwards; undefined where no row has one. */
  readonly times: readonly [firstMs: number, lastMs: number] | undefined
}

async function indexSlice(bytes: Uint8Array, { place, time }: IndexedColumns): Promise<SliceIndex> {
  const indexer = new SpatialIndexer()
  const names = placeNames(place).filter((name) => name !== undefined)
  const { fields, batches } = openSlice(bytes, { columns: [...names, time], decompress: inflatePage })
  const places = names.map((wanted) => fields.findIndex(({ name }) => name === wanted))
  const moment = fields.findIndex(({ name }) => name === time)
  const timeType = fields[moment]?.type
  const range = new TimeRange()
  for await (const { rows, columns } of batches) {
    const found = places.map((at) => columns[at])
    if ('geometry' in place) addTexts(indexer, found[0], rows)
    else addPairs(indexer, found, rows)
    const times = columns[moment]
    if (times !== undefined && timeType !== undefined) range.addAll(times, innerType(timeType))
  }
  return { ...indexer.finish(), times: range.times }
}

function addTexts(indexer: SpatialIndexer, texts: Column | undefined, rows: number): void {
  for (let row = 0; row < rows; row++) {
    const isThere = texts !== undefined && isPresent(texts, row)
    indexer.add(isThere ? decodeUtf8(texts.values.subarray(texts.offsets?.[row], texts.offsets?.[row + 1])) : undefined)
  }
}

function addPairs(indexer: SpatialIndexer, [longitude, latitude]: readonly (Column | undefined)[], rows: number): void {
  const xAt = longitude === undefined ? undefined : doublesOf(longitude)
  const yAt = latitude === undefined ? undefined : doublesOf(latitude)
  for (let row = 0; row < rows; row++) {
    const x = longitude !== undefined && isPresent(longitude, row) ? xAt?.(row) : undefined
    const y = latitude !== undefined && isPresent(latitude, row) ? yAt?.(row) : undefined
    if (x !== undefined && y !== undefined && isPoint(x, y)) indexer.addPoint(x, y)
    else indexer.add(undefined)
  }
}

const perMs = { Second: 0.001, Millisecond: 1, Microsecond: 1000, Nanosecond: 1_000_000 } as const
const msPerDay = 86_400_000

/** The first and the last of the times that it is told. */
class TimeRange {
  #first = Number.POSITIVE_INFINITY
  #last = Number.NEGATIVE_INFINITY

  addAll(column: Column, type: DataType): void {
    const { rows, values } = column
    const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
    const isDate = type.kind === 'Date'
    if (!isDate && type.kind !== 'Timestamp') return
    let [first, last]: [bigint | undefined, bigint | undefined] = [undefined, undefined]
    for (let row = 0; row < rows; row++) {
      if (!isPresent(column, row)) continue
      const value = isDate ? BigInt(view.getInt32(row * 4, true)) : view.getBigInt64(row * 8, true)
      if (first === undefined || value < first) first = value
      if (last === undefined || value > last) last = value
    }
    if (first === undefined || last === undefined) return
    const divisor = isDate ? 1 / msPerDay : perMs[(type.kind === 'Timestamp' ? type.unit : undefined) ?? 'Millisecond']
    this.#first = Math.min(this.#first, Math.floor(Number(first) / divisor))
    this.#last = Math.max(this.#last, Math.ceil(Number(last) / divisor))
  }

  get times(): SliceIndex['times'] {
    return this.#first <= this.#last ? [this.#first, this.#last] : undefined
  }
}

/** What a job gave, as it was before it was copied from another thread: number tokens are objects of a class. */
export function received(kind: JobKind, result: unknown): unknown {
  return kind === 'tokens' ? withNumbers(result as JsonValue) : result // a copy of what that job gives
}

function parse(bytes: Uint8Array, values: ValuesLimit): JsonValue {
  try {
    return parseJson(bytes, { duplicateKeys: 'reject', maxValues: values.value })
  } catch (error) {
    if (!(error instanceof JsonError && error.fault === 'values')) throw error
    throw new NodeError('BodyTooLarge', `The body ${error.reason}.`, {
      position: error.position,
      limit: { ...values, unit: 'values' },
      hint: 'A saved answer can be sent without its output: the query is run again all the same.',
    })
  }
}

function inWords<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError('MalformedJson', `The body is not well-formed JSON: it ${reasonOf(cause)}.`, {
      ...(cause instanceof JsonError ? { position: cause.position } : {}),
      cause,
    })
  }
}

/** `DecodeError` says what, why and where in one text; the body of the answer has members for the first and the last. */
function reasonOf(error: DecodeError): string {
  return error.message.slice(`${error.what}: `.length).replace(/ \(at byte \d+\)$/, '')
}

/** Changes `value` in place. */
function withNumbers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = withNumbers(item)
    return value
  }
  if (value instanceof Map) {
    for (const [name, member] of value) value.set(name, withNumbers(member))
    return value
  }
  return typeof value === 'object' && value !== null ? new JsonNumber(value.token) : value
}
