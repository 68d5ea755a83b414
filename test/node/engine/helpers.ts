// Slices and engines for the tests of the query engine. Slices are written by DuckDB itself.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll } from 'vitest'
import { type Engine, openEngine } from '../../../src/node/engine/engine.ts'
import {
  type Asking,
  type EngineCaller,
  type EngineFiles,
  type EngineJob,
  type EngineOptions,
  type EngineTable,
  engineVersion,
} from '../../../src/node/engine/messages.ts'
import { findNativeEngine } from '../../../src/node/engine/native-engine.ts'
import { child, objects } from '../../../src/libraries/sql/tree.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { matchParameters } from '../../../src/libraries/model/parameters.ts'
import { type DataSchema, defaultVocabulary, type Field, systemFields } from '../../../src/libraries/model/schema.ts'

export interface Bench {
  readonly engine: Engine
  readonly root: string
  /** Runs trusted SQL, outside the engine under test. */
  readonly trusted: DuckDBConnection
  close(): Promise<void>
}

/** What an engine of one process is opened with. */
export const benchOptions: Omit<EngineOptions, 'dataRoots'> = {
  native: must(findNativeEngine(engineVersion, undefined), 'the engine of the release is installed'),
  cores: 2,
  processes: 1,
  exportSlots: 1,
  exportMs: 60_000,
  exportBytes: 1024 * 1024 * 1024,
  queryMs: 20_000,
  memoryBytes: 512 * 1024 * 1024,
  resultBytes: 64 * 1024 * 1024,
  queueLimit: 4,
  callerSharePercent: 100,
  isOpen: () => true,
  logger: silentLogger,
  clock: systemClock,
}

/** An engine of one process, which stands, over an empty directory. */
export async function openBench(options: Partial<EngineOptions> = {}): Promise<Bench> {
  const root = mkdtempSync(join(tmpdir(), 'proofstream-engine-'))
  const trusted = await (await DuckDBInstance.create(':memory:')).connect()
  await trusted.run("SET TimeZone = 'UTC'")
  const engine = openEngine({ ...benchOptions, dataRoots: [root], ...options })
  await engine.prove()
  return {
    engine,
    root,
    trusted,
    close: async () => {
      await engine.close()
      trusted.closeSync()
      rmSync(root, { recursive: true })
    },
  }
}

/** An engine for all tests of a file. */
export function useBench(options: Partial<EngineOptions> = {}): Omit<Bench, 'close'> {
  let opened: Bench | undefined
  const bench = (): Bench => must(opened, 'the engine is opened before the first test')
  beforeAll(async () => void (opened = await openBench(options)))
  afterAll(async () => await opened?.close())
  return {
    get engine() {
      return bench().engine
    },
    get root() {
      return bench().root
    },
    get trusted() {
      return bench().trusted
    },
  }
}

/** A plain instance of the engine for all tests of a file: the text of the first value that a statement gives. */
export function usePlainEngine(): (sql: string, ...parameters: string[]) => Promise<string> {
  let connection: DuckDBConnection | undefined
  beforeAll(async () => {
    connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  })
  afterAll(() => connection?.closeSync())
  return async (sql, ...parameters) => {
    const result = await must(connection, 'the engine is opened before the first test').run(sql, parameters)
    return String((await result.getRows())[0]?.[0])
  }
}

/** The serialised tree of a text, as a plain engine gives it. */
export async function treeOf(scalar: ReturnType<typeof usePlainEngine>, sql: string): Promise<JsonObject> {
  const tree = parseJson(await scalar('SELECT json_serialize_sql($1::VARCHAR)', sql), { maxDepth: 10_000 })
  return tree instanceof Map ? tree : new Map()
}

/** The top node of the one statement in a text. */
export async function topNodeOf(scalar: ReturnType<typeof usePlainEngine>, sql: string): Promise<JsonObject> {
  return must(child(objects(await treeOf(scalar, sql), 'statements')[0], 'node'), 'the statement parses')
}

/** Writes the rows of a SELECT as a slice; returns its path. */
export async function writeSlice(bench: Omit<Bench, 'close'>, name: string, select: string): Promise<string> {
  const path = join(bench.root, name)
  await bench.trusted.run(`COPY (${select}) TO '${path}' (FORMAT parquet)`)
  return path
}

/** A schema of the system columns and these. */
export function schemaOf(...fields: Field[]): DataSchema {
  return { fields: [...systemFields(defaultVocabulary), ...fields] }
}

export const systemColumns = (offset: string): string =>
  `${offset}::BIGINT AS "offset", 0::INT AS op, ` +
  `TIMESTAMPTZ '2024-01-01 00:00:00+00' + to_seconds(${offset}) AS system_time, ` +
  `TIMESTAMPTZ '2024-01-01 00:00:00+00' + to_seconds(${offset}) AS event_time`

export type AskOptions = Partial<Omit<EngineJob, 'analysis' | 'tables'>> & {
  readonly tables?: Readonly<
    Record<
      string,
      { readonly files: readonly string[]; readonly schema: EngineTable['schema']; readonly rows?: number }
    >
  >
  readonly signal?: AbortSignal
  readonly caller?: EngineCaller
  readonly room?: Asking['room']
}

/** A caller whom nothing is kept from. */
const trustedCaller: EngineCaller = { key: ['test'], mayRead: () => true }

/** Asking on behalf of a caller that may leave. */
export function asking(signal = new AbortController().signal, caller = trustedCaller): Asking {
  return { caller, signal }
}

/** Text of the `data` member of an answer; names that `tables` lacks, and parameters without values, are refused as the replica does. */
export async function ask(engine: Engine, sql: string, options: AskOptions = {}): Promise<string> {
  const answer = await askWhole(engine, sql, options)
  return Buffer.from(answer.data).toString()
}

export async function askWhole(
  engine: Engine,
  sql: string,
  { tables = {}, signal, caller, room, ...rest }: AskOptions = {},
): ReturnType<Engine['run']> {
  const by = { ...asking(signal, caller), ...(room !== undefined && { room }) }
  const analysis = await engine.analyze(sql, by)
  if (rest.parameters === undefined) matchParameters(analysis.parameters, undefined)
  const given = analysis.tables.map(({ parts, text }) => {
    const table = tables[parts.join('/').toLowerCase()]
    if (table === undefined) throw new NodeError('DatasetNotFound', `No dataset '${text}'.`)
    const { files, schema, rows } = table
    return { parts, dataset: text, files: listOf(files), schema, ...(rows !== undefined && { rows }) }
  })
  const job = {
    analysis,
    tables: given,
    reproducible: false,
    dataFormat: 'JsonAoa' as const,
    wantSchema: false,
    keyOrder: 'canonical' as const,
    ascii: false,
    skip: 0,
    limit: 100,
    ...rest,
  }
  return await engine.run(job, by)
}

/** Files as a list of their own. */
export function listOf(paths: readonly string[]): EngineFiles {
  return { list: JSON.stringify(paths), to: paths.length, path: (number) => paths[number] ?? '' }
}

/** The NodeError that `action` ends with. */
export async function refusal(action: Promise<unknown>): Promise<NodeError> {
  try {
    await action
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
  throw new NodeError('Internal', 'the action was expected to fail')
}
