// Statements about the catalog: SHOW TABLES, and what `information_schema` says, of the datasets that the caller may read.
// (DESCRIBE and SUMMARIZE are the engine's own, over the pinned dataset.) Nothing of it is kept for another caller.

import { viewOf } from '../catalog/dataset-chain.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Listing } from '../engine/messages.ts'
import { readsColumns, tableOf } from '../../libraries/pgwire/catalogue/catalogue.ts'
import { columnOf } from '../../libraries/pgwire/catalogue/dataset-columns.ts'
import {
  type CatalogueContent,
  type CatalogueDataset,
  type Connection,
  numbered,
} from '../../libraries/pgwire/catalogue/numbered.ts'
import { lexSql } from '../../libraries/sql/lexer.ts'
import { sqlTypeName } from '../../libraries/sql/types.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { type Field, isOptional, systemFields } from '../../libraries/model/schema.ts'
import { datasetNotFound, type Reader } from './pin.ts'

/** What SHOW TABLES stands for: names as statements write them, in double quotes. */
const showTables = `SELECT table_schema || '/' || table_name AS name FROM information_schema.tables ORDER BY lower(name)`

/** The statement that answers `sql`: itself but for SHOW TABLES, which is no SELECT. */
export function statementOf(sql: string): string {
  const words = /\bshow\b/i.test(sql) ? lexSql(sql).filter(({ text }) => text !== ';') : []
  const isShow = words.length === 2 && words.every(({ kind }) => kind === 'word')
  return isShow && words[0]?.text === 'show' && words[1]?.text === 'tables' ? showTables : sql
}

/** Rows that are made in one turn of the event loop. */
const atOnce = 100
const catalogName = 'proofstream'

/** Columns by the names of the SQL standard (ISO/IEC 9075-11), those that say something here. */
const commonColumns: Readonly<Record<string, string>> = {
  tables: 'table_catalog table_schema table_name table_type',
  columns: 'table_catalog table_schema table_name column_name ordinal_position column_default is_nullable data_type',
}

/**
 * The relations of the catalog that a statement reads. Throws NodeErrors `DatasetNotFound` where pins are given, which
 * are all that names then mean; `ResultTooLarge` for more rows than `listingRows`.
 */
export async function listingsFor(
  reader: Reader,
  asked: {
    readonly names: readonly string[]
    readonly arePinned: boolean
    readonly listingRows: number
    readonly connection?: Connection
  },
): Promise<Listing[]> {
  const { names, listingRows, connection } = asked
  const [first] = names
  if (first === undefined) return []
  if (asked.arePinned) throw datasetNotFound(`information_schema.${first}`)
  // mutant: a listing tells of hidden datasets
  const readable = (await reader.catalog.names()).filter((name) => reader.mayRead(name))
  const tells = readable.map(({ id }) => id)
  const catalogue = connection && numbered(await contentOf(reader, readable, { names, connection }))
  const listings: Listing[] = []
  for (const name of names) {
    const known = catalogue && tableOf(name, catalogue)
    const { columns, rows } = known ?? { columns: columnsOf(name), rows: commonRows(reader, readable, name) }
    listings.push({ name, columns, rows: await textOf(rows, listingRows), tells })
  }
  return listings
}

/** What programs that speak PostgreSQL are told. */
async function contentOf(
  reader: Reader,
  readable: readonly NameRecord[],
  { names, connection }: { readonly names: readonly string[]; readonly connection: Connection },
): Promise<CatalogueContent> {
  const datasets: CatalogueDataset[] = []
  for (const [index, one] of readable.entries()) {
    if (index % atOnce === atOnce - 1) await nextTurn()
    const [account = '', name = ''] = one.alias.split('/')
    const fields = names.some((relation) => readsColumns.has(relation)) ? await fieldsOf(reader, one) : []
    datasets.push({ account, name, columns: fields.map(columnOf) })
  }
  return { connection, datasets }
}

type Row = readonly (string | number | null)[]

/** Rows as JSON text, made piece by piece. */
async function textOf(rows: AsyncIterable<Row> | Iterable<Row>, most: number): Promise<string> {
  const pieces: string[] = []
  for await (const row of rows) {
    if (pieces.length === most) throw tooLarge(most)
    if (pieces.length % atOnce === atOnce - 1) await nextTurn()
    pieces.push(JSON.stringify(row))
  }
  return `[${pieces.join(',')}]`
}

function columnsOf(name: string): Listing['columns'] {
  const names = commonColumns[name]?.split(' ') ?? []
  return names.map((column) => ({ name: column, type: column === 'ordinal_position' ? 'INTEGER' : 'VARCHAR' }))
}

async function* commonRows(reader: Reader, names: readonly NameRecord[], of: string): AsyncGenerator<Row> {
  for (const name of names) {
    const { alias } = name
    if (of === 'tables') yield [catalogName, ...alias.split('/'), 'BASE TABLE']
    else {
      for (const [index, field] of (await fieldsOf(reader, name)).entries()) {
        const isNullable = isOptional(field.type) ? 'YES' : 'NO'
        const type = sqlTypeName(field.type)
        yield [catalogName, ...alias.split('/'), field.name, index + 1, null, isNullable, type]
      }
    }
  }
}

/** None where the chain is broken: one of those must not hide the others. */
async function fieldsOf({ catalog }: Reader, name: NameRecord): Promise<readonly Field[]> {
  try {
    const { schema, vocabulary } = viewOf(await catalog.chainOf(name))
    return schema?.fields ?? systemFields(vocabulary)
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
