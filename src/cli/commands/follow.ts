// `tail -f`: the newest rows of a dataset, then those of each block as it is committed. What connects is lost and found
// again: the place in the chain stays, so that every row is printed once.

import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { type JsonValue, parseJson, systemClock } from '../../index.ts'
import { EventReader, type ServerSentEvent } from '../../libraries/base/server-sent-events.ts'
import { datasetPath, type NodeClient, openClient, withRetries } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { itemsAt, numberAt, textAt } from '../../libraries/base/json/members.ts'
import { rowPrinter, type Rows } from '../output.ts'
import { problemFailure } from '../problem.ts'

/** Between two connections at least. */
const pauseMs = 500
/** Rows that are fetched at once where an event leaves them out. */
const pageRows = 10_000

interface Following {
  readonly client: NodeClient
  readonly path: string
  readonly print: (data: Rows) => void
  /** DID of the dataset. */
  readonly id: string
  /** Sequence of the last block whose rows are printed. */
  sequence: number
  /** Offset of the next row to print, where a block was begun. */
  nextOffset: number
}

/** Prints rows until it is interrupted or may not read any more. Throws CommandFailure. */
export async function follow(context: CommandContext, dataset: string, limit: number): Promise<never> {
  if (context.file !== undefined || context.form === 'json') {
    throw new CommandFailure(
      exitCodes.usage,
      'Rows that are followed have no end: no file and no JSON array holds them.',
      {
        hint: 'Use -o ndjson, and let the shell write the file.',
      },
    )
  }
  const client = await openClient(context)
  const path = datasetPath(dataset)
  const id = textAt((await client.call({ path })).json(), 'id') ?? ''
  const [head] = itemsAt((await client.call({ path: `${path}/blocks`, query: { limit: '1' } })).json(), 'blocks')
  const sequence = numberAt(head, 'sequence') ?? 0
  const following: Following = { client, path, print: rowPrinter(context.form), id, sequence, nextOffset: 0 }
  await printTail(following, { at: textAt(head, 'hash'), limit: String(limit) })
  for (let isFirst = true; ; isFirst = false) {
    await withRetries(async () => await listen(following), {
      retries: Number.POSITIVE_INFINITY,
      reconnect: !isFirst,
      onRetry: (failure, ms) => note(`${failure.message} Next try in ${(ms / 1000).toFixed(1)} s.`),
    })
    await systemClock.sleep(pauseMs)
  }
}

/**
 * Prints the rows of blocks until the connection is lost, or the node shuts down. Throws CommandFailure where it cannot be
 * opened, and where the stream says that it ends for good.
 */
async function listen(following: Following): Promise<void> {
  const { client, path, id, sequence } = following
  let end: CommandFailure | undefined
  const sink = async (body: Readable): Promise<void> => {
    const reader = new EventReader()
    for await (const text of body.setEncoding('utf8')) {
      for (const event of reader.read(String(text))) {
        end = await take(following, event)
        if (end !== undefined) return
      }
    }
  }
  const opened = { headers: { accept: 'text/event-stream', 'last-event-id': `${id}:${sequence}` }, sink }
  try {
    await client.call({ path: `${path}/events`, query: { rows: 'true' }, ...opened })
  } catch (error) {
    // A connection that had told something is opened again at once.
    if (following.sequence === sequence || !(error instanceof CommandFailure) || error.details.retryable !== true)
      throw error
  }
  if (end !== undefined && end.details.retryable !== true) throw end
}

/** Takes one event; what it returns ends the stream. Throws CommandFailure where rows cannot be fetched. */
async function take(following: Following, { event, id, data }: ServerSentEvent): Promise<CommandFailure | undefined> {
  if (!id.startsWith(`${following.id}:`)) return replaced(following.path)
  if (event === 'end')
    return problemFailure({ status: numberAt(jsonOf(data), 'status') ?? 500, headers: {}, bytes: Buffer.from(data) })
  if (data === '') return undefined
  await printBlock(following, jsonOf(data))
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
  return undefined
}

/** Prints the rows of a block but those that are printed already, and fetches those that the event leaves out. */
async function printBlock(following: Following, block: JsonValue): Promise<void> {
  const start = numberAt(block, 'offsets', 'start') ?? 0
  const end = numberAt(block, 'offsets', 'end') ?? -1
  const rows = itemsAt(block, 'rows')
  following.print(rowsOf(rows.slice(Math.max(0, following.nextOffset - start))))
  following.nextOffset = Math.max(following.nextOffset, start + rows.length)
  while (following.nextOffset <= end) {
    const from = following.nextOffset
    const to = Math.min(from + pageRows - 1, end)
    const limit = String(to - from + 1)
    await printTail(following, { at: textAt(block, 'block'), limit, skip: String(end - to) })
    following.nextOffset = to + 1
  }
  following.sequence = numberAt(block, 'sequence') ?? following.sequence
}

async function printTail(
  { client, path, print }: Following,
  window: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const answer = await client.call({ path: `${path}/tail`, query: { ...window, dataFormat: 'JsonAos' } })
  print(rowsOf(itemsAt(answer.json(), 'data')))
}

/** Objects as rows: their members stand in the order of the columns. */
function rowsOf(objects: readonly JsonValue[]): Rows {
  const rows = objects.map((object) => (object instanceof Map ? [...object.values()] : []))
  const [first] = objects
  return { columns: first instanceof Map ? [...first.keys()] : [], rows }
}

function jsonOf(text: string): JsonValue {
  return parseJson(text, { maxDepth: 256, maxValues: 10_000_000 })
}

function replaced(path: string): CommandFailure {
  return new CommandFailure(exitCodes.conflict, `${path.slice(1)} is another dataset by now.`, {
    hint: 'Start again to follow the new one.',
  })
}
