// The ODF transfer routes: refs/head, blocks, data, checkpoints, as an unmodified ODF client pulls them.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { NodeError } from '../../model/errors.ts'
import type { ObjectKind } from '../../replica/objects.ts'
import type { HttpContext } from '../context.ts'
import { datasetOf } from '../dataset-access.ts'
import { isUnchanged } from '../etag.ts'
import { DatasetHashParams, DatasetParams, problemResponses } from '../schemas.ts'

const mediaTypes: Readonly<Record<ObjectKind, string>> = {
  blocks: 'application/octet-stream',
  data: 'application/vnd.apache.parquet',
  checkpoints: 'application/octet-stream',
}

export function registerObjects(app: FastifyInstance, context: HttpContext): void {
  app.get(
    '/:account/:dataset/refs/head',
    {
      schema: {
        summary: 'Hash of the newest block',
        tags: ['odf'],
        params: DatasetParams,
        response: { 200: Type.String(), ...problemResponses },
      },
    },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      void reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8')
      if (isUnchanged(request, reply, chain.head.hash)) return reply.code(304).send()
      return reply.send(chain.head.hash)
    },
  )
  for (const kind of ['blocks', 'data', 'checkpoints'] as const) {
    app.get(
      `/:account/:dataset/${kind}/:hash`,
      {
        schema: {
          summary: `Stored bytes of one of the ${kind}`,
          tags: ['odf'],
          params: DatasetHashParams,
          response: {
            200: Type.String({ format: 'binary' }),
            206: Type.String({ format: 'binary' }),
            ...problemResponses,
          },
        },
      },
      (request, reply) => sendObject(context, { request, reply, kind }),
    )
  }
}

async function sendObject(
  context: HttpContext,
  { request, reply, kind }: { request: FastifyRequest; reply: FastifyReply; kind: ObjectKind },
): Promise<FastifyReply> {
  const { chain } = await datasetOf(context.catalog, request, 'read')
  const { hash: text } = request.params as { hash: string } // DatasetHashParams validated it
  const found = await context.objects.find(chain, kind, text)
  const scope = chain.name.visibility === 'public' && context.anonymousRead ? 'public' : 'private'
  void reply
    .header('cache-control', `${scope}, max-age=31536000, immutable`)
    .header('accept-ranges', 'bytes')
    .type(mediaTypes[kind])
  if (isUnchanged(request, reply, found.hash)) return reply.code(304).send()
  const range = byteRange(request.headers.range, found.sizeBytes)
  if (range !== undefined) {
    void reply.code(206).header('content-range', `bytes ${range.start}-${range.end - 1}/${found.sizeBytes}`)
  }
  const { start, end } = range ?? { start: 0, end: found.sizeBytes }
  if (request.method === 'HEAD') return reply.header('content-length', String(end - start)).send()
  return reply.send(Buffer.from(await context.objects.read(found.key, start, end)))
}

/** One byte range (RFC 9110 §14); several, or none that can be met, are answered as the whole object or `InvalidParameter`. */
function byteRange(header: string | undefined, sizeBytes: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  const start = match[1] === '' ? Math.max(0, sizeBytes - Number(match[2])) : Number(match[1])
  const end = match[1] === '' || match[2] === '' ? sizeBytes : Math.min(sizeBytes, Number(match[2]) + 1)
  if (start >= sizeBytes || start >= end) {
    throw new NodeError(
      'InvalidParameter',
      `The range '${(header ?? '').slice(0, 80)}' is outside the object of ${sizeBytes} bytes.`,
    )
  }
  return { start, end }
}
