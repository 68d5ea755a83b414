// The values of the features of a map: of an answer those of its table; of a dataset what the node answers, asked when somebody
// first looks at the map closely.

import { parseJson } from '../../../libraries/base/json/json.ts'
import type { AnswerColumn, Rows } from '../charts/cells.ts'
import { answerOf } from './answer-table.ts'
import { firstRows } from '../../../libraries/evidence/rows.ts'
import { once } from './node-names.ts'
import { heldToken } from './session.ts'

export interface MapValues {
  readonly columns: readonly AnswerColumn[]
  /** By the name that the map has for a row; empty before they are there, or where the node does not tell. */
  readonly cells: Map<string, Rows[number]>
  readonly load: () => Promise<void>
}

/** Of a dataset; a longer text is cut. */
const [mostColumns, mostRows, cellChars] = [20, 10_000, 60]

export function isScalar({ name, type }: AnswerColumn): boolean {
  return !/^(?:Binary|List|Map|Struct)/.test(type) && name.toLowerCase() !== 'geometry'
}

/** `rows`: names of the rows that the map shows. */
export function mapValues(svg: SVGSVGElement, rows: readonly string[]): MapValues {
  const table = document.querySelector<HTMLTableElement>('#answer table.rows')
  if (svg.dataset['rows'] === '#row-' && table !== null) {
    const answer = answerOf(table)
    const named = [...(table.tBodies[0]?.rows ?? [])].map(({ id }, at) => [id.slice(4), answer.rows[at] ?? []] as const)
    return { columns: answer.columns, cells: new Map(named), load: async () => {} }
  }
  const listed = [...document.querySelectorAll<HTMLTableRowElement>('table.columns tbody tr:not(.system)')]
  const own = listed.map(({ cells: [head, code] }) => {
    const [name, type] = [head?.textContent ?? '', code?.textContent ?? '']
    return { name, type, isNumber: /^(?:U?Int|Float|Decimal)/.test(type) }
  })
  const columns = [{ name: 'offset', type: 'Int64', isNumber: true }, ...own.filter(isScalar).slice(0, mostColumns)]
  const alias = document.querySelector<HTMLElement>('[data-follow]')?.dataset['follow'] ?? ''
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
  const shown = columns.map(({ name, type }) =>
    type === 'String' ? `left(${quoted(name)}, ${cellChars})` : quoted(name),
  )
  const [numbers, cells] = [rows.map(Number), new Map<string, Rows[number]>()]
  const where = `"offset" between ${Math.min(...numbers)} and ${Math.max(...numbers)}`
  const query = `select ${shown.join(', ')} from ${quoted(alias)} where ${where}`
  return { columns, cells, load: once(async () => await ask(query, cells)) }
}

async function ask(query: string, cells: MapValues['cells']): Promise<void> {
  const token = heldToken()
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const answer = await fetch('/query', {
    method: 'POST',
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, limit: mostRows, dataFormat: 'JsonAoa' }),
  }).catch(() => undefined)
  const body = answer?.ok === true ? parseJson(await answer.text()) : undefined
  const found = firstRows(body instanceof Map ? body.get('output') : undefined, mostRows)?.rows ?? []
  for (const row of found)
    cells.set(
      row[0] ?? '',
      row.map((cell) => cell || undefined),
    )
}
