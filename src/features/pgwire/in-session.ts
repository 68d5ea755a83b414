// What statements do to the session itself: transactions, settings, prepared statements, cursors.

import { PostgresFault } from '../../libraries/pgwire/report.ts'
import { type Isolation, type Statement, statementOf } from '../../libraries/pgwire/session-words.ts'
import { opened } from './open-portal.ts'
import { newPortal, type Portal, type Prepared } from './portals.ts'
import type { SessionView } from './session-view.ts'

type Kind = Exclude<
  Statement['kind'],
  'select' | 'empty' | 'show' | 'config' | 'execute' | 'fetch' | 'move' | 'copy' | 'proof' | 'declare'
>
type Of<K> = Statement extends infer S
  ? S extends { readonly kind: infer Some }
    ? K extends Some
      ? S
      : never
    : never
  : never
type Handlers = { readonly [K in Kind]: (session: SessionView, statement: Of<K>) => string | Promise<string> }

const handlers: Handlers = {
  begin: ({ transaction, parts: { settings }, notice }, { isolation }) => {
    const wanted = isolation ?? isolationOf(settings.get('default_transaction_isolation'))
    if (!transaction.begin(wanted, settings.state))
      notice('WARNING', '25001', 'there is already a transaction in progress')
    return 'BEGIN'
  },
  commit: async (session) => await ended(session, 'commit'),
  rollback: async (session) => await ended(session, 'rollback'),
  savepoint: ({ transaction, parts }, { name }) => {
    transaction.savepoint(name, parts.settings.state)
    return 'SAVEPOINT'
  },
  release: ({ transaction }, { name }) => {
    transaction.release(name)
    return 'RELEASE'
  },
  'rollback to': ({ transaction, parts, tell }, { name }) => {
    tell(parts.settings.putBack(transaction.rollbackTo(name)))
    return 'ROLLBACK'
  },
  isolate: ({ transaction, parts, notice }, { isolation, isForSession }) => {
    if (!isForSession && !transaction.isOpen) {
      notice('WARNING', '25P01', 'SET TRANSACTION can only be used in transaction blocks')
      return 'SET'
    }
    if (isolation === undefined) return 'SET'
    if (isForSession) parts.settings.set('default_transaction_isolation', isolation)
    else transaction.isolate(isolation)
    return 'SET'
  },
  // What holds for a transaction alone is put back at its end; without one it holds for nothing.
  set: ({ transaction, parts, notice, tell }, { name, value, isLocal }) => {
    if (name.toLowerCase() === 'transaction_isolation') {
      transaction.isolate(isolationOf(value ?? ''))
      return 'SET'
    }
    const isForNothing = isLocal && !transaction.isOpen
    if (isForNothing) notice('WARNING', '25P01', 'SET LOCAL can only be used in transaction blocks')
    else if (isLocal) transaction.setLocal(name, parts.settings.state)
    else transaction.setLasting(name)
    if (!isForNothing && parts.settings.set(name, value)) tell([name])
    return 'SET'
  },
  reset: ({ parts: { settings }, tell }, { name }) => {
    if (name === undefined) tell(settings.reset())
    else if (settings.set(name, undefined)) tell([name])
    return 'RESET'
  },
  discard: async ({ transaction, portals, parts, tell }, { what }) => {
    if (what === 'all' && transaction.isOpen)
      throw new PostgresFault('25001', 'DISCARD ALL cannot run inside a transaction block')
    if (what === 'all') {
      tell(parts.settings.reset())
      portals.deallocateAll()
      await portals.closeAll('all')
    }
    return `DISCARD ${what.toUpperCase()}`
  },
  prepare: async (session, { name, sql, types }) => {
    await session.prepare(name, sql, types)
    return 'PREPARE'
  },
  deallocate: ({ portals }, { name }) => {
    if (name === undefined) {
      portals.deallocateAll()
      return 'DEALLOCATE ALL'
    }
    portals.statement(name)
    portals.deallocate(name)
    return 'DEALLOCATE'
  },
  close: async ({ portals }, { name }) => {
    if (name === undefined) {
      await portals.closeAll('all')
      return 'CLOSE CURSOR ALL'
    }
    portals.portal(name)
    await portals.close(name)
    return 'CLOSE CURSOR'
  },
  nothing: (_, { tag }) => tag,
}

/** Does what a statement says of the session itself; its tag. Throws PostgresFault. */
export async function inSession(
  session: SessionView,
  { prepared: { statement, types }, values }: Portal,
): Promise<string> {
  if (statement.kind === 'declare') {
    await declare(session, statement, { types, values })
    return 'DECLARE CURSOR'
  }
  const handler = handlerOf(statement.kind)
  if (handler === undefined) throw new PostgresFault('0A000', `${statement.kind} is not supported here.`)
  return await handler(session, statement)
}

type Handler = (session: SessionView, of: Statement) => string | Promise<string>

function handlerOf(kind: Statement['kind']): Handler | undefined {
  return (handlers as Partial<Record<Statement['kind'], Handler>>)[kind] // that of a kind takes statements of that kind
}

function isolationOf(text: string): Isolation {
  return /^(?:repeatable read|serializable)$/i.test(text) ? 'repeatable read' : 'read committed'
}

async function ended(session: SessionView, how: 'commit' | 'rollback'): Promise<string> {
  const { transaction, portals, parts, notice, tell } = session
  if (!transaction.isOpen) notice('WARNING', '25P01', 'there is no transaction in progress')
  const { tag, settings } = transaction.end(how, parts.settings.state)
  if (settings !== undefined) tell(parts.settings.putBack(settings))
  await portals.closeAll(tag === 'COMMIT' ? 'commit' : 'rollback')
  return tag
}

/** A cursor's rows begin with it: it shows what was there then. */
async function declare(
  session: SessionView,
  { name, sql, isHeld, isBinary }: Extract<Statement, { kind: 'declare' }>,
  { types, values }: Pick<Prepared, 'types'> & Pick<Portal, 'values'>,
): Promise<void> {
  if (!session.transaction.isOpen && !isHeld && !session.isText) {
    throw new PostgresFault('25P01', 'DECLARE CURSOR can only be used in transaction blocks')
  }
  const statement = statementOf(sql)
  if (statement.kind !== 'select') throw new PostgresFault('42601', 'A cursor is of a SELECT.')
  const inner: Prepared = { sql, statement, types }
  const portal = newPortal(inner, values, isBinary ? [true] : [], isHeld)
  await session.portals.open(name, portal)
  try {
    await opened(session, portal)
  } catch (error) {
    await session.portals.close(name)
    throw error
  }
}
