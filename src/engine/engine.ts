// The query engine as its callers see it: statements are analysed, then run over given files, in child processes that
// are killed when they overstay. No SQL runs in this process. Callers: replica/query, replica/tail, replica/verify.

import { ChildPool } from './child-pool.ts'
import type { Analysis, EngineAnswer, EngineJob, EngineOptions } from './engine-job.ts'
import { dialect, engineVersion, normalizerVersion } from './identity.ts'

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
  analyze(sql: string, signal?: AbortSignal): Promise<Analysis>
  /**
   * Runs a statement to its end and renders the answer. Throws NodeError `SqlUnknownName`, `SqlValue`, `SqlSyntax`,
   * `DuplicateColumn`, `NotReproducible`, `QueryNotAllowed`, `ResultTooLarge`, `QueryTimeout`, `Saturated`, `Internal`;
   * an aborted signal ends the query with `QueryTimeout`.
   */
  run(job: EngineJob): Promise<EngineAnswer>
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

/** Starts the children; resolves when the first one answers. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const pool = new ChildPool(options)
  await pool.start()
  const analyses = new Map<string, Analysis>()
  return {
    name: 'duckdb',
    version: engineVersion,
    normalizerVersion,
    dialect,
    analyze: async (sql, signal) => {
      const known = analyses.get(sql)
      if (known !== undefined) return known
      const analysis = await pool.analyze(sql, signal)
      if (sql.length <= keptCharacters) {
        if (analyses.size >= keptAnalyses) analyses.clear()
        analyses.set(sql, analysis)
      }
      return analysis
    },
    run: async (job) => {
      const { signal, ...plain } = job
      return await pool.run(plain, signal)
    },
    fault: () => pool.fault(),
    load: () => pool.load,
    close: async () => await pool.close(),
  }
}
