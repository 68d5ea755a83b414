// Opens the rows of a portal, in the form that its client wants.

import { NodeError } from '../../libraries/base/errors.ts'
import { withConstants, writtenOids } from '../../libraries/pgwire/constants.ts'
import { sampleOf } from '../../libraries/pgwire/values.ts'
import { newPortal, type Portal, type Prepared } from './portals.ts'
import { describedRows, OpenRows, type RowForm } from './rows.ts'
import type { SessionView } from './session-view.ts'

/** The address of a module of the library, as the process of the engine loads it. */
export const moduleOf = (name: string): string =>
  new URL(`../../libraries/pgwire/${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href

/** Rows as text, under the types that the answer has. */
export const rowsForm: RowForm = { name: 'PgRows', module: moduleOf('rows') }

/** The rows of a portal, begun where they are not yet. */
export async function opened(session: SessionView, portal: Portal, limit?: number): Promise<OpenRows> {
  if (portal.rows !== undefined) return portal.rows
  const { binaryColumns, prepared } = portal
  portal.rows = await openRows(
    session,
    portal,
    { ...rowsForm, postgres: { binaryColumns, told: prepared.told } },
    limit,
  )
  return portal.rows
}

export async function openRows(session: SessionView, portal: Portal, form: RowForm, limit?: number): Promise<OpenRows> {
  const { context } = session.parts
  const account = accountOf(session)
  const { sql, types } = portal.prepared
  const { kept } = session.transaction
  const told = types.some((oid) => writtenOids.has(oid))
    ? { sql: withConstants(sql, portal.values, types), values: [] }
    : { sql, values: portal.values }
  return await session.running(async ({ caller }) => {
    const asked = { ...told, form, account, kept, ...(limit !== undefined && { limit }) }
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
  const asked = { sql, values: [], form: rowsForm, account, kept: session.transaction.kept }
  const found = await session.running(async ({ caller }) => await describedRows(context, asked, caller))
  const count = Math.max(types.length, found.types.length)
  const all = Array.from({ length: count }, (_, at) => types[at] || (found.types[at] ?? unknownOid))
  return { types: all, description: (all.length > 0 && (await shownBySample(session, sql, all))) || found.description }
}

/** The RowDescription with values of the types of parameters, since types of columns may follow from them; undefined where all such fail. */
async function shownBySample(
  session: SessionView,
  sql: string,
  types: readonly number[],
): Promise<Uint8Array | undefined> {
  for (const unknown of ['', undefined]) {
    const values = types.map((oid, at) => sampleOf(at + 1, oid, unknown))
    const portal = newPortal({ sql, statement: { kind: 'select', sql }, types }, values, [], false)
    try {
      const rows = await openRows(session, portal, rowsForm, 0)
      await rows.close()
      return rows.description
    } catch (error) {
      if (!(error instanceof NodeError && error.kind.startsWith('Sql'))) throw error
    }
  }
  return undefined
}

const unknownOid = 705

/** The account whose datasets have bare names: the first of the search path that may be one, else that of the database. */
export function accountOf({ parts: { settings, account } }: SessionView): string | undefined {
  const names = settings
    .get('search_path')
    .split(',')
    .map((name) => name.trim().replaceAll(/^["']|["']$/g, ''))
  return names.find((name) => !/^(?:|\$user|public|pg_catalog|information_schema)$/i.test(name)) ?? account
}
