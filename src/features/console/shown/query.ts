// What the SQL page shows: the statement of the request and, where a person on this page asked for it, its answer or its
// fault. A link from elsewhere runs nothing: its statement stands in the editor.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Rows } from '../charts/cells.ts'
import { automaticChoice } from '../charts/choice.ts'
import { chartsOf } from '../charts/points.ts'
import type { Page } from '../layout.ts'
import { packAddress } from '../pack-page.ts'
import { isOwnQuestion } from '../own-links.ts'
import { queryPage, type ShownAnswer, type ShownFault } from '../query-page.ts'
import { jsonText, parseJson } from '../../../libraries/base/json/json.ts'
import { concatBytes } from '../../../libraries/base/bytes.ts'
import { defined, ownValue } from '../../../libraries/base/collections.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { JsonValue } from '../../../libraries/base/json/value.ts'
import type { Parameters } from '../../../libraries/model/parameters.ts'
import type { PinnedDataset } from '../../../libraries/model/query.ts'
import { coordinateColumns } from '../../../libraries/geo/coordinate-columns.ts'
import { usualLimit } from '../../../libraries/sql/own-limit.ts'
import { countText, csvForExcel } from '../format.ts'
import type { FileFacts } from '../../../libraries/columnar/outputs/file-format.ts'
import { jsonLayoutNames } from '../../../libraries/columnar/outputs/layouts.ts'
import { openQuery } from '../../../node/answers/query.ts'
import { callerOf } from '../../../node/http/answer.ts'
import type { PageContext, ReplicaContext } from '../../../node/http/context.ts'
import { isOwnOrigin } from '../../../node/http/origin-rules.ts'
import { problemOf } from '../../../node/http/problem.ts'
import { inItsPlace, normalise } from '../../../node/http/routes/query.ts'
import { listQueries } from '../../../node/http/routes/saved-queries.ts'
import { mapOfAnswer } from './answer-pictures.ts'
import { treeOf } from './tree.ts'

/** A page shows so many rows; files have all of them. */
export const mostRows = 1000
/** JSON of an answer that is read and drawn in one go; of a larger one the page says how it can be had. */
const shownAnswerBytes = 1024 * 1024
const shownCellChars = 200
const mostSaved = 30
/** A longer address is refused by servers and proxies on its way. */
export const longestAddressChars = 8000

/** A statement, how many of its rows, and what else decides them. */
export interface Asked {
  readonly query: string
  /** Rows at most; undefined where the statement or the page says. */
  readonly limit: number | undefined
  /** What a saved query brings, and the address of this answer. */
  readonly saved?: {
    readonly datasets: { id: string; alias: string }[]
    readonly parameters: Parameters | undefined
    readonly address: string
  }
}

export async function queryPageOf(
  { context, reading }: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Page | undefined> {
  if (reading === undefined) return undefined
  const members = (request.method === 'POST' ? request.body : request.query) as { query: string; limit?: unknown } // validated
  // Forms end lines by two characters; places in the statement are those of its reader.
  const { limit = '' } = members
  const asked = { query: members.query.replaceAll('\r\n', '\n'), limit: limit === '' ? undefined : Number(limit) }
  const result = isAskedHere(reading, request)
    ? await resultOf(reading, { request, reply, asked: () => asked })
    : undefined
  return queryPage({
    statement: asked.query,
    limit: asked.limit,
    mostRows,
    result,
    tree: await treeOf(context, request),
    saved: await savedNames(context, request),
  })
}

async function savedNames(context: PageContext['context'], { principal }: FastifyRequest): Promise<string[]> {
  const { queries } = await listQueries(context, { principal, query: { limit: String(mostSaved) } })
  return queries.map(([name]) => name)
}

/**
 * True where a person on a page of this node asked: the script of this one asks by POST; without scripts its form was sent, or
 * a link was followed that the node wrote. A link from elsewhere does nothing, nor one that data brought into another page.
 */
function isAskedHere(context: ReplicaContext, { method, headers, query }: FastifyRequest): boolean {
  if (method === 'POST') return true
  const { referer = '', host, authorization, 'sec-fetch-site': site = 'same-origin' } = headers
  const { query: statement = '', run } = query as { query?: string; run?: string } // validated
  if (run === undefined || site !== 'same-origin' || !URL.canParse(referer)) return false
  const { origin, pathname } = new URL(referer)
  if (!isOwnOrigin(origin, host, context)) return false
  // A script that shows an address again with the token of its tab leaves `run` out where the link was not of this node.
  return isOwnQuestion(statement, run) || (pathname === '/query' && authorization === undefined)
}

interface Running {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Reads what is asked. Throws NodeErrors. */
  readonly asked: () => Asked
}

/** The answer of a statement, or why it has none: then the reply has the status of that. */
export async function resultOf(context: ReplicaContext, running: Running): Promise<ShownAnswer | ShownFault> {
  try {
    return await answerOf(context, running)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const { request, reply } = running
    const problem = problemOf(error, request.id)
    void reply.code(problem.status).headers({ ...problem.headers })
    return {
      kind: 'fault',
      status: problem.status,
      title: String(problem.body['title']),
      detail: error.message,
      hint: error.details.hint,
      errorKind: error.kind,
      type: String(problem.body['type']),
      position: error.details.position,
      candidates: error.details.candidates ?? [],
    }
  }
}

/** Throws the NodeErrors of `openQuery`; `InvalidParameter` for more rows than a page shows. */
async function answerOf(context: ReplicaContext, { request, reply, ...running }: Running): Promise<ShownAnswer> {
  const asked = running.asked()
  if (asked.limit !== undefined && asked.limit > mostRows) {
    throw new NodeError('InvalidParameter', `limit is ${asked.limit}; a page shows at most ${mostRows} rows.`, {
      hint: 'Ask for fewer rows here; saved as a file, the answer has all of them.',
      limit: { name: 'limit', value: mostRows, unit: 'rows' },
    })
  }
  const begunMs = context.clock.nowMs()
  const { datasets, parameters } = asked.saved ?? {}
  const limit = asked.limit ?? usualLimit(asked.query, mostRows, parameters?.values)
  const form = { query: asked.query, datasets, limit, dataFormat: 'JsonAoa', include: ['Schema'] }
  const query = await inItsPlace(request, async () => {
    const wanted = normalise(form, context, defined({ parameters }))
    return await openQuery(context.replica, wanted, callerOf(context, request, reply))
  })
  const { body, truncated, stability } = await query.answer()
  const ms = context.clock.nowMs() - begunMs
  const bytes = body.reduce((sum, { length }) => sum + length, 0)
  const read = bytes > shownAnswerBytes ? undefined : readAnswer(concatBytes(body))
  const { columns = [], cells } = read ?? {}
  const rows = cells?.map((row) => row.map((cell) => (cell === undefined ? undefined : cutText(cell))))
  const choice = rows && automaticChoice(columns, rows)
  return {
    kind: 'answer',
    columns,
    rows,
    charts: rows && choice ? chartsOf(columns, rows, choice) : [],
    map: cells && (await mapOfAnswer(columns, cells)),
    bytes,
    isCut: truncated,
    ms,
    stability: query.tag === undefined ? undefined : stability,
    datasets: query.pinned,
    isPinned: asked.saved === undefined,
    ...waysOut(
      { ...asked, rows: limit, known: context.outputs.files },
      {
        pinned: query.pinned,
        isProvable: query.isProvable,
        hasGeometry: columns.some(({ name }) => name === 'geometry') || coordinateColumns(columns) !== undefined,
      },
    ),
  }
}

/** The columns and the cells of an answer. */
function readAnswer(bytes: Uint8Array): { readonly columns: ShownAnswer['columns']; readonly cells: Rows } {
  const output = member(parseJson(bytes), 'output')
  const textOf = (cell: JsonValue): string | undefined => (cell === null ? undefined : plainText(cell))
  const cells = items(member(output, 'data')).map((row) => items(row).map(textOf))
  const columns = items(member(member(output, 'schema'), 'fields')).map((field) => {
    const type = typeText(member(field, 'data_type'))
    return { name: plainText(member(field, 'name')), type, isNumber: /^(?:U?Int|Float|Decimal)/.test(type) }
  })
  return { columns, cells }
}

export function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value instanceof Map ? value.get(name) : undefined
}

export function items(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

export function plainText(value: JsonValue = null): string {
  return typeof value === 'string' ? value : jsonText(value)
}

function cutText(text: string): string {
  if (text.length <= shownCellChars) return text
  // Two units at most are one character.
  return `${Array.from(text.slice(0, 2 * shownCellChars))
    .slice(0, shownCellChars)
    .join('')}…`
}

const usualNames: Readonly<Record<string, string>> = {
  Boolean: 'Bool',
  Utf8: 'String',
  Date32: 'Date',
  Decimal128: 'Decimal',
  FixedSizeList: 'List',
}

/** A type as its short text, of the name that ArrowJson has for it. */
function typeText(type: JsonValue | undefined): string {
  if (!(type instanceof Map)) return ownValue(usualNames, plainText(type)) ?? plainText(type)
  const [name = '', detail = null] = [...type][0] ?? []
  const usual = ownValue(usualNames, name) ?? name
  if (usual === 'List') return `List(${typeText(member(items([detail].flat())[0], 'data_type'))})`
  if (usual === 'Timestamp') {
    const [unit, zone] = items(detail).map(plainText)
    return zone === 'UTC' ? `Timestamp(${unit})` : `Timestamp(${unit}, ${zone})`
  }
  return usual === 'Decimal' ? `Decimal(${jsonText(detail).slice(1, -1)})` : usual
}

/** Names of formats as people say them. */
const formatTexts: Readonly<Record<string, string>> = {
  Csv: 'CSV',
  Xlsx: 'Excel',
  NdJson: 'NDJSON',
  GeoJson: 'GeoJSON',
  NdGeoJson: 'GeoJSON, a feature a line',
  JsonAoa: 'JSON, rows as arrays',
  JsonAos: 'JSON, rows as objects',
  JsonSoa: 'JSON, columns as arrays',
}

/** Where the answer can be had: of the very blocks that it was read from, and with a proof. */
function waysOut(
  { query, limit, rows, saved, known }: Asked & { readonly rows: number; readonly known: readonly FileFacts[] },
  {
    pinned,
    isProvable,
    hasGeometry,
  }: { readonly pinned: readonly PinnedDataset[]; readonly isProvable: boolean; readonly hasGeometry: boolean },
): Pick<ShownAnswer, 'files' | 'proof' | 'pack' | 'permalink'> {
  const statement = saved?.address ?? `/query?query=${encodeURIComponent(query)}`
  const pins = pinned.flatMap(({ alias, blockHash }) => (saved ? [] : `&pin=${encodeURIComponent(alias)}@${blockHash}`))
  const target = `${statement}${pins.join('')}`
  const isShort = target.length <= longestAddressChars
  const formats = known.filter(({ mediaTypes }) => hasGeometry || !mediaTypes[0]?.includes('geo+json'))
  const files = [
    ...formats.map(({ name, extension }) => ({
      name: formatTexts[name] ?? name,
      path: `${target}&format=${name}`,
      file: `answer.${extension}`,
    })),
    { name: 'CSV for Excel (;)', path: `${target}&${csvForExcel}`, file: 'answer.csv' },
    ...jsonLayoutNames.map((name) => ({
      name: `${formatTexts[name] ?? name}, ${countText(rows)} rows at most`,
      path: `${target}&format=${name}&limit=${rows}`,
      file: 'answer.json',
    })),
  ]
  const proof = {
    name: 'Save these rows with their proof',
    path: `${target}&format=JsonAoa&limit=${rows}&include=proof`,
    file: 'proof.json',
  }
  const pack = packAddress(
    pinned.map(({ alias }) => alias),
    saved?.address.replace(/\?$/, '') ?? query,
  )
  const reason = isProvable
    ? 'The statement is too long for an address.'
    : 'No proof: it does not answer the same again, or not on every machine.'
  return {
    files: isShort ? files : [],
    proof: isShort && isProvable ? proof : { reason },
    pack: isProvable && pack.length <= longestAddressChars ? pack : undefined,
    permalink: isShort ? `${statement}${limit === undefined ? '' : `&limit=${limit}`}` : undefined,
  }
}
