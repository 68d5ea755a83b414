// POST /{account}/{dataset}/v1/logs: logs as OpenTelemetry's programs send them, in protobuf or JSON, to an endpoint that is
// a dataset (docs/decisions/otlp.md). Answered when they are durable.
// Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { otlpJson, otlpProtobuf } from '../../formats/otlp/format.ts'
import { type IngestControls, readControls } from '../../gateway/controls.ts'
import { NodeError } from '../../model/errors.ts'
import { aliasOf } from '../access.ts'
import type { GatewayContext } from '../context.ts'
import { DatasetParams } from '../request-target.ts'
import { type OwnAddress, storeAt } from './write.ts'

/** What senders say, and the format that is meant. */
const formats: ReadonlyMap<string, typeof otlpJson> = new Map([
  ['application/json', otlpJson],
  ['application/x-protobuf', otlpProtobuf],
])

const LogsQuery = Type.Object({
  flatten: Type.Optional(
    Type.String({ description: 'false: attributes stay one column of JSON text. Default: true.' }),
  ),
  unknownFields: Type.Optional(
    Type.String({ description: 'reject, ignore or add; by default add where the token has the scope create.' }),
  ),
})

export function registerOtlp(app: FastifyInstance, context: GatewayContext): void {
  const describes = { consumes: [...formats.keys()], body: Type.Object({}) }
  const config = { right: 'ingest', stream: true, looseParameters: true, tellsAs: 'otlp', describes } as const
  const schema = { params: DatasetParams, querystring: LogsQuery }
  app.post('/:account/:dataset/v1/logs', { config, schema }, async (request, reply) => {
    const mediaType = mediaTypeOf(request)
    await storeAt(context, aliasOf(request), { request, reply }, (address) => controlsOf(request, mediaType, address))
    return answered(reply, mediaType)
  })
}

function mediaTypeOf({ headers }: FastifyRequest): string {
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (formats.has(mediaType)) return mediaType
  const candidates = [...formats.keys()]
  throw new NodeError('UnsupportedMediaType', 'Logs come as protobuf or JSON.', {
    hint: `Use ${candidates.join(' or ')}.`,
    candidates,
  })
}

function controlsOf(request: FastifyRequest, mediaType: string, { mayCreate }: OwnAddress): IngestControls {
  const { flatten = 'true', unknownFields } = request.query as { flatten?: string; unknownFields?: string } // LogsQuery
  const { headers } = request
  const contentType = formats.get(mediaType)?.mediaTypes[0]
  return readControls(
    { ...headers, 'content-type': contentType },
    {
      flatten,
      ...(headers['idempotency-key'] === undefined ? { dedupe: 'body' } : {}),
      ...(mayCreate ? { create: 'true' } : {}),
      ...(unknownFields === undefined ? {} : { unknownFields }),
    },
  )
}

/** An ExportLogsServiceResponse without `partial_success`: all of it is stored. */
function answered(reply: FastifyReply, mediaType: string): FastifyReply {
  void reply.code(200).type(mediaType)
  return reply.send(mediaType === 'application/json' ? '{}' : Buffer.alloc(0))
}
