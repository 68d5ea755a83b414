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
  /** Kills the children; queries under way fail with `Draining`. */
  close(): Promise<void>
}

/** Starts the children; resolves when the first one answers. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const pool = new ChildPool(options)
  await pool.start()
  return {
    name: 'duckdb',
    version: engineVersion,
    normalizerVersion,
    dialect,
    analyze: async (sql, signal) => await pool.analyze(sql, signal),
    run: async (job) => {
      const { signal, ...plain } = job
      return await pool.run(plain, signal)
    },
    close: async () => await pool.close(),
  }
}
