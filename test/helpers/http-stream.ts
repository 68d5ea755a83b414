// A stream of records over HTTP, as a sender has it open: what is written, and the lines that come.

import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import type { LiveNode } from './live-node.ts'
import { until } from './until.ts'

export type Line = Readonly<Record<string, never>> & {
  readonly status?: string
  readonly numbers?: { readonly first: number; readonly last: number }
  readonly records?: { readonly received: number; readonly committed: number; readonly duplicates: number }
  readonly receiptId?: string
  readonly collapsed?: number
  readonly ended?: boolean
  readonly last?: number
  readonly problem?: {
    readonly error: { readonly kind: string }
    readonly errors?: readonly { readonly record: number }[]
  }
}

export class HttpStream {
  readonly lines: Line[] = []
  readonly request: ClientRequest
  readonly response: Promise<IncomingMessage>

  constructor(path: string, headers: Readonly<Record<string, string>>, at: LiveNode) {
    const { hostname, port } = new URL(at.node.url)
    this.request = httpRequest({
      hostname,
      port,
      path,
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${at.adminToken}`,
        'content-type': 'application/x-ndjson',
        'transfer-encoding': 'chunked',
        ...headers,
      },
    })
    this.request.on('error', () => {})
    this.request.flushHeaders()
    this.response = once(this.request, 'response').then(([response]: IncomingMessage[]) => {
      let rest = ''
      response?.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        this.lines.push(...lines.map((line) => JSON.parse(line) as Line))
      })
      response?.on('error', () => {})
      return response as IncomingMessage
    })
    this.response.catch(() => {})
  }

  send(...rows: readonly (number | string)[]): this {
    this.request.write(rows.map((row) => (typeof row === 'number' ? `{"n":${row}}\n` : row)).join(''))
    return this
  }

  /** Number of the last record that is durable, as far as it was told. */
  get last(): number | undefined {
    return this.lines.findLast(({ numbers }) => numbers !== undefined)?.numbers?.last
  }

  async told(last: number): Promise<void> {
    await until(`the receipt of ${last}`, () => this.last === last)
  }

  async end(): Promise<Line> {
    this.request.end()
    await until('the end', () => this.lines.at(-1)?.ended === true)
    return this.lines.at(-1) ?? {}
  }
}

/** Headers of a producer. */
export const producer = (id: string, sequence: number, epoch = 0): Record<string, string> => ({
  'producer-id': id,
  'producer-epoch': String(epoch),
  'producer-sequence': String(sequence),
})
