// Posts that make a dataset, or its columns, at the same moment: whoever hears 202 is committed in the end; rows that
// the winner's columns do not hold are refused to their caller. Many callers, several gateways, bodies of every size.

import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readControls } from '../../../src/node/gateway/controls.ts'
import type { Receipt } from '../../../src/node/gateway/receipts.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { until } from '../../helpers/until.ts'
import { kindOf, ndjson, receiptOf, type Rig, rigOf } from './support.ts'

const alias = parseAliasText('a/b')
const create = { create: 'true' }
const soon = { prefer: 'respond-async' }

/** First posts as devices send them: other columns, integers where others send fractions, few rows and many. */
const bodies = {
  integer: ndjson([{ a: 1 }]),
  fraction: ndjson([{ a: 1.5, b: 2 }]),
  text: ndjson([{ a: 'x' }]),
  other: ndjson([{ c: true, d: '2026-01-01' }]),
  manyIntegers: ndjson(Array.from({ length: 1_200 }, (_, i) => ({ a: i, b: i }))),
  /** More than the first 10,000 records, which settle the columns: their bytes are not kept. */
  settledIntegers: ndjson(Array.from({ length: 10_500 }, (_, i) => ({ a: i, b: i }))),
  settledTexts: ndjson(Array.from({ length: 10_500 }, (_, i) => ({ a: `x${i}`, e: true }))),
  long: ndjson(Array.from({ length: 1_200 }, (_, i) => ({ b: i, note: 'n'.repeat(1_000) }))),
} as const
const names = Object.keys(bodies) as (keyof typeof bodies)[] // of a constant object
const rowsIn = (name: keyof typeof bodies): number => bodies[name].split('\n').length - 1

/** The receipt that a caller hears, or the kind of a plain refusal; anything else is thrown. */
async function answer(rig: Rig, body: string, query: Readonly<Record<string, string>>): Promise<Receipt | string> {
  try {
    return receiptOf(await rig.post('a/b', body, { query, headers: soon }))
  } catch (error) {
    if (error instanceof NodeError && ['RecordsDoNotFit', 'SchemaConflict'].includes(error.kind)) return error.kind
    throw error
  }
}

/** Posts all at once, waits for the log's end, and says which were stored. Fails where an accepted one was not. */
async function race(rigs: readonly Rig[], sent: readonly (keyof typeof bodies)[], query: Record<string, string>) {
  const rig = rigs[0] ?? rigOf()
  const answers = await Promise.all(sent.map((name, i) => answer(rigs[i % rigs.length] ?? rig, bodies[name], query)))
  const { end } = await rig.log.range(0)
  await until('the chain has what the log has', async () => {
    const chain = await rig.catalog.byAlias('a/b')
    if (chain !== undefined) await rig.catalog.refresh(chain)
    return chain !== undefined && chain.head.next >= end
  })
  const statuses = await Promise.all(
    answers.map(async (one) =>
      typeof one === 'string' ? one : (await rig.gateway.receipt(one.receiptId)).receipt.status,
    ),
  )
  expect(statuses.filter((status) => status === 'accepted' || status === 'rejected')).toEqual([])
  const stored = sent.filter((_, i) => statuses[i] === 'committed')
  const chain = await rig.catalog.byAlias('a/b')
  const rows = chain?.slices.slice().reduce((sum, { end, start }) => sum + end - start + 1, 0)
  expect(rows).toBe(stored.reduce((sum, name) => sum + rowsIn(name), 0))
  return statuses
}

describe('first posts at the same moment', () => {
  const sent = fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 8 })

  test.each([
    ['that make the dataset', create, false, 1],
    ['that make the dataset, at two gateways', create, false, 2],
    ['that give a dataset its columns', {}, true, 1],
    ['that give a dataset its columns, at two gateways', {}, true, 2],
    ['that add columns, at two gateways', { unknownFields: 'add' }, true, 2],
  ] as const)(
    '%s: what is accepted is committed',
    async (_, query, isMade, gateways) => {
      await fc.assert(
        fc.asyncProperty(sent, async (posts) => {
          const first = await rigOf().build()
          const rigs = [first]
          for (let i = 1; i < gateways; i++) rigs.push(rigOf({ log: first.log, store: first.store, apart: true }))
          if (isMade) await first.gateway.create({ alias, visibility: 'public' })
          await race(rigs, posts, query)
          for (const rig of rigs.splice(0)) await rig.stop()
        }),
        { numRuns: 6 },
      )
    },
    120_000,
  )

  test('bring no two datasets into the log: one creation is in flight', async () => {
    const rig = await rigOf().build()
    const statuses = await race(
      [rig],
      Array.from({ length: 40 }, () => 'integer' as const),
      create,
    )
    expect(new Set(statuses)).toEqual(new Set(['committed']))
    expect((await rig.headers()).filter(({ kind }) => kind === 'create')).toHaveLength(1)
  })
})

/** A post whose body comes in two pieces: `between` runs while the gateway reads. */
async function slowPost(rig: Rig, between: () => Promise<unknown>): Promise<unknown> {
  const body = new PassThrough()
  body.write(ndjson([{ a: 1 }]))
  const ingest = rig.gateway.ingest({
    alias,
    chain: await rig.catalog.byAlias('a/b'),
    tokenId: 't1',
    controls: readControls({ 'content-type': 'application/x-ndjson', ...soon }, create),
    body,
  })
  const kind = kindOf(ingest)
  await between()
  body.end(ndjson([{ a: 2 }]))
  return kind
}

describe('right before the rows are appended', () => {
  test('a dataset that a node with another log made meanwhile takes none', async () => {
    const other = await rigOf().build()
    const rig = await rigOf({ store: other.store }).build()
    const kind = await slowPost(rig, async () => {
      await other.rows('a/b', [{ a: 1 }], { query: create })
    })
    expect(kind).toBe('OtherLog')
    expect(await rig.headers()).toEqual([])
  })

  test('a dataset that has halted meanwhile takes none', async () => {
    let halt: string | undefined
    const rig = await rigOf({ haltOf: () => halt }).build()
    await rig.rows('a/b', [{ a: 1 }], { query: create })
    const before = (await rig.headers()).length
    const kind = await slowPost(rig, async () => {
      halt = 'PoisonBlock'
    })
    expect(kind).toBe('LogUnavailable')
    expect(await rig.headers()).toHaveLength(before)
  })
})
