// The transaction of a session: a status, the blocks that it keeps, and the settings to which a rollback goes back.
//   none ──► open      BEGIN
//   open ──► failed    a statement fails
//   failed ──► open    ROLLBACK TO a savepoint         open, failed ──► none    COMMIT, ROLLBACK

import type { TransactionLetter } from './backend.ts'
import { PostgresFault } from './report.ts'
import type { Isolation } from './session-words.ts'

type Settings = ReadonlyMap<string, string>

interface Savepoint {
  readonly name: string
  readonly settings: Settings
}

interface Begun {
  readonly kind: 'open' | 'failed'
  readonly isolation: Isolation
  /** Blocks by id of the dataset, as they were at the first use of each. */
  readonly kept: Map<string, string>
  /** The first is the beginning. */
  readonly savepoints: readonly Savepoint[]
  /** Values from before the transaction of settings that hold for it alone. */
  readonly local: ReadonlyMap<string, string | undefined>
}

const savepointsMost = 1000

export class Transaction {
  #state: { readonly kind: 'none' } | Begun = { kind: 'none' }

  get letter(): TransactionLetter {
    return { none: 'I', open: 'T', failed: 'E' }[this.#state.kind] as TransactionLetter // one of these three
  }

  get isOpen(): boolean {
    return this.#state.kind !== 'none'
  }

  get isolation(): Isolation | undefined {
    return this.#state.kind === 'none' ? undefined : this.#state.isolation
  }

  /** The blocks that statements are bound to, where the transaction keeps them. */
  get kept(): Map<string, string> | undefined {
    return this.#state.kind === 'open' && this.#state.isolation === 'repeatable read' ? this.#state.kept : undefined
  }

  /** False where there is one already. */
  begin(isolation: Isolation, settings: Settings): boolean {
    if (this.#state.kind !== 'none') return false
    this.#state = { kind: 'open', isolation, kept: new Map(), savepoints: [{ name: '', settings }], local: new Map() }
    return true
  }

  /** Throws PostgresFault 25001 once a block is kept. */
  isolate(isolation: Isolation): void {
    if (this.#state.kind === 'none') return
    if (this.#state.kept.size > 0 && isolation !== this.#state.isolation) {
      throw new PostgresFault('25001', 'SET TRANSACTION ISOLATION LEVEL must be called before any query')
    }
    this.#state = { ...this.#state, isolation }
  }

  fail(): void {
    if (this.#state.kind === 'open') this.#state = { ...this.#state, kind: 'failed' }
  }

  /** Throws PostgresFault 25P02 in a transaction that has failed. */
  demandGood(): void {
    if (this.#state.kind !== 'failed') return
    const message = 'current transaction is aborted, commands ignored until end of transaction block'
    throw new PostgresFault('25P02', message)
  }

  /** A setting is about to be one that holds for the transaction alone. */
  setLocal(name: string, settings: Settings): void {
    if (this.#state.kind === 'none') return
    const { local } = this.#state
    const key = name.toLowerCase()
    if (!local.has(key)) this.#state = { ...this.#state, local: new Map([...local, [key, settings.get(key)]]) }
  }

  /** A setting is about to be one that outlives the transaction. */
  setLasting(name: string): void {
    if (this.#state.kind === 'none') return
    const local = new Map(this.#state.local)
    local.delete(name.toLowerCase())
    this.#state = { ...this.#state, local }
  }

  /** Ends it, with `now` set. What it gives are the settings that hold from then on, where they are others. */
  end(
    how: 'commit' | 'rollback',
    now: Settings,
  ): { readonly tag: 'COMMIT' | 'ROLLBACK'; readonly settings: Settings | undefined } {
    const state = this.#state
    this.#state = { kind: 'none' }
    if (state.kind === 'none') return { tag: how === 'commit' ? 'COMMIT' : 'ROLLBACK', settings: undefined }
    if (state.kind === 'failed' || how === 'rollback')
      return { tag: 'ROLLBACK', settings: state.savepoints[0]?.settings }
    if (state.local.size === 0) return { tag: 'COMMIT', settings: undefined }
    const settings = new Map(now)
    for (const [name, value] of state.local) {
      if (value === undefined) settings.delete(name)
      else settings.set(name, value)
    }
    return { tag: 'COMMIT', settings }
  }

  /** Throws PostgresFault 25P01 without a transaction, 53400. */
  savepoint(name: string, settings: Settings): void {
    const begun = this.#begun('SAVEPOINT')
    if (begun.savepoints.length >= savepointsMost)
      throw new PostgresFault('53400', `more than ${savepointsMost} savepoints`)
    this.#state = { ...begun, savepoints: [...begun.savepoints, { name, settings }] }
  }

  /** Throws PostgresFault 25P01, 3B001. */
  release(name: string): void {
    const begun = this.#begun('RELEASE SAVEPOINT')
    this.#state = { ...begun, savepoints: begun.savepoints.slice(0, placeOf(begun, name)) }
  }

  /** Goes back to a savepoint, which stays. The settings that hold again. Throws as `release`. */
  rollbackTo(name: string): Settings {
    const begun = this.#begun('ROLLBACK TO SAVEPOINT')
    const place = placeOf(begun, name)
    const savepoints = begun.savepoints.slice(0, place + 1)
    this.#state = { ...begun, kind: 'open', savepoints }
    return savepoints[place]?.settings ?? new Map()
  }

  #begun(what: string): Begun {
    if (this.#state.kind !== 'none') return this.#state
    throw new PostgresFault('25P01', `${what} can only be used in transaction blocks`)
  }
}

function placeOf({ savepoints }: Begun, name: string): number {
  const place = savepoints.findLastIndex((one, at) => at > 0 && one.name === name)
  if (place < 0) throw new PostgresFault('3B001', `savepoint "${name.slice(0, 63)}" does not exist`)
  return place
}
