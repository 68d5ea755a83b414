// What the pages of datasets show, collected for the caller: the list, and one dataset with its newest rows and its chain.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { can, demandToken, keeps } from '../../../node/access/scopes.ts'
import { type DatasetChain, type DatasetView, viewOf } from '../../../node/catalog/dataset-chain.ts'
import type { ChainBlock } from '../../../node/catalog/packed-blocks.ts'
import {
  datasetPage,
  mostShownColumns,
  type ShownBlock,
  type ShownColumn,
  type ShownDataset,
  shownCellChars,
} from '../dataset-page.ts'
import type { ShownChanges } from '../dataset-changes.ts'
import { type Readme, readmePath, readReadme } from '../dataset-readme.ts'
import { datasetsPage } from '../datasets-page.ts'
import type { Page } from '../layout.ts'
import { ownQuestion } from '../own-links.ts'
import { pulseHours, type ShownMap } from '../pictures.ts'
import { datasetIdPattern } from '../../../libraries/base/ids/identifiers.ts'
import { durationText } from '../../../libraries/base/clock.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { isReservedAccount } from '../../../libraries/model/names.ts'
import { type Field, innerType, typeText } from '../../../libraries/model/schema.ts'
import { placeOf } from '../../../node/answers/conditions.ts'
import { columnFigures, type Glance, newestCoordinates, newestGeometries, newestRows } from '../newest-rows.ts'
import { Reader } from '../../../node/answers/pin.ts'
import { datasetOf, mayRead } from '../../../node/http/access.ts'
import { callerOf } from '../../../node/http/answer.ts'
import { hostOf, type HttpContext, type PageContext } from '../../../node/http/context.ts'
import { listPage, storedBytes } from '../../../node/http/routes/datasets.ts'
import { linksOf } from '../../../node/http/routes/node.ts'
import { pictureOf, pictureOfPoints } from './answer-pictures.ts'
import { chartsAt, unlessSlow } from './dataset-charts.ts'
import { askedRows, type AskedRows, type RowsQuery } from '../asked-rows.ts'
import type { ShownAsked, ShownRows } from '../rows-part.ts'
import {
  countAsked,
  countedRows,
  facetsOf,
  filesAsked,
  linkedValueChars,
  pageRows,
  rowsAsked,
  statementOf,
} from './rows.ts'

const hourMs = 3_600_000
export const shownRows = 20
const shownBlocks = 12
export async function datasetsPageOf({ context }: PageContext, request: FastifyRequest): Promise<Page> {
  // The address of links is open to all; what this page shows is not.
  demandToken(request.principal, 'read')
  // Validated by the route, or empty.
  const { account, q = '', sort = 'name' } = request.query as { account?: string; q?: string; sort?: string }
  const { chains, total, nextPath } = await listPage(context, request)
  const nowMs = context.clock.nowMs()
  const datasets = chains.map((chain) => ({
    id: chain.name.id,
    blocks: chain.blocks.length,
    alias: chain.name.alias,
    visibility: chain.name.visibility,
    description: chain.aspects.info?.description,
    rows: chain.head.rows,
    bytes: storedBytes(chain),
    lastCommit: chain.head.systemTime,
    perHour: rowsPerHour(chain, nowMs),
  }))
  return datasetsPage({
    datasets,
    next: nextPath,
    account,
    q: q.trim(),
    sort,
    total,
    nowMs,
    origin: hostOf(context, request),
    links: linksOf(context),
  })
}

/** Rows of each of the last hours, oldest first, the last one up to now. */
function rowsPerHour(chain: DatasetChain, nowMs: number): number[] {
  const until = Array.from({ length: pulseHours + 1 }, (_, hour) =>
    chain.rowsUntil(nowMs - (pulseHours - hour) * hourMs),
  )
  return until.slice(1).map((rows, hour) => rows - (until[hour] ?? 0))
}

export async function datasetPageOf(
  { context, reading }: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Page | undefined> {
  const { account } = request.params as { account: string } // validated by the route
  if (isReservedAccount(account)) return undefined
  const { chain } = await datasetOf(context.catalog, request, 'read')
  return await pageOf({ context, reading }, chain, { request, reply })
}

/** The same page at the identity of the dataset; undefined where it is none that may be read. */
export async function identityPageOf(
  from: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Page | undefined> {
  const { id } = request.params as { id: string } // validated by the route
  const chain = datasetIdPattern.test(id)
    ? await new Reader(from.context.catalog, mayRead(request)).find(id)
    : undefined
  return chain && (await pageOf(from, chain, { request, reply }))
}

async function pageOf(
  { context, reading }: PageContext,
  chain: DatasetChain,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<Page> {
  const view = viewOf(chain)
  const { info, license, block, id, alias, visibility } = view
  const nowMs = context.clock.nowMs()
  const hasGeometry = placeOf(view) !== undefined
  void reply.header('dataset-head', `${alias};block="${block.hash}"`)
  return datasetPage({
    id,
    alias,
    visibility,
    description: info?.description,
    keywords: info?.keywords ?? [],
    license,
    readme: readmeOf(view),
    rows: view.rows,
    bytes: storedBytes(chain),
    blocks: chain.blocks.length,
    head: block.hash,
    createdAt: chain.blocks.at(0)?.systemTime ?? block.systemTime,
    lastCommit: block.systemTime,
    perHour: rowsPerHour(chain, nowMs),
    chain: lastBlocks(chain),
    eventTime: view.vocabulary.eventTimeColumn,
    ...(await glanceAt({ context, reading }, view, { request, reply })),
    changes: changesFor(context, view, request),
    nowMs,
    origin: hostOf(context, request),
    hasGeometry,
    hasItems: hasGeometry && !context.without.includes('ogc'),
    isOpen: visibility === 'public' && context.anonymousRead,
  })
}

function readmeOf({ attachments }: DatasetView): Readme {
  return readReadme(attachments?.items.find(({ path }) => path === readmePath)?.content ?? '')
}

/** What the caller may change, where this process can. */
function changesFor(
  { gateway, deleteGraceMs: graceMs }: HttpContext,
  view: DatasetView,
  { principal }: FastifyRequest,
): ShownChanges | undefined {
  const { alias, visibility, info, license } = view
  if (gateway === undefined || !can(principal, 'create', { alias, visibility })) return undefined
  const { description, keywords = [] } = info ?? {}
  return {
    alias,
    visibility,
    description,
    keywords,
    license,
    readme: readmeOf(view),
    isKeeper: keeps(principal, { alias }),
    grace: durationText(graceMs),
  }
}

function lastBlocks(chain: DatasetChain): ShownBlock[] {
  const blocks = chain.blocks.slice(Math.max(0, chain.blocks.length - shownBlocks), chain.blocks.length)
  return blocks.reverse().map((block) => shownBlock(chain, block))
}

export function shownBlock(chain: DatasetChain, { sequence, hash, systemTime, kind, rows }: ChainBlock): ShownBlock {
  const from = sequence === 0 ? 0 : (chain.blocks.at(sequence - 1)?.rows ?? 0)
  return { sequence, hash, systemTime, kind, from, rows: rows - from }
}

/** What the page shows of rows; why there are none where the engine has no room for them, or is not here. */
async function glanceAt(
  { context, reading }: PageContext,
  view: DatasetView,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<Pick<ShownDataset, 'asked' | 'columns' | 'figuresOf' | 'isExact' | 'charts' | 'map'>> {
  const all = view.schema?.fields ?? []
  // Validated by the route; the address of an identity has none.
  const asked = askedRows(request.query as RowsQuery, all)
  const told = (found: Pick<ShownAsked, 'shown' | 'total' | 'facets'>): ShownAsked =>
    toldRows(context, view, asked, found)
  const without = (reason: string): Awaited<ReturnType<typeof glanceAt>> => {
    return {
      asked: told({ shown: { reason }, total: undefined, facets: [] }),
      columns: all.map((field) => columnOf(view, field)),
      figuresOf: undefined,
      isExact: false,
      charts: [],
      map: undefined,
    }
  }
  if (view.rows === 0) return without('No rows yet. Below is how to send some.')
  if (reading === undefined) return without('This node answers no questions: ask one with the role replica.')
  const fields = shownFields(view)
  const glance = { deps: reading.replica, view, caller: callerOf(reading, request, reply) }
  const asking = { ...glance, asked }
  const columnsOf = (figures: Figures): ShownColumn[] => {
    const known = new Map(fields.map(({ name }, at) => [name, figures?.columns[at]]))
    return all.map((field) => ({ ...columnOf(view, field), figures: known.get(field.name) }))
  }
  const figured = unlessSlow(columnFigures(glance, fields), undefined)
  const isNewest = asked.filters.length === 0 && asked.order === undefined && asked.skip === 0
  try {
    const [shown, total, figures, facets, charts, drawn] = await Promise.all([
      isNewest ? newestOf(glance, fields) : rowsAsked(asking, fields),
      countAsked(asking),
      figured,
      figured.then((figures) => facetsOf(asking, columnsOf(figures))),
      figured.then((figures) => chartsAt(glance, columnsOf(figures), figures?.rows)),
      unlessSlow(mapOf(glance), undefined),
    ])
    return {
      asked: told({ shown, total, facets }),
      columns: columnsOf(figures),
      figuresOf: figures?.rows,
      isExact: figures?.isExact === true,
      map: drawn,
      charts,
    }
  } catch (error) {
    if (error instanceof NodeError) return without(`The rows cannot be shown now: ${error.message}`)
    throw error
  }
}

async function newestOf(glance: Glance, fields: readonly Field[]): Promise<ShownRows> {
  const rows = await newestRows(glance, { fields, limit: pageRows, cellChars: shownCellChars })
  return { columns: fields.map(({ name }) => name), rows }
}

/** The rows that were asked for, as the page tells them. */
function toldRows(
  { outputs }: HttpContext,
  view: DatasetView,
  asked: AskedRows,
  found: Pick<ShownAsked, 'shown' | 'total' | 'facets'>,
): ShownAsked {
  const fields = view.schema?.fields ?? []
  const hasPlaces = placeOf(view) !== undefined
  return {
    alias: view.alias,
    asked,
    fields,
    numbers: new Set(fields.flatMap((field) => (isNumber(field) ? [field.name] : []))),
    offsetColumn: view.vocabulary.offsetColumn,
    all: view.rows,
    ...found,
    pageRows,
    countedRows,
    linkedValueChars,
    files: filesAsked(view, asked, { known: outputs.files, hasPlaces, rows: found.total ?? view.rows }),
    question: ownQuestion(statementOf(view, asked)),
    left: fields.filter((field) => !isSystem(view, field)).length - mostShownColumns,
  }
}

/** What was found of columns, if it was found in time. */
type Figures = Awaited<ReturnType<typeof columnFigures>> | undefined

/** The columns of rows on a page: without what the node writes down of how rows came. */
export function shownFields({ schema, vocabulary }: DatasetView): readonly Field[] {
  const hidden = new Set([vocabulary.operationTypeColumn, vocabulary.systemTimeColumn])
  return (schema?.fields ?? []).filter(({ name }) => !hidden.has(name)).slice(0, mostShownColumns)
}

/** The newest geometries, or the points of a pair of coordinates, as a picture; undefined where there are none. */
async function mapOf(glance: Glance): Promise<ShownMap | undefined> {
  const place = placeOf(glance.view)
  if (place === undefined) return undefined
  return 'geometry' in place
    ? await pictureOf(await newestGeometries(glance, place.geometry))
    : await pictureOfPoints(await newestCoordinates(glance, place))
}

function columnOf(view: DatasetView, field: Field): ShownColumn {
  const { name, type } = field
  const text = typeText(type).replace(/\?$/, '')
  const isOptional = type.kind === 'Option'
  return {
    name,
    type: text,
    isOptional,
    isSystem: isSystem(view, field),
    isNumber: isNumber(field),
    figures: undefined,
  }
}

export function isSystem({ vocabulary }: DatasetView, { name }: Field): boolean {
  return Object.values(vocabulary).includes(name)
}

export function isNumber({ type }: Field): boolean {
  return /^(?:U?Int|Float|Decimal)/.test(innerType(type).kind)
}
