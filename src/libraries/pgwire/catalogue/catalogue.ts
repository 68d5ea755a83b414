// The relations of the catalogue with their rows, as cells that the engine casts to the types of their columns. Pure.

import { informationRows } from './information-rows.ts'
import type { Catalogue } from './numbered.ts'
import { pgRows } from './pg-rows.ts'
import { type Column, type Relation, relations, type Row } from './relations.ts'

/** Relations that say something of the columns of datasets. */
export const readsColumns: ReadonlySet<string> = new Set(['columns', 'column_privileges', 'pg_attribute', 'pg_class'])

/** A relation with its rows; undefined for a name that is none. What there is nothing of here has no rows. */
export function tableOf(
  name: string,
  catalogue: Catalogue,
): { readonly columns: readonly Column[]; readonly rows: Iterable<readonly (string | null)[]> } | undefined {
  const relation = relations.get(name)
  if (relation === undefined) return undefined
  const rows = (pgRows[name] ?? informationRows[name])?.(catalogue) ?? []
  return { columns: relation.columns, rows: cellsOf(relation, rows) }
}

function* cellsOf({ columns }: Relation, rows: Iterable<Row>): Generator<(string | null)[]> {
  for (const row of rows) yield columns.map(({ name }) => textOf(row[name] ?? null))
}

function textOf(cell: Row[string] | null): string | null {
  if (cell === null || typeof cell === 'string') return cell
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}
