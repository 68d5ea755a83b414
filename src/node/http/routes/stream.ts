// POST /{account}/{dataset}/stream, or a WebSocket there: records without end; the answer is a line for each batch, as soon
// as it is durable, and one for the end (docs/spec/http.md §14).

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { defined } from '../../../libraries/base/collections.ts'
import type { EndlessFormat, Format } from '../../../libraries/formats/format.ts'
import { loaded } from '../../../libraries/formats/registry.ts'
import { bodyFormatOf, type IngestControls } from '../../gateway/controls.ts'
import { charsetNamed } from '../../../libraries/formats/dialect/charset.ts'
import type { StreamRequest } from '../../gateway/gateway.ts'
import type { IngestStream, StreamLine } from '../../gateway/ingest-stream.ts'
import { producerStart } from '../../gateway/producer-start.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import type { Clock } from '../../../libraries/base/clock.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { rightsOf } from '../access.ts'
import { networkOf } from '../answer.ts'
import type { GatewayContext } from '../context.ts'
import { problemOf } from '../problem.ts'
import { demandGoodHandshake, type RecordSocket, RecordSockets } from '../record-sockets.ts'
import { DatasetParams } from '../request-target.ts'
import { IngestQuery, ingestRequest } from './ingest.ts'

const isEndless = (format: Format): format is EndlessFormat => format.kind === 'stream' && format.ends !== undefined

function endlessTypes({ formats }: GatewayContext): string[] {
  return formats.all.flatMap((format) => ('ends' in format ? format.mediaTypes : []))
}

/** A peer of a WebSocket that takes no lines has so long for the last ones. */
const lastLinesMs = 5_000

export function registerStream(app: FastifyInstance, context: GatewayContext): void {
  const { metrics, limits, clock } = context
  const open = new OpenStreams(limits.streamsPerCaller)
  metrics.gauge('streams', 'Streams of records that are open.', () => open.count)
  const sockets = new RecordSockets(app, context)
  const mediaTypes = endlessTypes(context)
  const describes = {
    consumes: mediaTypes,
    body: Type.String({
      description:
        'NDJSON with one object per line, CSV or TSV with a header and one record per line, or a GeoJSON sequence.',
    }),
  }
  app.post(
    '/:account/:dataset/stream',
    {
      config: { right: 'ingest', stream: true, endless: true, looseParameters: true, describes },
      schema: {
        description:
          'The answer is NDJSON: a receipt for each batch, written when it is durable in the log, and a last line.',
        params: DatasetParams,
        querystring: IngestQuery,
      },
    },
    async (request, reply) => {
      const socket = sockets.of(request.raw)
      if (socket !== undefined) demandGoodHandshake(request.headers, (name, value) => reply.header(name, value))
      const asked = await streamRequest(context, request)
      if (socket !== undefined) demandPlain(asked.controls)
      const leave = open.enter(asked.tokenId ?? networkOf(request.ip))
      if (reply.raw.closed) leave()
      else reply.raw.once('close', leave)
      const stream = await context.gateway.stream(socket === undefined ? asked : { ...asked, body: socket.body })
      const textOfLine = (line: StreamLine): string => {
        countLine(context, line, request.id)
        return lineText(line, request.id)
      }
      if (socket === undefined) return reply.send(await answerOf(stream, reply, textOfLine))
      reply.hijack()
      // What is counted, when it is over.
      reply.raw.statusCode = 101
      await tellBySocket(stream, socket, { clock, textOfLine })
      return undefined
    },
  )
}

/** Throws as `ingestRequest`, `producerStart`, `withoutKey` and `demandStream`. */
async function streamRequest(context: GatewayContext, request: FastifyRequest): Promise<StreamRequest> {
  const { controls: said, ...asked } = await ingestRequest(context, request)
  const producer = producerStart(request.headers)
  const isAsked = (request.query as Readonly<Record<string, unknown>>)['dedupe'] !== undefined // loose parameters
  const controls = isAsked ? said : withoutKey(said, producer !== undefined)
  const format = await demandStream(context, controls)
  const names = asked.chain === undefined ? [] : [asked.chain.name]
  return { ...asked, controls, format, producer, rights: rightsOf(context, request, names, 'ingest') }
}

/** The body of the answer, whose head comes with its first line. Throws what ends the stream before there is another. */
async function answerOf(
  stream: IngestStream,
  reply: FastifyReply,
  textOfLine: (line: StreamLine) => string,
): Promise<Readable> {
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
      yield utf8(`${textOfLine(line)}\n`)
      if (line.kind === 'end') return
    }
  }
  return Readable.from(bytes(), { objectMode: false, highWaterMark: 1 })
}

/** Resolves when the last line is told, or cannot be. */
async function tellBySocket(
  stream: IngestStream,
  socket: RecordSocket,
  { clock, textOfLine }: { readonly clock: Clock; readonly textOfLine: (line: StreamLine) => string },
): Promise<void> {
  const told = new AbortController()
  if (!socket.accept(stream.room())) return
  void stream
    .run()
    .then(() => clock.sleep(lastLinesMs, told.signal))
    .then(() => {
      if (!told.signal.aborted) socket.drop()
    })
  for await (const line of stream.lines()) {
    await socket.send(textOfLine(line))
    if (line.kind === 'end') socket.close(statusOf(line.error))
  }
  told.abort()
}

/** The status of the error that a stream ended by. */
function statusOf(error: unknown): number | undefined {
  return error === undefined ? undefined : problemOf(error, '').status
}

/** What a line tells is counted when it is told; a fault of the node is logged. */
function countLine({ metrics, logger }: GatewayContext, line: StreamLine, requestId: string): void {
  if (line.kind === 'receipt') {
    metrics.ingestedRecords.inc(line.receipt.records.received)
    metrics.ingestedBytes.inc(line.receipt.bytes)
  } else if (statusOf(line.error) === 500) {
    const err = line.error instanceof Error ? line.error.message : 'no error'
    logger.error({ requestId, err }, 'A stream of records failed')
  }
}

function lineText(line: StreamLine, requestId: string): string {
  if (line.kind === 'receipt') {
    const { receipt, collapsed } = line
    return JSON.stringify({ ...receipt, ...(collapsed === 0 ? {} : { collapsed }) })
  }
  const { last, error } = line
  const problem = error === undefined ? {} : { problem: problemOf(error, requestId).body }
  return JSON.stringify({ ended: true, ...defined({ last }), ...problem })
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

/** Throws NodeError `UnsupportedEncoding`: messages are records. */
function demandPlain({ contentEncoding }: IngestControls): void {
  if (contentEncoding === undefined) return
  throw new NodeError('UnsupportedEncoding', `Content-Encoding ${contentEncoding} is not taken over WebSocket.`, {
    hint: 'Send records as they are, without Content-Encoding; or POST the stream.',
  })
}

/** Throws NodeErrors `UnsupportedMediaType`, `InvalidParameter` for what is asked of one batch alone. */
async function demandStream(context: GatewayContext, controls: IngestControls): Promise<EndlessFormat> {
  const { format, csvHeader } = await loaded(bodyFormatOf(context.formats, controls))
  if (!isEndless(format)) {
    throw new NodeError('UnsupportedMediaType', `A stream of ${format.title} is not taken.`, {
      hint: 'Send one JSON object a line as application/x-ndjson.',
      candidates: endlessTypes(context),
    })
  }
  if (csvHeader === 'absent') {
    throw new NodeError('InvalidParameter', 'A stream of cells begins with a header.', {
      hint: 'Send the names of the columns as the first line, on each connection.',
    })
  }
  const { idempotencyKey, dedupe, ifMatch, dryRun, contentDigests, records, dialect } = controls
  const { kind } = charsetNamed(controls.charset ?? 'utf-8') ?? {}
  const isWide = kind === 'utf-16' || kind === 'double'
  if (isWide || dialect?.skipped !== undefined || dialect?.comment !== undefined) {
    throw new NodeError(
      'InvalidParameter',
      'A stream has no lines beside its records, and one byte for each character.',
      {
        hint: `Leave out ${isWide ? 'charset, and send UTF-8' : 'skipRows and comment, and send the header first'}.`,
      },
    )
  }
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
