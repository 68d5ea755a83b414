// The catalogue of a child: one view per name of a statement, named exactly as the caller wrote it, over exactly the
// slices that were pinned. Views stay between queries; a view whose text changed is replaced. What statements choose anew
// is in variables: the paths of a whole list, which grows, and the files and offsets of those that read a part.

import type { DuckDBConnection } from '@duckdb/node-api'
import { must } from '../../../libraries/base/assert.ts'
import { foldAscii } from '../../../libraries/model/names.ts'
import { defaultVocabulary, type Field, innerType, systemFields } from '../../../libraries/model/schema.ts'
import type { HeldTable } from '../process/file-lists.ts'
import { patternOf } from '../messages.ts'
import { sqlName, sqlText, sqlTypeOf } from '../../../libraries/sql/types.ts'

/** Views kept for later queries. */
const keptViews = 64
/** Slices whose columns are remembered. */
const keptSlices = 1024

/** Physical columns of a slice: name → type as DESCRIBE prints it. */
type SliceColumns = ReadonlyMap<string, string>

/** What a view was made of. */
interface Made {
  readonly parts: readonly string[]
  readonly signature: string
  readonly body: string
  /** What its columns and their types come from; another version for others. */
  readonly columns: string
  readonly version: number
}

export class Views {
  readonly #connection: DuckDBConnection
  /** Folded name → what the view was made of. */
  readonly #made = new Map<string, Made>()
  #versions = 0
  /** Lists of slices → their variables, and how many paths those hold. */
  readonly #variables = new Map<string, { readonly name: string; length: number }>()
  #named = 0
  /** Folded name → the variable of a view over some files of a list. */
  readonly #parts = new Map<string, string>()
  readonly #slices = new Map<string, SliceColumns>()
  readonly #accounts = new Set<string>()

  constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  /** Makes a view for each table; returns a short text that differs when the columns of any do. Throws the engine's errors. */
  async ensure(tables: readonly HeldTable[]): Promise<string> {
    const wanted = new Map(tables.map((table) => [viewKey(table.parts), table]))
    if (this.#made.size + wanted.size > keptViews) await this.#dropOthers(wanted)
    const versions: number[] = []
    for (const [key, table] of wanted) {
      const signature = `${table.signature}\n${JSON.stringify(table.schema ?? null)}`
      let made = this.#made.get(key)
      if (made?.signature !== signature) {
        this.#made.delete(key)
        const { columns, body } = await this.#create(table, made)
        const version = made?.columns === columns ? made.version : ++this.#versions
        made = { parts: table.parts, signature, body, columns, version }
        this.#made.set(key, made)
      }
      versions.push(made.version)
    }
    return versions.join(',')
  }

  /** Forgets the paths of all lists, and the views over them. */
  async forgetLists(): Promise<void> {
    await this.#dropOthers(new Map())
    for (const [list, { name }] of this.#variables) {
      await this.#connection.run(`RESET VARIABLE ${name}`)
      this.#variables.delete(list)
    }
  }

  /** Makes a view, where it is not what was made before. */
  async #create(table: HeldTable, before: Made | undefined): Promise<Pick<Made, 'columns' | 'body'>> {
    const [account] = table.parts
    if (table.parts.length === 2 && account !== undefined && !this.#accounts.has(foldAscii(account))) {
      await this.#connection.run(`CREATE SCHEMA IF NOT EXISTS ${sqlName(account)}`)
      this.#accounts.add(foldAscii(account))
    }
    const { physical, body } = await this.#body(table)
    if (body !== before?.body) await this.#connection.run(`CREATE OR REPLACE VIEW ${viewName(table.parts)} AS ${body}`)
    return { body, columns: JSON.stringify([table.schema ?? null, physical && [...physical]]) }
  }

  async #body(table: HeldTable): Promise<{ readonly physical?: SliceColumns; readonly body: string }> {
    const fields = table.schema?.fields ?? systemFields(defaultVocabulary)
    if (table.offsetsAlone !== undefined) return { body: offsetsBody(fields, table.offsetsAlone) }
    const paths = table.files()
    const [first] = paths
    if (first === undefined) return { body: `SELECT ${projections(fields, new Map())} WHERE false` }
    // Schemas only grow, so slices between two of equal columns have the same columns too.
    const oldest = await this.#columnsOf(first)
    const newest = await this.#columnsOf(must(paths.at(-1), 'a last file follows from a first'))
    const grew = !sameColumns(oldest, newest)
    const physical = grew ? new Map([...oldest, ...newest]) : newest
    return { physical, body: `SELECT ${projections(fields, physical)} FROM ${await this.#source(table, paths, grew)}` }
  }

  /** What is read, as an expression: of some files of a list, which others follow, or some rows, members of a variable. */
  async #source(table: HeldTable, paths: readonly string[], unionByName: boolean): Promise<string> {
    const { parts, whole, rows, bounds = [] } = table
    if (whole !== undefined && bounds.length === 0)
      return scan(await this.#filesOf(whole, paths), { unionByName, rows })
    const name = this.#parts.get(viewKey(parts)) ?? `part_${++this.#named}`
    this.#parts.set(viewKey(parts), name)
    const values = bounds.map(([, value], at) => `b${at}: ${value}`)
    const members = [`files: ${listOf(paths)}`, `rows: ${rows ?? 'NULL'}`, ...values]
    await this.#connection.run(`SET VARIABLE ${name} = {${members.join(', ')}}`)
    const of = (member: string): string => `getvariable('${name}').${member}`
    const where = bounds.map(([condition], at) => `${at === 0 ? ' WHERE' : ' AND'} ${condition} ${of(`b${at}`)}`)
    return scan(of('files'), { unionByName, rows: rows && of('rows') }) + where.join('')
  }

  /** The paths of the first files of a list as an expression. */
  async #filesOf(whole: NonNullable<HeldTable['whole']>, paths: readonly string[]): Promise<string> {
    const variable = this.#variables.get(whole.list) ?? { name: `slices_${++this.#named}`, length: 0 }
    if (variable.length < paths.length) {
      const more = listOf(paths.slice(variable.length))
      const all = variable.length === 0 ? more : `list_concat(getvariable('${variable.name}'), ${more})`
      await this.#connection.run(`SET VARIABLE ${variable.name} = ${all}`)
      this.#variables.set(whole.list, { name: variable.name, length: paths.length })
    }
    return `getvariable('${variable.name}')[1:${paths.length}]`
  }

  async #columnsOf(file: string): Promise<SliceColumns> {
    const known = this.#slices.get(file)
    if (known !== undefined) return known
    const result = await this.#connection.run(`DESCRIBE SELECT * FROM ${scan(listOf([file]), { unionByName: false })}`)
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
      const variable = this.#parts.get(key)
      if (variable !== undefined) await this.#connection.run(`RESET VARIABLE ${variable}`)
      this.#parts.delete(key)
    }
  }
}

/**
 * Exactly these files as they are. Left alone, the engine would guess: columns from `key=value` in the path, text from
 * binary, that no float is NaN (and skip row groups by bounds in which NaN has no place).
 */
function scan(
  files: string,
  { unionByName, rows }: { readonly unionByName: boolean; readonly rows?: string | number | undefined },
): string {
  const options = [
    // mutant: paths guess columns
    'hive_partitioning = false',
    'hive_types_autocast = false',
    'filename = false',
    'file_row_number = false',
    'binary_as_string = false',
    'can_have_nan = true',
    `union_by_name = ${unionByName}`,
    // Else it is what the process knows of the files: the same statement then has one plan at first and another later.
    ...(rows === undefined ? [] : [`explicit_cardinality = ${rows}`]),
  ]
  return `read_parquet(${files}, ${options.join(', ')})`
}

function listOf(paths: readonly string[]): string {
  return `[${paths.map((path) => sqlText(patternOf(path))).join(', ')}]`
}

function viewKey(parts: readonly string[]): string {
  return foldAscii(JSON.stringify(parts))
}

/** Names of one part live in the schema `main`, where the engine looks first. */
function viewName(parts: readonly string[]): string {
  return parts.length === 1 ? `main.${sqlName(parts[0] ?? '')}` : parts.map(sqlName).join('.')
}

function sameColumns(a: SliceColumns, b: SliceColumns): boolean {
  return a.size === b.size && [...a].every(([name, type]) => b.get(name) === type)
}

/** The column as its schema says: as it lies in the slices where types agree (filters then reach the file). */
function projection(field: Field, physical: SliceColumns): string {
  const name = sqlName(field.name)
  const stored = physical.get(field.name)
  const wanted = sqlTypeOf(field.type)
  if (stored === undefined) return `CAST(NULL AS ${wanted ?? 'VARCHAR'}) AS ${name}`
  if (wanted === undefined || wanted === stored) return name
  // Parquet has no timestamps in seconds: they lie there as plain integers.
  if (innerType(field.type).kind === 'Timestamp' && stored === 'BIGINT') return `to_timestamp(${name}) AS ${name}`
  return `CAST(${name} AS ${wanted}) AS ${name}`
}

/** Rows that have an offset and nothing else. */
function offsetsBody([offset, ...others]: readonly Field[], rows: number): string {
  const names = [`range AS ${sqlName(offset?.name ?? '')}`, projections(others, new Map())]
  return `SELECT ${names.join(', ')} FROM range(${rows})`
}

function projections(fields: readonly Field[], physical: SliceColumns): string {
  return fields.map((field) => projection(field, physical)).join(', ')
}
