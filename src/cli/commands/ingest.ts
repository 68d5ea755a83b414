// `ingest`: each file is one batch, sent until the node took it or refused it for good, always under one key, so that
// nothing is stored twice. Prints what the node holds: receipts.

import { randomUUID } from 'node:crypto'
import { type JsonValue, systemClock } from '../../index.ts'
import { type Answer, type NodeClient, datasetPath, openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { type IngestFormat, type IngestSource, openSource } from '../ingest-source.ts'
import { itemsAt, memberAt, textAt } from '../json-values.ts'
import { type Ingested, printIngested } from '../receipt-text.ts'
import { withRetries } from '../retry.ts'
import { columnTypes } from '../schema-text.ts'
import { createStatusLine, progressText } from '../status-line.ts'

export interface IngestOptions {
  readonly format?: IngestFormat
  /** False: a missing dataset is an error. */
  readonly create: boolean
  /** False: the node need not wait for a block. */
  readonly wait: boolean
  readonly dryRun?: boolean
  readonly key?: string
  readonly retries: number
  readonly header?: string
  readonly unknownFields?: string
  readonly integers?: string
  readonly timeZone?: string
  readonly eventTimeUnit?: string
}

interface Sending {
  readonly client: NodeClient
  readonly dataset: string
  readonly path: string
  readonly options: IngestOptions
  /** True when there is one file, for which the answer may wait. */
  readonly single: boolean
}

/** As long as a node waits at most. */
const waitSeconds = 30
const pollMs = 200

export async function ingest(
  context: CommandContext,
  dataset: string,
  files: readonly string[],
  options: IngestOptions,
): Promise<number> {
  const path = datasetPath(dataset)
  if (options.key !== undefined && files.length > 1) {
    throw new CommandFailure(exitCodes.usage, 'One --key is for one file: each file is a batch of its own.')
  }
  const client = await openClient(context)
  const sources = await openSources(files, options)
  const done: Ingested[] = []
  const onInterrupt = (): void => printIngested(context.form, done)
  process.prependListener('SIGINT', onInterrupt)
  try {
    await sendAll({ client, dataset, path, options, single: sources.length === 1 }, sources, done)
    if (options.wait) await settle(client, done)
  } finally {
    process.off('SIGINT', onInterrupt)
    printIngested(context.form, done)
  }
  const rejected = done.some(({ receipt }) => textAt(receipt, 'status') === 'rejected')
  return rejected ? exitCodes.conflict : exitCodes.done
}

async function openSources(files: readonly string[], options: IngestOptions): Promise<IngestSource[]> {
  if (files.length === 0 && process.stdin.isTTY) {
    throw new CommandFailure(exitCodes.usage, 'There is nothing to ingest: name a file, or pipe records in.')
  }
  const names = files.length === 0 ? ['-'] : files
  if (names.filter((name) => name === '-').length > 1) {
    throw new CommandFailure(exitCodes.usage, 'Stdin can be read once only.')
  }
  const sources: IngestSource[] = []
  for (const name of names) sources.push(await openSource(name, options.format))
  return sources
}

async function sendAll(sending: Sending, sources: readonly IngestSource[], done: Ingested[]): Promise<void> {
  let missing = !(await exists(sending))
  if (missing && !sending.options.create) {
    throw new CommandFailure(exitCodes.notFound, `There is no dataset ${sending.dataset}.`, {
      hint: 'Leave out --no-create, or make it with: proofstream dataset create.',
    })
  }
  for (const source of sources) {
    done.push(await sendSource(sending, source, missing))
    if (missing && sending.options.dryRun !== true) {
      await tellCreated(sending)
      missing = false
    }
  }
}

/** Whether the dataset is there, found out before a large body is on its way. */
async function exists({ client, path, options }: Sending): Promise<boolean> {
  try {
    await withRetries(() => client.call({ path: `${path}/metadata`, query: { include: 'seed' } }), {
      retries: options.retries,
      reconnect: false,
      onRetry: tellRetry,
    })
    return true
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    if (error.exitCode === exitCodes.notFound) return false
    // Who may write need not be allowed to read.
    if (error.exitCode === exitCodes.notAllowed) return true
    throw error
  }
}

async function tellCreated({ client, dataset, path }: Sending): Promise<void> {
  const query = { include: 'schema,vocab', schemaFormat: 'ArrowJson' }
  const answer = await client.call({ path: `${path}/metadata`, query }).catch(() => undefined)
  const output = memberAt(answer?.json(), 'output')
  const types = columnTypes(itemsAt(output, 'schema', 'fields'))
  for (const role of ['offsetColumn', 'operationTypeColumn', 'systemTimeColumn']) {
    types.delete(textAt(output, 'vocab', role) ?? '')
  }
  const columns = [...types].map(([name, type]) => `${name} ${type}`).join(', ')
  note(`created dataset ${dataset}${columns === '' ? ' with an inferred schema' : `: ${columns}`}`)
}

async function sendSource(sending: Sending, source: IngestSource, missing: boolean): Promise<Ingested> {
  const { client, path, options } = sending
  const key = options.key ?? randomUUID()
  const status = createStatusLine()
  const onInterrupt = (): void => {
    status.clear()
    note(`interrupted; to send ${source.label} again without storing it twice, add: --key ${key}`)
  }
  process.prependListener('SIGINT', onInterrupt)
  const attempt = (): Promise<Answer> => {
    const beganMs = systemClock.monotonicMs()
    const stream = source.open((doneBytes) => {
      const elapsedMs = systemClock.monotonicMs() - beganMs
      if (doneBytes === source.bytes) status.show(`${source.label}  sent; the node is at work on it`, true)
      else status.show(progressText(source.label, { doneBytes, totalBytes: source.bytes, elapsedMs }))
    })
    return client.call({
      method: 'POST',
      path: `${path}/ingest`,
      query: ingestQuery(options, missing),
      headers: ingestHeaders(sending, source, key),
      stream,
    })
  }
  try {
    const answer = await withRetries(attempt, {
      retries: options.retries,
      reconnect: true,
      onRetry: (failure, pauseMs) => {
        status.clear()
        tellRetry(failure, pauseMs)
      },
    })
    return {
      label: source.label,
      receipt: answer.json(),
      replayed: answer.headers['idempotent-replayed'] === 'true',
    }
  } catch (error) {
    throw withKey(error, source.label, key)
  } finally {
    status.clear()
    process.off('SIGINT', onInterrupt)
  }
}

/** Where the tries are used up, the key is what makes another one safe. */
function withKey(error: unknown, label: string, key: string): unknown {
  if (!(error instanceof CommandFailure) || error.details.retryable !== true) return error
  return new CommandFailure(error.exitCode, error.message, {
    ...error.details,
    hint: `To send ${label} again without storing it twice, add: --key ${key}`,
    cause: error,
  })
}

function ingestQuery(options: IngestOptions, missing: boolean): Readonly<Record<string, string | undefined>> {
  const { unknownFields, integers, timeZone, eventTimeUnit } = options
  return {
    create: missing ? 'true' : undefined,
    dryRun: options.dryRun === true ? 'true' : undefined,
    unknownFields,
    integers,
    timeZone,
    eventTimeUnit,
  }
}

function ingestHeaders(
  { options, single }: Sending,
  source: IngestSource,
  key: string,
): Readonly<Record<string, string>> {
  const header = options.header === undefined || source.mediaType !== 'text/csv' ? '' : `; header=${options.header}`
  const prefer = options.wait ? (single ? `wait=${waitSeconds}` : undefined) : 'respond-async'
  return {
    'content-type': source.mediaType + header,
    'content-length': String(source.bytes),
    ...(source.contentEncoding === undefined ? {} : { 'content-encoding': source.contentEncoding }),
    'idempotency-key': key,
    ...(prefer === undefined ? {} : { prefer }),
  }
}

function tellRetry(failure: CommandFailure, pauseMs: number): void {
  note(`${failure.message} Trying again in ${(pauseMs / 1000).toFixed(1)} s.`)
}

/** Asks after the batches that are not in a block yet, for as long as a node would wait for one. */
async function settle(client: NodeClient, done: Ingested[]): Promise<void> {
  const untilMs = systemClock.monotonicMs() + waitSeconds * 1000
  for (const [at, item] of done.entries()) {
    let { receipt } = item
    while (textAt(receipt, 'status') === 'accepted' && systemClock.monotonicMs() < untilMs) {
      await systemClock.sleep(pollMs)
      receipt = await receiptNow(client, receipt)
    }
    done[at] = { ...item, receipt }
  }
}

async function receiptNow(client: NodeClient, receipt: JsonValue): Promise<JsonValue> {
  const id = textAt(receipt, 'receiptId') ?? ''
  try {
    return (await client.call({ path: `/receipts/${encodeURIComponent(id)}` })).json()
  } catch (error) {
    // The batch is durable whatever becomes of this question.
    if (error instanceof CommandFailure && error.details.retryable === true) return receipt
    throw error
  }
}
