// What `ingest` asks of the node for a batch: parameters and headers, as its options say.

import { randomUUID } from 'node:crypto'
import { defined } from '../../libraries/base/collections.ts'
import { isDialectName } from '../../libraries/formats/dialect/dialect.ts'
import { ingestParameters, type ParameterName, parameterRows } from '../../libraries/formats/parameters.ts'
import { CommandFailure, exitCodes, type Parameters } from '../failure.ts'
import type { IngestSource } from '../ingest-source.ts'
import type { BodyPlace } from '../problem.ts'

export interface IngestOptions extends Partial<Readonly<Record<ParameterName, string | boolean>>> {
  readonly format?: string
  /** False: a missing dataset is an error. */
  readonly create: boolean
  /** False: the node need not wait for a block. */
  readonly wait: boolean
  readonly dryRun?: boolean
  /** Takes the only offer, and asks nothing. */
  readonly yes?: boolean
  readonly key?: string
  readonly retries: number
  /** Where a pipe is cut into batches: rows, and milliseconds since the first of them. */
  readonly batchRows: number
  readonly batchAge: number
  /** A pipe goes over one connection. */
  readonly stream?: boolean
  readonly header?: string
  /** Parameters as `name=value`, beside those with flags of their own. */
  readonly set?: readonly string[]
}

/** A source of bytes that is sent in one request. */
export interface Batch {
  readonly source: IngestSource
  /** There is no other, so its answer may wait for the block. */
  readonly isOnly: boolean
  readonly place?: BodyPlace
  /** Lines of the pipe up to its end. */
  readonly linesTo?: number
  /** Where the lines to be skipped were in an earlier batch. */
  readonly skipRows?: '0'
}

/** As long as a node waits at most. */
export const waitSeconds = 30

/** The key that a batch is sent under; none where the node finds it in the body. Throws CommandFailure (usage). */
export function keyOf(options: IngestOptions): string | undefined {
  const { dedupe, preset } = parametersOf(options)
  return options.key ?? (dedupe === undefined && preset === undefined ? randomUUID() : undefined)
}

/** Throws CommandFailure (usage). */
export function ingestQuery(options: IngestOptions, missing: boolean): Parameters {
  return {
    ...(missing && { create: 'true' }),
    ...(options.dryRun === true && { dryRun: 'true' }),
    ...parametersOf(options),
  }
}

/** Those that flags and `--set` say, by name. Throws CommandFailure (usage). */
export function parametersOf(options: IngestOptions): Parameters {
  const parameters: Record<string, string | readonly string[]> = {}
  for (const [name, { flag }] of parameterRows)
    if (flag !== undefined && options[name] !== undefined) parameters[name] = String(options[name])
  for (const [name, values] of settingsOf(options.set)) {
    const isList = name.startsWith('nulls')
    if (parameters[name] !== undefined || (values.length > 1 && !isList)) {
      throw new CommandFailure(exitCodes.usage, `${name} is given more than once.`)
    }
    parameters[name] = isList ? values : values.join('')
  }
  return parameters
}

/** Values of `--set name=value`, by name. Throws CommandFailure (usage). */
export function settingsOf(texts: readonly string[] = []): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, readonly string[]>()
  for (const text of texts) {
    const [, name = '', value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    const isKnown = Object.hasOwn(ingestParameters, name) || isDialectName(name)
    if (value === undefined || name === 'dryRun' || !isKnown) {
      const names = parameterRows.flatMap(([one]) => (one === 'dryRun' ? [] : [one]))
      throw new CommandFailure(exitCodes.usage, `--set '${text}' names no parameter of ingest.`, {
        hint: `Write name=value with one of: ${names.join(', ')}.`,
      })
    }
    settings.set(name, [...(settings.get(name) ?? []), value])
  }
  return settings
}

export function ingestHeaders(
  options: IngestOptions,
  { source, isOnly }: Batch,
  { key, header }: { readonly key: string | undefined; readonly header: string | undefined },
): Readonly<Record<string, string>> {
  const { format } = source
  const hasHeader = format.hasHeader === true
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
