// Calls about one dataset of a live node that several tests make.

import type { Answer, LiveNode } from './live-node.ts'

/** PUT of a dataset. */
export function put(live: LiveNode, alias: string, body: object): Promise<Answer> {
  return live.call(`/${alias}`, { method: 'PUT', json: body })
}

export interface Post {
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** With its question mark. */
  readonly query?: string
}

/** Ingest of a body that waits for its block; NDJSON unless `headers` say otherwise. */
export function post(live: LiveNode, alias: string, { body, headers, query = '' }: Post): Promise<Answer> {
  return live.call(`/${alias}/ingest${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20', ...headers },
    body,
  })
}

/** Rows in order of arrival as arrays. */
export async function rowsOf(
  live: LiveNode,
  alias: string,
  columns = '* exclude (offset, op, system_time)',
): Promise<unknown> {
  return (await live.query(`select ${columns} from "${alias}" order by offset`)).at('output.data')
}

/** `name: type` of each column, system columns left out. */
export async function columnsOf(live: LiveNode, alias: string): Promise<string[]> {
  const answer = await live.call(`/${alias}/metadata?include=schema&schemaFormat=OdfJson`)
  return columnTexts(answer.at('output.schema')).slice(4)
}

/** `name: type` of each field of an OdfJson schema; `?` where it is optional. */
export function columnTexts(schema: unknown): string[] {
  const { fields } = (typeof schema === 'string' ? JSON.parse(schema) : schema) as {
    fields: { name: string; type: Record<string, unknown> }[]
  }
  return fields.map(({ name, type }) => {
    const inner = (type['inner'] ?? type) as Record<string, unknown>
    return `${name}: ${String(inner['kind'])}${inner === type ? '' : '?'}`
  })
}
