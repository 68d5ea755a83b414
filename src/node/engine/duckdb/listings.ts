// What a statement may ask of the catalog while it runs: what its caller may know, put into tables of the child with the functions
// that read them, and taken out again before anything else runs there.

import type { DuckDBConnection } from '@duckdb/node-api'
import type { Listing } from '../messages.ts'
import { functionSql } from '../../../libraries/pgwire/catalogue/functions.ts'
import { listingSchema } from '../../../libraries/sql/statement.ts'

/** Does `action` while the listings and the functions are there. Whatever fails, they are gone after it, or the process is not used again. */
export async function withListings<T>(
  connection: DuckDBConnection,
  { listings, functions }: { readonly listings: readonly Listing[]; readonly functions: readonly string[] },
  action: () => Promise<T>,
): Promise<T> {
  await connection.run(`CREATE SCHEMA IF NOT EXISTS ${listingSchema}`)
  try {
    for (const listing of listings) await fill(connection, listing)
    for (const name of functions) await connection.run(functionSql(name))
    return await action()
  } finally {
    await connection.run(`DROP SCHEMA ${listingSchema} CASCADE`)
  }
}

async function fill(connection: DuckDBConnection, { name, columns, rows }: Listing): Promise<void> {
  const casts = columns.map((column, index) => `CAST(r[${index + 1}] AS ${column.type}) AS ${column.name}`)
  const read = `SELECT unnest(from_json($1::VARCHAR, '[["VARCHAR"]]')) AS r`
  await connection.run(`CREATE TABLE ${listingSchema}.${name} AS SELECT ${casts.join(', ')} FROM (${read})`, [rows])
}
