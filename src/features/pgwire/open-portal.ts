// Opens the rows of a portal, in the form that its client wants.

import type { Portal } from './portals.ts'
import { OpenRows, type RowForm } from './rows.ts'
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
  const { context, account } = session.parts
  const { sql } = portal.prepared
  const { kept } = session.transaction
  return await session.running(async ({ caller }) => {
    const asked = { sql, values: portal.values, form, account, kept, ...(limit !== undefined && { limit }) }
    return await OpenRows.open(context, asked, caller)
  }, portal.ending)
}
