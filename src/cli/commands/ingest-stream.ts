// `ingest --stream`: a pipe of lines that need not end, over one connection, as a producer of its own: whatever breaks, each
// record is stored exactly once. Prints a line for each batch that is durable.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { type JsonValue, parseJson } from '../../index.ts'
import { type NodeClient, withRetries } from '../client.ts'
import { CommandFailure, exitCodes, type Parameters } from '../failure.ts'
import { HeldLines } from '../../libraries/base/held-lines.ts'
import { memberAt, numberAt } from '../../libraries/base/json/members.ts'
import { noNode } from '../node-answer.ts'
import { problemFailure } from '../problem.ts'

/** Of a receipt, or of the problem that ends a stream. */
const lineDepth = 64
const lineValues = 100_000
const lineCharacters = 4 * 1024 * 1024

export interface StreamOptions {
  readonly retries: number
  readonly query: Parameters
  readonly mediaType: string
  readonly onReceipt: (receipt: JsonValue) => void
  readonly onRetry: (failure: CommandFailure, pauseMs: number) => void
  /** Aborts: what fails is not tried again. */
  readonly stop: AbortSignal
}

/** Sends the lines of `input`; resolves with their number when all are durable. Throws CommandFailure. */
export async function sendStream(
  client: NodeClient,
  { path, input }: { readonly path: string; readonly input: AsyncIterable<Uint8Array | 'stopped'> },
  options: StreamOptions,
): Promise<number> {
  const held = new HeldLines()
  const producerId = randomUUID()
  void held.fill(input)
  while (!held.isDone) {
    // What was told since then is progress: the tries begin anew.
    await withRetries(() => connection(client, held, { path, producerId, options }), {
      retries: options.retries,
      reconnect: true,
      onRetry: options.onRetry,
      signal: options.stop,
    })
  }
  return held.first
}

async function connection(
  client: NodeClient,
  held: HeldLines,
  {
    path,
    producerId,
    options,
  }: { readonly path: string; readonly producerId: string; readonly options: StreamOptions },
): Promise<void> {
  const before = held.first
  try {
    await client.call({
      method: 'POST',
      path: `${path}/stream`,
      query: options.query,
      headers: {
        'content-type': options.mediaType,
        'producer-id': producerId,
        'producer-sequence': String(held.first),
      },
      stream: Readable.from(held.lines(), { objectMode: false }),
      sink: (body) => takeLines(body, held, { ...options, server: client.server }),
    })
  } catch (error) {
    const isRetryable = error instanceof CommandFailure && error.details.retryable === true
    if (!isRetryable || held.first === before) throw error
  }
}

function lineOf(line: string, server: string): JsonValue {
  try {
    return parseJson(line, { maxDepth: lineDepth, maxValues: lineValues })
  } catch (cause) {
    throw noNode(server, 'tells of batches in something that is not JSON', cause)
  }
}

/** Takes receipts until the last line. Throws CommandFailure for the problem that it tells, and where it does not come. */
async function takeLines(
  body: Readable,
  held: HeldLines,
  { onReceipt, server }: StreamOptions & { readonly server: string },
): Promise<void> {
  let rest = ''
  for await (const chunk of body.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineCharacters) throw noNode(server, 'tells of batches in a line without an end')
    for (const line of lines) {
      const told = lineOf(line, server)
      const problem = memberAt(told, 'problem')
      if (problem !== undefined) {
        const status = numberAt(problem, 'status') ?? 500
        throw problemFailure({
          status,
          headers: {},
          bytes: Buffer.from(line.slice(line.indexOf('"problem":') + 10, -1)),
        })
      }
      // The body has come to its end: blank lines after the last record are told of by no receipt.
      if (memberAt(told, 'ended') !== undefined) return held.release(Number.MAX_SAFE_INTEGER - 1)
      held.release(numberAt(told, 'numbers', 'last') ?? -1)
      onReceipt(told)
    }
  }
  throw new CommandFailure(exitCodes.unreachable, 'The node ended the stream without a last line.', { retryable: true })
}
