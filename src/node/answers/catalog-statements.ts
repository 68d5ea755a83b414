// Statements about the catalog: SHOW TABLES, and what `information_schema` says, of the datasets that the caller may read.
// (DESCRIBE and SUMMARIZE are the engine's own, over the pinned dataset.) Nothing of it is kept for another caller.

import { viewOf } from '../catalog/dataset-chain.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Listing } from '../engine/messages.ts'
import type { ListingName } from '../../libraries/sql/statement.ts'
import { lexSql } from '../../libraries/sql/lexer.ts'
import { sqlTypeName } from '../../libraries/sql/types.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { isOptional, systemFields } from '../../libraries/model/schema.ts'
import { datasetNotFound, type Reader } from './pin.ts'

/** What SHOW TABLES stands for: names as statements write them, in double quotes. */
const showTables = `SELECT table_schema || '/' || table_name AS name FROM information_schema.tables ORDER BY lower(name)`

/** The statement that answers `sql`: itself but for SHOW TABLES, which is no SELECT. */
export function statementOf(sql: string): string {
  const words = /\bshow\b/i.test(sql) ? lexSql(sql).filter(({ text }) => text !== ';') : []
  const isShow = words.length === 2 && words.every(({ kind }) => kind === 'word')
  return isShow && words[0]?.text === 'show' && words[1]?.text === 'tables' ? showTables : sql
}

/** Names, or chains, that are looked at in one turn of the event loop. */
const atOnce = 100
const catalogName = 'proofstream'

/**
 * The tables of information_schema that a statement reads. Throws NodeErrors `DatasetNotFound` where pins are given, which
 * are all that names then mean; `ResultTooLarge` for more rows than `listingRows`.
 */
export async function listingsFor(
  reader: Reader,
  asked: { readonly names: readonly ListingName[]; readonly arePinned: boolean; readonly listingRows: number },
): Promise<Listing[]> {
  const [first] = asked.names
  if (first === undefined) return []
  if (asked.arePinned) throw datasetNotFound(`information_schema.${first}`)
  // mutant: a listing tells of hidden datasets
  const readable = (await reader.catalog.names()).filter((name) => reader.mayRead(name))
  const tells = readable.map(({ id }) => id)
  const listings: Listing[] = []
  for (const name of asked.names) {
    const rowsOf = name === 'tables' ? tableRow : async (one: NameRecord) => await columnRows(reader, one)
    listings.push({ name, rows: await textOf(readable, rowsOf, asked.listingRows), tells })
  }
  return listings
}

type Row = readonly (string | number | null)[]

/** The rows of all names as JSON text, made piece by piece. */
async function textOf(
  names: readonly NameRecord[],
  rowsOf: (name: NameRecord) => Promise<readonly Row[]>,
  most: number,
): Promise<string> {
  const pieces: string[] = []
  let count = 0
  for (const [index, name] of names.entries()) {
    if (index % atOnce === atOnce - 1) await nextTurn()
    const rows = await rowsOf(name)
    count += rows.length
    if (count > most) throw tooLarge(most)
    if (rows.length > 0) pieces.push(JSON.stringify(rows).slice(1, -1))
  }
  return `[${pieces.join(',')}]`
}

async function tableRow({ alias }: NameRecord): Promise<readonly Row[]> {
  return [[catalogName, ...alias.split('/'), 'BASE TABLE']]
}

/** None where the chain is broken: one of those must not hide the others. */
async function columnRows({ catalog }: Reader, name: NameRecord): Promise<readonly Row[]> {
  try {
    const { schema, vocabulary, alias } = viewOf(await catalog.chainOf(name))
    const fields = schema?.fields ?? systemFields(vocabulary)
    return fields.map(({ name, type }, index) => {
      const isNullable = isOptional(type) ? 'YES' : 'NO'
      return [catalogName, ...alias.split('/'), name, index + 1, null, isNullable, sqlTypeName(type)]
    })
  } catch (error) {
    if (error instanceof HaltError) return []
    throw error
  }
}

function tooLarge(most: number): NodeError {
  return new NodeError('ResultTooLarge', `The listing has over ${most} rows.`, {
    limit: { name: 'listingRows', value: most, unit: 'rows' },
    hint: 'GET /datasets lists datasets by pages; DESCRIBE has the columns of one.',
  })
}
