// The rows of one statement on their way to a client: bound to blocks, run by the engine, and taken message by message, so that
// a portal may be suspended between them.

import { concatBytes } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { PostgresForm } from '../../libraries/columnar/outputs/file-format.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { Parameter } from '../../libraries/model/parameters.ts'
import type { DatasetPin } from '../../libraries/model/query.ts'
import { PostgresFault } from '../../libraries/pgwire/report.ts'
import { type OpenFile, openFileQuery } from '../../node/answers/files.ts'
import { aliasOfParts, askingOf, type Caller, isBare, Reader } from '../../node/answers/pin.ts'
import type { AnswerStream } from '../../node/engine/process/answer-stream.ts'
import type { StreamEnd } from '../../node/engine/messages.ts'
import { viewOf } from '../../node/catalog/dataset-chain.ts'
import type { ReplicaContext } from '../../node/http/context.ts'

/** How rows are written: by a format of `libraries/pgwire`. */
export interface RowForm {
  readonly name: string
  readonly module: string
  readonly postgres?: PostgresForm
}

/** One statement with its values. */
export interface RowsAsked {
  readonly sql: string
  readonly values: readonly Parameter[]
  readonly form: RowForm
  /** Bare names mean datasets of this account. */
  readonly account: string | undefined
  /** Blocks of a transaction that keeps them, by id of the dataset; what is first used is put into it. */
  readonly kept: Map<string, string> | undefined
  /** Of the rows that are wanted; all where it is absent. */
  readonly limit?: number
}

/** What rows were read from, for a proof. */
export type RowsSource = Pick<OpenFile, 'heads' | 'isProvable' | 'pins'>

const copyData = 0x64

/** Rows that are being found. */
export class OpenRows {
  readonly source: RowsSource
  /** The RowDescription, or what stands before the rows of a copy. */
  readonly description: Uint8Array
  readonly #pieces: AnswerStream['pieces']
  /** What has come and was not taken: joined when a whole message is there. */
  readonly #held: HeldMessages
  #isOver = false
  /** In all, once they are over. */
  #rows = 0

  private constructor(source: RowsSource, first: Uint8Array, pieces: AnswerStream['pieces']) {
    this.source = source
    this.#pieces = pieces
    const end = first.length === 0 || first[0] === copyData ? 0 : lengthAt(first, 0)
    this.description = first.subarray(0, end)
    this.#held = new HeldMessages(first.subarray(end))
  }

  /** Resolves with the first bytes. Throws the NodeErrors of a query. */
  static async open(context: ReplicaContext, asked: RowsAsked, caller: Caller): Promise<OpenRows> {
    const { source, first, pieces } = await begun(context, asked, caller)
    return new OpenRows(source, first, pieces)
  }

  /** How many there were in all, once they are over. */
  get count(): number {
    return this.#rows
  }

  get isOver(): boolean {
    return this.#isOver && this.#held.isEmpty
  }

  /** Gives whole messages with at most so many rows to `take`; how many they were. Throws the NodeError with which the rows broke off. */
  async next(most: number, take: (messages: Uint8Array) => Promise<void>): Promise<number> {
    let rows = 0
    while (rows < most) {
      const { bytes, count } = this.#held.take(most - rows)
      if (count > 0) {
        await take(bytes)
        rows += count
        continue
      }
      if (this.#isOver) break
      const piece = await this.#pieces.next()
      if (piece.done === true) this.#end(piece.value)
      else this.#held.push(piece.value)
    }
    return rows
  }

  /** `end` is absent where all came at once. */
  #end(end: StreamEnd | undefined): void {
    this.#isOver = true
    this.#rows = end?.rows ?? 0
  }

  /** Gives the messages of a copy to `take`; how many rows they have. Throws as `next`. */
  async copy(take: (messages: Uint8Array) => Promise<void>): Promise<number> {
    if (this.description.length > 0) await take(this.description)
    await this.next(Number.POSITIVE_INFINITY, take)
    return this.#rows
  }

  /** Ends the statement, wherever it is. Idempotent. */
  async close(): Promise<void> {
    this.#isOver = true
    this.#held.clear()
    await this.#pieces.return({ rows: 0, truncated: false })
  }
}

/** What a statement takes and gives, without running it: types of its parameters by their oids, and its RowDescription. Throws as `OpenRows.open`. */
export async function describedRows(
  context: ReplicaContext,
  asked: RowsAsked,
  caller: Caller,
): Promise<{ readonly types: readonly number[]; readonly description: Uint8Array }> {
  const { first, pieces } = await begun(context, { ...asked, describes: true }, caller)
  await pieces.return({ rows: 0, truncated: false })
  const view = new DataView(first.buffer, first.byteOffset, first.byteLength)
  const types = Array.from({ length: view.getInt16(5) }, (_, at) => view.getInt32(7 + 4 * at))
  return { types, description: first.subarray(lengthAt(first, 0)) }
}

interface Begun {
  readonly source: RowsSource
  readonly first: Uint8Array
  readonly pieces: AnswerStream['pieces']
}

async function begun(
  context: ReplicaContext,
  asked: RowsAsked & { readonly describes?: true },
  caller: Caller,
): Promise<Begun> {
  const { sql, values, form, limit, describes } = asked
  const datasets = await datasetsOf(context, asked, caller)
  const file = await openFileQuery(
    context.replica,
    {
      query: sql,
      queryDialect: 'SqlDuckDb',
      datasets,
      format: { name: form.name, module: form.module },
      options: {
        escapeFormulas: false,
        geometry: undefined,
        postgres: form.postgres,
      },
      skip: 0,
      limit,
      describes,
      ...(values.length > 0 && { parameters: { form: 'list', values } }),
    },
    caller,
  )
  // Why rows break off is found out: it has a place behind them.
  const { pieces } = await file.start(caller.signal)
  const first = await wholeFirst(pieces)
  return { source: file, first, pieces }
}

/** The first bytes, with at least the whole first message. */
async function wholeFirst(pieces: AnswerStream['pieces']): Promise<Uint8Array> {
  let first: Uint8Array = new Uint8Array(0)
  while (first.length < 5 || first.length < lengthAt(first, 0)) {
    const piece = await pieces.next()
    // A copy of no rows.
    if (piece.done === true) return first
    first = first.length === 0 ? piece.value : concatBytes([first, piece.value])
  }
  return first
}

/** How long the message is that begins at `at`, with its letter. */
function lengthAt(bytes: Uint8Array, at: number): number {
  return 1 + new DataView(bytes.buffer, bytes.byteOffset + at).getInt32(1)
}

/** Messages that have come in pieces. */
class HeldMessages {
  #pieces: Uint8Array[]
  #bytes: number

  constructor(first: Uint8Array) {
    this.#pieces = [first]
    this.#bytes = first.length
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
  }

  clear(): void {
    this.#pieces = []
    this.#bytes = 0
  }

  /** Whole messages, at most so many. */
  take(most: number): { readonly bytes: Uint8Array; readonly count: number } {
    const joined = (least: number): Uint8Array => {
      const [first] = this.#pieces
      if (first !== undefined && (first.length >= least || this.#pieces.length === 1)) return first
      this.#pieces = [concatBytes(this.#pieces)]
      return this.#pieces[0] ?? new Uint8Array(0)
    }
    if (this.#bytes < headBytes || this.#bytes < lengthAt(joined(headBytes), 0))
      return { bytes: new Uint8Array(0), count: 0 }
    const bytes = joined(this.#bytes)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let [end, count] = [0, 0]
    while (count < most && end + headBytes <= bytes.length) {
      const next = end + 1 + view.getInt32(end + 1)
      if (next > bytes.length) break
      end = next
      count++
    }
    this.#pieces = [bytes.subarray(end)]
    this.#bytes -= end
    return { bytes: bytes.subarray(0, end), count }
  }
}

/** A letter and a length. */
const headBytes = 5

/** The pins of a statement whose names do not mean what they would mean by themselves, or that keeps its blocks; undefined for others. */
async function datasetsOf(
  { replica }: ReplicaContext,
  { sql, account, kept }: RowsAsked,
  caller: Caller,
): Promise<readonly DatasetPin[] | undefined> {
  if (account === undefined && kept === undefined) return undefined
  const { tables } = await replica.engine.analyze(sql, askingOf(replica.catalog, caller))
  const isOfAccount = (parts: readonly string[]): boolean =>
    account !== undefined && parts.length === 1 && isBare(parts[0] ?? '')
  if (kept === undefined && !tables.some(({ parts }) => isOfAccount(parts))) return undefined
  const reader = new Reader(replica.catalog, caller.mayRead)
  const datasets: DatasetPin[] = []
  for (const { parts, position } of tables) {
    const alias = aliasOfParts(parts)
    const wanted = isOfAccount(parts) ? `${account}/${alias}` : alias
    const chain = await reader.find(wanted)
    if (chain === undefined) throw await reader.missing(wanted, position)
    const { id } = chain.name
    if (kept !== undefined && !kept.has(id)) kept.set(id, viewOf(chain).block.hash)
    const blockHash = kept?.get(id)
    const isThere = datasets.some((one) => foldAscii(one.alias) === foldAscii(alias))
    if (!isThere) datasets.push({ id, alias, ...(blockHash !== undefined && { blockHash }) })
  }
  return datasets
}

/** What a query that was ended is told to its client: by himself, by his time, or by the node. */
export function endedBy(error: unknown, reason: unknown): unknown {
  if (!(error instanceof NodeError) || error.kind !== 'QueryTimeout') return error
  if (reason === 'cancelled') return new PostgresFault('57014', 'canceling statement due to user request')
  if (reason === 'timeout') return new PostgresFault('57014', 'canceling statement due to statement timeout')
  return error
}
