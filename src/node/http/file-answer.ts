// An answer that is a file, on its way out as fast as it is read, with the headers that say which blocks it was read from and
// where the same rows come with a proof.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NodeError } from '../../libraries/base/errors.ts'
import type { FileFacts, FileSource } from '../../libraries/columnar/outputs/file-format.ts'
import { signedAddress, signedPath, type SignedRows } from '../../libraries/columnar/outputs/signed-rows.ts'
import type { AnswerFile } from '../answers/answer-files.ts'
import type { DatasetHead, OpenFile } from '../answers/files.ts'
import { isUnchanged, networkOf } from './answer.ts'
import { hostOf, type ReplicaContext } from './context.ts'
import { addVary } from './origin-rules.ts'
import { sendPart, wantedPart } from './stored-bytes.ts'

/** Enough for throughput, and little enough that a slow reader is found out soon. */
const pieceBytes = 64 * 1024

/** What a route says of a file beside its rows. */
export interface FileAnswer {
  readonly format: FileFacts
  readonly file: OpenFile
  /** Of the file's name, without extension. */
  readonly name: string
  /** The query that gives the rows as JSON, over datasets pinned at the file's blocks; undefined: there is none. */
  readonly query: Omit<SignedRows, 'heads'> | undefined
  /** Set where rows were left out for certain, or where the end will tell. */
  readonly truncated: boolean | 'at end'
  /** The request names its blocks: it will be answered so again. */
  readonly isPinned: boolean
}

/** Sends a file or a part of it, or 304 where the client has it. Headers of caches are the route's, before. Throws NodeError. */
export async function sendFile(
  context: ReplicaContext,
  request: FastifyRequest,
  reply: FastifyReply,
  given: FileAnswer,
): Promise<FastifyReply> {
  const newest = given.format.tellsSource === true ? sourced(context, request, given) : given
  const { answerFiles } = context.replica
  const { tag: newestTag } = newest.file
  const isConditional = request.method !== 'POST' && newestTag !== undefined
  const isKept = isConditional && newest.format.isReadInParts === true
  const reader = request.principal.tokenId ?? networkOf(request.ip)
  const isThere = (tag: string | undefined): boolean => answerFiles.has(tag)
  const file =
    isKept && !newest.isPinned
      ? context.readings.versionFor(request, reply, { reader, newest: newest.file, isThere })
      : newest.file
  const answer = { ...newest, file }
  const { heads, tag = '' } = file
  addVary(reply, 'Accept')
  if (heads.length > 0)
    void reply.header(
      'dataset-head',
      heads.map(({ alias, block }) => `${alias};block="${block}"`),
    )
  if (isConditional && isUnchanged(request, reply, tag)) return reply.code(304).send()
  const kept = isKept ? await answerFile(context, request, { ...file, signal: newest.file.signal }) : undefined
  if (kept !== undefined) return await sendFromDisk(context, request, reply, { answer, tag, kept })
  if (request.method === 'HEAD') {
    describe(context, reply, answer, answer.file.rowsAtMost)
    return reply.send(Readable.from([]))
  }
  const stream = await answer.file.start()
  const isCopied = isKept && answer.isPinned
  return sendStream(context, request, reply, { answer, stream: isCopied ? answerFiles.aside(tag, stream) : stream })
}

/** The same file, which says where its rows are from: under the address of the node that its client knows. */
function sourced(context: ReplicaContext, request: FastifyRequest, answer: FileAnswer): FileAnswer {
  const { query, file } = answer
  const host = hostOf(context, request)
  const path = query && signedPath({ heads: file.pins, ...query })
  const why = query === undefined ? 'does not answer the same again, or not on every machine' : 'fits into no address'
  const source: FileSource = {
    heads: file.heads,
    address: path && host + path,
    mostRows: context.limits.resultRows,
    reason: `The statement ${why}.`,
  }
  const tag = file.tag && `${file.tag}.${encodeURIComponent(host)}`
  return { ...answer, file: { ...file, tag, start: async (keeping) => await file.start(keeping, source) } }
}

/** The file where it lies. It is made for a caller that wants its length, or a part of it. */
async function answerFile(
  { replica: { answerFiles } }: ReplicaContext,
  { method, headers }: FastifyRequest,
  { tag = '', start, signal }: OpenFile,
): Promise<AnswerFile | undefined> {
  if (method !== 'HEAD' && headers.range === undefined) return await answerFiles.find(tag)
  return await answerFiles.keep(tag, start, signal)
}

async function sendFromDisk(
  context: ReplicaContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { answer, tag, kept }: { readonly answer: FileAnswer; readonly tag: string; readonly kept: AnswerFile },
): Promise<FastifyReply> {
  const { sizeBytes, end, stability } = kept
  const close = (): void => void kept.close()
  reply.raw.once('close', close)
  if (reply.raw.closed) close()
  const bytes = { tag, sizeBytes, pieceBytes, read: kept.read }
  const part = wantedPart(request, reply, bytes)
  void reply.header('answer-stability', stability)
  describe(context, reply, answer, end.rows)
  if (end.truncated) void reply.header('result-truncated', 'true')
  context.watchReader(reply.raw)
  return await sendPart(request, reply, part, bytes)
}

/** What the file is, of `rows` rows at most; and where the same rows come with a proof. */
function describe(
  context: ReplicaContext,
  reply: FastifyReply,
  { format, name, query, file, truncated }: FileAnswer,
  rows: number | undefined,
): void {
  const type = format.mediaTypes[0]?.replace('utf-8', file.options.charset ?? 'utf-8')
  void reply.type(type ?? '').header('content-disposition', disposition(name, format))
  if (truncated === true) void reply.header('result-truncated', 'true')
  const target = query === undefined ? undefined : proofLink(context, { heads: file.pins, ...query, rows })
  if (target !== undefined) void reply.header('link', `<${target}>; rel="describedby"`)
}

/** Sends a file while it is written. */
function sendStream(
  context: ReplicaContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { answer, stream: { start, pieces } }: { readonly answer: FileAnswer; readonly stream: AnswerStream },
): FastifyReply {
  const { end, first, stability } = start
  if (answer.file.tag !== undefined) void reply.header('answer-stability', stability)
  describe(context, reply, answer, end?.rows ?? answer.file.rowsAtMost)
  context.watchReader(reply.raw)
  if (end !== undefined) {
    if (end.truncated) void reply.header('result-truncated', 'true')
    return reply.send(Buffer.from(first.buffer, first.byteOffset, first.length))
  }
  let ended: StreamEnd | undefined
  const body = Readable.from(
    cut(pieces, (how) => (ended = how)),
    { objectMode: false, highWaterMark: pieceBytes },
  )
  const hasChunks = request.raw.httpVersion === '1.1'
  // Without chunks the end of the connection is the end of the file: only a reset says that it is not.
  if (!hasChunks) body.once('error', () => request.raw.socket.resetAndDestroy())
  if (hasChunks && answer.truncated === 'at end') {
    reply.trailer('result-truncated', async () => String(ended?.truncated ?? false))
  }
  return reply.send(body)
}

/** The same bytes in pieces that are small enough to watch a slow reader by. */
async function* cut(pieces: Pieces, onEnd: (end: StreamEnd) => void): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const next = await pieces.next()
    if (next.done === true) return onEnd(next.value)
    for (let at = 0; at < next.value.length; at += pieceBytes) {
      yield next.value.subarray(at, at + pieceBytes)
    }
  }
}

type AnswerStream = Awaited<ReturnType<OpenFile['start']>>
type Pieces = AnswerStream['pieces']
type StreamEnd = NonNullable<AnswerStream['start']['end']>

/** Names of datasets need no escapes. */
function disposition(name: string, { extension }: FileFacts): string {
  return `attachment; filename="${name}.${extension}"`
}

/** A name for the rows of these datasets. */
export function fileNameOf(heads: readonly DatasetHead[]): string {
  const [head] = heads
  return heads.length === 1 && head !== undefined ? (head.alias.split('/')[1] ?? head.alias) : 'answer'
}

/** The path that answers the same rows with a proof; undefined where it is too long or they are too many, or nobody knows. */
export function proofLink(
  { limits }: Pick<ReplicaContext, 'limits'>,
  { rows, ...of }: SignedRows & { readonly rows: number | undefined },
): string | undefined {
  const path = rows === undefined || rows > limits.resultRows ? undefined : signedPath(of)
  return path && signedAddress(path, rows ?? 0)
}

/** The refusal of a proof over a file: it signs JSON. */
export function noProofOfFile(format: FileFacts, link: string | undefined): NodeError {
  return new NodeError('InvalidRequest', `There is no proof of an answer as ${format.name}; proofs sign JSON.`, {
    hint:
      link === undefined
        ? 'Ask for the rows as JsonAoa with the proof, and for the file without it.'
        : `Ask for the file without it; ${link} gives the rows with their proof.`,
  })
}
