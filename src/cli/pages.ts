// Lists of a node that come in pages, read as far as they bring what is new, and not by many requests for little.

import type { JsonValue } from '../index.ts'
import type { Call, NodeClient } from './client.ts'
import { itemsAt, textAt } from '../libraries/base/json/members.ts'
import { noNode } from './node-answer.ts'

const itemsMost = 5_000_000
const pageItems = 1_000
/** A node fills its pages, but for items that go meanwhile: more requests than for pages with so many are made for none. */
const leastPageItems = 100
const shortPages = 16

/** The pages of a list; `cursor` is the parameter that says where the next one begins. Throws CommandFailure for one without end. */
export async function* pagesOf(
  client: NodeClient,
  call: Pick<Call, 'path' | 'query'>,
  { items, cursor }: { readonly items: string; readonly cursor: string },
): AsyncGenerator<readonly JsonValue[]> {
  let count = 0
  let next: string | undefined
  for (let pages = 1; ; pages++) {
    const query = { ...call.query, limit: String(pageItems), [cursor]: next }
    const page = (await client.call({ ...call, query })).json()
    const found = itemsAt(page, items)
    yield found
    count += found.length
    const before = next
    next = textAt(page, 'next')
    if (next === undefined) return
    if (found.length === 0 || next === before || count > itemsMost)
      throw noNode(client.server, `lists ${items} at ${call.path} without an end`)
    if (pages - shortPages > count / leastPageItems)
      throw noNode(client.server, `lists ${items} at ${call.path} a few at a time`)
  }
}
