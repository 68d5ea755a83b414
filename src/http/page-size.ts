// The `limit` of lists that come in pages.

import { NodeError } from '../model/errors.ts'

const defaultItems = 100
const maxItems = 1000

/** Items of one page. Throws NodeError `InvalidParameter` outside 1 to 1,000. */
export function pageSize(text: string | undefined): number {
  const items = text === undefined ? defaultItems : Number(text)
  if (items >= 1 && items <= maxItems) return items
  throw new NodeError('InvalidParameter', `limit is ${items}; pages hold 1 to ${maxItems} items.`, {
    hint: 'Follow next for more.',
  })
}
