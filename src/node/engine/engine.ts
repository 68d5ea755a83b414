// The query engine as its callers see it: statements are analysed, then run over given files, in child processes that
// are killed when they overstay. No SQL runs in this process. Callers: the statements, tails and verifications of node/answers.

import { assert } from '../../libraries/base/assert.ts'
import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { AnswerPipe, type AnswerStream } from './process/answer-stream.ts'
import { cancelled } from './process/cancelled.ts'
import { Lane, type Work } from './process/lane.ts'
import {
  type Asking,
  type Case,
  dialectOf,
  type EngineAnswer,
  type EngineJob,
  type EngineOptions,
  type EngineTable,
  normalizerVersion,
  type OpenedFiles,
  type StreamJob,
} from './messages.ts'
import type { Analysis, Judgement } from '../../libraries/sql/statement.ts'

export interface Engine {
  readonly name: 'duckdb'
  readonly version: string
  /** SHA-256 of the library of DuckDB for this machine, in hex. Throws NodeError `EngineUnavailable` for one that the release does not know. */
  digest(): Promise<string>
  readonly normalizerVersion: number
  /** Full dialect name: language, engine version, normaliser version. */
  readonly dialect: string
  /**
   * Parses and gates a statement. Throws NodeError `SqlSyntax` and `QueryNotAllowed` with positions, and
   * `QueryTimeout`, `Saturated`, `Internal`.
   */
  analyze(sql: string, by?: Asking): Promise<Analysis>
  /** What an analysed statement is over datasets of these columns. Throws as `run`. */
  judge(of: Case, by: Asking): Promise<Judgement>
  /**
   * Runs a statement to its end and renders the answer. Throws NodeError `SqlUnknownName`, `SqlValue`, `SqlSyntax`,
   * `DuplicateColumn`, `NotReproducible`, `QueryNotAllowed`, `ResultTooLarge`, `QueryTimeout`, `Saturated`, `Internal`;
   * an aborted signal ends the query with `QueryTimeout`.
   */
  run(job: EngineJob, by: Asking): Promise<EngineAnswer>
  /**
   * The same for a statement that no caller had a word in: it has a process of its own and never waits for callers'
   * queries. Callers take turns here too.
   */
  runOwn(sql: string, job: Omit<EngineJob, 'analysis'>, by: Asking): Promise<EngineAnswer>
  /** Soon there is one of those: its process starts meanwhile. */
  expectOwn(): void
  /**
   * Runs a statement whose rows leave as a file while they are found, in processes of its own. Resolves with the first
   * bytes. Throws as `run`, and NodeError `InvalidParameter` for columns that the format cannot hold.
   */
  stream(job: StreamJob, by: Asking): Promise<AnswerStream>
  /** Starts a process that shows whether the engine can run. Throws NodeError `Internal`; it is tried again then. */
  prove(): Promise<void>
  /** Why no statement can run, or undefined. */
  fault(): string | undefined
  /** Queries that run, and those that wait for a process. */
  load(): { readonly running: number; readonly waiting: number }
  /** Kills the children; queries in flight fail with `Draining`. */
  close(): Promise<void>
}

/** What is said of a text never changes: it is remembered for this many texts of at most this length. */
const keptAnalyses = 256
const keptCharacters = 16_384
/** Of a process's memory for each of its threads. */
const threadBytes = 128 * 1024 * 1024

/** A caller that may read nothing but what is open, and is never in a hurry. */
const anyone: Asking = { caller: { key: ['anonymous'], mayRead: () => false }, signal: new AbortController().signal }

/** An engine without processes: they start when they are needed, and end when nobody has asked for a minute. */
export function openEngine(options: EngineOptions): Engine {
  const { native, spares = 1 } = options
  const within = { name: 'queryMs', value: options.queryMs } as const
  const queries = new Lane(options, { workers: options.processes, spares, within })
  const own = new Lane(options, { workers: 1, spares, within })
  const exports = new Lane(options, {
    workers: options.exportSlots,
    spares,
    within: { name: 'exportMs', value: options.exportMs },
  })
  const load: Engine['load'] = () => {
    const loads = [queries, own, exports].map((lane) => lane.load())
    const sum = (of: 'running' | 'waiting'): number => loads.reduce((total, one) => total + one[of], 0)
    return { running: sum('running'), waiting: sum('waiting') }
  }
  const memoryMost = Math.floor(options.memoryBytes / threadBytes)
  const threads = (): number => Math.max(1, Math.min(memoryMost, Math.floor(options.cores / load().running)))
  const analyses = new Map<string, Analysis>()
  const analyze = async (lane: Lane, sql: string, by: Asking): Promise<Analysis> =>
    await kept(analyses, JSON.stringify([sql, by.speaks]), async () => {
      const message = { kind: 'analyze', sql, ...defined({ speaks: by.speaks }) } as const
      const outcome = await lane.perform({ message: () => message, reads: [] }, by)
      assert(outcome.kind === 'analysis', 'an analysis was asked for')
      return outcome.analysis
    })
  const judgements = new Map<string, Judgement>()
  const judge = async (of: Case, by: Asking): Promise<Judgement> =>
    await kept(judgements, JSON.stringify(of), async () => {
      const outcome = await queries.perform({ message: () => ({ kind: 'judge', of }), reads: [] }, by)
      assert(outcome.kind === 'judged', 'a judgement was asked for')
      return outcome.judgement
    })
  return {
    name: 'duckdb',
    version: native.version,
    digest: async () => await native.digest(),
    normalizerVersion,
    dialect: dialectOf(native.version),
    analyze: async (sql, by = anyone) => await analyze(queries, sql, by),
    judge,
    run: async (job, by) => await run(queries, { job, reads: readsOf(job), threads }, by),
    // What a process has read cannot be asked out of it by statements that only say which rows they want.
    runOwn: async (sql, job, by) =>
      await run(own, { job: { ...job, analysis: await analyze(own, sql, by) }, reads: [], threads }, by),
    expectOwn: () => own.pool.expect(),
    // A client of PostgreSQL asks for small answers and large ones alike: what is small holds no slot of an export.
    stream: async (job, by) =>
      (job.analysis.speaks === 'postgres' ? await whole(await stream(queries, job, by)) : undefined) ??
      (await stream(exports, job, by)),
    prove: async () => await queries.pool.prove(),
    fault: () => queries.pool.fault() ?? own.pool.fault(),
    load,
    close: async () => {
      await Promise.all([queries.close(), own.close(), exports.close()])
    },
  }
}

/** What is remembered under a text, or found. */
async function kept<T>(known: Map<string, T>, text: string, find: () => Promise<T>): Promise<T> {
  const before = known.get(text)
  if (before !== undefined) return before
  const found = await find()
  if (text.length <= keptCharacters) {
    if (known.size >= keptAnalyses) known.clear()
    known.set(text, found)
  }
  return found
}

/** Ids of the datasets that a process shows something of once it has run the job. */
function readsOf({ tables, listings = [] }: Pick<EngineJob, 'tables' | 'listings'>): string[] {
  return [...tables.map(({ dataset }) => dataset), ...listings.flatMap(({ tells }) => tells)]
}

/** The answer where all of it is there; else it is given up. */
async function whole(answer: AnswerStream): Promise<AnswerStream | undefined> {
  if (answer.start.end !== undefined) return answer
  await answer.pieces.return({ rows: 0, truncated: false })
  return undefined
}

async function stream(lane: Lane, job: StreamJob, by: Asking): Promise<AnswerStream> {
  const left = new AbortController()
  const pipe = new AnswerPipe(() => left.abort())
  const { tables, close } = await openTables(job.tables, by.signal)
  const work: Work = {
    message: (lists) => ({ kind: 'stream', job: { ...job, ...lists.plain(tables) } }),
    reads: readsOf(job),
    reader: pipe,
  }
  const running = lane.perform(work, { ...by, signal: AbortSignal.any([by.signal, left.signal]) })
  const ended = running.then(
    (outcome) => {
      close()
      assert(outcome.kind === 'streamed', 'a stream was asked for')
      pipe.end(outcome.end)
    },
    (error: unknown) => {
      close(error)
      if (!(error instanceof NodeError)) throw error
      pipe.fail(error)
      throw error
    },
  )
  const start = await Promise.race([pipe.started, ended.then(() => pipe.started)])
  // The reader of the pieces gets a failure from now on.
  ended.catch(() => undefined)
  return { start, pieces: pipe.read(start.first) }
}

async function run(
  lane: Lane,
  { job, reads, threads }: { readonly job: EngineJob; readonly threads: () => number } & Pick<Work, 'reads'>,
  by: Asking,
): Promise<EngineAnswer> {
  const { tables, close } = await openTables(job.tables, by.signal)
  const message: Work['message'] = (lists) => ({
    kind: 'run',
    job: { ...job, ...lists.plain(tables), threads: threads() },
  })
  try {
    const outcome = await lane.perform({ message, reads }, by)
    close()
    assert(outcome.kind === 'answer', 'an answer was asked for')
    return outcome.answer
  } catch (error) {
    close(error)
    throw error
  }
}

/** The tables with files that are there until `close`, which is told of a failure. Throws what `open` throws. */
async function openTables(
  tables: readonly EngineTable[],
  signal: AbortSignal,
): Promise<{ readonly tables: readonly EngineTable[]; readonly close: (error?: unknown) => void }> {
  const opened: OpenedFiles[] = []
  const close = (error?: unknown): void => {
    const how = error instanceof NodeError && error.kind === 'Internal' ? 'suspect' : 'done'
    for (const files of opened.splice(0)) files.close(how)
  }
  try {
    const ready: EngineTable[] = []
    for (const table of tables) {
      const files = await table.files.open?.(signal)
      if (files !== undefined) opened.push(files)
      ready.push(files === undefined ? table : { ...table, files })
    }
    return { tables: ready, close }
  } catch (error) {
    close()
    throw signal.aborted ? cancelled() : error
  }
}
