// The tables of information_schema while a statement reads them: what its caller may know, put into tables of the child
// and taken out again before anything else runs there.

import type { DuckDBConnection } from '@duckdb/node-api'
import type { Listing } from '../messages.ts'
import { type ListingName, listingSchema } from '../../../libraries/sql/statement.ts'

/** Columns by the names of the SQL standard (ISO/IEC 9075-11), those that say something here, with their types. */
const columnsOf: Readonly<Record<ListingName, readonly string[]>> = {
  tables: ['table_catalog VARCHAR', 'table_schema VARCHAR', 'table_name VARCHAR', 'table_type VARCHAR'],
  columns: [
    'table_catalog VARCHAR',
    'table_schema VARCHAR',
    'table_name VARCHAR',
    'column_name VARCHAR',
    'ordinal_position INTEGER',
    'column_default VARCHAR',
    'is_nullable VARCHAR',
    'data_type VARCHAR',
  ],
}

/** Does `action` while the listings are there. Whatever fails, they are gone after it, or the process is not used again. */
export async function withListings<T>(
  connection: DuckDBConnection,
  listings: readonly Listing[],
  action: () => Promise<T>,
): Promise<T> {
  await connection.run(`CREATE SCHEMA IF NOT EXISTS ${listingSchema}`)
  try {
    for (const { name, rows } of listings) await fill(connection, name, rows)
    return await action()
  } finally {
    await connection.run(`DROP SCHEMA ${listingSchema} CASCADE`)
  }
}

async function fill(connection: DuckDBConnection, name: ListingName, rows: string): Promise<void> {
  const columns = columnsOf[name].map((column, index) => {
    const [label, type] = column.split(' ')
    return `CAST(r[${index + 1}] AS ${type}) AS ${label}`
  })
  const read = `SELECT unnest(from_json($1::VARCHAR, '[["VARCHAR"]]')) AS r`
  await connection.run(`CREATE TABLE ${listingSchema}.${name} AS SELECT ${columns.join(', ')} FROM (${read})`, [rows])
}
