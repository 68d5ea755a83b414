// Three questions to begin with for a dataset, by what its columns are: the newest rows, a count for each of something, and
// what its numbers are over time. Pure.

import { coordinateColumns } from '../../libraries/geo/coordinate-columns.ts'
import type { Field } from '../../libraries/model/schema.ts'
import { innerType } from '../../libraries/model/schema.ts'

export interface Example {
  readonly title: string
  readonly sql: string
}

interface Described {
  readonly alias: string
  /** Without what the node adds. */
  readonly fields: readonly Field[]
  readonly eventTime: string
}

/** Always in quotes: `order` is a name of a column too. */
const name = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** `select` over the dataset of `alias`; an empty list where there is nothing to ask of it. */
export function examplesOf({ alias, fields, eventTime }: Described): readonly Example[] {
  const from = `from "${alias}"`
  const kinds = fields.map((field) => ({ column: field.name, kind: innerType(field.type).kind }))
  const isNumber = (kind: string): boolean => /^(?:U?Int|Float|Decimal)/.test(kind)
  const place = coordinateColumns(kinds.map(({ column, kind }) => ({ name: column, isNumber: isNumber(kind) })))
  const numbers = kinds
    .filter(({ column, kind }) => isNumber(kind) && column !== place?.latitude && column !== place?.longitude)
    .map(({ column }) => column)
  const texts = kinds.filter(({ column, kind }) => kind === 'String' && column !== 'geometry')
  const [number] = numbers
  const [text] = texts.map(({ column }) => column)
  const time = name(eventTime)
  return [
    { title: 'Newest rows', sql: `select * ${from} order by "offset" desc limit 20` },
    ...(text === undefined
      ? []
      : [
          {
            title: `Rows for each ${text}`,
            sql: `select ${name(text)}, count(*) as rows\n${from}\ngroup by ${name(text)} order by rows desc limit 20`,
          },
        ]),
    ...(number === undefined
      ? [
          {
            title: 'Rows and their times',
            sql: `select count(*) as rows, min(${time}) as first, max(${time}) as last ${from}`,
          },
        ]
      : [
          {
            title: `${number} over time`,
            sql: `select date_trunc('hour', ${time}) as hour, min(${name(number)}), avg(${name(number)}), max(${name(number)})\n${from}\ngroup by hour order by hour`,
          },
        ]),
  ]
}
