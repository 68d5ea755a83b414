// Calls about one dataset of a live node that several tests make.

import type { Answer, LiveNode } from './live-node.ts'

export interface DatasetCalls {
  put(alias: string, body: object): Promise<Answer>
  /** Ingest of a body that waits for its block; NDJSON unless `headers` say otherwise. `query`: with its question mark. */
  post(
    alias: string,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
    query?: string,
  ): Promise<Answer>
  /** Rows in order of arrival as arrays. */
  rowsOf(alias: string, columns?: string): Promise<unknown>
  /** `name: type` of each column, system columns left out. */
  columnsOf(alias: string): Promise<string[]>
}

/** The calls of the node that `live` gives when they are made. */
export function datasetCalls(live: () => LiveNode): DatasetCalls {
  return {
    put: (alias, body) => live().call(`/${alias}`, { method: 'PUT', json: body }),
    post: (alias, body, headers = {}, query = '') =>
      live().call(`/${alias}/ingest${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20', ...headers },
        body,
      }),
    rowsOf: async (alias, columns = '* exclude (offset, op, system_time)') =>
      (await live().query(`select ${columns} from "${alias}" order by offset`)).at('output.data'),
    columnsOf: async (alias) => {
      const answer = await live().call(`/${alias}/metadata?include=schema&schemaFormat=OdfJson`)
      return columnTexts(answer.at('output.schema')).slice(4)
    },
  }
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
