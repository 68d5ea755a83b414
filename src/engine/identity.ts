// What a signed answer says about the program that made it: engine, its version, and our version of the normaliser.

/** Release of DuckDB that the pinned package carries; the session refuses to start on another. */
export const engineVersion = '1.5.6'

/**
 * Raised whenever the rewriting of statements or the rendering of answers changes bytes. 2: an output from which rows
 * were left out says so (docs/decisions/query-output.md).
 */
export const normalizerVersion = 2

export const dialect = `SqlDuckDb/${engineVersion}-${normalizerVersion}`
