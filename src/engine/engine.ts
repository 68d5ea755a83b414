// The query engine as its callers see it: statements are analysed, then run over given files, in child processes that
// are killed when they overstay. No SQL runs in this process. Callers: replica/query, replica/tail, replica/verify.

import { assert } from '../lib/assert.ts'
import type { Analysis, Asking, EngineAnswer, EngineJob, EngineOptions } from './engine-job.ts'
import { Lane, type Work } from './lane.ts'

export interface Engine {
  readonly name: 'duckdb'
  readonly version: string
  readonly normalizerVersion: number
  /** Full dialect name: language, engine version, normaliser version. */
  readonly dialect: string
  /**
   * Parses and gates a statement. Throws NodeError `SqlSyntax` and `QueryNotAllowed` with positions, and
   * `QueryTimeout`, `Saturated`, `Internal`.
   */
  analyze(sql: string, by?: Asking): Promise<Analysis>
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
  /** Why no statement can run, or undefined. */
  fault(): string | undefined
  /** Queries that run, and those that wait for a process. */
  load(): { readonly running: number; readonly waiting: number }
  /** Kills the children; queries under way fail with `Draining`. */
  close(): Promise<void>
}

/** What the gate says of a text never changes: it is remembered for this many texts of at most this length. */
const keptAnalyses = 256
const keptCharacters = 4096

/** Who may read nothing but what is open, and is never in a hurry. */
const anyone: Asking = { caller: { key: ['anonymous'], mayRead: () => false }, signal: new AbortController().signal }

/** Starts the children; resolves when the first one answers. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const queries = new Lane(options, { slots: options.processes, spares: 1 })
  const own = new Lane(options, { slots: 1, spares: 1 })
  await queries.start()
  own.fill()
  const analyses = new Map<string, Analysis>()
  const analyze = async (lane: Lane, sql: string, by: Asking): Promise<Analysis> => {
    const known = analyses.get(sql)
    if (known !== undefined) return known
    const outcome = await lane.perform({ message: (id) => ({ kind: 'analyze', id, sql }), reads: [] }, by)
    assert(outcome.kind === 'analysis', 'an analysis was asked for')
    if (sql.length <= keptCharacters) {
      if (analyses.size >= keptAnalyses) analyses.clear()
      analyses.set(sql, outcome.analysis)
    }
    return outcome.analysis
  }
  return {
    name: 'duckdb',
    version: engineVersion,
    normalizerVersion,
    dialect,
    analyze: async (sql, by = anyone) => await analyze(queries, sql, by),
    run: async (job, by) => await run(queries, job, { by, reads: job.tables.map(({ dataset }) => dataset) }),
    runOwn: async (sql, job, by) => {
      const analysis = await analyze(own, sql, by)
      // What a process has read cannot be asked out of it by statements that only say which rows they want.
      return await run(own, { ...job, analysis }, { by, reads: [] })
    },
    fault: () => queries.fault() ?? own.fault(),
    load: () => ({ running: queries.running + own.running, waiting: queries.waiting + own.waiting }),
    close: async () => {
      await Promise.all([queries.close(), own.close()])
    },
  }
}

async function run(
  lane: Lane,
  job: EngineJob,
  { by, reads }: { readonly by: Asking; readonly reads: readonly string[] },
): Promise<EngineAnswer> {
  const message: Work['message'] = (id, lists) => ({ kind: 'run', id, job: { ...job, ...lists.plain(job.tables) } })
  const outcome = await lane.perform({ message, reads }, by)
  assert(outcome.kind === 'answer', 'an answer was asked for')
  return outcome.answer
}

/** Release of DuckDB that the pinned package carries; the session refuses to start on another. */
export const engineVersion = '1.5.6'

/**
 * Raised whenever the rewriting of statements or the rendering of answers changes bytes. 2: an output from which rows
 * were left out says so (docs/decisions/query-output.md).
 */
export const normalizerVersion = 2

export const dialect = `SqlDuckDb/${engineVersion}-${normalizerVersion}`
