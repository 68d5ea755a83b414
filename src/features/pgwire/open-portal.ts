// Opens the rows of a portal, in the form that its client wants.

import type { Portal, Prepared } from './portals.ts'
import { describedRows, OpenRows, type RowForm } from './rows.ts'
import type { SessionView } from './session-view.ts'

/** The address of a module of the library, as the process of the engine loads it. */
export const moduleOf = (name: string): string =>
  new URL(`../../libraries/pgwire/${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href

/** The rows of a portal, begun where they are not yet. */
export async function opened(session: SessionView, portal: Portal, limit?: number): Promise<OpenRows> {
  portal.rows ??= await openRows(
    session,
    portal,
    { name: 'PgRows', module: moduleOf('rows'), binaryColumns: portal.binaryColumns },
    limit,
  )
  return portal.rows
}

export async function openRows(session: SessionView, portal: Portal, form: RowForm, limit?: number): Promise<OpenRows> {
  const { context } = session.parts
  const account = accountOf(session)
  const { sql } = portal.prepared
  const { kept } = session.transaction
  return await session.running(async ({ caller }) => {
    const asked = { sql, values: portal.values, form, account, kept, ...(limit !== undefined && { limit }) }
    return await OpenRows.open(context, asked, caller)
  }, portal.ending)
}

/** What a statement takes and gives: the types that its client said stay. Throws as the statement. */
export async function describedStatement(
  session: SessionView,
  { sql, types }: Prepared,
): Promise<{ readonly types: readonly number[]; readonly description: Uint8Array }> {
  const { context } = session.parts
  const account = accountOf(session)
  const form = { name: 'PgRows', module: moduleOf('rows'), binaryColumns: [] }
  const asked = { sql, values: [], form, account, kept: session.transaction.kept }
  const found = await session.running(async ({ caller }) => await describedRows(context, asked, caller))
  const count = Math.max(types.length, found.types.length)
  const all = Array.from({ length: count }, (_, at) => types[at] || (found.types[at] ?? unknownOid))
  return { types: all, description: found.description }
}

const unknownOid = 705

/** The account whose datasets have bare names: the first of the search path that may be one, else that of the database. */
function accountOf({ parts: { settings, account } }: SessionView): string | undefined {
  const names = settings
    .get('search_path')
    .split(',')
    .map((name) => name.trim().replaceAll(/^["']|["']$/g, ''))
  return names.find((name) => !/^(?:|\$user|public|pg_catalog|information_schema)$/i.test(name)) ?? account
}
