// The rows of datasets as tables of the portable engine: each name of a statement stands for the rows that its dataset had at
// its block, read from slices whose hashes were checked, with the columns of the schema at that block.

import { nullColumn } from '../../columnar/arrow/null-column.ts'
import { encodeArrowStream } from '../../columnar/arrow/ipc.ts'
import { sqlName, sqlTypeName } from '../../sql/types.ts'
import { type DataSchema, type Field, innerType } from '../../model/schema.ts'
import { type Decompress, openSlice } from '../../columnar/parquet/read-slice.ts'
import { EngineFailure, type PortableEngine } from './engine.ts'

/** They are held in memory once more by the engine. */
export const portableBytesMost = 512 * 1024 * 1024

/** A dataset at a block. */
export interface PortableTable {
  /** As the statement names it. */
  readonly alias: string
  /** None where it has no columns yet. */
  readonly schema: DataSchema | undefined
  /** Its slices in the order of its chain. */
  readonly slices: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** What else is to be known of the columns. */
export interface LoadedColumns {
  readonly haveFloats: boolean
  /** Names of those with times, in ASCII lower case. */
  readonly times: ReadonlySet<string>
}

/** Makes the tables. Throws EngineFailure, and DecodeError for slices with columns that are not read here. */
export async function loadTables(
  engine: PortableEngine,
  tables: readonly PortableTable[],
  decompress: Decompress,
): Promise<LoadedColumns> {
  let haveFloats = false
  const times = new Set<string>()
  for (const [number, { alias, schema, slices }] of tables.entries()) {
    if (schema === undefined) throw new EngineFailure(`${alias} has no columns at its block`)
    const { fields } = schema
    haveFloats ||= fields.some(({ type }) => /Float/.test(JSON.stringify(type)))
    for (const { name, type } of fields) if (innerType(type).kind === 'Timestamp') times.add(name.toLowerCase())
    const table = `rows_${number}`
    const columns = fields.map(({ name, type }) => `${sqlName(name)} ${sqlTypeName(type)}`)
    await engine.query(`CREATE TABLE ${table} (${columns.join(', ')})`)
    for await (const slice of slices) await insertSlice(engine, table, { slice, fields, decompress })
    await engine.query(`CREATE VIEW ${sqlName(alias)} AS SELECT * FROM ${table}`)
    const slash = alias.indexOf('/')
    if (slash < 0) continue
    const [account, name] = [sqlName(alias.slice(0, slash)), sqlName(alias.slice(slash + 1))]
    await engine.query(`CREATE SCHEMA IF NOT EXISTS ${account}`)
    await engine.query(`CREATE VIEW ${account}.${name} AS SELECT * FROM ${table}`)
  }
  return { haveFloats, times }
}

interface SliceToInsert {
  readonly slice: Uint8Array
  readonly fields: readonly Field[]
  readonly decompress: Decompress
}

async function insertSlice(
  engine: PortableEngine,
  table: string,
  { slice, fields, decompress }: SliceToInsert,
): Promise<void> {
  const content = openSlice(slice, { decompress })
  const stored = new Map(content.fields.map((field) => [field.name, field]))
  const own = fields.map((field) => stored.get(field.name) ?? { ...field, type: optionOf(field) })
  for await (const batch of content.batches) {
    const columns = own.map(
      (field) => batch.columns.find(({ name }) => name === field.name) ?? nullColumn(field, batch.rows),
    )
    await engine.insert(table, encodeArrowStream(own, [{ ...batch, columns }]))
  }
}

function optionOf({ type }: Field): Field['type'] {
  return { kind: 'Option', inner: innerType(type) }
}
