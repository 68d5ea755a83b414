// GET …/metadata and GET …/tail: what a dataset says of itself, and its newest rows.

import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { hashOf } from '../../catalog/objects.ts'
import { NodeError } from '../../model/errors.ts'
import { dataFormatOf, type SchemaFormat, schemaFormatOf, schemaFormats } from '../../model/query.ts'
import { answerMetadata, parseAspects } from '../../replica/metadata.ts'
import { openTail, type TailRequest } from '../../replica/tail.ts'
import { datasetOf } from '../access.ts'
import { callerOf, isUnchanged, keepForEver, sendJson } from '../answer.ts'
import type { HttpContext, ReplicaContext } from '../context.ts'
import { DataFormatText, DatasetParams, DecimalText, problemResponses, SchemaFormatText } from '../schemas.ts'

const Tail = Type.Object({
  data: Type.Unknown(),
  dataFormat: Type.String(),
  schema: Type.Optional(Type.Unknown()),
  schemaFormat: Type.Optional(Type.String()),
  truncated: Type.Optional(Type.Literal(true, { description: 'There are older rows; else absent.' })),
})

const At = Type.Optional(Type.String({ maxLength: 120, description: 'Hash of a block; default: the head.' }))

const MetadataQuery = Type.Object(
  {
    include: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Comma list of attachments, info, license, refs, schema, seed, vocab.',
      }),
    ),
    schemaFormat: Type.Optional(SchemaFormatText),
    at: At,
  },
  { additionalProperties: false },
)

const TailQuery = Type.Object(
  {
    skip: Type.Optional(DecimalText('Rows left out, counted from the newest.')),
    limit: Type.Optional(DecimalText('Rows at most; 100 by default.')),
    dataFormat: Type.Optional(DataFormatText),
    schemaFormat: Type.Optional(SchemaFormatText),
    at: At,
  },
  { additionalProperties: false },
)

export function registerMetadata(app: FastifyInstance, context: HttpContext): void {
  app.get(
    '/:account/:dataset/metadata',
    {
      config: { right: 'read' },
      schema: {
        summary: 'What a dataset says of itself',
        tags: ['datasets'],
        params: DatasetParams,
        querystring: MetadataQuery,
        response: { 200: Type.Object({ output: Type.Record(Type.String(), Type.Unknown()) }), ...problemResponses },
      },
    },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const query = request.query as Static<typeof MetadataQuery> // MetadataQuery validated it
      const aspects = parseAspects(query.include)
      const format = schemaFormat(query.schemaFormat) ?? 'ArrowJson'
      const { body, view } = await answerMetadata(context.catalog, chain, {
        aspects,
        schemaFormat: format,
        at: query.at === undefined ? undefined : hashOf(query.at),
      })
      void reply.header('dataset-head', `${chain.name.alias};block="${view.block.hash}"`)
      if (query.at === undefined) void reply.header('cache-control', 'no-cache')
      else keepForEver(reply, context, chain.name)
      if (isUnchanged(request, reply, [view.block.hash, ...aspects, format].join('.'))) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send(body)
    },
  )
}

export function registerTail(app: FastifyInstance, context: ReplicaContext): void {
  app.get(
    '/:account/:dataset/tail',
    {
      config: { right: 'read' },
      schema: {
        summary: 'The newest rows, ascending by offset',
        tags: ['datasets'],
        params: DatasetParams,
        querystring: TailQuery,
        response: { 200: Tail, ...problemResponses },
      },
    },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const query = request.query as Static<typeof TailQuery> // TailQuery validated it
      const asked = tailRequest(context, chain.name.alias, query)
      const tail = await openTail(context.replica, asked, callerOf(context, request, reply))
      void reply.header('dataset-head', `${chain.name.alias};block="${tail.head}"`)
      if (query.at === undefined) void reply.header('cache-control', 'no-cache')
      else keepForEver(reply, context, chain.name)
      if (isUnchanged(request, reply, tail.tag)) return reply.code(304).send()
      const answer = await tail.answer()
      if (answer.truncated) void reply.header('result-truncated', 'true')
      return sendJson(context, reply, answer.body)
    },
  )
}

function tailRequest(context: HttpContext, alias: string, query: Static<typeof TailQuery>): TailRequest {
  const dataFormat = dataFormatOf(query.dataFormat ?? 'JsonAos')
  if (dataFormat === undefined) {
    throw new NodeError('InvalidParameter', `dataFormat is '${query.dataFormat}'.`, {
      candidates: ['JsonAos', 'JsonAoa', 'JsonSoa'],
    })
  }
  const limit = query.limit === undefined ? Math.min(100, context.limits.resultRows) : Number(query.limit)
  if (limit > context.limits.resultRows) {
    throw new NodeError(
      'InvalidParameter',
      `limit is ${limit}; at most ${context.limits.resultRows} rows are answered at once.`,
      {
        limit: { name: 'resultRows', value: context.limits.resultRows, unit: 'rows' },
      },
    )
  }
  return {
    alias,
    skip: query.skip === undefined ? 0 : Number(query.skip),
    limit,
    dataFormat,
    schemaFormat: schemaFormat(query.schemaFormat),
    at: query.at === undefined ? undefined : hashOf(query.at),
  }
}

function schemaFormat(text: string | undefined): SchemaFormat | undefined {
  if (text === undefined) return undefined
  const format = schemaFormatOf(text)
  if (format === undefined)
    throw new NodeError('InvalidParameter', `schemaFormat is '${text}'.`, { candidates: schemaFormats })
  return format
}
