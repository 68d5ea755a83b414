// One locked instance of DuckDB in a child process: gate, views, preparation of the caller's own text, the rewritten
// statement, its run, its rendering. One query at a time.

import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api'
import { assert, must } from '../../../libraries/base/assert.ts'
import { defined } from '../../../libraries/base/collections.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { OutputSchema } from '../../../libraries/model/schema.ts'
import type { Parameter } from '../../../libraries/model/parameters.ts'
import { jsonLayoutOf } from '../../../libraries/columnar/outputs/layouts.ts'
import { describeStatement } from './describe.ts'
import { Footers } from './footers.ts'
import { withListings } from './listings.ts'
import { type Rendered, renderResult } from './results.ts'
import { type StreamSink, streamResult } from './stream.ts'
import { outputSchemaOf } from './types.ts'
import { Views } from './views.ts'
import { areManySmall, HeldLists, type HeldTable } from '../process/file-lists.ts'
import { cancelled } from '../process/cancelled.ts'
import { checkDuplicates, checkJob, demandOffsetOrder, isLasting, raced } from '../../../libraries/sql/demands.ts'
import { optimizersLeftOut } from '../../../libraries/sql/optimizers.ts'
import { notAllowed } from '../../../libraries/sql/gate.ts'
import {
  type Case,
  type ChildSettings,
  type PlainJob,
  type PlainStreamJob,
  splitRows,
  type StreamEnd,
} from '../messages.ts'
import { type ReadStatement, readStatement } from '../../../libraries/pgwire/catalogue/read-statement.ts'
import type { Analysis, Judgement, Stability } from '../../../libraries/sql/statement.ts'
import { maySplit } from '../../../libraries/sql/many-threads.ts'
import { columnsOf, narrowingOf } from '../../../libraries/sql/narrowing.ts'
import type { Printable } from '../../../libraries/sql/printable.ts'
import { keepsOffsetOrder, Rewriter, unfaithful, withTotalOrder } from '../../../libraries/sql/rewriter.ts'
import { isWithin } from '../../../libraries/sql/selects.ts'
import { errorOfEngine } from '../../../libraries/sql/sql-errors.ts'
import type { QuotedSql } from '../../../libraries/sql/offset-word.ts'
import { parameterPlaces, withTypes } from '../../../libraries/sql/sql-text.ts'
import {
  isBlockFree,
  lastTieOf,
  mayRace,
  showsRace,
  stabilityOf,
  takesOrder,
} from '../../../libraries/sql/stability.ts'

interface Statement extends ReadStatement {
  /** What it was rewritten to, by kind of job and columns of views. */
  readonly plans: Map<string, Plan>
}

/** What preparing and rewriting a statement over given views gave. */
interface Plan {
  /** Output names of the caller's own text. */
  readonly names: readonly string[]
  readonly types: readonly string[]
  /** The rewritten statement; the caller's own text where nothing was rewritten. */
  readonly sql: string
  readonly stability: Stability
  /** Its answer is the same with any number of threads. */
  readonly isSplit: boolean
}

/** Settings that a job has its own values of (node/engine/duckdb/open.ts). */
type Setting = 'threads' | 'disabled_optimizers' | 'enable_external_file_cache'

/** What a plan depends on, beside the statement and its views. */
type Wanted = Pick<PlainJob, 'analysis' | 'tables' | 'reproducible' | 'ordered' | 'skip' | 'parameters'> & {
  readonly limit: number | undefined
  /** Absent where its rows leave while they are found. */
  readonly threads?: number
}

/** What a text gave that ran before its plan was there. */
type Tried = { readonly sql: string } & ({ readonly result: DuckDBResult } | { readonly error: unknown })

export interface SessionAnswer extends Rendered {
  readonly schema: OutputSchema | undefined
  readonly stability: Stability
}

/** Names of columns cost time in the square of their number. */
const maxColumns = 10_000

/** Statements remembered, and plans of each. */
const keptStatements = 256
const keptPlans = 16
/** Plans for parameters of more text are not remembered. */
const keptCharacters = 4096

export class DuckDbSession {
  readonly #connection: DuckDBConnection
  readonly #settings: ChildSettings
  readonly #views: Views
  readonly #lists = new HeldLists()
  readonly #footers = new Footers()
  readonly #statements = new Map<string, Statement>()
  readonly #trusted = new Map<string, DuckDBPreparedStatement>()
  /** What jobs have set of the engine. */
  readonly #now: Record<Setting, string> = { threads: '1', disabled_optimizers: '', enable_external_file_cache: 'true' }
  #tried: Tried | undefined
  #isInterrupted = false
  readonly #rewriter = new Rewriter(async (sql, parameter) => await this.#scalar(sql, parameter))

  constructor(connection: DuckDBConnection, settings: ChildSettings) {
    this.#connection = connection
    this.#settings = settings
    this.#views = new Views(connection)
  }

  /** Parses and gates a statement. Throws NodeError. */
  async analyze(sql: string, speaks?: Analysis['speaks']): Promise<Analysis> {
    const { node, gate } = await this.#statement(sql, speaks)
    const { tables, volatile, catalogue, listings, parameters, aliases } = gate
    const places = parameters.length === 0 ? undefined : parameterPlaces(sql)
    const placed = parameters.map((name) => {
      const position = places?.get(name)
      return { name, ...(position && { position }) }
    })
    const isOne = tables.length === 1 && catalogue === undefined
    const narrowing = isOne ? narrowingOf(node, aliases) : undefined
    const columns = isOne ? columnsOf(node, aliases) : undefined
    const isProvable = (volatile ?? catalogue ?? gate.machineDependent) === undefined
    const isRaced = mayRace(node)
    const found = { sql, tables, volatile, catalogue, isRaced, isProvable, listings, parameters: placed }
    return { ...found, narrowing, columns, ...defined({ speaks }) }
  }

  /** What an analysed statement is over datasets of these columns. Throws NodeError. */
  async judge({ sql, tables, parameters, rows }: Case): Promise<Judgement> {
    const statement = await this.#statement(sql)
    const { node, sql: text, gate } = statement
    const meant = parameters.length === 0 ? node : (await this.#rewriter.printable(node, text, parameters)).node
    return { isBlockFree: isLasting(gate) && isBlockFree(meant, tables, rows), takesOrder: takesOrder(node) }
  }

  /** Runs a job to its end. Throws NodeError. */
  async run(job: PlainJob): Promise<SessionAnswer> {
    this.#isInterrupted = false
    try {
      return await this.#listing(job, async () => await this.#run(job))
    } finally {
      this.#tried = undefined
    }
  }

  async #run(job: PlainJob): Promise<SessionAnswer> {
    const plan = await this.#planOf(job, await this.#tablesOf(job))
    if (jsonLayoutOf(job.dataFormat)?.isKeyed === true) checkDuplicates(plan.names)
    const options = { names: plan.names, resultBytes: this.#settings.resultBytes, ...job }
    const result = await this.#guard(undefined, async () => await this.#found(plan, job))
    const changed = result.columnTypes().find((type, index) => String(type) !== plan.types[index])
    if (changed !== undefined) throw unfaithful(`a column of type ${String(changed)}`)
    const schema = job.wantSchema ? outputSchemaOf(plan.names, result.columnTypes()) : undefined
    const rendered =
      (await renderResult(result, options)) ?? (await renderResult(await this.#foundAgain(plan.sql), options))
    return { ...must(rendered, 'what was run to its end is there'), schema, stability: plan.stability }
  }

  /** The rows of a statement that failed when some of them were there: nothing tells why but another run, on one thread. */
  async #foundAgain(sql: string): Promise<DuckDBResult> {
    if (this.#isInterrupted) throw cancelled()
    return await this.#guard(undefined, async () => {
      await this.#set('threads', '1')
      return await this.#connection.run(sql)
    })
  }

  /** The rows of a plan. What fails on several threads is run on one, whose outcome counts. Throws the engine's errors. */
  async #found(
    { sql, isSplit }: Pick<Plan, 'sql' | 'isSplit'>,
    { tables, threads }: Pick<PlainJob, 'tables' | 'threads'>,
  ): Promise<DuckDBResult> {
    const tried = this.#tried?.sql === sql ? this.#tried : undefined
    if (tried !== undefined && 'error' in tried) throw tried.error
    if (tried !== undefined) return tried.result
    const isLong = tables.reduce((sum, { rows = 0 }) => sum + rows, 0) >= splitRows
    // mutant: threads split what the order of rows decides
    const wanted = isSplit ? (isLong ? threads : Math.min(threads, Number(this.#now.threads))) : 1
    await this.#set('threads', String(wanted))
    try {
      return await this.#connection.stream(sql)
    } catch (error) {
      if (this.#isInterrupted || wanted === 1) throw error
      await this.#set('threads', '1')
      return await this.#connection.stream(sql)
    }
  }

  /** Whether the engine keeps footers of many files that no statement has read lately. */
  get isStale(): boolean {
    return this.#footers.areStale
  }

  /** Gives free memory back to the system, as the engine does when it ends a thread. No job may run. Throws its errors. */
  async giveBack(): Promise<void> {
    await this.#set('threads', '2')
    await this.#set('threads', '1')
  }

  async #set(name: Setting, value: string): Promise<void> {
    if (this.#now[name] === value) return
    await this.#connection.run(`SET ${name} = ${value}`)
    this.#now[name] = value
  }

  /** Runs a job and writes its rows as a file while they are found, into the sink that `open` gives. Throws NodeError. */
  async stream(job: PlainStreamJob, open: (stability: Stability) => StreamSink): Promise<StreamEnd> {
    return await this.#listing(job, async () => await this.#stream(job, open))
  }

  async #stream(job: PlainStreamJob, open: (stability: Stability) => StreamSink): Promise<StreamEnd> {
    const tables = await this.#tablesOf(job)
    if (job.describes === true) return await this.#describe(job, tables, open)
    if (job.inOffsetOrder) demandOffsetOrder((await this.#statement(job.analysis.sql, job.analysis.speaks)).node)
    const plan = await this.#planOf({ ...job, reproducible: false }, tables)
    if (job.analysis.speaks !== 'postgres') checkDuplicates(plan.names)
    const { exportBytes, resultBytes: rowBytes } = this.#settings
    const options = { ...job, names: plan.names, exportBytes, rowBytes }
    const sink = open(plan.stability)
    return await this.#guard(undefined, async () => await streamResult(this.#connection, plan.sql, sink, options))
  }

  async #describe(
    job: PlainStreamJob,
    tables: readonly HeldTable[],
    open: (stability: Stability) => StreamSink,
  ): Promise<StreamEnd> {
    const statement = await this.#statement(job.analysis.sql, job.analysis.speaks)
    checkJob(statement, { ...job, reproducible: false })
    await this.#guard(undefined, async () => await this.#views.ensure(tables))
    const { sql, node, gate } = statement
    const values = job.parameters ?? gate.parameters.map((name): Parameter => ({ name, type: 'NULL', text: 'null' }))
    const rewritten = await this.#rewriter.printable(node, sql, values)
    const isOwn = job.parameters === undefined && !rewritten.checksJson && !rewritten.readsListings
    const prepared = await this.#prepare(statement, isOwn ? { ...rewritten, hasParameters: false } : rewritten, values)
    try {
      return await describeStatement(prepared, open('pinned'), job)
    } finally {
      prepared.destroySync()
    }
  }

  /** Ends the query in flight with an error; it may take a while or never happen. */
  interrupt(): void {
    this.#isInterrupted = true
    this.#connection.interrupt()
  }

  /** Does `action` while what the statement asks of the catalog is there. */
  async #listing<T>(
    { analysis, listings = [] }: Pick<PlainJob, 'analysis' | 'listings'>,
    action: () => Promise<T>,
  ): Promise<T> {
    const { functions } = (await this.#statement(analysis.sql, analysis.speaks)).gate
    if (listings.length === 0 && functions.length === 0) return await action()
    const there = { listings, functions }
    return await this.#guard(undefined, async () => await withListings(this.#connection, there, action))
  }

  async #tablesOf(job: PlainJob | PlainStreamJob): Promise<readonly HeldTable[]> {
    const tables = this.#lists.take(job)
    this.#footers.read(tables.flatMap((table) => table.files()))
    if (job.forget) await this.#guard(undefined, async () => await this.#views.forgetLists())
    return tables
  }

  /** What the statement of a job was rewritten to, over the views that it needs. */
  async #planOf(job: Wanted, tables: readonly HeldTable[]): Promise<Plan> {
    const statement = await this.#statement(job.analysis.sql, job.analysis.speaks)
    checkJob(statement, job)
    await this.#set('enable_external_file_cache', String(!areManySmall(tables)))
    const views = await this.#guard(undefined, async () => await this.#views.ensure(tables))
    await this.#set('disabled_optimizers', `'${optimizersLeftOut(statement.node)}'`)
    const values = JSON.stringify(job.parameters ?? [])
    const key = [job.ordered, job.reproducible, job.skip, job.limit, views, values].join('\n')
    const plan = statement.plans.get(key) ?? (await this.#makePlan(statement, job))
    if (values.length <= keptCharacters) remember(statement.plans, { key, value: plan, most: keptPlans })
    return plan
  }

  async #statement(text: string, speaks?: Analysis['speaks']): Promise<Statement> {
    const key = JSON.stringify([text, speaks])
    const known = this.#statements.get(key)
    if (known !== undefined) return known
    const read = await readStatement(this.#rewriter, text, speaks)
    const statement = { ...read, plans: new Map<string, Plan>() }
    remember(this.#statements, { key, value: statement, most: keptStatements })
    return statement
  }

  /** Names, syntax and name errors come from the caller's own text; what runs is the rewritten one. */
  async #makePlan(statement: Statement, job: Wanted): Promise<Plan> {
    const { sql, node, gate } = statement
    const rewritten = await this.#rewriter.printable(node, sql, job.parameters)
    const { node: written, checksJson, readsListings } = rewritten
    const meant = rewritten.hasParameters ? written : node
    const isSplit = (job.reproducible || Boolean(job.ordered)) && maySplit(meant, job.tables)
    const isOrdered = job.reproducible || job.ordered === true || isSplit
    const stability = isLasting(gate) ? stabilityOf(meant, job.tables, job) : 'pinned'
    const isRaced = job.reproducible && showsRace(meant, job.tables)
    // Nothing is rewritten: the tree that was judged is that of the text.
    const isAsWritten = written === node && (!isOrdered || keepsOffsetOrder(node)) && isWithin(node, job)
    const tried =
      isAsWritten && !isRaced && !checksJson && !readsListings ? await this.#try(sql.text, isSplit, job) : undefined
    const prepared = tried === undefined ? await this.#prepare(statement, rewritten, job.parameters ?? []) : undefined
    const shape = must(tried ?? prepared, 'a statement is run or prepared')
    const columns = Array.from({ length: shape.columnCount }, (_, index) => index)
    const names = columns.map((index) => shape.columnName(index))
    const types = columns.map((index) => String(shape.columnType(index)))
    prepared?.destroySync()
    if (shape.columnCount > maxColumns) throw notAllowed({ construct: `over ${maxColumns} output columns` })
    if (isRaced) throw raced()
    const total = isOrdered ? withTotalOrder(written, names.length, lastTieOf(meant, job.tables)) : written
    if (total === node && isWithin(node, job)) return { names, types, sql: sql.text, stability, isSplit }
    const framed = await this.#rewriter.framed(total, job)
    return { names, types, sql: await this.#rewriter.print(framed, sql, gate), stability, isSplit }
  }

  /**
   * Runs a text that nothing is rewritten of: preparing it would plan it once more. What fails is kept for its turn, since
   * preparing it tells the place.
   */
  async #try(sql: string, isSplit: boolean, { tables, threads }: Wanted): Promise<DuckDBResult | undefined> {
    if (threads === undefined) return undefined
    try {
      const result = await this.#found({ sql, isSplit }, { tables, threads })
      this.#tried = { sql, result }
      return result
    } catch (error) {
      this.#tried = { sql, error }
      return undefined
    }
  }

  /** What the engine makes of the caller's own text or, where that may not be planned, of the rewritten one. */
  async #prepare(
    { sql, gate }: Statement,
    rewritten: Printable,
    parameters: readonly Parameter[],
  ): Promise<DuckDBPreparedStatement> {
    // Planning evaluates constants: where JSON has to be checked, the caller's own text may not be planned either.
    const own = rewritten.checksJson || rewritten.readsListings ? undefined : sql
    const prepare = async (from: QuotedSql | undefined, text: string): Promise<DuckDBPreparedStatement> =>
      await this.#guard(from, async () => await this.#connection.prepare(text))
    if (own !== undefined && !rewritten.hasParameters) return await prepare(own, own.text)
    try {
      return await prepare(undefined, await this.#rewriter.print(rewritten.node, sql, gate))
    } catch (error) {
      if (own === undefined) throw error
      // The caller's own text fails for the same reason, as a rule, and tells where.
      const typed = withTypes(own, parameters)
      throw await this.#withPlace(error, async () => await prepare(typed, typed.text))
    }
  }

  /** The error of `prepare` where that is of the kind of `error`, else `error` itself. */
  async #withPlace(error: unknown, prepare: () => Promise<DuckDBPreparedStatement>): Promise<unknown> {
    try {
      const prepared = await prepare()
      prepared.destroySync()
    } catch (placed) {
      if (error instanceof NodeError && placed instanceof NodeError && placed.kind === error.kind) return placed
    }
    return error
  }

  /** One text out of a trusted statement, of which there are a few, with one text parameter. */
  async #scalar(sql: string, parameter: string): Promise<string> {
    const result = await this.#guard(undefined, async () => {
      const prepared = this.#trusted.get(sql) ?? (await this.#connection.prepare(sql))
      this.#trusted.set(sql, prepared)
      prepared.bindVarchar(1, parameter)
      return await prepared.run()
    })
    const value = result.getChunk(0).getColumnVector(0).getItem(0)
    assert(typeof value === 'string', 'the engine answers with text')
    return value
  }

  async #guard<T>(sql: QuotedSql | undefined, action: () => Promise<T>): Promise<T> {
    try {
      return await action()
    } catch (error) {
      if (error instanceof NodeError) throw error
      const raw = error instanceof Error ? error.message : String(error)
      throw errorOfEngine(raw, { sql, memoryBytes: this.#settings.memoryBytes, dataRoots: this.#settings.dataRoots })
    }
  }
}

function remember<T>(cache: Map<string, T>, { key, value, most }: { key: string; value: T; most: number }): void {
  if (cache.size >= most && !cache.has(key)) cache.clear()
  cache.set(key, value)
}
