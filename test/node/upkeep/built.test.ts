// What the builder makes of a log, checked: every kind of block that it writes must pass.

import { describe, expect, test } from 'vitest'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { datasetKey } from '../../../src/node/store/layout.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, datasetId, schemaOf, TestWriter, userFields } from '../builder/support.ts'
import { storeChecks } from '../../../src/app/features.ts'

const [first, second] = [datasetId('first'), datasetId('second')]

/** A store with two datasets: creations with and without schema, rows, keys, a large batch, a rejection, a new column. */
async function built() {
  const log = openMemoryLog()
  const store = openMemoryStore()
  const writer = new TestWriter('w')
  const wider = [...userFields, { name: 'extra', type: { kind: 'Option', inner: { kind: 'Int64' } } }] as const
  await log.append(0, [
    writer.create(first, 'Acme/First', { info: { description: 'd', keywords: ['k'] } }),
    writer.create(second, 'acme/second', { vocab: { eventTimeColumn: 'event_time' } }),
    writer.rows(first, [{ rows: 3 }, { rows: 2, key: 'k' }]),
    writer.cut([{ dataset: first, sequence: 4 }]),
    ...writer.parts(second, { rows: 400, key: 'large' }, 3),
    writer.rows(first, [{ rows: 2, key: 'k', body: 'another' }]),
    writer.rows(first, [{ rows: 4 }], { fields: wider, schema: schemaOf(wider) }),
    writer.cut([
      { dataset: first, sequence: 5 },
      { dataset: second, sequence: 3 },
    ]),
    writer.rows(first, [{ rows: 1, after: 0 }]),
    writer.cut([{ dataset: first, sequence: 8 }]),
  ])
  await putLog(store, { id: log.id, kind: log.kind, partitions: log.partitions })
  const { builder } = await buildAll(log, store)
  expect(builder.status().halted).toEqual([])
  return store
}

describe('a store that the builder filled', () => {
  test('is sound to the last row', async () => {
    const report = await fsck(await built(), { checks: storeChecks })
    expect(report.datasets.flatMap(({ problems }) => problems)).toEqual([])
    expect(report).toMatchObject({ ok: true, problems: [], orphans: 0 })
    const rows = new Map(report.datasets.map(({ alias, rows: count, notes }) => [alias, [count, notes]]))
    expect(rows.get('Acme/First')?.[0]).toBeGreaterThanOrEqual(9)
    expect(rows.get('acme/second')).toEqual([400, []])
  })

  test('is sound no more once any object of a chain has changed', async () => {
    const store = await built()
    for (const folder of ['blocks', 'data', 'checkpoints', 'commits']) {
      const prefix = `${datasetKey(first)}/${folder}`
      for (const name of await store.list(prefix)) {
        const bytes = must(await store.get(`${prefix}/${name}`), name)
        const at = Math.floor(bytes.length / 2)
        await store.replace(`${prefix}/${name}`, bytes.with(at, (bytes[at] ?? 0) ^ 0x10))
        expect([folder, name, (await fsck(store, { checks: storeChecks })).ok]).toEqual([folder, name, false])
        await store.replace(`${prefix}/${name}`, bytes)
      }
    }
  })
})
