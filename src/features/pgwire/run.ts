// What each statement of a session does, and what its client gets: rows, a tag, or a setting.

import * as backend from '../../libraries/pgwire/backend.ts'
import { PostgresFault } from '../../libraries/pgwire/report.ts'
import { type CopyFormat, type Statement, statementOf } from '../../libraries/pgwire/session-words.ts'
import { parameterOf } from '../../libraries/pgwire/values.ts'
import { inSession } from './in-session.ts'
import { describedWith, moduleOf, opened, openRows } from './open-portal.ts'
import { newPortal, type Portal } from './portals.ts'
import { proofOf, tellProof } from './proofs.ts'
import type { SessionView } from './session-view.ts'

/** How a portal is run. */
interface How {
  /** Of its rows. */
  readonly most: number
  /** In a simple query rows are described before they come. */
  readonly how: 'simple' | 'extended'
}

const copyNames = { text: 'PgCopyText', csv: 'PgCopyCsv', binary: 'PgCopyBinary' } as const

/** Each is the statement before, for a proof. */
const givesRows: ReadonlySet<Statement['kind']> = new Set(['select', 'copy', 'fetch', 'execute'])

/** What a portal gives, as one message. Throws as the statement. */
export async function described(session: SessionView, portal: Portal): Promise<Uint8Array> {
  const { statement } = portal.prepared
  const columns = textColumnsOf(statement)
  if (columns !== undefined) return backend.textRows(columns, [])
  if (statement.kind === 'execute') return await described(session, await innerOf(session, portal, statement))
  if (statement.kind === 'fetch') {
    const { rows } = session.portals.portal(statement.name)
    return rows?.description ?? backend.noData
  }
  if (statement.kind !== 'select') return backend.noData
  return (await opened(session, portal)).description
}

/** The columns of what the door answers by itself. */
function textColumnsOf(statement: Statement): readonly string[] | undefined {
  if (statement.kind === 'proof') return [statement.column]
  if (statement.kind === 'config') return statement.columns
  if (statement.kind !== 'show') return undefined
  return statement.name === undefined ? ['name', 'setting', 'description'] : [statement.name]
}

/** Runs a portal, or goes on with it. Throws what the statement throws, and WireClosed. */
export async function runPortal(session: SessionView, portal: Portal, how: How): Promise<void> {
  const { statement } = portal.prepared
  const { wire } = session.parts
  if (statement.kind === 'empty') return wire.queue(backend.emptyQuery)
  if (givesRows.has(statement.kind)) session.lastProof = undefined
  if (statement.kind === 'select') return await sendRows(session, portal, { ...how, command: 'SELECT' })
  if (statement.kind === 'copy') return await copy(session, portal, statement)
  if (statement.kind === 'fetch' || statement.kind === 'move') return await fetchRows(session, statement, how)
  if (statement.kind === 'execute') return await runPortal(session, await innerOf(session, portal, statement), how)
  const columns = textColumnsOf(statement)
  if (columns === undefined) return wire.queue(backend.complete(await inSession(session, portal)))
  const shown = how.how === 'simple' ? backend.textRows : rowsAlone
  wire.queue(shown(columns, await textRowsOf(session, portal)))
  wire.queue(backend.complete(statement.kind === 'show' ? 'SHOW' : 'SELECT 1'))
}

/** The rows of what the door answers by itself. */
async function textRowsOf(session: SessionView, portal: Portal): Promise<string[][]> {
  const { statement } = portal.prepared
  if (statement.kind === 'proof') return [[await proofOf(session, statement.sql)]]
  if (statement.kind === 'config') {
    const { value, name } = statement
    const before = statement.before === undefined ? [] : shownSettings(session, statement.before)
    const bound = typeof value === 'object' ? portal.values[value.place - 1] : undefined
    const text = typeof value === 'object' ? (bound?.type === 'NULL' ? undefined : bound?.text) : value
    const set = { ...statement, kind: 'set', value: text } as const
    await inSession(session, { ...portal, prepared: { ...portal.prepared, statement: set } })
    return [[...before, ...shownSettings(session, name)].flat()]
  }
  return shownSettings(session, statement.kind === 'show' ? statement.name : undefined)
}

function shownSettings({ parts: { settings }, transaction }: SessionView, name: string | undefined): string[][] {
  if (name === undefined) return settings.all().map(([one, value]) => [one, value, ''])
  const isolation = transaction.isolation ?? settings.get('default_transaction_isolation')
  return [[name.toLowerCase() === 'transaction_isolation' ? isolation : settings.get(name)]]
}

/** Rows without what describes them. */
function rowsAlone(columns: readonly string[], rows: readonly (readonly string[])[]): Uint8Array {
  return backend.textRows(columns, rows).subarray(backend.textRows(columns, []).length)
}

/** The portal of a statement that was prepared by SQL: one, however often it goes on. */
async function innerOf(
  session: SessionView,
  portal: Portal,
  { name, values }: Extract<Statement, { kind: 'execute' }>,
): Promise<Portal> {
  if (portal.inner !== undefined) return portal.inner
  const found = session.portals.statement(name)
  const bound = values.map((text, at) =>
    parameterOf(at + 1, found.types[at] ?? 0, 0, text === null ? undefined : Buffer.from(text)),
  )
  portal.inner = { ...newPortal(found, bound, portal.binaryColumns, false), ending: portal.ending }
  return portal.inner
}

async function sendRows(
  session: SessionView,
  portal: Portal,
  { most, how, command }: How & { readonly command: 'SELECT' | 'FETCH' },
): Promise<void> {
  const { wire } = session.parts
  demandWhole(portal)
  const rows = await opened(session, portal)
  if (how === 'simple') wire.queue(rows.description)
  if (portal.isDone) return wire.queue(backend.complete(`${command} 0`))
  portal.isBroken = true
  const sent = await session.running(
    async () => await rows.next(most, async (messages) => await wire.send(messages)),
    portal.ending,
  )
  portal.isBroken = false
  if (!rows.isOver && command === 'SELECT') return wire.queue(backend.suspended)
  if (rows.isOver) {
    portal.isDone = true
    tellProof(session, portal, rows)
  }
  wire.queue(backend.complete(`${command} ${sent}`))
}

/** Throws PostgresFault 55000. */
function demandWhole({ isBroken }: Portal): void {
  if (isBroken) throw new PostgresFault('55000', 'The portal cannot be run any more: its statement has failed.')
}

async function fetchRows(
  session: SessionView,
  { kind, name, rows }: Extract<Statement, { kind: 'fetch' | 'move' }>,
  { how }: How,
): Promise<void> {
  const { wire } = session.parts
  const portal = session.portals.portal(name)
  const most = rows === 'all' ? Number.POSITIVE_INFINITY : rows
  if (kind === 'fetch') return await sendRows(session, portal, { most, how, command: 'FETCH' })
  demandWhole(portal)
  const open = await opened(session, portal)
  const passed = await session.running(async () => await open.next(most, async () => {}), portal.ending)
  wire.queue(backend.complete(`MOVE ${passed}`))
}

async function copy(
  session: SessionView,
  portal: Portal,
  { sql, format: { format, hasHeader } }: { readonly sql: string; readonly format: CopyFormat },
): Promise<void> {
  const { wire } = session.parts
  const inner = { sql, statement: statementOf(sql), types: portal.prepared.types }
  if (inner.statement.kind !== 'select') throw new PostgresFault('0A000', 'COPY takes a SELECT or a table.')
  const of = { ...newPortal(inner, portal.values, [], false), ending: portal.ending }
  const { description } = await describedWith(session, inner, portal.values)
  const columns = new DataView(description.buffer, description.byteOffset).getInt16(5)
  const form = { name: copyNames[format], module: moduleOf('copy'), postgres: { header: hasHeader } }
  const rows = await openRows(session, of, form)
  portal.rows = rows
  wire.queue(backend.copyOut(columns, format === 'binary'))
  let count = 0
  await session.running(async () => {
    count = await rows.copy(async (messages) => await wire.send(messages))
  }, portal.ending)
  wire.queue(backend.copyDone)
  tellProof(session, of, rows)
  wire.queue(backend.complete(`COPY ${count}`))
}
