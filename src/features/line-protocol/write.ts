// POST /api/v2/write and POST /write: line protocol as the clients of InfluxDB send it (docs/decisions/senders.md#line-protocol).
// Answered when it is durable; what does not fit is left out, and told.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { lineProtocolFacts as lineProtocol } from './facts.ts'
import type { Misfits } from '../../libraries/formats/format.ts'
import { type IngestControls, readControls } from '../../node/gateway/controls.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { parseAliasText } from '../../libraries/model/names.ts'
import type { GatewayContext } from '../../node/http/context.ts'
import { influxProblem } from './problem.ts'
import { type Exchange, storeAt } from '../../node/http/own-address.ts'
import { demandUseful } from '../../node/http/routes/ingest.ts'

const precision = Type.Optional(Type.String({ description: 'Unit of the timestamps: ns (default), us, ms or s.' }))
const unknownFields = Type.Optional(
  Type.String({ description: 'reject, ignore or add (default: add, if the token has the scope create).' }),
)
const visibility = Type.Optional(
  Type.String({ description: 'Visibility of a new dataset: public or private. Only with the scope create.' }),
)
const WriteQuery = Type.Object({
  bucket: Type.Optional(Type.String({ description: 'The dataset: account/dataset.' })),
  precision,
  unknownFields,
  visibility,
})
const FirstWriteQuery = Type.Object({
  db: Type.Optional(Type.String({ description: 'The dataset: account/dataset.' })),
  p: Type.Optional(Type.String({ description: 'A token, where there is no Authorization; `u` may be anything.' })),
  precision,
  unknownFields,
  visibility,
})

/** Spellings of both interfaces. */
const units: ReadonlyMap<string, string> = new Map(
  Object.entries({ ns: 'ns', n: 'ns', us: 'us', u: 'us', µ: 'us', ms: 'ms', s: 's' }),
)

export function registerWrite(app: FastifyInstance, context: GatewayContext): void {
  const describes = {
    consumes: ['text/plain', ...lineProtocol.mediaTypes],
    body: Type.String({ description: `Lines such as ${lineProtocol.example}` }),
  }
  const config = { right: 'ingest', stream: true, looseParameters: true, tell: influxProblem, describes } as const
  app.post('/api/v2/write', { config, schema: { querystring: WriteQuery } }, (request, reply) =>
    write(context, 'bucket', { request, reply }),
  )
  app.post(
    '/write',
    { config: { ...config, takesPassword: true }, schema: { querystring: FirstWriteQuery } },
    (request, reply) => write(context, 'db', { request, reply }),
  )
}

async function write(
  context: GatewayContext,
  parameter: 'bucket' | 'db',
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const query = request.query as Readonly<Record<string, string | undefined>> // the schema of the route validated it
  const alias = parseAliasText(named(query[parameter], parameter))
  const { misfits } = await storeAt(context, alias, { request, reply }, ({ mayCreate }) =>
    controlsOf(request, mayCreate),
  )
  if (misfits !== undefined) throw partial(misfits)
  return reply.code(204).send()
}

function named(text: string | undefined, parameter: string): string {
  if (text !== undefined && text !== '') return text
  throw new NodeError('InvalidParameter', `The parameter ${parameter} is missing.`, {
    hint: `Say ${parameter}=account/dataset.`,
  })
}

/** Parameters of ingest that have no place here; others are those of ingest. */
const useless = ['dryRun', 'preset', 'geometry'] as const

/** Of a repeated body that brings its times nothing is stored twice; the token decides whether columns may be added. */
function controlsOf(request: FastifyRequest, mayCreate: boolean): IngestControls {
  demandUseful(request, useless)
  demandUseful(request, ['eventTimeUnit'], 'Say precision.')
  const { headers } = request
  const query = request.query as Readonly<Record<string, unknown>> & { precision?: string } // WriteQuery, loose parameters
  const { precision = 'ns' } = query
  const eventTimeUnit = units.get(precision)
  if (eventTimeUnit === undefined) {
    throw new NodeError('InvalidParameter', `The parameter precision is '${precision.slice(0, 20)}'.`, {
      hint: 'Use one of: ns, us, ms, s.',
    })
  }
  const controls = readControls(
    { ...headers, 'content-type': lineProtocol.mediaTypes[0] },
    {
      ...(headers['idempotency-key'] === undefined ? { dedupe: 'body' } : {}),
      ...(mayCreate ? { create: 'true' } : {}),
      ...query,
      eventTimeUnit,
    },
  )
  return { ...controls, leavesOutMisfits: true }
}

function partial({ errors, total }: Misfits): NodeError {
  const [first] = errors
  const message = `partial write: line ${first?.line}: ${first?.message} dropped=${total}; all other lines are stored.`
  return new NodeError('RecordsDoNotFit', message, { errors, errorsTotal: total })
}
