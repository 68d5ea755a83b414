// Creations: what a caller gets when the builder is slow, and when somebody else was faster. Deletions by a clock that is wrong.

import { expect, test } from 'vitest'
import { viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { isSameDataset } from '../../../src/node/gateway/new-dataset.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { schemaOf } from '../builder/support.ts'
import { until } from '../../helpers/until.ts'
import { kindOf, receiptOf, rigOf } from './support.ts'

const alias = parseAliasText('a/b')
const create = { query: { create: 'true' } }
/** A clock on which every wait is over at once. */
const hasty = { ...systemClock, sleep: async () => {} }

test('a creation that no builder takes is told to come again and stores no rows; a repeat finishes it', async () => {
  const rig = rigOf({ clock: hasty })
  expect(await kindOf(rig.rows('a/b', [{ n: 1 }], create))).toBe('LogUnavailable')
  expect((await rig.headers()).map(({ kind }) => kind)).toEqual(['create'])
  await rig.build()
  await until('the dataset is there', async () => (await rig.catalog.byAlias('a/b')) !== undefined)
  const later = rigOf({ log: rig.log, store: rig.store })
  const waiting = later.rows('a/b', [{ n: 1 }], { ...create, headers: { prefer: 'respond-async' } })
  expect((await waiting).status).toBe('accepted')
  expect((await rig.headers()).filter(({ kind }) => kind === 'create')).toHaveLength(1)
})

test('two creations of one name make one dataset, that of the first in the log', async () => {
  const rig = await rigOf().build()
  const other = rigOf({
    log: rig.log,
    store: rig.store,
    clock: { ...systemClock, sleep: (_, signal) => systemClock.sleep(20, signal) },
  })
  const both = [
    rig.gateway.create({ alias, visibility: 'public', schema: schemaOf() }),
    other.gateway.create({ alias: parseAliasText('A/B'), visibility: 'private' }),
  ]
  const [first, second] = await Promise.all(both)
  expect([first?.created, second?.created]).toEqual([true, false])
  expect(second?.chain.name).toEqual(first?.chain.name)
  expect(first?.chain.name).toMatchObject({ alias: 'a/b', visibility: 'public' })
})

test('a name that is taken is told without a word in the log', async () => {
  const rig = await rigOf().build()
  const { chain } = await rig.gateway.create({ alias, visibility: 'public' })
  const logged = (await rig.headers()).length
  const again = await rig.gateway.create({ alias, visibility: 'public' })
  expect(again).toEqual({ chain, created: false })
  expect((await rig.headers()).length).toBe(logged)
})

test('a repeat is the same dataset also after it has grown; with other members it is another', async () => {
  const rig = await rigOf().build()
  const asked = { alias, visibility: 'public', schema: schemaOf(), info: { description: 'A' } } as const
  await rig.gateway.create(asked)
  await rig.rows('a/b', [{ city: 'Oslo', more: 1 }], { query: { unknownFields: 'add' } })
  const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
  expect(viewOf(chain).schema).not.toEqual(viewOf(chain, chain.creationSequence).schema)
  expect(isSameDataset(asked, chain)).toBe(true)
  expect(isSameDataset({ ...asked, schema: must(viewOf(chain).schema, 'a schema') }, chain)).toBe(false)
  expect(isSameDataset({ ...asked, visibility: 'private' }, chain)).toBe(false)
  expect(isSameDataset({ ...asked, info: { description: 'A', keywords: ['x'] } }, chain)).toBe(false)
  expect(isSameDataset({ ...asked, vocab: { eventTimeColumn: 'when' } }, chain)).toBe(false)
  expect(isSameDataset({ ...asked, vocab: { eventTimeColumn: 'event_time' }, attachments: [] }, chain)).toBe(true)
  expect(isSameDataset({ alias, visibility: 'public', info: asked.info }, chain)).toBe(false)
})

test('a dataset without schema gets it from its first batch, under its own vocabulary', async () => {
  const rig = await rigOf().build()
  const { chain } = await rig.gateway.create({ alias, visibility: 'public', vocab: { eventTimeColumn: 'when' } })
  expect(receiptOf(await rig.post('a/b', '')).status).toBe('committed')
  expect((await rig.rows('a/b', [{ when: '2026-01-01T00:00:00Z', n: 1 }])).status).toBe('committed')
  const { schema } = viewOf(chain)
  expect(schema?.fields.map(({ name }) => name)).toEqual(['offset', 'op', 'system_time', 'when', 'n'])
  const kinds = [...chain.blocks].map(({ kind }) => kind)
  expect(kinds).toEqual(['Seed', 'SetVocab', 'AddPushSource', 'SetDataSchema', 'AddPushSource', 'AddData'])
})

test('a dataset is not deleted for a while by a clock of 1970: it could not be restored once the clock is right', async () => {
  const now = { ms: Date.parse('1970-01-01T00:00:30Z') }
  const rig = await rigOf({ clock: { ...systemClock, nowMs: () => now.ms } }).build()
  const { chain } = await rig.gateway.create({ alias, visibility: 'public', schema: schemaOf() })
  const remove = (graceMs: number) => rig.gateway.delete(chain, { ifMatch: '*', graceMs })
  expect(await kindOf(remove(60_000))).toBe('LogUnavailable')
  expect((await rig.headers()).map(({ kind }) => kind)).not.toContain('delete')
  now.ms = Date.parse('2026-03-01T00:00:00Z')
  const deletion = await remove(60_000)
  expect((await rig.gateway.restore(deletion, 'a/b')).name.id).toBe(chain.name.id)
  now.ms = 0
  expect(await remove(0)).toMatchObject({ name: { alias: 'a/b' } })
})
