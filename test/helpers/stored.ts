// What a store holds in the end, read back row by row for the history checker. Rows name their batch in `batch`, their
// place in it in `i`, and the size of the batch in `of`.

import { Catalog } from '../../src/node/catalog/catalog.ts'
import type { DatasetChain } from '../../src/node/catalog/dataset-chain.ts'
import type { StoredDataset, StoredRow } from '../history/history.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import type { Column } from '../../src/libraries/model/schema.ts'
import { dataKey } from '../../src/node/store/layout.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { readSlice } from './slices.ts'

/** Every dataset that a name leads to. Throws HaltError for a chain that does not link. */
export async function readStored(store: ObjectStore): Promise<StoredDataset[]> {
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
  const datasets: StoredDataset[] = []
  for (const { alias } of await catalog.names()) {
    const chain = must(await catalog.byAlias(alias), 'a name has a chain')
    const blocks = [...chain.blocks].map(({ sequence, hash }) => ({ sequence, hash }))
    datasets.push({ alias: alias.toLowerCase(), blocks, rows: await rowsOf(store, chain) })
  }
  catalog.close()
  return datasets
}

/** The rows of a chain, by offset. */
export async function rowsOf(store: ObjectStore, chain: DatasetChain): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  for (const { hash, sequence } of chain.slices) {
    const bytes = must(await store.get(dataKey(chain.name.id, hash)), 'a slice is there')
    const { columns, rows: count } = await readSlice(bytes)
    const column = (name: string): Column =>
      must(
        columns.find((one) => one.name === name),
        `a column ${name}`,
      )
    const [batch, number, of, offset] = [column('batch'), column('i'), column('of'), column('offset')]
    for (let row = 0; row < count; row++) {
      rows.push({
        batch: textAt(batch, row),
        number: integerAt(number, row),
        of: integerAt(of, row),
        offset: integerAt(offset, row),
        sequence,
      })
    }
  }
  return rows
}

function textAt({ values, offsets }: Column, row: number): string {
  const at = must(offsets, 'text has offsets')
  return new TextDecoder().decode(values.subarray(at[row], at[row + 1]))
}

/** A whole number, whether it was stored as integer or, as numbers in JSON are, as float. */
function integerAt({ type, values }: Column, row: number): number {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  return type.kind === 'Float64' ? view.getFloat64(row * 8, true) : Number(view.getBigInt64(row * 8, true))
}
