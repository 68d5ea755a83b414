// Statements about the catalog: SHOW TABLES, and what `information_schema` says, of the datasets that the caller may read.
// (DESCRIBE and SUMMARIZE are the engine's own, over the pinned dataset.) Nothing of it is kept for another caller.

import { type DatasetChain, viewOf } from '../catalog/dataset-chain.ts'
import type { NameRecord } from '../chain/records.ts'
import type { Listing, ListingName } from '../engine/messages.ts'
import { lexSql } from '../engine/sql-text.ts'
import { sqlTypeName } from '../engine/sql-types.ts'
import { nextTurn } from '../lib/clock.ts'
import { HaltError, NodeError } from '../model/errors.ts'
import { isOptional, systemFields } from '../model/schema.ts'
import { datasetNotFound, type Reader } from './pin.ts'

/** What SHOW TABLES stands for: names as statements write them, in double quotes. */
const showTables = `SELECT table_schema || '/' || table_name AS name FROM information_schema.tables ORDER BY lower(name)`

/** The statement that answers `sql`: itself but for SHOW TABLES, which is no SELECT. */
export function statementOf(sql: string): string {
  const words = /\bshow\b/i.test(sql) ? lexSql(sql).filter(({ text }) => text !== ';') : []
  const isShow = words.length === 2 && words.every(({ kind }) => kind === 'word')
  return isShow && words[0]?.text === 'show' && words[1]?.text === 'tables' ? showTables : sql
}

/** Rows that a listing may have: a few hundred megabytes in the engine. */
const mostRows = 1_000_000
const namesPerTurn = 200
const catalogName = 'proofstream'

/**
 * The tables of information_schema that a statement reads. Throws NodeErrors `DatasetNotFound` where pins are given, which
 * are all that names then mean; `ResultTooLarge` for more than a million rows.
 */
export async function listingsFor(
  reader: Reader,
  { names, arePinned }: { readonly names: readonly ListingName[]; readonly arePinned: boolean },
): Promise<Listing[]> {
  const [first] = names
  if (first === undefined) return []
  if (arePinned) throw datasetNotFound(`information_schema.${first}`)
  // mutant: a listing tells of hidden datasets
  const readable = (await reader.catalog.names()).filter((name) => reader.mayRead(name))
  const listings: Listing[] = []
  for (const name of names) {
    const rows = name === 'tables' ? readable.map(tableRow) : await columnRows(reader, readable)
    if (rows.length > mostRows) throw tooLarge()
    listings.push({ name, rows: JSON.stringify(rows), tells: readable.map(({ id }) => id) })
  }
  return listings
}

type Row = readonly (string | number | null)[]

function tableRow({ alias }: NameRecord): Row {
  return [catalogName, ...alias.split('/'), 'BASE TABLE']
}

async function columnRows({ catalog }: Reader, names: readonly NameRecord[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const [index, name] of names.entries()) {
    if (index % namesPerTurn === namesPerTurn - 1) await nextTurn()
    const chain = await wholeChain(catalog, name)
    if (chain !== undefined) rows.push(...columnsOf(chain))
    if (rows.length > mostRows) break
  }
  return rows
}

/** The chain, unless it is broken: one of those must not hide the others. */
async function wholeChain(catalog: Reader['catalog'], name: NameRecord): Promise<DatasetChain | undefined> {
  try {
    return await catalog.chainOf(name)
  } catch (error) {
    if (error instanceof HaltError) return undefined
    throw error
  }
}

function columnsOf(chain: DatasetChain): Row[] {
  const { schema, vocabulary } = viewOf(chain)
  const fields = schema?.fields ?? systemFields(vocabulary)
  return fields.map(({ name, type }, index) => {
    const isNullable = isOptional(type) ? 'YES' : 'NO'
    return [catalogName, ...chain.name.alias.split('/'), name, index + 1, null, isNullable, sqlTypeName(type)]
  })
}

function tooLarge(): NodeError {
  return new NodeError('ResultTooLarge', `The listing has over ${mostRows} rows.`, {
    hint: 'GET /datasets lists datasets by pages; DESCRIBE has the columns of one.',
  })
}
