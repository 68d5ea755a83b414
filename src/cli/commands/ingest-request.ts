// What `ingest` asks of the node for a batch: parameters and headers, as its options say.

import { randomUUID } from 'node:crypto'
import { defined } from '../../libraries/base/collections.ts'
import type { IngestSource } from '../ingest-source.ts'
import type { BodyPlace } from '../problem.ts'

export interface IngestOptions {
  readonly format?: string
  /** False: a missing dataset is an error. */
  readonly create: boolean
  /** False: the node need not wait for a block. */
  readonly wait: boolean
  readonly dryRun?: boolean
  readonly key?: string
  readonly retries: number
  /** Where a pipe is cut into batches: rows, and milliseconds since the first of them. */
  readonly batchRows: number
  readonly batchAge: number
  /** A pipe goes over one connection. */
  readonly stream?: boolean
  readonly header?: string
  readonly unknownFields?: string
  readonly integers?: string
  readonly timeZone?: string
  readonly layer?: string
  readonly charset?: string
  readonly eventTime?: string
  readonly eventTimeUnit?: string
  readonly geometry?: string
  readonly records?: string
  readonly flatten?: boolean
  readonly dedupe?: string
  readonly preset?: string
}

/** A source of bytes that is sent in one request. */
export interface Batch {
  readonly source: IngestSource
  /** There is no other, so its answer may wait for the block. */
  readonly isOnly: boolean
  readonly place?: BodyPlace
  /** Lines of the pipe up to its end. */
  readonly linesTo?: number
}

/** As long as a node waits at most. */
export const waitSeconds = 30

/** The key that a batch is sent under; none where the node finds it in the body. */
export function keyOf({ key, dedupe, preset }: IngestOptions): string | undefined {
  return key ?? (dedupe === undefined && preset === undefined ? randomUUID() : undefined)
}

/** Options that a node takes under their own names. */
const asGiven = [
  'unknownFields',
  'integers',
  'timeZone',
  'layer',
  'charset',
  'eventTime',
  'eventTimeUnit',
  'geometry',
  'records',
  'dedupe',
  'preset',
] as const

export function ingestQuery(options: IngestOptions, missing: boolean): Readonly<Record<string, string | undefined>> {
  return {
    create: missing ? 'true' : undefined,
    dryRun: options.dryRun === true ? 'true' : undefined,
    flatten: options.flatten === undefined ? undefined : String(options.flatten),
    ...Object.fromEntries(asGiven.map((name) => [name, options[name]])),
  }
}

export function ingestHeaders(
  options: IngestOptions,
  { source, isOnly }: Batch,
  { key, header }: { readonly key: string | undefined; readonly header: string | undefined },
): Readonly<Record<string, string>> {
  const { format } = source
  const hasHeader = format.kind === 'stream' && format.hasHeader === true
  const parameter = header === undefined || !hasHeader ? '' : `; header=${header}`
  const prefer = options.wait ? (isOnly ? `wait=${waitSeconds}` : undefined) : 'respond-async'
  return {
    'content-type': format.mediaTypes[0] + parameter,
    'content-digest': `sha-256=:${source.sha256}:`,
    'content-length': String(source.bytes),
    ...(source.contentEncoding === undefined ? {} : { 'content-encoding': source.contentEncoding }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...defined({ prefer }),
  }
}
