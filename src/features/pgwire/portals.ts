// The prepared statements and the portals of a session, by their names, and how many it may hold.

import type { Parameter } from '../../libraries/model/parameters.ts'
import { PostgresFault } from '../../libraries/pgwire/report.ts'
import type { Statement } from '../../libraries/pgwire/session-words.ts'
import type { OpenRows } from './rows.ts'

export interface Prepared {
  readonly sql: string
  readonly statement: Statement
  /** Types of the parameters, by their oids; 0 where nothing tells. */
  readonly types: readonly number[]
  /** Types of the columns, by their oids, that its client was told of and reads rows by. */
  readonly told?: readonly number[]
}

/** A statement with its values; its rows are open from the time that somebody asks what they are. */
export interface Portal {
  readonly prepared: Prepared
  readonly values: readonly Parameter[]
  readonly binaryColumns: readonly boolean[]
  readonly isHeld: boolean
  /** Ends the statement. */
  readonly ending: AbortController
  rows: OpenRows | undefined
  /** Of EXECUTE: the portal of what was prepared. */
  inner: Portal | undefined
  isDone: boolean
  /** Its rows broke off. */
  isBroken: boolean
  /** It ends with the transaction in which it was begun, if that is rolled back. */
  isYoung: boolean
}

const statementsMost = 1000
const portalsMost = 100
const textMost = 1024 * 1024
/** Of the values of portals with names, in characters. */
const valuesMost = 256 * 1024

export class Portals {
  readonly #statements = new Map<string, Prepared>()
  readonly #portals = new Map<string, Portal>()
  #textLength = 0

  /** Throws PostgresFault 42P05, 53400. */
  prepare(name: string, prepared: Prepared): void {
    if (name === '') this.deallocate('')
    if (this.#statements.has(name))
      throw new PostgresFault('42P05', `prepared statement "${shown(name)}" already exists`)
    if (this.#statements.size >= statementsMost || this.#textLength + sizeOf(prepared) > textMost) {
      throw new PostgresFault(
        '53400',
        `more than ${statementsMost} prepared statements, or ${textMost} characters of them`,
      )
    }
    this.#textLength += sizeOf(prepared)
    this.#statements.set(name, prepared)
  }

  /** Throws PostgresFault 26000. */
  statement(name: string): Prepared {
    const prepared = this.#statements.get(name)
    if (prepared === undefined) throw new PostgresFault('26000', `prepared statement "${shown(name)}" does not exist`)
    return prepared
  }

  /** What was found out of a statement. Throws as `prepare`. */
  tell(name: string, told: Required<Pick<Prepared, 'types' | 'told'>>): void {
    const prepared = { ...this.statement(name), ...told }
    this.deallocate(name)
    this.prepare(name, prepared)
  }

  /** The text of what has this name; empty where there is no such thing. */
  sqlOf(of: 'statement' | 'portal', name: string): string {
    return (of === 'statement' ? this.#statements.get(name) : this.#portals.get(name)?.prepared)?.sql ?? ''
  }

  /** Idempotent. */
  deallocate(name: string): void {
    const prepared = this.#statements.get(name)
    this.#textLength -= prepared === undefined ? 0 : sizeOf(prepared)
    this.#statements.delete(name)
  }

  deallocateAll(): void {
    this.#statements.clear()
    this.#textLength = 0
  }

  /** Throws PostgresFault 42P03, 53400. */
  async open(name: string, portal: Portal): Promise<void> {
    if (name === '') await this.close('')
    if (this.#portals.has(name)) throw new PostgresFault('42P03', `cursor "${shown(name)}" already exists`)
    if (this.#portals.size >= portalsMost) throw new PostgresFault('53400', `more than ${portalsMost} portals`)
    const named = [...this.#portals].filter(([other]) => other !== '').map(([, one]) => one)
    const length = (name === '' ? named : [...named, portal]).reduce((sum, one) => sum + lengthOf(one), 0)
    if (length > valuesMost) throw new PostgresFault('53400', `more than ${valuesMost} characters of values in portals`)
    this.#portals.set(name, portal)
  }

  /** Throws PostgresFault 34000. */
  portal(name: string): Portal {
    const portal = this.#portals.get(name)
    if (portal === undefined) throw new PostgresFault('34000', `cursor "${shown(name)}" does not exist`)
    return portal
  }

  /** Ends the statement of a portal. Idempotent. */
  async close(name: string): Promise<void> {
    const portal = this.#portals.get(name)
    this.#portals.delete(name)
    if (portal !== undefined) await closePortal(portal)
  }

  /** Ends all, or those that do not outlive a transaction that ends so. */
  async closeAll(which: 'all' | 'commit' | 'rollback'): Promise<void> {
    for (const [name, portal] of this.#portals) {
      const stays = which !== 'all' && portal.isHeld && (which === 'commit' || !portal.isYoung)
      if (stays) portal.isYoung = false
      else await this.close(name)
    }
  }
}

/** Ends the statement of a portal, and gives up its rows. Idempotent. */
export async function closePortal({ ending, rows, inner }: Portal): Promise<void> {
  ending.abort('closed')
  await rows?.close().catch(() => undefined)
  await inner?.rows?.close().catch(() => undefined)
}

export function newPortal(
  prepared: Prepared,
  values: Portal['values'],
  binaryColumns: readonly boolean[],
  isHeld: boolean,
): Portal {
  return {
    prepared,
    values,
    binaryColumns,
    isHeld,
    ending: new AbortController(),
    rows: undefined,
    inner: undefined,
    isDone: false,
    isBroken: false,
    isYoung: true,
  }
}

function lengthOf({ values }: Portal): number {
  return values.reduce((sum, { text }) => sum + text.length, 0)
}

function sizeOf({ sql, told = [] }: Prepared): number {
  return sql.length + 8 * told.length
}

function shown(name: string): string {
  return name.slice(0, 63)
}
