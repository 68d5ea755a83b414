// POST /{account}/{dataset}/stream: records without end; the answer is a line for each batch, as soon as it is durable, and
// one for the end (docs/spec/http.md §14).

import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { EndlessFormat, Format } from '../../formats/format.ts'
import { formatOf, formats } from '../../formats/registry.ts'
import type { IngestControls } from '../../gateway/controls.ts'
import type { StreamLine } from '../../gateway/ingest-stream.ts'
import { producerStart } from '../../gateway/producer-start.ts'
import { utf8 } from '../../lib/bytes.ts'
import { NodeError } from '../../model/errors.ts'
import { rightsOf } from '../access.ts'
import { networkOf } from '../answer.ts'
import type { GatewayContext } from '../context.ts'
import { problemOf } from '../problem.ts'
import { DatasetParams } from '../request-target.ts'
import { IngestQuery, ingestRequest } from './ingest.ts'

const isEndless = (format: Format): format is EndlessFormat => format.kind === 'stream' && format.ends !== undefined
const mediaTypes = formats.filter(isEndless).flatMap((format) => format.mediaTypes)

export function registerStream(app: FastifyInstance, context: GatewayContext): void {
  const { logger, metrics, limits } = context
  const onEnd = (error: unknown, requestId: string): void => {
    if (error === undefined || problemOf(error, requestId).status !== 500) return
    logger.error({ requestId, err: error instanceof Error ? error.message : 'no error' }, 'A stream of records failed')
  }
  const open = new OpenStreams(limits.streamsPerCaller)
  metrics.gauge('streams', 'Streams of records that are open.', () => open.count)
  app.post(
    '/:account/:dataset/stream',
    {
      config: {
        right: 'ingest',
        stream: true,
        endless: true,
        looseParameters: true,
        describes: {
          consumes: mediaTypes,
          body: Type.String({
            description: 'NDJSON: one object a line; or CSV, TSV: a header, then one record a line.',
          }),
        },
      },
      schema: {
        description:
          'The answer is NDJSON: a receipt for each batch, written when it is durable in the log, and a last line.',
        params: DatasetParams,
        querystring: IngestQuery,
      },
    },
    async (request, reply) => {
      const { controls: said, ...asked } = await ingestRequest(context, request)
      const producer = producerStart(request.headers)
      const isAsked = (request.query as Readonly<Record<string, unknown>>)['dedupe'] !== undefined // loose parameters
      const controls = isAsked ? said : withoutKey(said, producer !== undefined)
      const format = demandStream(controls)
      const leave = open.enter(asked.tokenId ?? networkOf(request.ip))
      if (reply.raw.closed) leave()
      else reply.raw.once('close', leave)
      const names = asked.chain === undefined ? [] : [asked.chain.name]
      const rights = rightsOf(context, request, names, 'ingest')
      const stream = await context.gateway.stream({ ...asked, controls, format, producer, rights })
      void stream.run()
      const lines = stream.lines()
      const first: StreamLine = (await lines.next()).value // the last line has `kind: 'end'`
      if (first.kind === 'end' && first.error !== undefined) throw first.error
      void reply.type('application/x-ndjson').headers({
        'cache-control': 'no-store',
        connection: 'close',
        'x-accel-buffering': 'no',
      })
      const bytes = async function* (): AsyncGenerator<Uint8Array> {
        for (let line = first; ; line = (await lines.next()).value) {
          if (line.kind === 'receipt') {
            metrics.ingestedRecords.inc(line.receipt.records.received)
            metrics.ingestedBytes.inc(line.receipt.bytes)
          } else onEnd(line.error, request.id)
          yield utf8(lineText(line, request.id))
          if (line.kind === 'end') return
        }
      }
      return reply.send(Readable.from(bytes(), { objectMode: false, highWaterMark: 1 }))
    },
  )
}

function lineText(line: StreamLine, requestId: string): string {
  if (line.kind === 'receipt') {
    const { receipt, collapsed } = line
    return `${JSON.stringify({ ...receipt, ...(collapsed === 0 ? {} : { collapsed }) })}\n`
  }
  const { last, error } = line
  const problem = error === undefined ? {} : { problem: problemOf(error, requestId).body }
  return `${JSON.stringify({ ended: true, ...(last === undefined ? {} : { last }), ...problem })}\n`
}

/**
 * What a rule of the dataset, or a preset, says of keys is for senders without numbers, and a stream has no place for it.
 * Throws NodeError `InvalidParameter` where repeats would be stored without a word.
 */
function withoutKey(controls: IngestControls, hasNumbers: boolean): IngestControls {
  const { dedupe } = controls
  if (dedupe === undefined || hasNumbers) return { ...controls, dedupe: undefined }
  const message = `Repeats of this dataset are known by its rule, or the preset's, dedupe=${dedupe}: a stream has none.`
  throw new NodeError('InvalidParameter', message, {
    hint: 'Send Producer-Id and Producer-Sequence, which make a resumed stream exactly once; or post batches.',
  })
}

/** Throws NodeErrors `UnsupportedMediaType`, `InvalidParameter` for what is asked of one batch alone. */
function demandStream(controls: IngestControls): EndlessFormat {
  const { format, csvHeader } = formatOf(controls.contentType)
  if (!isEndless(format)) {
    throw new NodeError('UnsupportedMediaType', `A stream of ${format.title} is not taken.`, {
      hint: 'Send one JSON object a line as application/x-ndjson.',
      candidates: mediaTypes,
    })
  }
  if (csvHeader === 'absent') {
    throw new NodeError('InvalidParameter', 'A stream of cells begins with a header.', {
      hint: 'Send the names of the columns as the first line, on each connection.',
    })
  }
  const { idempotencyKey, dedupe, ifMatch, dryRun, contentDigests, records } = controls
  const ofOneBatch = {
    'Idempotency-Key': idempotencyKey,
    dedupe,
    'If-Match': ifMatch,
    dryRun: dryRun || undefined,
    'Content-Digest': contentDigests[0],
    records,
  }
  const name = Object.entries(ofOneBatch).find(([, value]) => value !== undefined)?.[0]
  if (name === undefined) return format
  throw new NodeError('InvalidParameter', `${name} counts for one batch; a stream has many.`, {
    hint: 'Leave it out. Producer-Id and Producer-Sequence make a resumed stream exactly once.',
  })
}

/** Counts streams by caller. */
class OpenStreams {
  readonly #most: number
  readonly #ofCaller = new Map<string, number>()
  count = 0

  constructor(most: number) {
    this.#most = most
  }

  /** What it returns is to be called once. Throws NodeError `QuotaExceeded`. */
  enter(caller: string): () => void {
    const own = this.#ofCaller.get(caller) ?? 0
    if (own >= this.#most) {
      throw new NodeError('QuotaExceeded', 'This caller has as many streams open as it may.', {
        hint: 'Send the records of several devices over one stream, or close one.',
        limit: { name: 'streamsPerCaller', value: this.#most, unit: 'streams' },
        retryAfterSeconds: 5,
      })
    }
    this.#change(caller, 1)
    return () => this.#change(caller, -1)
  }

  #change(caller: string, by: number): void {
    const own = (this.#ofCaller.get(caller) ?? 0) + by
    this.count += by
    if (own === 0) this.#ofCaller.delete(caller)
    else this.#ofCaller.set(caller, own)
  }
}
