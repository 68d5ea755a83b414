// Rows as GeoJSON features, for OGC API Features: the rows of a page are chosen by box, time, filter and order, read by the
// engine, and written as features whose id is the row's offset. A page is of one block, whichever came since.

import type { DatasetView } from '../../node/catalog/dataset-chain.ts'
import { tileOfRows } from '../../libraries/geo/feature-rows.ts'
import { featureColumns } from '../../libraries/geo/feature-columns.ts'
import type { Place } from '../../libraries/geo/place.ts'
import { type encodeTile, PointGrid, type TileAddress, tileBounds } from '../../libraries/geo/tile.ts'
import { must } from '../../libraries/base/assert.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type Field, innerType } from '../../libraries/model/schema.ts'
import type { WorkPool } from '../../node/machine/work/work-pool.ts'
import {
  type Box,
  boundsOf,
  geometryColumn,
  type Interval,
  meets,
  meetsIfThere,
  placeOf,
  timeConditions,
} from '../../node/answers/conditions.ts'
import { sqlName } from '../../libraries/sql/types.ts'
import { sqlOfCql2, sqlOfEquality } from './cql2.ts'
import { askingOf, type Caller } from '../../node/answers/pin.ts'
import type { ReplicaDeps } from '../../node/answers/query.ts'
import type { Candidates, SpatialRows } from './spatial-rows.ts'

export interface FeatureDeps extends ReplicaDeps {
  readonly work: WorkPool
  readonly spatial: SpatialRows
}

export interface FeatureRequest {
  readonly view: DatasetView
  readonly limit: number
  readonly skip: number
  readonly box: Box | undefined
  /** Of events. */
  readonly time: Interval | undefined
  /** Values that columns must have. */
  readonly equal: readonly { readonly field: Field; readonly text: string }[]
  /** CQL2 text. */
  readonly filter: string | undefined
  readonly sortBy: readonly { readonly column: string; readonly isDescending: boolean }[]
}

export interface FeaturePage {
  /** Each a GeoJSON feature. */
  readonly features: readonly string[]
  readonly hasMore: boolean
  /** How many features meet the request, where that is known without reading them. */
  readonly matched: number | undefined
}

/** Name under which the statement of a page knows the dataset. */
const table = 'features'
/** More rows are not named one by one in a statement. */
const mostNamedRows = 20_000

/** The system columns, which features do not show. */
function systemNames({
  offsetColumn,
  operationTypeColumn,
  systemTimeColumn,
}: DatasetView['vocabulary']): readonly string[] {
  return [offsetColumn, operationTypeColumn, systemTimeColumn]
}

/** Columns that a filter may name and that features show as properties. */
export function propertyFields(view: DatasetView): readonly Field[] {
  const { schema, vocabulary } = view
  const geometry = geometryColumn(view)?.name
  const hidden = [...systemNames(vocabulary), ...(geometry === undefined ? [] : [geometry])].map(foldAscii)
  return (schema?.fields ?? []).filter(({ name }) => !hidden.includes(foldAscii(name)))
}

/** One page. Throws NodeErrors `InvalidParameter` (filter, sortby), `SqlValue`, and those of the engine. */
export async function featurePage(deps: FeatureDeps, request: FeatureRequest, caller: Caller): Promise<FeaturePage> {
  const { view, limit, skip, box, sortBy } = request
  const place = must(placeOf(view), 'a dataset with places')
  const conditions = conditionsOf(request, place)
  const order = orderOf(request)
  if (box === undefined && conditions.length === 0 && sortBy.length === 0) {
    const from = Math.min(skip, view.rows)
    const end = Math.min(from + limit, view.rows)
    // A scan of one dataset keeps the order of offsets, and its text is the same for all pages.
    const first = from < end ? must(view.slices.at(view.slices.numberWith(from)), 'a slice of the view').start : 0
    const window = { skip: from - first, limit: end - from }
    const request = { view, where: [], order: '', range: [from, end - 1], window } as const
    const features = from < end ? await rowsOf(deps, request, caller) : []
    return { features, hasMore: end < view.rows, matched: view.rows }
  }
  // Of a pair of numbers the condition is as fast as an index.
  const isIndexed = box !== undefined && 'geometry' in place
  const found = isIndexed ? await deps.spatial.near(view, place, boundsOf(box), caller.signal) : undefined
  const isKnown = found?.areExact === true && conditions.length === 0
  const matched = isKnown ? found.offsets.length : undefined
  if (found?.offsets.length === 0) return { features: [], hasMore: false, matched: 0 }
  const page = isKnown && sortBy.length === 0 ? found.offsets.subarray(skip, skip + limit + 1) : undefined
  if (page?.length === 0) return { features: [], hasMore: false, matched }
  const spatial = box === undefined ? [] : spatialConditions(view, { place, found, box, page })
  const { offsets } = found ?? { offsets: undefined }
  const named = page ?? (offsets !== undefined && offsets.length <= mostNamedRows ? offsets : undefined)
  const features = await rowsOf(
    deps,
    {
      view,
      where: [...spatial, ...conditions],
      order,
      range: named === undefined ? undefined : [named.at(0) ?? 0, named.at(-1) ?? 0],
      window: { skip: page === undefined ? skip : 0, limit: limit + 1 },
    },
    caller,
  )
  return { features: features.slice(0, limit), hasMore: features.length > limit, matched }
}

/** The feature of row `offset`, or undefined. */
export async function oneFeature(
  deps: FeatureDeps,
  view: DatasetView,
  { offset, caller }: { readonly offset: number; readonly caller: Caller },
): Promise<string | undefined> {
  if (!(offset < view.rows)) return undefined
  const where = [`${sqlName(view.vocabulary.offsetColumn)} = ${offset}`]
  return (await rowsOf(deps, { view, where, order: '', range: [offset, offset] }, caller))[0]
}

/** Features of a tile that have no place in the index are read, at most so many. */
const mostTileRows = 10_000

/** Columns of a tile where none are named. */
const usualTileColumns = 8

/**
 * The columns that a tile shows beside id and offset: those that `properties` names, or the first scalar ones, `name` before
 * all others. Throws NodeError `InvalidParameter`.
 */
export function tileFields(view: DatasetView, properties: string | undefined): readonly Field[] {
  if (properties !== undefined) {
    const known = fieldsByName(view)
    const names = properties.split(',').map((name) => name.trim())
    return [...new Set(names.filter((name) => name !== '').map((name) => needField(known, 'properties', name)))]
  }
  const scalars = propertyFields(view).filter(({ type }) => !/^(?:Binary|List|Map|Struct)$/.test(innerType(type).kind))
  const [named, others] = [true, false].map((is) => scalars.filter(({ name }) => (foldAscii(name) === 'name') === is))
  return [...(named ?? []), ...(others ?? [])].slice(0, usualTileColumns)
}

/** The letter that a tile has for values of a column: what it has no number for is text. */
function kindOf({ type }: Field): string {
  const { kind } = innerType(type)
  return kind === 'Bool' ? 'b' : /^U?Int/.test(kind) ? 'i' : kind.startsWith('Float') ? 'd' : 't'
}

interface AskedTile {
  readonly tile: TileAddress
  readonly fields: readonly Field[]
  readonly caller: Caller
}

/**
 * The bytes of a vector tile: id, geometry, offset and these columns of each feature; of points at most one in each cell of a
 * fine grid. Columns that have no room are left out, the last first. Throws as `featurePage`.
 */
export async function featureTile(
  deps: FeatureDeps,
  view: DatasetView,
  { tile, fields, caller }: AskedTile,
): Promise<ReturnType<typeof encodeTile>> {
  const place = must(placeOf(view), 'a dataset with places')
  const box = tileBounds(tile)
  const { signal } = caller
  const grid = new PointGrid(box)
  const arePoints = await deps.spatial.points(view, { place, box, signal }, (offset, x, y) => grid.add(offset, x, y))
  const points = arePoints ? grid.points : undefined
  const offsets =
    points === undefined
      ? (await deps.spatial.near(view, place, box, signal)).offsets.subarray(0, mostTileRows)
      : Float64Array.from(points.keys()).sort()
  if (offsets.length === 0) return { bytes: new Uint8Array(), left: 0 }
  const { offsetColumn } = view.vocabulary
  const columns = [offsetColumn, ...fields.map(({ name }) => name)]
  const settings = { tile, columns, kinds: ['i', ...fields.map(kindOf)].join(''), points }
  if (points !== undefined && fields.length === 0) {
    return tileOfRows(utf8(JSON.stringify(Array.from(offsets, (offset) => [offset]))), settings)
  }
  const [first, last] = [offsets.at(0) ?? 0, offsets.at(-1) ?? 0]
  const geometry = points === undefined && 'geometry' in place ? sqlName(place.geometry) : 'NULL'
  const [id = '', ...others] = columns.map(sqlName)
  // One text for all: each number in a list of its own costs ten times as much.
  const isNamed = `${id} IN (SELECT unnest(CAST('[${offsets.join(',')}]' AS BIGINT[])))`
  const where = [`${id} BETWEEN ${first} AND ${last}`, isNamed]
  const asked = { view, where, order: id, range: [first, last] as const, select: [id, geometry, ...others].join(', ') }
  try {
    const rows = await jsonOf(deps, asked, caller)
    return await deps.work.run('tile', [rows], { settings, signal })
  } catch (cause) {
    // The rows are more than an answer may be: with half of the columns they may be less.
    if (!(cause instanceof NodeError && cause.kind === 'ResultTooLarge') || fields.length === 0) throw cause
    const fewer = fields.slice(0, Math.floor(fields.length / 2))
    const { bytes, left } = await featureTile(deps, view, { tile, fields: fewer, caller })
    return { bytes, left: left + fields.length - fewer.length }
  }
}

/** By time, values and filter. */
function conditionsOf({ view, time, equal, filter }: FeatureRequest, place: Place): string[] {
  const conditions = [...timeConditions(view, time), ...equal.map(({ field, text }) => sqlOfEquality(field, text))]
  if (filter !== undefined) {
    const intersects = (box: Box): string => meetsIfThere(place, box)
    const geometry = 'geometry' in place ? place.geometry : featureColumns.geometry
    conditions.push(sqlOfCql2(filter, { fields: propertyFields(view), geometry, intersects }))
  }
  return conditions
}

interface FoundRows {
  readonly place: Place
  readonly found: Candidates | undefined
  readonly box: Box
  /** The rows of the page, where they are known. */
  readonly page: Float64Array | undefined
}

function spatialConditions(view: DatasetView, { place, found, box, page }: FoundRows): string[] {
  if (found === undefined) return [meets(place, box)]
  const offsets = page ?? found.offsets
  const conditions: string[] = []
  if (offsets.length <= mostNamedRows) {
    conditions.push(`${sqlName(view.vocabulary.offsetColumn)} IN (${offsets.join(', ')})`)
    if (found.areExact) return conditions
  }
  return [...conditions, meets(place, box)]
}

function orderOf({ view, sortBy }: FeatureRequest): string {
  const known = fieldsByName(view)
  const keys = sortBy.map(({ column, isDescending }) => {
    const { name } = needField(known, 'sortby', column)
    return `${sqlName(name)}${isDescending ? ' DESC' : ' ASC'} NULLS LAST`
  })
  return [...keys, sqlName(view.vocabulary.offsetColumn)].join(', ')
}

/** What parameters may name, by names in lower case. */
export function fieldsByName(view: DatasetView): ReadonlyMap<string, Field> {
  return new Map(propertyFields(view).map((field) => [foldAscii(field.name), field]))
}

function needField(known: ReadonlyMap<string, Field>, parameter: string, name: string): Field {
  const found = known.get(foldAscii(name))
  if (found !== undefined) return found
  throw new NodeError('InvalidParameter', `${parameter}: there is no column '${name.slice(0, 100)}'.`, {
    candidates: [...known.values()].slice(0, 100).map((field) => field.name),
  })
}

interface RowsRequest {
  readonly view: DatasetView
  readonly where: readonly string[]
  /** Sort keys; empty where one row is asked for. */
  readonly order: string
  /** First and last offset that can be asked for; absent: any. */
  readonly range: readonly [first: number, last: number] | undefined
  readonly window?: { readonly skip: number; readonly limit: number }
}

const mostRows = 100_000

async function rowsOf(deps: FeatureDeps, request: RowsRequest, caller: Caller): Promise<string[]> {
  const { schema, vocabulary } = request.view
  const settings = {
    names: must(schema, 'a dataset with rows has a schema').fields.map(({ name }) => name),
    id: vocabulary.offsetColumn,
    place: must(placeOf(request.view), 'a dataset with places'),
    hidden: systemNames(vocabulary),
  }
  const rows = await jsonOf(deps, { ...request, select: '*' }, caller)
  return await deps.work.run('features', [rows], { settings, signal: caller.signal })
}

/** Rows of values, in the order of `select`, as JSON. */
async function jsonOf(
  deps: FeatureDeps,
  { view, where, order, range, window, select }: RowsRequest & { readonly select: string },
  caller: Caller,
): Promise<Uint8Array> {
  const { slices } = view
  const run = range && { from: slices.numberWith(range[0]), to: slices.numberWith(range[1]) + 1 }
  const found = await deps.files.ofRun(view, run)
  const by = askingOf(deps.catalog, caller)
  const condition = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`
  const sql = `SELECT ${select} FROM ${sqlName(table)}${condition}${order === '' ? '' : ` ORDER BY ${order}`}`
  const job = {
    analysis: await deps.engine.analyze(sql, by),
    tables: [{ parts: [table], ...found }],
    reproducible: order === '',
    dataFormat: 'JsonAoa',
    wantSchema: false,
    keyOrder: 'column' as const,
    ascii: false,
    ...(window ?? { skip: 0, limit: mostRows }),
  }
  const { data } = await deps.objects.reading([view], () => deps.engine.run(job, by))
  return data
}
