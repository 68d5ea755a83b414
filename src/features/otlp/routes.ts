// POST /{account}/{dataset}/v1/logs: logs as OpenTelemetry's programs send them, in protobuf or JSON, to an endpoint that is
// a dataset (docs/decisions/senders.md#opentelemetry-logs). Answered when they are durable.
// Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Misfits } from '../../libraries/formats/format.ts'
import { presets } from '../../libraries/formats/presets.ts'
import { mediaTypeOf } from '../../libraries/formats/registry.ts'
import { type IngestControls, readControls } from '../../node/gateway/controls.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { aliasOf } from '../../node/http/access.ts'
import type { GatewayContext } from '../../node/http/context.ts'
import { otlpProblem } from './problem.ts'
import { type OwnAddress, storeAt } from '../../node/http/own-address.ts'
import { DatasetParams } from '../../node/http/request-target.ts'
import { demandUseful } from '../../node/http/routes/ingest.ts'

/** What its bodies are read as, and how. */
const preset = 'otlp-logs'
const mediaTypes = Object.keys(presets[preset].readAs)

const LogsQuery = Type.Object({
  flatten: Type.Optional(
    Type.String({ description: 'false: attributes stay one column of JSON text (default: true).' }),
  ),
  unknownFields: Type.Optional(
    Type.String({ description: 'reject, ignore or add (default: add, if the token has the scope create).' }),
  ),
  visibility: Type.Optional(
    Type.String({
      description: 'Visibility of a new dataset: private (default) or public. Only with the scope create.',
    }),
  ),
})
/** Parameters of ingest that have no place here; others are those of ingest. */
const useless = ['dryRun', 'eventTimeUnit', 'geometry'] as const

export function registerOtlp(app: FastifyInstance, context: GatewayContext): void {
  const describes = { consumes: mediaTypes, body: Type.Object({}) }
  const config = { right: 'ingest', stream: true, looseParameters: true, tell: otlpProblem, describes } as const
  const schema = { params: DatasetParams, querystring: LogsQuery }
  app.post('/:account/:dataset/v1/logs', { config, schema }, async (request, reply) => {
    const mediaType = demandMediaType(request)
    const { records, misfits } = await storeAt(context, aliasOf(request), { request, reply }, (address) =>
      controlsOf(request, address),
    )
    if (records === 0 && misfits !== undefined) throw noneFits(misfits)
    return answered(reply, mediaType, misfits)
  })
}

function demandMediaType({ headers }: FastifyRequest): string {
  const mediaType = mediaTypeOf(headers['content-type'])
  if (mediaTypes.includes(mediaType)) return mediaType
  throw new NodeError('UnsupportedMediaType', 'Logs come as protobuf or JSON.', {
    hint: `Use ${mediaTypes.join(' or ')}.`,
    candidates: mediaTypes,
  })
}

function controlsOf(request: FastifyRequest, { mayCreate }: OwnAddress): IngestControls {
  demandUseful(request, useless)
  const query = request.query as Readonly<Record<string, unknown>> // LogsQuery, and loose parameters
  if (query['preset'] !== undefined && query['preset'] !== preset) {
    throw new NodeError('InvalidParameter', `The parameter preset is ${preset} here.`, { hint: 'Leave it out.' })
  }
  const controls = readControls(request.headers, { ...(mayCreate ? { create: 'true' } : {}), ...query, preset })
  return { ...controls, leavesOutMisfits: true, newDatasets: 'private' }
}

function noneFits({ errors, total }: Misfits): NodeError {
  const message = `Record ${errors[0]?.record}: ${errors[0]?.message} None of the records fits. Nothing was stored.`
  return new NodeError('RecordsDoNotFit', message, { errors, errorsTotal: total })
}

/** An ExportLogsServiceResponse: with `partial_success` where records were left out, which are not to be sent again. */
function answered(reply: FastifyReply, mediaType: string, misfits: Misfits | undefined): FastifyReply {
  void reply.code(200).type(mediaType)
  const rejected = misfits?.total ?? 0
  const [first] = misfits?.errors ?? []
  const errorMessage = `Record ${first?.record}: ${first?.message} All others are stored.`
  if (mediaType === 'application/json') {
    return reply.send(
      rejected === 0
        ? '{}'
        : JSON.stringify({ partialSuccess: { rejectedLogRecords: String(rejected), errorMessage } }),
    )
  }
  if (rejected === 0) return reply.send(Buffer.alloc(0))
  const text = Buffer.from(errorMessage)
  const partial = Buffer.from([0x08, ...varint(rejected), 0x12, ...varint(text.length), ...text])
  return reply.send(Buffer.from([0x0a, ...varint(partial.length), ...partial]))
}

/** A whole number as protobuf has it. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))]
}
