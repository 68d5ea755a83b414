// One session: its messages in order, its transaction, settings, statements and portals. After an error the messages up to the next
// Sync are passed over, as PostgreSQL does.

import { anonymousPrincipal, can } from '../../node/access/scopes.ts'
import { askingOf, type Caller } from '../../node/answers/pin.ts'
import { networkOf } from '../../node/http/answer.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import * as backend from '../../libraries/pgwire/backend.ts'
import { typesOf, withLists } from '../../libraries/pgwire/constants.ts'
import type { BindMessage, ClientMessage } from '../../libraries/pgwire/frontend.ts'
import { withoutDatabase } from '../../libraries/pgwire/without-database.ts'
import { PostgresFault, reportOf, severity } from '../../libraries/pgwire/report.ts'
import { type Statement, statementOf, statementsIn } from '../../libraries/pgwire/session-words.ts'
import { millisOf } from '../../libraries/pgwire/settings.ts'
import { Transaction } from '../../libraries/pgwire/transaction.ts'
import { parameterOf } from '../../libraries/pgwire/values.ts'
import { closePortal, newPortal, type Portal, Portals, type Prepared } from './portals.ts'
import { endedBy } from './rows.ts'
import { accountOf, describedStatement } from './open-portal.ts'
import { described, runPortal } from './run.ts'
import type { Running, SessionParts, SessionView } from './session-view.ts'
import { WireClosed } from './wire.ts'

export class Session implements SessionView {
  readonly parts: SessionParts
  readonly transaction = new Transaction()
  readonly portals = new Portals()
  lastProof: string | undefined
  isText = false
  #isPassing = false
  #running: AbortController | undefined

  constructor(parts: SessionParts) {
    this.parts = parts
  }

  /** Ends the statement that runs. */
  cancel(reason: 'cancelled' | 'shutdown' = 'cancelled'): void {
    this.#running?.abort(reason)
  }

  /** Answers messages until the client leaves. */
  async run(): Promise<void> {
    const { wire } = this.parts
    this.#ready()
    await wire.flush()
    try {
      for (;;) {
        const message = await wire.message()
        if (message === undefined || message.kind === 'end') return
        await this.#take(message)
        // Answers wait for a Sync, but not without end.
        await wire.relieve()
      }
    } finally {
      await this.portals.closeAll('all')
    }
  }

  async #take(message: ClientMessage): Promise<void> {
    const { wire } = this.parts
    if (message.kind === 'sync') {
      this.#isPassing = false
      if (!this.transaction.isOpen) await this.portals.closeAll('commit')
      this.#ready()
      return await wire.flush()
    }
    if (message.kind === 'flush') return await wire.flush()
    if (this.#isPassing) return
    if (message.kind === 'query') return await this.#simple(this.#withoutDatabase(message.sql))
    await this.#answer(this.#sqlOf(message), async () => await this.#extended(message))
  }

  /** The text that a message is about. */
  #sqlOf(message: ClientMessage): string {
    if (message.kind === 'parse') return message.sql
    if (message.kind === 'bind') return this.portals.sqlOf('statement', message.statement)
    if (message.kind === 'describe') return this.portals.sqlOf(message.of, message.name)
    return message.kind === 'execute' ? this.portals.sqlOf('portal', message.portal) : ''
  }

  /** Does `work`; its error is reported, and what follows is passed over. Whether it went well. Throws WireClosed. */
  async #answer(sql: string, work: () => Promise<void>, before = ''): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof WireClosed || this.parts.wire.signal.aborted) throw error
      const told = endedBy(error, this.#running?.signal.reason)
      const isOurs = !(told instanceof NodeError) && !(told instanceof PostgresFault)
      if (isOurs) this.parts.context.logger.error({ err: told }, 'A statement of a PostgreSQL client failed')
      this.parts.wire.queue(backend.errorReport(reportOf(told, sql, before)))
      this.transaction.fail()
      this.lastProof = undefined
      this.#isPassing = true
      return false
    } finally {
      this.#running = undefined
    }
  }

  #withoutDatabase(sql: string): string {
    const { account, context } = this.parts
    return sql.length > context.limits.sqlBytes ? sql : withoutDatabase(sql, account ?? 'all')
  }

  /** A text of statements; an error ends it. */
  async #simple(written: string): Promise<void> {
    const isGood = await this.#answer(written, async () => this.#demandShort(written))
    const sql = isGood ? withLists(written) : ''
    const texts = isGood ? statementsIn(sql) : []
    let at = 0
    this.isText = texts.length > 1
    for (const text of texts) {
      at = sql.indexOf(text, at)
      const work = async (): Promise<void> => {
        const prepared: Prepared = { sql: text, statement: this.#statementOf(text), types: [] }
        const portal = newPortal(prepared, [], [], false)
        try {
          await this.#execute(portal, Number.POSITIVE_INFINITY, 'simple')
        } finally {
          await closePortal(portal)
        }
      }
      if (!(await this.#answer(text, work, sql.slice(0, at)))) break
      await this.parts.wire.relieve()
      at += text.length
    }
    this.#isPassing = false
    this.isText = false
    if (!this.transaction.isOpen) await this.portals.closeAll('commit')
    this.#ready()
    await this.parts.wire.flush()
  }

  async #extended(message: ClientMessage): Promise<void> {
    const { wire } = this.parts
    switch (message.kind) {
      case 'parse':
        await this.prepare(message.name, this.#withoutDatabase(message.sql), message.types)
        return wire.queue(backend.parsed)
      case 'bind':
        await this.#bind(message)
        return wire.queue(backend.bound)
      case 'describe':
        return await this.#describe(message.of, message.name)
      case 'execute': {
        const most = message.rows > 0 ? message.rows : Number.POSITIVE_INFINITY
        return await this.#execute(this.portals.portal(message.portal), most, 'extended')
      }
      case 'close':
        if (message.of === 'statement') this.portals.deallocate(message.name)
        else await this.portals.close(message.name)
        return wire.queue(backend.closed)
      case 'call':
        throw new PostgresFault('0A000', 'Function calls are not supported.')
      default:
      // Copy data without a copy is passed over, as PostgreSQL does.
    }
  }

  async prepare(name: string, written: string, types: readonly number[]): Promise<void> {
    this.#demandShort(written)
    const sql = withLists(written)
    const texts = statementsIn(sql)
    if (texts.length > 1) throw new PostgresFault('42601', 'cannot insert multiple commands into a prepared statement')
    const statement = this.#statementOf(sql)
    this.#demandGood(statement.kind)
    if (statement.kind === 'select') {
      const { replica } = this.parts.context
      await this.running(async ({ caller }) => await replica.engine.analyze(sql, askingOf(replica.catalog, caller)))
    }
    const hasValues = ['select', 'declare', 'config'].includes(statement.kind)
    this.portals.prepare(name, { sql, statement, types: hasValues ? typesOf(sql, types) : types })
  }

  async #bind({ portal, statement, formats, values, resultFormats }: BindMessage): Promise<void> {
    const prepared = this.portals.statement(statement)
    this.#demandGood(prepared.statement.kind)
    if (values.length !== prepared.types.length) {
      const message = `bind message supplies ${values.length} parameters, but prepared statement "${statement.slice(0, 63)}" requires ${prepared.types.length}`
      throw new PostgresFault('08P01', message)
    }
    if (formats.length > 1 && formats.length !== values.length) {
      throw new PostgresFault(
        '08P01',
        `bind message has ${formats.length} parameter formats but ${values.length} parameters`,
      )
    }
    const { sqlBytes } = this.parts.context.limits
    // As text and in the statement they have a limit of their own; few values have less text than a quarter of their bytes.
    if (values.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0) > 4 * sqlBytes)
      throw new PostgresFault('54000', `The parameters have more than ${4 * sqlBytes} bytes.`)
    const formatAt = (at: number): number => formats[formats.length === 1 ? 0 : at] ?? 0
    const bound = values.map((bytes, at) => parameterOf(at + 1, prepared.types[at] ?? 0, formatAt(at), bytes))
    if (resultFormats.some((format) => format !== 0 && format !== 1))
      throw new PostgresFault('08P01', 'unsupported format code')
    const binary = resultFormats.map((format) => format === 1)
    await this.portals.open(portal, newPortal(prepared, bound, binary, false))
  }

  async #describe(of: 'statement' | 'portal', name: string): Promise<void> {
    const { wire } = this.parts
    if (of === 'portal') {
      const portal = this.portals.portal(name)
      this.#demandGood(portal.prepared.statement.kind)
      return wire.queue(await described(this, portal))
    }
    const prepared = this.portals.statement(name)
    this.#demandGood(prepared.statement.kind)
    if (prepared.statement.kind !== 'select') {
      wire.queue(backend.parameterTypes(prepared.types))
      return wire.queue(await described(this, newPortal(prepared, [], [], false)))
    }
    const { types, description } = await describedStatement(this, prepared)
    this.portals.tell(name, { types, told: backend.columnTypes(description) })
    wire.queue(backend.parameterTypes(types))
    wire.queue(description)
  }

  async #execute(portal: Portal, most: number, how: 'simple' | 'extended'): Promise<void> {
    this.#demandGood(portal.prepared.statement.kind)
    await runPortal(this, portal, { most, how })
  }

  /** Before anything is done with it. Throws PostgresFault 54000. */
  #demandShort(sql: string): void {
    const { sqlBytes } = this.parts.context.limits
    if (sql.length > sqlBytes) throw new PostgresFault('54000', `The text has more than ${sqlBytes} bytes (sqlBytes).`)
  }

  /** What is no statement is told first, then that a transaction has failed. */
  #statementOf(sql: string): Statement {
    try {
      return statementOf(sql)
    } catch (error) {
      if (error instanceof PostgresFault && error.state !== '42601') this.transaction.demandGood()
      throw error
    }
  }

  /** In a transaction that has failed only its end is heard. */
  #demandGood(kind: string): void {
    if (!['commit', 'rollback', 'rollback to', 'empty'].includes(kind)) this.transaction.demandGood()
  }

  async running<T>(work: (running: Running) => Promise<T>, ending = new AbortController()): Promise<T> {
    const { context, login, wire, settings, account, processId } = this.parts
    const principal = await login.principal()
    this.#running = ending
    const timeoutMs = millisOf(settings.get('statement_timeout'))
    const over = new AbortController()
    void (
      timeoutMs > 0 &&
      context.clock.sleep(timeoutMs, over.signal).then(() => over.signal.aborted || ending.abort('timeout'))
    )
    const key = principal.tokenId === undefined ? ['anonymous', networkOf(wire.address)] : [principal.tokenId]
    const room = context.answers.open(key[0] ?? '')
    const reader = context.anonymousRead || principal.tokenId !== undefined ? principal : anonymousPrincipal(false)
    const current = accountOf(this)
    const caller: Caller = {
      key,
      mayRead: (dataset) => can(reader, 'read', dataset),
      signal: AbortSignal.any([ending.signal, wire.signal]),
      room,
      connection: {
        database: account ?? 'all',
        user: login.user,
        version: `PostgreSQL ${settings.get('server_version')}`,
        processId,
        path: current === undefined ? undefined : [current],
        settings: Object.fromEntries(settings.all().map(([name, value]) => [name.toLowerCase(), value])),
      },
    }
    try {
      return await work({ caller, ending })
    } finally {
      over.abort('over')
      room.close()
    }
  }

  readonly notice: SessionView['notice'] = (word, state, message) => {
    const least = this.parts.settings.get('client_min_messages')
    const isHeard =
      word === 'WARNING' ? !/^(?:error|fatal|panic)$/.test(least) : /^(?:debug.?|info|log|notice)$/.test(least)
    if (isHeard) this.parts.wire.queue(backend.notice({ ...severity(word), C: state, M: message }))
  }

  readonly tell: SessionView['tell'] = (names) => {
    const { wire, settings } = this.parts
    for (const name of names) wire.queue(backend.parameterStatus(...settings.status(name)))
  }

  #ready(): void {
    this.parts.wire.queue(backend.ready(this.transaction.letter))
  }
}
