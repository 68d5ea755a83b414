// `ingest`: each file is one batch, a pipe of lines is many. A batch is sent until the node took it or refused it for
// good, always under one key, so that nothing is stored twice. Prints what the node holds: receipts.

import { defined } from '../../libraries/base/collections.ts'
import { type JsonValue, systemClock } from '../../index.ts'
import { newlines } from '../../libraries/formats/line-batch.ts'
import { dialectOf } from '../../libraries/formats/dialect/dialect.ts'
import type { StreamFacts } from '../../libraries/formats/format.ts'
import { shellWord, withFormats } from '../../libraries/formats/flags.ts'
import { formatsBut } from '../../app/formats.ts'
import { defaultFormat } from '../../libraries/formats/registry.ts'
import { type Answer, datasetPath, type NodeClient, openClient, withRetries } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, failureOf, note, type Parameters, printFailure } from '../failure.ts'
import { bytesSource, type IngestSource, openSource } from '../ingest-source.ts'
import { beforeSignalEnds, stopInOrder } from '../interrupt.ts'
import { itemsAt, memberAt, textAt } from '../../libraries/base/json/members.ts'
import { createStatusLine, progressText } from '../output.ts'
import { chunksUntil, cutInput, pipedFormat, pipeEnds } from '../piped-lines.ts'
import { isSomebodyThere } from '../question.ts'
import { type Ingested, ReceiptPrinter, WarningTeller } from '../receipt-text.ts'
import { type Doubtful, settle, verdictOn } from './ingest-ask.ts'
import {
  type Batch,
  ingestHeaders,
  type IngestOptions,
  ingestQuery,
  keyOf,
  parametersOf,
  waitSeconds,
} from './ingest-request.ts'
import { sendStream } from './ingest-stream.ts'

interface Sending {
  readonly client: NodeClient
  readonly dataset: string
  readonly path: string
  readonly options: IngestOptions
  readonly warnings: WarningTeller
  /** Of a pipe: aborts at a signal. */
  readonly stop: AbortSignal
}

/** What is known when a batch is sent: whether the dataset is missing, and whether CSV begins with a header. */
interface Known {
  readonly missing: boolean
  readonly header: string | undefined
  /** What was chosen beside the options. */
  readonly chosen?: Parameters
  /** Nothing is stored. */
  readonly isTrial?: boolean
}

const pollMs = 200
/** Of a file that may be sent once more to show how it is read. */
const smallBytes = 16 * 1024 * 1024
/** Batches that may be in the log and not in a block before the next one is sent. */
const mostUnsettled = 16

export async function ingest(
  context: CommandContext,
  [dataset = '', ...files]: Args,
  options: IngestOptions,
): Promise<number> {
  const path = datasetPath(dataset)
  if (options.key !== undefined && files.length > 1) {
    throw new CommandFailure(exitCodes.usage, 'One --key is for one file: each file is a separate batch.')
  }
  const client = await openClient(context)
  const sources = await openSources(files, options)
  const { signal: stop, over } = 'piped' in sources ? stopInOrder() : noStop
  const sending: Sending = { client, dataset, path, options, warnings: new WarningTeller(), stop }
  try {
    return options.stream === true
      ? await streamed(context, sending, sources)
      : await batchwise(context, sending, sources)
  } finally {
    over()
    // A command that has ended does not wait for the other side of a pipe.
    if ('piped' in sources) process.stdin.destroy()
  }
}

/** Files are read again: a signal ends at once. */
const noStop = { signal: new AbortController().signal, over(): void {} }

async function batchwise(context: CommandContext, sending: Sending, sources: Sources): Promise<number> {
  const printer = new ReceiptPrinter(context.form)
  const unsettled: Ingested[] = []
  let isRejected = false
  let lastLine = 0
  const print = (item: Ingested): void => {
    isRejected ||= ['rejected', 'lost'].includes(textAt(item.receipt, 'status') ?? '')
    printer.print(item)
  }
  const finish = (): void => {
    for (const item of unsettled.splice(0)) print(item)
    printer.end()
  }
  const isSettled = beforeSignalEnds(finish)
  try {
    for await (const { linesTo = 0, ...item } of sendAll(sending, sources)) {
      lastLine = linesTo
      unsettled.push(item)
      if (unsettled.length > mostUnsettled) await printSettled(sending, unsettled, print)
    }
    while (unsettled.length > 0) await printSettled(sending, unsettled, print)
  } catch (error) {
    if (!sending.stop.aborted) throw error
    printFailure(failureOf(error))
  } finally {
    isSettled()
    finish()
  }
  if (sending.stop.aborted) return tellStopped(lastLine)
  return isRejected ? exitCodes.conflict : exitCodes.done
}

function tellStopped(lastLine: number): number {
  const told = lastLine === 0 ? 'nothing of stdin was taken' : `line ${lastLine} of stdin is the last that was taken`
  note(`interrupted: ${told}`)
  return exitCodes.interrupted
}

async function streamed(context: CommandContext, sending: Sending, sources: Sources): Promise<number> {
  const { client, path, options, stop } = sending
  if (!('piped' in sources) || sources.piped.name !== defaultFormat.name) {
    throw new CommandFailure(exitCodes.usage, 'A stream is NDJSON from a pipe, without --key and --dry-run.')
  }
  const missing = (await demandDataset(sending)) === undefined
  const printer = new ReceiptPrinter(context.form)
  const lines = await sendStream(
    client,
    { path, input: chunksUntil(process.stdin, stop) },
    {
      retries: options.retries,
      query: ingestQuery(options, missing),
      mediaType: defaultFormat.mediaTypes[0],
      onReceipt: (receipt) => {
        sending.warnings.tell('stdin', receipt)
        printer.print({ label: 'stdin', receipt, replayed: false })
      },
      onRetry: tellRetry,
      stop,
    },
  )
  printer.end()
  if (missing) tellCreated(sending)
  return stop.aborted ? tellStopped(lines) : exitCodes.done
}

/** Prints the oldest batch once its outcome is known, or has been waited for. */
async function printSettled(sending: Sending, unsettled: Ingested[], print: (item: Ingested) => void): Promise<void> {
  const [oldest] = unsettled
  if (oldest === undefined) return
  const settled = sending.options.wait ? await outcomeOf(sending.client, oldest) : oldest
  // An interrupt may have printed it meanwhile.
  if (unsettled.shift() === oldest) print(settled)
}

/** What is to be sent: files that can be read now, or a pipe of lines. */
type Sources = { readonly files: readonly IngestSource[] } | { readonly piped: StreamFacts }

async function openSources(files: readonly string[], options: IngestOptions): Promise<Sources> {
  if (files.length === 0 && process.stdin.isTTY) {
    throw new CommandFailure(exitCodes.usage, 'There is nothing to ingest: name a file, or pipe records in.')
  }
  const names = files.length === 0 ? ['-'] : files
  if (names.filter((name) => name === '-').length > 1) {
    throw new CommandFailure(exitCodes.usage, 'Stdin can be read once only.')
  }
  if (options.yes === true && names.includes('-')) {
    throw new CommandFailure(exitCodes.usage, '--yes is for files: what comes through a pipe is sent once.')
  }
  const [only = '-'] = names
  // One key is for one batch, and a dry run judges the whole.
  const mayCut = names.length === 1 && options.key === undefined && options.dryRun !== true
  const piped = mayCut ? pipedFormat(only, options.format) : undefined
  if (piped !== undefined) return { piped }
  const sources: IngestSource[] = []
  for (const name of names) sources.push(await openSource(name, options.format))
  return { files: sources }
}

/** Sends batch after batch; gives what the node answered to each. */
async function* sendAll(sending: Sending, sources: Sources): AsyncGenerator<Ingested & Pick<Batch, 'linesTo'>> {
  const about = await demandDataset(sending)
  let missing = about === undefined
  // The node says of the first batch of CSV whether its first record was a header.
  const learned = { header: sending.options.header }
  const batches: AsyncGenerator<Batch> | readonly Batch[] =
    'piped' in sources
      ? pipedBatches(sending, { format: sources.piped, about, learned })
      : sources.files.map((source) => ({ source, isOnly: sources.files.length === 1 }))
  for await (const batch of batches) {
    const item = await ('piped' in sources ? sendSource : sendSettled)(sending, batch, {
      missing,
      header: learned.header,
    })
    learned.header ??= 'piped' in sources ? textAt(item.receipt, 'csvHeader') : undefined
    yield { ...item, ...(batch.linesTo !== undefined && { linesTo: batch.linesTo }) }
    if (missing && sending.options.dryRun !== true) {
      tellCreated(sending, item.receipt)
      missing = false
    }
  }
}

/** What the node says of the dataset; undefined where it is missing. Throws CommandFailure where it must not be made. */
async function demandDataset({ client, path, options, dataset }: Sending): Promise<JsonValue | undefined> {
  const { retries } = options
  try {
    return (await withRetries(() => client.call({ path }), { retries, reconnect: false, onRetry: tellRetry })).json()
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    // A token that may write need not allow reading.
    if (error.exitCode === exitCodes.notAllowed) return new Map()
    if (error.exitCode !== exitCodes.notFound) throw error
    if (options.create) return undefined
    throw new CommandFailure(exitCodes.notFound, `There is no dataset ${dataset}.`, {
      hint: 'Leave out --no-create, or make it with: proofstream dataset create.',
    })
  }
}

type Piped = Readonly<{ format: StreamFacts; about: JsonValue | undefined; learned: { header: string | undefined } }>

/** The records of a pipe as batches. Cells that begin with a header have it in each of them. */
async function* pipedBatches({ options, stop }: Sending, { format, about, learned }: Piped): AsyncGenerator<Batch> {
  const { batchRows: mostRows, batchAge: mostAgeMs } = options
  const rules = memberAt(about, 'ingest')
  const kept = rules instanceof Map ? [...rules] : []
  const texts = kept.map(([name, value]) => [name, typeof value === 'boolean' ? String(value) : value] as const)
  const given: Readonly<Record<string, unknown>> = { ...Object.fromEntries(texts), ...parametersOf(options) }
  const dialect = format.hasHeader === true ? dialectOf(given) : undefined
  const mayHaveHeader = format.hasHeader === true && (options.header ?? given['header']) !== 'absent'
  const decides = memberAt(about, 'columns') === undefined
  const status = createStatusLine()
  const onHeld = (bytes: number): void =>
    bytes === 0 ? status.clear() : status.show(`stdin  ${bytes} bytes wait for what comes next`)
  const cut = { format, dialect, mayHaveHeader, decides, mostRows, mostAgeMs, stop, onHeld }
  let number = 0
  for await (const { bytes, headerBytes, rows, lines, linesTo, isLast } of cutInput(process.stdin, cut)) {
    status.clear()
    const isFirst = ++number === 1
    const isOnly = isLast && isFirst
    // What is no header is a row of the first batch; lines to be skipped come once.
    const isHeader = isFirst || headerBytes === 0 || learned.header === 'present'
    const start = isFirst ? 0 : isHeader ? (pipeEnds(cut).begin?.(bytes) ?? 0) : headerBytes
    const source = bytesSource(isOnly ? 'stdin' : `stdin, batch ${number}`, format, bytes.subarray(start))
    const place = { records: isHeader ? rows : rows + 1, lines: lines - newlines(bytes.subarray(start, headerBytes)) }
    const skips = !isFirst && dialect?.skipped !== undefined
    yield { source, isOnly, place, linesTo, ...(skips && { skipRows: '0' }) }
  }
}

const columnsTold = 8

/** Tells that the dataset was made, and with which columns, where the answer to a batch says so. */
function tellCreated({ dataset }: Sending, answer: JsonValue = null): void {
  const all = itemsAt(answer, 'columns')
  const columns = all.slice(0, columnsTold).map((one) => `${textAt(one, 'name')} ${textAt(one, 'type')}`)
  if (all.length > columnsTold) columns.push(`… and ${all.length - columnsTold} more`)
  note(`created dataset ${dataset}${columns.length === 0 ? '' : `: ${columns.join(', ')}`}`)
}

/** Sends a file, once it is settled how it is read: by a person, or by the only way there is with --yes. */
async function sendSettled(sending: Sending, batch: Batch, known: Known): Promise<Ingested> {
  const { yes = false, dryRun } = sending.options
  if (dryRun === true || (!yes && !isSomebodyThere())) return sendSource(sending, batch, known)
  const file: Doubtful = {
    label: batch.source.label,
    yes,
    isSmall: batch.source.bytes <= smallBytes,
    judge: async (chosen) => (await sendSource(sending, batch, { ...known, chosen, isTrial: true })).receipt,
    tell: (answer) => sending.warnings.tell(batch.source.label, answer),
  }
  if (known.missing) {
    return sendSource(sending, batch, { ...known, chosen: await settle(file, await verdictOn(file, {})) })
  }
  try {
    return await sendSource(sending, batch, known)
  } catch (error) {
    if (!(error instanceof CommandFailure) || (error.details.choices ?? []).length === 0) throw error
    return await sendSource(sending, batch, { ...known, chosen: await settle(file, error) })
  }
}

async function sendSource(sending: Sending, batch: Batch, known: Known): Promise<Ingested> {
  const { client, path, options } = sending
  const { source } = batch
  const { chosen, isTrial = false } = known
  const key = isTrial ? undefined : keyOf(options)
  const status = createStatusLine()
  const onInterrupt = (): void => {
    status.clear()
    note(`interrupted; ${againHint(source.label, key)}`)
  }
  const isSent = beforeSignalEnds(onInterrupt)
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
      query: {
        ...ingestQuery(options, known.missing),
        ...chosen,
        ...defined({ skipRows: batch.skipRows }),
        ...(isTrial && { dryRun: 'true' }),
      },
      headers: ingestHeaders(options, batch, {
        key,
        header: chosen?.['header'] === undefined ? known.header : undefined,
      }),
      stream,
      ...defined({ place: batch.place }),
    })
  }
  try {
    const answer = await withRetries(attempt, {
      retries: options.retries,
      reconnect: true,
      signal: sending.stop,
      onRetry: (failure, pauseMs) => {
        status.clear()
        tellRetry(failure, pauseMs)
      },
    })
    const receipt = answer.json()
    status.clear()
    if (!isTrial) sending.warnings.tell(source.label, receipt)
    if (chosen === undefined) sending.warnings.offer(source.label, receipt)
    return { label: source.label, receipt, replayed: answer.headers['idempotent-replayed'] === 'true' }
  } catch (error) {
    throw withHint(error, source, key, sending.dataset)
  } finally {
    status.clear()
    isSent()
  }
}

function againHint(label: string, key: string | undefined): string {
  const again = `to send ${label} again without storing it twice,`
  return key === undefined ? `${again} run the same command` : `${again} add: --key ${key}`
}

/** Where the tries are used up, the key is what makes another one safe. */
function withHint(error: unknown, source: IngestSource, key: string | undefined, dataset: string): unknown {
  if (!(error instanceof CommandFailure)) return error
  const { kind = '', retryable, hint } = error.details
  const again = retryable === true ? againHint(source.label, key).replace(/^t/, 'T') : undefined
  const piped = kind.endsWith('BodyTooLarge') ? pipeHint(source, dataset) : undefined
  const formats = formatsBut([]).all
  const told = again ?? withFormats([hint, piped].flatMap((one) => one ?? []).join(' '), formats)
  const message = withFormats(error.message, formats)
  if (message === error.message && told === (hint ?? '')) return error
  return new CommandFailure(error.exitCode, message, { ...error.details, hint: told, cause: error })
}

/** Lines that are too many for one batch fit into several. */
function pipeHint({ label, format, contentEncoding }: IngestSource, dataset: string): string | undefined {
  if (label === 'stdin' || format.kind === 'file' || !format.isLines || contentEncoding !== undefined) return undefined
  const command = `cat ${shellWord(label)} | proofstream ingest ${dataset} --format ${format.name}`
  return `What comes through a pipe goes in batches: ${command}`
}

function tellRetry(failure: CommandFailure, pauseMs: number): void {
  note(`${failure.message} Trying again in ${(pauseMs / 1000).toFixed(1)} s.`)
}

/** Asks after a batch that is not in a block yet, for as long as a node would wait for one. */
async function outcomeOf(client: NodeClient, item: Ingested): Promise<Ingested> {
  const untilMs = systemClock.monotonicMs() + waitSeconds * 1000
  let { receipt } = item
  while (textAt(receipt, 'status') === 'accepted' && systemClock.monotonicMs() < untilMs) {
    await systemClock.sleep(pollMs)
    receipt = await receiptNow(client, receipt)
  }
  return { ...item, receipt }
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
