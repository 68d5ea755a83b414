// Options of a feature that nothing calls for. Most are slips, such as `--store HTTPS//node` beside what to follow of that node,
// which would make a directory of that name.

import { optionGroups, type ReadOption } from './config.ts'
import { invalidOption } from '../node/options.ts'

/** Throws NodeError `InvalidParameter` for the first option that is set, differs from its default and has no effect. */
export function refuseIdleOptions(options: readonly ReadOption[]): void {
  const values = new Map(options.map(({ row, value }) => [row.name, value]))
  for (const { rows, read, needs } of optionGroups()) {
    const names = rows.map(({ name }) => name)
    const idle = options.find(
      ({ row, value, source }) => names.includes(row.name) && source !== 'default' && value !== row.default,
    )
    if (idle === undefined || read(values) !== undefined) continue
    const store = values.get('store')
    const beside = store === undefined ? '' : ` (option 'store' is '${String(store)}')`
    throw invalidOption(`Option '${idle.row.name}' has no effect here${beside}; it needs ${needs}.`)
  }
}
