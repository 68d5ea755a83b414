// GET /{account}/{dataset}: what a person asks of a dataset first.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type DatasetChain, viewOf } from '../../catalog/dataset-chain.ts'
import { toPlain } from '../../json/json.ts'
import { isReservedAccount } from '../../model/names.ts'
import { schemaToJson } from '../../odf/odf-json.ts'
import type { HttpContext } from '../context.ts'
import { datasetOf } from '../dataset-access.ts'
import { isUnchanged } from '../etag.ts'
import { DatasetParams, problemResponses } from '../schemas.ts'

const About = Type.Object({
  id: Type.String(),
  alias: Type.String(),
  visibility: Type.String(),
  columns: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), type: Type.Unknown() }), {
      description: 'As PUT takes them, system columns included; absent before the first schema.',
    }),
  ),
  rows: Type.Integer(),
  bytes: Type.Integer({ description: 'Size of the stored slices.' }),
  blocks: Type.Integer(),
  head: Type.String({ description: 'Hash of the newest block.' }),
  createdAt: Type.String(),
  lastCommit: Type.String(),
  links: Type.Record(Type.String(), Type.String(), { description: 'What to read next; each takes GET.' }),
})

export function registerAbout(app: FastifyInstance, context: HttpContext): void {
  app.get(
    '/:account/:dataset',
    {
      config: { right: 'read' },
      schema: {
        summary: 'A dataset at a glance',
        tags: ['datasets'],
        params: DatasetParams,
        response: { 200: About, ...problemResponses },
      },
    },
    async (request, reply) => {
      // Nothing but the node's own routes lies there.
      if (isReservedAccount((request.params as { account: string }).account)) return reply.callNotFound() // validated
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const { alias, visibility } = chain.name
      void reply.header('dataset-head', `${alias};block="${chain.head.hash}"`).header('cache-control', 'no-cache')
      if (isUnchanged(request, reply, `${chain.head.hash}.${visibility}`)) return reply.code(304).send()
      return reply.send({ ...about(chain), links: linksOf(alias, context.replica !== undefined) })
    },
  )
}

function about(chain: DatasetChain): object {
  const { id, alias, visibility } = chain.name
  const { schema, rows } = viewOf(chain)
  const { hash, systemTime } = chain.head
  return {
    id,
    alias,
    visibility,
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

function storedBytes(chain: DatasetChain): number {
  const sum = counted.get(chain) ?? { slices: 0, bytes: 0 }
  counted.set(chain, sum)
  for (; sum.slices < chain.slices.length; sum.slices++) sum.bytes += chain.slices.at(sum.slices)?.sizeBytes ?? 0
  return sum.bytes
}
