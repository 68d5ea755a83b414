// POST /{account}/{dataset}/v1/logs: logs as OpenTelemetry's programs send them, in protobuf or JSON, to an endpoint that is
// a dataset (docs/decisions/otlp.md). Answered when they are durable.
// Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { presets } from '../../formats/presets.ts'
import { mediaTypeOf } from '../../formats/registry.ts'
import { type IngestControls, readControls } from '../../gateway/controls.ts'
import { NodeError } from '../../model/errors.ts'
import { aliasOf } from '../access.ts'
import type { GatewayContext } from '../context.ts'
import { DatasetParams } from '../request-target.ts'
import { type OwnAddress, storeAt } from './write.ts'

/** What its bodies are read as, and how. */
const preset = 'otlp-logs'
const mediaTypes = Object.keys(presets[preset].readAs)

const LogsQuery = Type.Object({
  flatten: Type.Optional(
    Type.String({ description: 'false: attributes stay one column of JSON text. Default: true.' }),
  ),
  unknownFields: Type.Optional(
    Type.String({ description: 'reject, ignore or add; by default add where the token has the scope create.' }),
  ),
})

export function registerOtlp(app: FastifyInstance, context: GatewayContext): void {
  const describes = { consumes: mediaTypes, body: Type.Object({}) }
  const config = { right: 'ingest', stream: true, looseParameters: true, tellsAs: 'otlp', describes } as const
  const schema = { params: DatasetParams, querystring: LogsQuery }
  app.post('/:account/:dataset/v1/logs', { config, schema }, async (request, reply) => {
    const mediaType = demandMediaType(request)
    await storeAt(context, aliasOf(request), { request, reply }, (address) => controlsOf(request, address))
    return answered(reply, mediaType)
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

function controlsOf({ headers, query }: FastifyRequest, { mayCreate }: OwnAddress): IngestControls {
  const { flatten, unknownFields } = query as { flatten?: string; unknownFields?: string } // LogsQuery
  return readControls(headers, {
    preset,
    ...(flatten === undefined ? {} : { flatten }),
    ...(mayCreate ? { create: 'true' } : {}),
    ...(unknownFields === undefined ? {} : { unknownFields }),
  })
}

/** An ExportLogsServiceResponse without `partial_success`: all of it is stored. */
function answered(reply: FastifyReply, mediaType: string): FastifyReply {
  void reply.code(200).type(mediaType)
  return reply.send(mediaType === 'application/json' ? '{}' : Buffer.alloc(0))
}
