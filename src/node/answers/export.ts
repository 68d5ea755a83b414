// A whole dataset as a file, in the order of its offsets: the caller chooses columns and may give a condition, which goes
// through the gate like any statement. What runs is one SELECT over one dataset at a block.

import { type DatasetChain, type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import { lexSql } from '../../libraries/sql/lexer.ts'
import { positionAt } from '../../libraries/base/json/parser.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type Field, systemFields } from '../../libraries/model/schema.ts'
import { sqlName } from '../../libraries/sql/types.ts'
import { type FileFacts, tooManyRows } from '../../libraries/columnar/outputs/file-format.ts'
import { type Box, geometryColumn, type Interval, meets, placeOf, timeConditions } from './conditions.ts'
import { type FileRequest, type OpenFile, openFileQuery } from './files.ts'
import { type Caller, viewAt } from './pin.ts'
import type { ReplicaDeps } from './query.ts'

export interface ExportRequest extends Pick<FileRequest, 'options'> {
  readonly format: FileFacts
  /** Hash of a block; the head when undefined. */
  readonly at: string | undefined
  /** Names of columns in the order wanted, or all of them, with or without those that the node fills. */
  readonly columns: readonly string[] | 'all' | 'withoutSystem'
  /** A condition in SQL over the columns of a row. */
  readonly where: string | undefined
  /** Rows whose geometry meets it. */
  readonly box: Box | undefined
  /** Rows whose event was in it. */
  readonly time: Interval | undefined
}

/** A dataset as a file that is bound to a block. */
export interface OpenExport extends OpenFile {
  /** The statement that gives its rows. */
  readonly sql: string
}

/**
 * Throws NodeError `BlockNotFound`, `InvalidParameter` (a column that is not there, a condition that is none), and what the
 * gate and the engine say of the condition, with positions in it.
 */
export async function openExport(
  deps: ReplicaDeps,
  chain: DatasetChain,
  request: ExportRequest,
  caller: Caller,
): Promise<OpenExport> {
  const view = request.at === undefined ? viewOf(chain) : await viewAt(deps.catalog, chain, request.at)
  const { where, format, options } = request
  if (where !== undefined) checkCondition(where)
  const head = `SELECT ${columnList(view, request.columns)} FROM "${view.id}"`
  const conditions = [...timeConditions(view, request.time), ...boxConditions(view, request)]
  const before = `${head} WHERE ${[...conditions, '('].join(' AND ')}`
  const isWhole = where === undefined && conditions.length === 0
  if (isWhole && view.rows > (format.mostRows ?? Number.POSITIVE_INFINITY)) throw tooManyRows(format)
  const fixed = conditions.length === 0 ? head : `${head} WHERE ${conditions.join(' AND ')}`
  const sql = where === undefined ? fixed : `${before}${where}\n)`
  const wanted = {
    query: sql,
    queryDialect: 'SqlDuckDb',
    datasets: [{ id: view.id, alias: view.id, blockHash: view.block.hash }],
    format,
    options,
    skip: 0,
    limit: undefined,
    inOffsetOrder: true,
  }
  try {
    const file = await openFileQuery(deps, wanted, caller)
    const start: OpenFile['start'] = async (...given) => {
      try {
        return await file.start(...given)
      } catch (error) {
        throw placed(error, before)
      }
    }
    return { ...file, sql, rowsAtMost: view.rows, start }
  } catch (error) {
    throw placed(error, before)
  }
}

/** Throws NodeError `InvalidParameter` where there are no geometries to meet the box. */
function boxConditions(view: DatasetView, { box, options }: ExportRequest): string[] {
  if (box === undefined) return []
  const { geometry } = options
  const column = geometry === undefined ? undefined : geometryColumn(view, geometry)?.name
  const place = column === undefined ? undefined : { geometry: column }
  const found = geometry === undefined ? placeOf(view) : place
  if (found !== undefined) return [meets(found, box)]
  throw new NodeError(
    'InvalidParameter',
    'bbox: the dataset has no column of geometries, nor one pair of coordinates.',
    {
      hint: 'A text column `geometry` holds GeoJSON, two columns of numbers `longitude` and `latitude` are points; in GeoJson and Parquet geometry=<column> names another.',
    },
  )
}

/** The columns that the caller chose, quoted. Throws NodeError `InvalidParameter`. */
function columnList(view: DatasetView, chosen: ExportRequest['columns']): string {
  const fields = view.schema?.fields ?? systemFields(view.vocabulary)
  const { offsetColumn, operationTypeColumn, systemTimeColumn } = view.vocabulary
  const system = new Set([offsetColumn, operationTypeColumn, systemTimeColumn])
  const names =
    typeof chosen === 'string'
      ? fields.map(({ name }) => name).filter((name) => chosen === 'all' || !system.has(name))
      : chosen.map((name) => columnNamed(fields, name))
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated !== undefined) throw new NodeError('InvalidParameter', `columns names '${repeated}' twice.`)
  return names.map(sqlName).join(', ')
}

function columnNamed(fields: readonly Field[], name: string): string {
  const field = fields.find((one) => foldAscii(one.name) === foldAscii(name))
  if (field !== undefined) return field.name
  throw new NodeError(
    'InvalidParameter',
    `columns names '${name.slice(0, 200)}', which is not a column of the dataset.`,
    {
      candidates: fields.slice(0, 100).map((one) => one.name),
    },
  )
}

/**
 * A condition closes what it opens, and nothing else: it stands between brackets of ours. What it may hold is for the gate
 * to say. Throws NodeError `InvalidParameter`.
 */
function checkCondition(where: string): void {
  let depth = 0
  let tokens = 0
  for (const { kind, text, start } of lexSql(where)) {
    tokens++
    if (kind === 'parameter') {
      throw new NodeError('InvalidParameter', 'where has a parameter, and nothing gives it a value.', {
        hint: 'Write the value into the condition, or ask /query for the rows.',
        position: positionAt(where, start),
      })
    }
    if (kind !== 'symbol') continue
    if (text === '(') depth++
    if (text === ')') depth--
    if (depth < 0 || text === ';') throw noCondition()
  }
  if (depth !== 0 || tokens === 0) throw noCondition()
}

function noCondition(): NodeError {
  return new NodeError('InvalidParameter', 'where is not a condition: its brackets do not close, or it is empty.', {
    hint: 'Write what would follow WHERE, such as where=celsius > 20.',
  })
}

/** The error with its position in the condition, behind the text `before` of ours. */
function placed(error: unknown, before: string): unknown {
  if (!(error instanceof NodeError) || error.details.position === undefined) return error
  const { position, ...details } = error.details
  const offset = position.offset - utf8(before).length
  if (offset < 0) return new NodeError(error.kind, error.message, details)
  const column = position.line === 1 ? position.column - Array.from(before).length : position.column
  return new NodeError(error.kind, error.message, { ...details, position: { ...position, offset, column } })
}
