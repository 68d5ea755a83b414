// PUT /{account}/{dataset}, GET /datasets, GET /datasets/{id}, and GET /{account}/{dataset}: a dataset at a glance.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, type TArray, type TOptional, type TSchema, type TUnion, Type } from 'typebox'
import { defined } from '../../../libraries/base/collections.ts'
import { canSee, demandCreate } from '../../access/scopes.ts'
import { type DatasetChain, viewOf } from '../../catalog/dataset-chain.ts'
import { isEntered, type NameRecord } from '../../../libraries/odf/chain/records.ts'
import { traceparentOf } from '../../gateway/controls.ts'
import { shownRules } from '../../gateway/ingest-rules.ts'
import { isSameDataset, newDatasetOf } from '../../gateway/new-dataset.ts'
import { demandKnown } from '../../gateway/refusals.ts'
import { datasetIdPattern } from '../../../libraries/base/ids/identifiers.ts'
import { sha256Hex } from '../../../libraries/base/ids/native-crypto.ts'
import { toPlain } from '../../../libraries/base/json/json.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import { durationText } from '../../../libraries/base/clock.ts'
import { HaltError, NodeError } from '../../../libraries/base/errors.ts'
import type { JsonValue } from '../../../libraries/base/json/value.ts'
import { foldAscii, isReservedAccount } from '../../../libraries/model/names.ts'
import { schemaToJson } from '../../../libraries/odf/odf-json.ts'
import { Reader } from '../../answers/pin.ts'
import { aliasOf, datasetOf, mayRead } from '../access.ts'
import { isUnchanged } from '../answer.ts'
import type { GatewayContext, HttpContext } from '../context.ts'
import { DatasetParams, DecimalText, pageSize } from '../request-target.ts'

const ListQuery = Type.Object(
  {
    account: Type.Optional(Type.String({ maxLength: 100, description: 'Only datasets of this account.' })),
    after: Type.Optional(
      Type.String({ maxLength: 210, description: 'Alias of the last dataset of the previous page.' }),
    ),
    limit: Type.Optional(DecimalText('Datasets of one page, 1 to 1,000; 100 by default.')),
    q: Type.Optional(
      Type.String({ maxLength: 200, description: 'Words that alias, description or keywords have, in any case.' }),
    ),
    sort: Type.Optional(
      Type.String({
        pattern: '^(?:name|rows|newest)$',
        description: 'name (default), rows (most first) or newest (by the last block).',
      }),
    ),
  },
  { additionalProperties: false },
)

const FilterText = Type.String({ maxLength: 2000 })
const ComparisonText = Type.String({ pattern: '^(?:eq|ne|lt|le|gt|ge|has|begins|null|given)$' })
const several = <T extends TSchema>(text: T, description: string): TOptional<TUnion<[T, TArray<T>]>> =>
  Type.Optional(Type.Union([text, Type.Array(text, { maxItems: 50 })], { description }))

/** Which rows the page for browsers shows. */
const AboutQuery = Type.Object(
  {
    column: several(FilterText, 'Column of a filter of the page. Each filter has `column`, `is` and `value`.'),
    is: several(ComparisonText, 'How the page compares: eq, ne, lt, le, gt, ge, has, begins, null or given.'),
    value: several(FilterText, 'What the page compares the column with.'),
    sort: Type.Optional(Type.String({ maxLength: 2000, description: 'Column that orders the rows of the page.' })),
    order: Type.Optional(
      Type.String({ pattern: '^(?:asc|desc)$', description: 'asc (default) or desc, of the rows of the page.' }),
    ),
    skip: Type.Optional(DecimalText('Rows before the first of the page.')),
    until: Type.Optional(DecimalText('Only rows with lower offsets are on the page.')),
  },
  { additionalProperties: false },
)

/** Chains that a search looks at together. */
const searchedAtOnce = 64

export function registerDatasets(app: FastifyInstance, context: HttpContext): void {
  registerList(app, context)
  app.get(
    '/datasets/:id',
    {
      config: { right: 'read' },
      schema: { params: Type.Object({ id: Type.String({ maxLength: 100, description: 'did:odf:fed01…' }) }) },
    },
    async (request, reply) => {
      const { id } = request.params as { id: string } // validated above
      if (!datasetIdPattern.test(id)) throw unknownId(id)
      const chain = await new Reader(context.catalog, mayRead(request)).find(id)
      if (chain === undefined) {
        const deletion = await context.catalog.deletionOf(id)
        if (deletion !== undefined && mayRead(request)(deletion.name)) demandKnown(deletion, context.clock.nowMs())
        throw unknownId(id)
      }
      return reply.send({ ...listed(chain), datasetName: chain.name.alias.split('/')[1] })
    },
  )
}

export function unknownId(id: string): NodeError {
  return new NodeError('DatasetNotFound', `There is no dataset ${id}.`, {
    hint: 'GET /datasets lists what you may read.',
  })
}

/** Registers the making of datasets. */
export function registerCreation(app: FastifyInstance, context: GatewayContext): void {
  app.put(
    '/:account/:dataset',
    {
      config: { right: 'create', reads: 'tokens' },
      // Name and right come before the body is read.
      onRequest: async (request) => demandCreate(request.principal, aliasOf(request).text),
      schema: { params: DatasetParams },
    },
    async (request, reply) => {
      const alias = aliasOf(request)
      const existing = await context.catalog.byAlias(alias.text)
      const body = (request.body ?? undefined) as JsonValue | undefined // the content type parser keeps tokens on this route
      const asked = newDatasetOf(alias, body, context.limits.columns)
      const traceparent = traceparentOf(request.headers)
      const traced = traceparent === undefined ? asked : { ...asked, traceparent }
      const { chain, created } =
        existing === undefined ? await context.gateway.create(traced) : { chain: existing, created: false }
      if (!created && !(canSee(request.principal, chain.name) && isSameDataset(asked, chain))) {
        throw new NodeError(
          'DatasetExists',
          `There is a dataset '${chain.name.alias}' already, and it is not the one asked for.`,
          { hint: 'Choose another name, or send records to the one that is there.' },
        )
      }
      return reply
        .code(created ? 201 : 200)
        .header('location', `/${chain.name.alias}/metadata`)
        .send({ id: chain.name.id, alias: chain.name.alias, blockHash: chain.head.hash })
    },
  )
}

function registerList(app: FastifyInstance, context: HttpContext): void {
  app.get('/datasets', { config: { right: 'read' }, schema: { querystring: ListQuery } }, async (request, reply) => {
    const { chains, next, nextPath } = await listPage(context, request)
    if (nextPath !== undefined) void reply.header('link', `<${nextPath}>; rel="next"`)
    const datasets = chains.map(listed)
    return reply.header('cache-control', 'no-cache').send({ datasets, ...defined({ next }) })
  })
}

/** The page that the query string asks for. */
interface ListPage {
  /** Those that the caller may read. */
  readonly chains: readonly DatasetChain[]
  /** Datasets on all pages. */
  readonly total: number
  /** Alias and path that the next page goes on with. */
  readonly next?: string
  readonly nextPath?: string
}

export async function listPage(context: HttpContext, request: FastifyRequest): Promise<ListPage> {
  // ListQuery validated it, or nothing is in it
  const { account, after, limit, q = '', sort = 'name' } = request.query as Static<typeof ListQuery>
  const items = pageSize(limit)
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const readable = (await context.catalog.names()).filter(
    (name) =>
      mayRead(request)(name) && (account === undefined || foldAscii(name.alias).startsWith(`${foldAscii(account)}/`)),
  )
  const isPlain = words.length === 0 && sort === 'name'
  const names = isPlain ? readable : await found(context, readable, { words, sort })
  const from = after === undefined ? 0 : placeAfter(names, after, sort)
  const page = await Promise.all(names.slice(from, from + items).map(({ alias }) => listable(context, alias)))
  const chains = page.filter((chain) => chain !== undefined)
  const next = names.length > from + items ? names[from + items - 1]?.alias : undefined
  if (next === undefined) return { chains, total: names.length }
  const asked = isPlain ? {} : { ...(words.length > 0 && { q }), sort }
  const query = { ...defined({ account }), ...asked, after: next, limit: String(items) }
  return { chains, total: names.length, next, nextPath: `/datasets?${new URLSearchParams(query).toString()}` }
}

/** The datasets with all `words`, which are in lower case, in the order `sort`; `names` are in that of names. */
async function found(
  context: HttpContext,
  names: readonly NameRecord[],
  { words, sort }: { readonly words: readonly string[]; readonly sort: string },
): Promise<readonly NameRecord[]> {
  const kept: { readonly name: NameRecord; readonly rows: number; readonly time: string }[] = []
  for (let at = 0; at < names.length; at += searchedAtOnce) {
    const group = names.slice(at, at + searchedAtOnce)
    const chains = await Promise.all(group.map(({ alias }) => listable(context, alias)))
    for (const [index, chain] of chains.entries()) {
      const name = group[index]
      if (chain === undefined || name === undefined) continue
      const { description = '', keywords = [] } = chain.aspects.info ?? {}
      const text = [name.alias, description, ...keywords].join('\n').toLowerCase()
      if (!words.every((word) => text.includes(word))) continue
      kept.push({ name, rows: chain.head.rows, time: chain.head.systemTime })
    }
  }
  if (sort === 'rows') kept.sort((one, other) => other.rows - one.rows)
  if (sort === 'newest') kept.sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0))
  return kept.map(({ name }) => name)
}

/** Where the list goes on after `alias`. Throws NodeError `InvalidParameter` for one that has no place in its order. */
function placeAfter(names: readonly NameRecord[], alias: string, sort: string): number {
  const folded = foldAscii(alias)
  if (sort === 'name') return names.filter((name) => foldAscii(name.alias) <= folded).length
  const at = names.findIndex((name) => foldAscii(name.alias) === folded)
  if (at >= 0) return at + 1
  throw new NodeError('InvalidParameter', `The list has no dataset '${alias}' to go on after.`, {
    hint: 'Begin again without after.',
  })
}

/** The dataset, unless its chain is broken: one of those must not hide the others in a list. */
export async function listable(context: HttpContext, alias: string): Promise<DatasetChain | undefined> {
  try {
    return await context.catalog.byAlias(alias)
  } catch (cause) {
    if (!(cause instanceof HaltError)) throw cause
    context.logger.error({ dataset: alias, cause: cause.message }, 'A dataset is left out of the list')
    return undefined
  }
}

export function listed(chain: DatasetChain): object {
  return {
    id: chain.name.id,
    alias: chain.name.alias,
    owner: { accountName: chain.name.alias.split('/')[0] ?? '' },
    visibility: chain.name.visibility,
    ...settingsOf(chain),
    head: chain.head.hash,
    rows: chain.head.rows,
    lastCommit: chain.head.systemTime,
  }
}

export function registerAbout(app: FastifyInstance, context: HttpContext): void {
  app.get(
    '/:account/:dataset',
    { config: { right: 'read' }, schema: { params: DatasetParams, querystring: AboutQuery } },
    async (request, reply) => {
      // Nothing but the node's own routes lies there.
      if (isReservedAccount((request.params as { account: string }).account)) return reply.callNotFound() // validated
      const [named] = Object.keys(Object(request.query))
      if (named !== undefined) {
        throw new NodeError('InvalidParameter', `${named} is a parameter of the page for browsers.`, {
          hint: 'Programs ask for rows at /query, or save them by …/export?where=….',
        })
      }
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const { alias } = chain.name
      void reply.header('dataset-head', `${alias};block="${chain.head.hash}"`).header('cache-control', 'no-cache')
      const body = { ...about(chain), links: linksOf(alias, context.replica !== undefined) }
      // What is set of a name follows its block a little later: the body alone names itself.
      if (isUnchanged(request, reply, sha256Hex(utf8(JSON.stringify(body))))) return reply.code(304).send()
      return reply.send(body)
    },
  )
}

/** What is set of the dataset; a member that is absent is as the node has it. */
function settingsOf({ name }: DatasetChain): object {
  const { freshnessMs, ingest, proofs } = name
  const freshness = freshnessMs === undefined ? {} : { freshness: durationText(freshnessMs) }
  return { ...freshness, ...defined({ ingest: ingest && shownRules(ingest), proofs }), ledger: isEntered(name) }
}

function about(chain: DatasetChain): object {
  const { id, alias, visibility } = chain.name
  const { schema, rows } = viewOf(chain)
  const { hash, systemTime } = chain.head
  return {
    id,
    alias,
    visibility,
    ...settingsOf(chain),
    ...(schema === undefined ? {} : { columns: Object(toPlain(schemaToJson(schema)))['fields'] }),
    rows,
    bytes: storedBytes(chain),
    blocks: chain.blocks.length,
    head: hash,
    createdAt: chain.blocks.at(0)?.systemTime,
    lastCommit: systemTime,
  }
}

/** Only links that answer here. */
function linksOf(alias: string, hasReplica: boolean): Readonly<Record<string, string>> {
  const query = new URLSearchParams({ query: `select * from "${alias}"`, limit: '10' })
  return {
    metadata: `/${alias}/metadata?include=seed,schema,vocab,info,license,attachments,refs`,
    blocks: `/${alias}/blocks`,
    head: `/${alias}/refs/head`,
    ...(hasReplica ? { tail: `/${alias}/tail`, query: `/query?${query.toString()}` } : {}),
  }
}

/** Sums of slices that were counted before, so that a long chain is walked once. */
const counted = new WeakMap<DatasetChain, { slices: number; bytes: number }>()

/** Bytes of its slices. */
export function storedBytes(chain: DatasetChain): number {
  const sum = counted.get(chain) ?? { slices: 0, bytes: 0 }
  counted.set(chain, sum)
  for (; sum.slices < chain.slices.length; sum.slices++) sum.bytes += chain.slices.at(sum.slices)?.sizeBytes ?? 0
  return sum.bytes
}
