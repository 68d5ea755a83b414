// What the catalogue of a caller is made of: the accounts and datasets that he may read, and his connection; each thing has
// a number that follows from its name, so that it is the same in every statement. Pure.

import { must } from '../../base/assert.ts'
import { utf8 } from '../../base/bytes.ts'
import { foldAscii } from '../../model/names.ts'
import type { PgType } from './types.ts'

/** Who is connected, as a door says it. */
export interface Connection {
  readonly database: string
  readonly user: string
  /** What `version()` says. */
  readonly version: string
  /** What `pg_backend_pid()` says. */
  readonly processId: number
  /** Schemas whose tables have bare names; undefined where there is none: then all tables are listed. */
  readonly path?: readonly string[] | undefined
  /** What SHOW says, by names in lower case. */
  readonly settings: Readonly<Record<string, string>>
}

/** A column of a dataset. */
export interface CatalogueColumn {
  readonly name: string
  readonly type: PgType
  /** `atttypmod`: of a numeric its precision and scale; -1 where the type is all. */
  readonly modifier: number
  readonly nullable: boolean
}

export interface CatalogueDataset {
  readonly account: string
  readonly name: string
  readonly columns: readonly CatalogueColumn[]
}

/** All that a caller may know. */
export interface CatalogueContent {
  readonly connection: Connection
  readonly datasets: readonly CatalogueDataset[]
}

/** A name with its number. */
export interface Numbered {
  readonly name: string
  readonly oid: number
}

export interface NumberedTable extends CatalogueDataset, Numbered {
  readonly schema: Numbered
}

/** The content with the numbers of what is in it. */
export interface Catalogue {
  readonly connection: Connection
  readonly database: Numbered
  readonly schemas: readonly Numbered[]
  readonly tables: readonly NumberedTable[]
  /** The role that owns what is no account's, one for each account, and the caller's. */
  readonly roles: readonly Numbered[]
  readonly user: Numbered
}

/** Numbers below are PostgreSQL's own. */
const firstOid = 16_384
const oids = 2 ** 31 - firstOid

/** The role that owns catalogue and database, under the number that has that role in PostgreSQL. */
export const ownerRole: Numbered = { name: 'proofstream', oid: 10 }

export const catalogSchema: Numbered = { name: 'pg_catalog', oid: 11 }
export const informationSchema: Numbered = { name: 'information_schema', oid: 13_000 }

/** Numbers what a caller may know. */
export function numbered({ connection, datasets }: CatalogueContent): Catalogue {
  const taken = new Set<number>()
  const numberOf = (kind: string, name: string): Numbered => ({ name, oid: freeNumber(`${kind} ${name}`, taken) })
  const spellings = spellingsOf(datasets.map(({ account }) => account))
  const accounts = [...spellings].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, account]) => account)
  const database = numberOf('database', connection.database)
  const schemas = accounts.map((name) => numberOf('schema', name))
  const bySchema = new Map(schemas.map((schema) => [schema.name, schema]))
  const names = new Set([...accounts, connection.user])
  names.delete(ownerRole.name)
  const roles = [ownerRole, ...[...names].map((name) => numberOf('role', name))]
  const tables = datasets.map((dataset) => {
    const account = spellings.get(foldAscii(dataset.account)) ?? dataset.account
    const schema = must(bySchema.get(account), 'the account of a dataset is among the accounts')
    return { ...dataset, account, schema, oid: freeNumber(`table ${account}/${dataset.name}`, taken) }
  })
  const user = must(
    roles.find(({ name }) => name === connection.user),
    'the caller has a role',
  )
  return { connection, database, schemas, tables, roles, user }
}

/** Accounts in lower case, by which they are the same, each with one of its spellings. */
function spellingsOf(accounts: readonly string[]): Map<string, string> {
  const spellings = new Map<string, string>()
  for (const account of accounts) {
    if ((spellings.get(foldAscii(account)) ?? '') < account) spellings.set(foldAscii(account), account)
  }
  return spellings
}

/** The number of a relation of the catalogue itself. */
export function relationOid(name: string): number {
  return firstOid + (hash(`relation ${name}`) % oids)
}

/** The first number from that of the hash on which is free. */
function freeNumber(text: string, taken: Set<number>): number {
  let at = hash(text) % oids
  while (taken.has(at)) at = (at + 1) % oids
  taken.add(at)
  return firstOid + at
}

/** FNV-1a of 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of utf8(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value
}
