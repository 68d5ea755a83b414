// Opens the rows of a portal, in the form that its client wants.

import { NodeError } from '../../libraries/base/errors.ts'
import { withConstants, writtenOids } from '../../libraries/pgwire/constants.ts'
import { sampleOf } from '../../libraries/pgwire/values.ts'
import type { Portal, Prepared } from './portals.ts'
import { describedRows, OpenRows, type RowForm, type RowsAsked } from './rows.ts'
import type { SessionView } from './session-view.ts'

/** The address of a module of the library, as the process of the engine loads it. */
export const moduleOf = (name: string): string =>
  new URL(`../../libraries/pgwire/${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href

/** Rows as text, under the types that the answer has. */
const rowsForm: RowForm = { name: 'PgRows', module: moduleOf('rows') }

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
  const { kept } = session.transaction
  const statement = withValues(portal.prepared, portal.values)
  return await session.running(async ({ caller }) => {
    const asked = { ...statement, form, account, kept, ...(limit !== undefined && { limit }) }
    return await OpenRows.open(context, asked, caller)
  }, portal.ending)
}

/** A statement with its values, those in it that only a constant says whole. */
function withValues(
  { sql, types }: Pick<Prepared, 'sql' | 'types'>,
  values: Portal['values'],
): Pick<RowsAsked, 'sql' | 'values'> {
  return types.some((oid) => writtenOids.has(oid))
    ? { sql: withConstants(sql, values, types), values: [] }
    : { sql, values }
}

/** What a statement takes and gives with these values, or without any; nothing is run. Throws as the statement. */
export async function describedWith(
  session: SessionView,
  prepared: Pick<Prepared, 'sql' | 'types'>,
  values: Portal['values'],
): ReturnType<typeof describedRows> {
  const [account, { kept }] = [accountOf(session), session.transaction]
  const asked = { ...withValues(prepared, values), form: rowsForm, account, kept }
  return await session.running(async ({ caller }) => await describedRows(session.parts.context, asked, caller))
}

/** What a statement takes and gives: the types that its client said stay. Throws as the statement. */
export async function describedStatement(
  session: SessionView,
  { sql, types }: Prepared,
): Promise<{ readonly types: readonly number[]; readonly description: Uint8Array }> {
  const found = await describedWith(session, { sql, types: [] }, [])
  const count = Math.max(types.length, found.types.length)
  const all = Array.from({ length: count }, (_, at) => types[at] || (found.types[at] ?? unknownOid))
  // Types of columns may follow from values: those of the types of parameters tell them, where such a value is taken.
  for (const unknown of all.length > 0 ? ['', undefined] : []) {
    const values = all.map((oid, at) => sampleOf(at + 1, oid, unknown))
    try {
      const { description } = await describedWith(session, { sql, types: all }, values)
      return { types: all, description }
    } catch (error) {
      if (!(error instanceof NodeError && error.kind.startsWith('Sql'))) throw error
    }
  }
  return { types: all, description: found.description }
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
