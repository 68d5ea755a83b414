// The catalogue of a child: one view per name of a statement, named exactly as the caller wrote it, over exactly the
// slices that were pinned. Views stay between queries; a view whose files or schema changed is replaced.

import type { DuckDBConnection } from '@duckdb/node-api'
import { must } from '../lib/assert.ts'
import { foldAscii } from '../model/names.ts'
import { defaultVocabulary, type Field, innerType, systemFields } from '../model/schema.ts'
import type { HeldTable } from './file-lists.ts'
import { patternOf } from './messages.ts'
import { sqlTypeOf } from './sql-types.ts'

/** Views kept for later queries. */
const keptViews = 64
/** Slices whose columns are remembered. */
const keptSlices = 1024

/** Physical columns of a slice: name → type as DESCRIBE prints it. */
type SliceColumns = ReadonlyMap<string, string>

export class Views {
  readonly #connection: DuckDBConnection
  /** Folded name → what the view was made of. */
  readonly #made = new Map<string, { parts: readonly string[]; signature: string; version: number }>()
  #versions = 0
  readonly #slices = new Map<string, SliceColumns>()
  readonly #accounts = new Set<string>()

  constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  /** Makes a view for each table; returns a short text that differs when any of them does. Throws the engine's errors. */
  async ensure(tables: readonly HeldTable[]): Promise<string> {
    const wanted = new Map(tables.map((table) => [viewKey(table.parts), table]))
    if (this.#made.size + wanted.size > keptViews) await this.#dropOthers(wanted)
    const versions: number[] = []
    for (const [key, table] of wanted) {
      const signature = `${table.signature}\n${JSON.stringify(table.schema ?? null)}`
      let made = this.#made.get(key)
      if (made?.signature !== signature) {
        this.#made.delete(key)
        await this.#create(table)
        made = { parts: table.parts, signature, version: ++this.#versions }
        this.#made.set(key, made)
      }
      versions.push(made.version)
    }
    return versions.join(',')
  }

  async #create(table: HeldTable): Promise<void> {
    const [account] = table.parts
    if (table.parts.length === 2 && account !== undefined && !this.#accounts.has(foldAscii(account))) {
      await this.#connection.run(`CREATE SCHEMA IF NOT EXISTS ${identifier(account)}`)
      this.#accounts.add(foldAscii(account))
    }
    await this.#connection.run(`CREATE OR REPLACE VIEW ${viewName(table.parts)} AS ${await this.#body(table)}`)
  }

  async #body(table: HeldTable): Promise<string> {
    const fields = table.schema?.fields ?? systemFields(defaultVocabulary)
    const paths = table.files()
    const [first] = paths
    if (first === undefined) return `SELECT ${projections(fields, new Map())} WHERE false`
    // Schemas only grow, so slices between two of equal columns have the same columns too.
    const oldest = await this.#columnsOf(first)
    const newest = await this.#columnsOf(must(paths.at(-1), 'a last file follows from a first'))
    const grew = !sameColumns(oldest, newest)
    const physical = grew ? new Map([...oldest, ...newest]) : newest
    const { leastOffset } = table
    const rows = leastOffset === undefined ? '' : ` WHERE ${identifier(fields[0]?.name ?? '')} >= ${leastOffset}`
    return `SELECT ${projections(fields, physical)} FROM ${scan(paths, { unionByName: grew })}${rows}`
  }

  async #columnsOf(file: string): Promise<SliceColumns> {
    const known = this.#slices.get(file)
    if (known !== undefined) return known
    const result = await this.#connection.run(`DESCRIBE SELECT * FROM ${scan([file], { unionByName: false })}`)
    const rows = await result.getRows()
    const columns = new Map(rows.map((row) => [String(row[0]), String(row[1])]))
    if (this.#slices.size >= keptSlices) this.#slices.clear()
    this.#slices.set(file, columns)
    return columns
  }

  async #dropOthers(wanted: ReadonlyMap<string, unknown>): Promise<void> {
    for (const [key, { parts }] of this.#made) {
      if (wanted.has(key)) continue
      await this.#connection.run(`DROP VIEW IF EXISTS ${viewName(parts)}`)
      this.#made.delete(key)
    }
  }
}

/**
 * Exactly these files as they are. Left alone, the engine would guess: columns from `key=value` in the path, text from
 * binary, that no float is NaN (and skip row groups by bounds in which NaN has no place).
 */
function scan(paths: readonly string[], { unionByName }: { readonly unionByName: boolean }): string {
  const options = [
    // mutant: paths guess columns
    'hive_partitioning = false',
    'hive_types_autocast = false',
    'filename = false',
    'file_row_number = false',
    'binary_as_string = false',
    'can_have_nan = true',
    `union_by_name = ${unionByName}`,
  ]
  return `read_parquet([${paths.map((path) => literal(patternOf(path))).join(', ')}], ${options.join(', ')})`
}

function viewKey(parts: readonly string[]): string {
  return foldAscii(JSON.stringify(parts))
}

/** Names of one part live in the schema `main`, where the engine looks first. */
function viewName(parts: readonly string[]): string {
  return parts.length === 1 ? `main.${identifier(parts[0] ?? '')}` : parts.map(identifier).join('.')
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function sameColumns(a: SliceColumns, b: SliceColumns): boolean {
  return a.size === b.size && [...a].every(([name, type]) => b.get(name) === type)
}

/** The column as its schema says: as it lies in the slices where types agree (filters then reach the file). */
function projection(field: Field, physical: SliceColumns): string {
  const name = identifier(field.name)
  const stored = physical.get(field.name)
  const wanted = sqlTypeOf(field.type)
  if (stored === undefined) return `CAST(NULL AS ${wanted ?? 'VARCHAR'}) AS ${name}`
  if (wanted === undefined || wanted === stored) return name
  // Parquet has no timestamps in seconds: they lie there as plain integers.
  if (innerType(field.type).kind === 'Timestamp' && stored === 'BIGINT') return `to_timestamp(${name}) AS ${name}`
  return `CAST(${name} AS ${wanted}) AS ${name}`
}

function projections(fields: readonly Field[], physical: SliceColumns): string {
  return fields.map((field) => projection(field, physical)).join(', ')
}
