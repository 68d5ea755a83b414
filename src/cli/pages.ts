// Lists of a node that come in pages, read as far as they bring what is new.

import type { JsonValue } from '../index.ts'
import type { Call, NodeClient } from './client.ts'
import { itemsAt, textAt } from './json-values.ts'
import { noNode } from './node-answer.ts'

const itemsMost = 5_000_000

/** The pages of a list; `cursor` is the parameter that says where the next one begins. Throws CommandFailure for one without end. */
export async function* pagesOf(
  client: NodeClient,
  call: Pick<Call, 'path' | 'query'>,
  { items, cursor }: { readonly items: string; readonly cursor: string },
): AsyncGenerator<readonly JsonValue[]> {
  let count = 0
  for (let next: string | undefined; ;) {
    const answer = await client.call({ ...call, query: { ...call.query, limit: '1000', [cursor]: next } })
    const page = answer.json()
    const found = itemsAt(page, items)
    yield found
    count += found.length
    const before = next
    next = textAt(page, 'next')
    if (next === undefined) return
    if (found.length === 0 || next === before || count > itemsMost) {
      throw noNode(client.server, `lists ${items} at ${call.path} without an end`)
    }
  }
}
