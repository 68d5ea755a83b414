// What a signed answer says about the program that made it: engine, its version, and our version of the normaliser.

/** Release of DuckDB that the pinned package carries; the session refuses to start on another. */
export const engineVersion = '1.5.6'

/** Raised whenever the rewriting of statements or the rendering of values changes bytes. */
export const normalizerVersion = 1

export const dialect = `SqlDuckDb/${engineVersion}-${normalizerVersion}`
