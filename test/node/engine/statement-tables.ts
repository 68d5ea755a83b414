// The two datasets that the statements of statement-corpus.ts read.

import type { Field } from '../../../src/libraries/model/schema.ts'
import { schemaOf, systemColumns } from './helpers.ts'

/** Columns as `name: kind`. */
function fields(text: string): Field[] {
  // The kinds here have no parameters.
  return text.split(', ').map((part) => ({ name: part.slice(0, 1), type: { kind: part.slice(3) } }) as Field)
}

export const schemas = {
  t: schemaOf(
    ...fields('k: Int32, m: Int64'),
    { name: 'x', type: { kind: 'Option', inner: { kind: 'Float64' } } },
    ...fields('z: Float64, g: String, d: Date'),
    { name: 'p', type: { kind: 'Decimal', precision: 9, scale: 2 } },
    { name: 'b', type: { kind: 'Bool' } },
    { name: 'l', type: { kind: 'List', itemType: { kind: 'Int64' } } },
    { name: 's', type: { kind: 'Struct', fields: fields('f: Float64') } },
    { name: 'q', type: { kind: 'Int32' } },
  ),
  u: schemaOf(...fields('k: Int32'), { name: 'name', type: { kind: 'String' } }, ...fields('w: Float64')),
}
const columns = {
  t: `(hash(i * 31) % 7)::INT AS k, (hash(i * 7) % 900)::BIGINT AS m,
      CASE hash(i * 17) % 9 WHEN 0 THEN NULL WHEN 1 THEN 0e0 WHEN 2 THEN -0e0 ELSE (hash(i) % 100000) / 7e3 - 4 END AS x,
      CASE WHEN hash(i * 13) % 2 = 0 THEN 0e0 ELSE -0e0 END AS z, 'g' || (hash(i * 3) % 12) AS g,
      DATE '2024-01-01' + (hash(i * 5) % 400)::INT AS d, ((hash(i * 11) % 10000) / 100)::DECIMAL(9, 2) AS p,
      hash(i * 19) % 2 = 0 AS b, [(hash(i * 23) % 4)::BIGINT, i % 3] AS l, {'f': (hash(i * 29) % 100) / 3e0} AS s, (i // 500)::INT AS q`,
  u: `(i % 9)::INT AS k, 'n' || i AS name, i / 3e0 AS w`,
}

/** SQL of the rows of a dataset from an offset on. */
export function rowsOf(name: keyof typeof schemas, from: number, to: number): string {
  return `SELECT ${systemColumns('i')}, ${columns[name]} FROM range(${from}, ${to}) r(i)`
}
