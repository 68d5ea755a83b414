// What each statement of a session does, and what its client is told: rows, a tag, or what a setting is.

import * as backend from '../../libraries/pgwire/backend.ts'
import { PostgresFault } from '../../libraries/pgwire/report.ts'
import { type CopyFormat, type Statement, statementOf } from '../../libraries/pgwire/session-words.ts'
import { parameterOf } from '../../libraries/pgwire/values.ts'
import { moduleOf, opened, openRows } from './open-portal.ts'
import { newPortal, type Portal, type Prepared } from './portals.ts'
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

/** What a portal gives, as one message; `alone`: nobody asks for its rows. Throws as the statement. */
export async function described(session: SessionView, portal: Portal, how?: 'alone'): Promise<Uint8Array> {
  const { statement } = portal.prepared
  const columns = textColumnsOf(statement)
  if (columns !== undefined) return backend.textRows(columns, [])
  if (statement.kind === 'execute') return await described(session, await prepared(session, statement), how)
  if (statement.kind === 'fetch') {
    const { rows } = session.portals.portal(statement.name)
    return rows?.description ?? backend.noData
  }
  if (statement.kind !== 'select') return backend.noData
  return (await opened(session, portal, how === 'alone' ? 0 : undefined)).description
}

/** The columns of what the door answers by itself. */
function textColumnsOf(statement: Statement): readonly string[] | undefined {
  if (statement.kind === 'proof') return ['proofstream_proof']
  if (statement.kind !== 'show') return undefined
  return statement.name === undefined ? ['name', 'setting', 'description'] : [statement.name]
}

/** Runs a portal, or goes on with it. Throws what the statement throws, and WireClosed. */
export async function runPortal(session: SessionView, portal: Portal, how: How): Promise<void> {
  const { statement } = portal.prepared
  const { wire } = session.parts
  if (statement.kind === 'empty') return wire.queue(backend.emptyQuery)
  if (statement.kind === 'select') return await sendRows(session, portal, { ...how, command: 'SELECT' })
  if (statement.kind === 'copy') return await copy(session, portal, statement)
  if (statement.kind === 'fetch' || statement.kind === 'move') return await fetchRows(session, statement, how)
  if (statement.kind === 'execute')
    return await sendRows(session, await prepared(session, statement), { ...how, command: 'SELECT' })
  if (statement.kind === 'show') {
    const shown = how.how === 'simple' ? backend.textRows : rowsAlone
    const { settings } = session.parts
    const rows =
      statement.name === undefined
        ? settings.all().map(([name, value]) => [name, value, ''])
        : [[settings.get(statement.name)]]
    wire.queue(shown(textColumnsOf(statement) ?? [], rows))
    return wire.queue(backend.complete('SHOW'))
  }
  if (statement.kind === 'proof') {
    const shown = how.how === 'simple' ? backend.textRows : rowsAlone
    wire.queue(shown(['proofstream_proof'], [[await proofOf(session, statement.sql)]]))
    return wire.queue(backend.complete('SELECT 1'))
  }
  wire.queue(backend.complete(await inSession(session, statement)))
}

/** Rows without what describes them. */
function rowsAlone(columns: readonly string[], rows: readonly (readonly string[])[]): Uint8Array {
  return backend.textRows(columns, rows).subarray(backend.textRows(columns, []).length)
}

/** A portal of a statement that was prepared by SQL. */
async function prepared(
  session: SessionView,
  { name, values }: Extract<Statement, { kind: 'execute' }>,
): Promise<Portal> {
  const found = session.portals.statement(name)
  const bound = values.map((text, at) =>
    parameterOf(at + 1, found.types[at] ?? 0, 0, text === null ? undefined : Buffer.from(text)),
  )
  return newPortal(found, bound, [], false)
}

async function sendRows(
  session: SessionView,
  portal: Portal,
  { most, how, command }: How & { readonly command: 'SELECT' | 'FETCH' },
): Promise<void> {
  const { wire } = session.parts
  if (portal.isDone) return wire.queue(backend.complete(`${command} 0`))
  const rows = await opened(session, portal)
  if (how === 'simple') wire.queue(rows.description)
  const sent = await session.running(
    async () => await rows.next(most, async (messages) => await wire.send(messages)),
    portal.ending,
  )
  if (!rows.isOver && command === 'SELECT') return wire.queue(backend.suspended)
  if (rows.isOver) {
    portal.isDone = true
    tellProof(session, portal, rows.source)
  }
  wire.queue(backend.complete(`${command} ${sent}`))
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
  const shape = await openRows(session, of, { name: 'PgRows', module: moduleOf('rows'), binaryColumns: [] }, 0)
  const columns = new DataView(shape.description.buffer, shape.description.byteOffset).getInt16(5)
  await shape.close()
  const form = { name: copyNames[format], module: moduleOf('copy'), binaryColumns: [], hasHeader }
  const rows = await openRows(session, of, form)
  portal.rows = rows
  wire.queue(backend.copyOut(columns, format === 'binary'))
  let count = 0
  await session.running(async () => {
    count = await rows.copy(async (messages) => await wire.send(messages))
  }, portal.ending)
  wire.queue(backend.copyDone)
  tellProof(session, of, rows.source)
  wire.queue(backend.complete(`COPY ${count}`))
}

/** Does what a statement says of the session itself; its tag. */
async function inSession(session: SessionView, statement: Statement): Promise<string> {
  const { transaction, portals, parts } = session
  const { settings } = parts
  switch (statement.kind) {
    case 'begin': {
      const isolation = statement.isolation ?? isolationOf(settings.get('default_transaction_isolation'))
      if (!transaction.begin(isolation, settings.state)) {
        session.notice('WARNING', '25001', 'there is already a transaction in progress')
      }
      return 'BEGIN'
    }
    case 'commit':
    case 'rollback':
      return await ended(session, statement.kind)
    case 'savepoint':
      transaction.savepoint(statement.name, settings.state)
      return 'SAVEPOINT'
    case 'release':
      transaction.release(statement.name)
      return 'RELEASE'
    case 'rollback to':
      session.tell(settings.putBack(transaction.rollbackTo(statement.name)))
      return 'ROLLBACK'
    case 'isolate':
      if (statement.isolation === undefined) return 'SET'
      if (statement.isForSession) settings.set('default_transaction_isolation', statement.isolation)
      else transaction.isolate(statement.isolation)
      return 'SET'
    case 'set':
      // What holds for a transaction alone is put back at its end; without one it holds for nothing.
      if (statement.isLocal && !transaction.isOpen) {
        session.notice('WARNING', '25P01', 'SET LOCAL can only be used in transaction blocks')
      } else if (settings.set(statement.name, statement.value)) session.tell([statement.name])
      return 'SET'
    case 'reset':
      if (statement.name === undefined) session.tell(settings.reset())
      else if (settings.set(statement.name, undefined)) session.tell([statement.name])
      return 'RESET'
    case 'discard':
      if (transaction.isOpen) throw new PostgresFault('25001', 'DISCARD ALL cannot run inside a transaction block')
      if (statement.what === 'all') {
        session.tell(settings.reset())
        portals.deallocateAll()
        await portals.closeAll('all')
      }
      return `DISCARD ${statement.what.toUpperCase()}`
    case 'prepare':
      await session.prepare(statement.name, statement.sql)
      return 'PREPARE'
    case 'deallocate':
      if (statement.name === undefined) portals.deallocateAll()
      else {
        portals.statement(statement.name)
        portals.deallocate(statement.name)
      }
      return statement.name === undefined ? 'DEALLOCATE ALL' : 'DEALLOCATE'
    case 'declare':
      await declare(session, statement)
      return 'DECLARE CURSOR'
    case 'close':
      if (statement.name === undefined) await portals.closeAll('all')
      else {
        portals.portal(statement.name)
        await portals.close(statement.name)
      }
      return 'CLOSE CURSOR'
    case 'nothing':
      return statement.tag
    default:
      throw new PostgresFault('0A000', `${statement.kind} is not supported here.`)
  }
}

function isolationOf(text: string): 'read committed' | 'repeatable read' {
  return /^(?:repeatable read|serializable)$/.test(text) ? 'repeatable read' : 'read committed'
}

async function ended(session: SessionView, how: 'commit' | 'rollback'): Promise<string> {
  const { transaction, portals, parts } = session
  if (!transaction.isOpen) session.notice('WARNING', '25P01', 'there is no transaction in progress')
  const { tag, settings } = transaction.end(how)
  if (settings !== undefined) session.tell(parts.settings.putBack(settings))
  await portals.closeAll('of transaction')
  return transaction.isOpen ? tag : how === 'commit' ? tag : 'ROLLBACK'
}

/** A cursor's rows begin with it: it shows what was there then. */
async function declare(
  session: SessionView,
  { name, sql, isHeld }: Extract<Statement, { kind: 'declare' }>,
): Promise<void> {
  if (!session.transaction.isOpen && !isHeld) {
    throw new PostgresFault('25P01', 'DECLARE CURSOR can only be used in transaction blocks')
  }
  const statement = statementOf(sql)
  if (statement.kind !== 'select') throw new PostgresFault('42601', 'A cursor is of a SELECT.')
  const inner: Prepared = { sql, statement, types: [] }
  const portal = newPortal(inner, [], [], isHeld)
  await session.portals.open(name, portal)
  try {
    await opened(session, portal)
  } catch (error) {
    await session.portals.close(name)
    throw error
  }
}
