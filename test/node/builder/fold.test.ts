// The rules of the fold, one by one (protocol: messages, resends, large batches, block ends, outcomes, If-Match, ids).

import { beforeEach, describe, expect, test } from 'vitest'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import { encodeMessage } from '../../../src/node/log/messages.ts'
import { HaltError } from '../../../src/libraries/base/errors.ts'
import { type Field, optional } from '../../../src/libraries/model/schema.ts'
import { FoldHarness, snapshotOf } from './fold-harness.ts'
import { baseMs, batchOf, datasetId, rowsPayload, schemaOf, TestWriter, userFields } from './support.ts'

const dataset = datasetId('a')
const zone: Field = { name: 'zone', type: optional({ kind: 'String' }) }
let fold: FoldHarness
let writer: TestWriter

beforeEach(async () => {
  fold = new FoldHarness()
  writer = new TestWriter('w')
  await fold.take(writer.create(dataset, 'acme/trips'))
})

/** A message with one batch of so many rows, as its header says, and any payload. */
function message(payload: Uint8Array, rows: number): Uint8Array {
  const at = '2026-03-01T00:00:00.000Z'
  const header = { kind: 'rows', writer: writer.writer, n: ++writer.n, at, dataset, schemaSequence: 1 } as const
  return encodeMessage({ ...header, batches: [batchOf({ rows }, dataset)] }, payload)
}

const cut = (sequence: number, timeMs?: number): Uint8Array => writer.cut([{ dataset, sequence }], timeMs)

describe('a creation', () => {
  test('makes blocks without a cut', () => {
    expect(fold.plans).toMatchObject([{ kind: 'creation', sequence: 0, next: 1 }])
    expect(fold.state).toMatchObject({ nextSequence: 3, nextOffset: 0, moved: 1 })
  })

  test('of a dataset that exists is dropped', async () => {
    const before = fold.snapshot()
    expect(await fold.take(writer.create(dataset, 'acme/other'))).toEqual({ effect: 'dropped' })
    expect(fold.snapshot()).toEqual(before)
  })

  test('with a schema that nobody can store makes no chain', async () => {
    const other = new FoldHarness()
    const schema = { fields: [...schemaOf().fields, { name: 'x', type: { kind: 'Duration' } } as const] }
    expect(await other.take(writer.create(dataset, 'acme/bad', { schema }))).toEqual({ effect: 'dropped' })
    expect(other.current).toBeUndefined()
  })
})

describe('a block', () => {
  test('ends at a cut, at the time of the cut, after all rows before it', async () => {
    await fold.takeAll([writer.rows(dataset, [{ rows: 2 }]), writer.rows(dataset, [{ rows: 3 }]), cut(3, 500)])
    expect(fold.dataPlans).toMatchObject([
      { sequence: 3, firstOffset: 0, rows: 5, timeMs: baseMs + 500, next: 4, firstChange: 1 },
    ])
    expect(fold.state).toMatchObject({ nextSequence: 4, open: undefined, firstChange: undefined })
  })

  test('never has a time below that of the block before', async () => {
    await fold.takeAll([writer.rows(dataset, [{}]), cut(3, 900), writer.rows(dataset, [{}]), cut(4, 100)])
    expect(fold.dataPlans.map(({ timeMs }) => timeMs - baseMs)).toEqual([900, 900])
  })

  test('is not ended by a cut of an earlier block, nor by one with nothing open, and time stays', async () => {
    await fold.takeAll([writer.rows(dataset, [{}]), cut(3, 100)])
    const before = fold.snapshot()
    expect(await fold.take(cut(4, 9000))).toEqual({ effect: 'dropped' })
    expect(fold.snapshot()).toEqual(before)
    await fold.take(writer.rows(dataset, [{}]))
    const open = fold.snapshot()
    expect(await fold.take(cut(3, 9000))).toEqual({ effect: 'dropped' })
    expect(fold.snapshot()).toEqual(open)
  })

  test('above the next one means that the chain lost blocks', async () => {
    const failure = await fold.take(cut(4)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(HaltError)
    expect((failure as HaltError).reason).toBe('ChainRegressed')
  })

  test('ends by count before the message that would take it over 262,144 rows, at the latest accept time', async () => {
    writer.atMs = 5000
    await fold.take(writer.rows(dataset, [{ rows: 200_000 }]))
    writer.atMs = 1000
    await fold.take(writer.rows(dataset, [{ rows: 62_144 }]))
    expect(fold.dataPlans).toHaveLength(0)
    await fold.take(writer.rows(dataset, [{ rows: 1 }]))
    expect(fold.dataPlans).toMatchObject([{ rows: 262_144, timeMs: baseMs + 5010, next: 3 }])
    expect(fold.state.open?.rows).toBe(1)
  })

  test('holds a larger batch alone', async () => {
    const small = writer.rows(dataset, [{ rows: 1 }])
    const large = writer.rows(dataset, [{ rows: 300_000 }])
    await fold.takeAll([small, large, writer.rows(dataset, [{ rows: 1 }])])
    expect(fold.dataPlans.map(({ rows }) => rows)).toEqual([1, 300_000])
  })

  test('ends by count at 16,384 batches', async () => {
    const specs = Array.from({ length: 8192 }, () => ({ rows: 1 }))
    await fold.takeAll([writer.rows(dataset, specs), writer.rows(dataset, specs), writer.rows(dataset, [{}])])
    expect(fold.dataPlans.map(({ checkpoint }) => checkpoint.outcomes.length)).toEqual([16_384])
  })

  test('begins anew after a count, with a stale cut ignored', async () => {
    await fold.takeAll([writer.rows(dataset, [{ rows: 262_144 }]), writer.rows(dataset, [{ rows: 2 }])])
    expect(await fold.take(cut(3))).toEqual({ effect: 'dropped' })
    expect((await fold.take(cut(4))).plan).toMatchObject({ sequence: 4, firstOffset: 262_144, rows: 2 })
  })

  test('by count ends at 32 MiB of payload', async () => {
    const wide: Field[] = Array.from({ length: 30 }, (_, i) => ({ name: `c${i}`, type: optional({ kind: 'Int64' }) }))
    const schema = schemaOf(wide)
    const other = new FoldHarness()
    await other.take(writer.create(datasetId('wide'), 'acme/wide', { schema }))
    for (let i = 0; i < 4; i++) await other.take(writer.rows(datasetId('wide'), [{ rows: 50_000 }], { fields: wide }))
    expect(other.dataPlans.map(({ rows }) => rows)).toEqual([100_000])
  })
})

describe('an outcome', () => {
  test('is duplicate for the same id and body, and a message of duplicates changes nothing', async () => {
    await fold.take(writer.rows(dataset, [{ key: 'k', rows: 2 }]))
    const open = fold.snapshot()
    expect(await fold.take(writer.rows(dataset, [{ key: 'k', rows: 2 }]))).toEqual({ effect: 'duplicate' })
    expect(fold.snapshot()).toEqual(open)
    await fold.take(cut(3))
    const ended = fold.snapshot()
    expect(await fold.take(writer.rows(dataset, [{ key: 'k', rows: 2 }]))).toEqual({ effect: 'duplicate' })
    expect(fold.snapshot()).toEqual(ended)
  })

  test('is rejected for the same id with another body', async () => {
    await fold.take(
      writer.rows(dataset, [
        { key: 'k', body: 'a' },
        { key: 'k', body: 'b' },
        { key: 'k', body: 'a' },
      ]),
    )
    expect(fold.statuses()).toEqual([
      { kind: 'committed', start: 0, end: 0 },
      { kind: 'rejected', error: 'IdempotencyKeyReused', message: expect.any(String) },
    ])
    expect(fold.state.open?.sources).toEqual([{ positions: [1], ranges: [0, 1] }])
  })

  test('of a rejected batch leaves its id free', async () => {
    await fold.take(writer.rows(dataset, [{ key: 'k', after: 0 }]))
    await fold.take(writer.rows(dataset, [{ key: 'k' }]))
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['rejected', 'committed'])
  })

  test('rejected calls for a cut as rows do', async () => {
    await fold.take(writer.rows(dataset, [{ after: 0 }]))
    expect((await fold.take(cut(3))).plan).toMatchObject({ rows: 0, schemaChanged: false, sources: [] })
    expect(fold.state).toMatchObject({ nextSequence: 4, moved: 1, nextOffset: 0 })
  })

  test('is rejected before the first schema when rows bring none', async () => {
    const bare = new FoldHarness()
    const { schema: _, ...nothing } = { schema: undefined }
    const header = { ...nothing, kind: 'create', alias: 'a/b', visibility: 'public' } as const
    const at = '2026-03-01T00:00:00.000Z'
    const create = encodeMessage({ ...header, dataset, writer: writer.writer, n: 1, at, time: at })
    await bare.take(create)
    writer.n = 1
    await bare.take(writer.rows(dataset, [{}]))
    expect(bare.statuses()).toEqual([{ kind: 'rejected', error: 'SchemaConflict', message: expect.any(String) }])
    expect((await bare.take(cut(2))).plan).toMatchObject({ rows: 0, schema: undefined })
    await bare.take(writer.rows(dataset, [{ rows: 3 }], { schema: schemaOf() }))
    expect((await bare.take(cut(3))).plan).toMatchObject({ sequence: 3, rows: 3, schemaChanged: true, firstOffset: 0 })
    expect(bare.state).toMatchObject({ nextSequence: 6, moved: 5 })
  })

  test('is rejected when the payload is not what the header says', async () => {
    const good = rowsPayload(3, 0)
    await fold.take(message(good.subarray(0, good.length - 9), 3))
    await fold.take(message(good, 4))
    await fold.take(message(new Uint8Array(0), 1))
    expect(fold.statuses()).toMatchObject(Array.from({ length: 3 }, () => ({ error: 'MalformedBody' })))
    expect(fold.state.nextOffset).toBe(0)
  })

  test('is rejected when a required column is null, missing, or of another type', async () => {
    const required: Field = { name: 'n', type: { kind: 'Int64' } }
    const other = new FoldHarness()
    await other.take(writer.create(datasetId('r'), 'acme/r', { schema: schemaOf([required]) }))
    const withNull: Field[] = [{ name: 'city', type: optional({ kind: 'String' }) }]
    await other.take(writer.rows(datasetId('r'), [{}], { fields: [] }))
    await other.take(writer.rows(datasetId('r'), [{}], { fields: withNull }))
    await other.take(writer.rows(datasetId('r'), [{}], { fields: [{ name: 'n', type: optional({ kind: 'String' }) }] }))
    await other.take(writer.rows(datasetId('r'), [{}], { fields: [required] }))
    expect(other.statuses().map(({ kind }) => kind)).toEqual(['rejected', 'rejected', 'rejected', 'committed'])
  })

  test('is rejected without the event time', async () => {
    const fields = userFields.slice(1)
    await fold.take(message(encodeArrowStream(fields, []), 1))
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['rejected'])
  })
})

describe('a schema', () => {
  test('grows by the columns that rows bring, and two writers may add the same one', async () => {
    const fields = [...userFields, zone]
    await fold.take(writer.rows(dataset, [{}], { fields, schema: schemaOf(fields) }))
    await fold.take(new TestWriter('x').rows(dataset, [{}], { fields, schema: schemaOf(fields) }))
    const colour: Field = { name: 'colour', type: optional({ kind: 'String' }) }
    await fold.take(
      new TestWriter('y').rows(dataset, [{}], {
        fields: [...userFields, colour],
        schema: schemaOf([...userFields, colour]),
      }),
    )
    expect((await fold.take(cut(3))).plan).toMatchObject({ sequence: 3, rows: 3, schemaChanged: true })
    expect(fold.state.schema?.fields.map(({ name }) => name).slice(4)).toEqual(['city', 'n', 'zone', 'colour'])
    expect(fold.state).toMatchObject({ nextSequence: 6, moved: 5 })
  })

  test('conflict rejects rows whose column has become another type, is unknown, or differs in case', async () => {
    const number: Field = { name: 'zone', type: optional({ kind: 'Int64' }) }
    const upper: Field = { name: 'ZONE', type: optional({ kind: 'String' }) }
    await fold.take(writer.rows(dataset, [{}], { fields: [zone], schema: schemaOf([...userFields, zone]) }))
    await fold.take(writer.rows(dataset, [{}], { fields: [number], schema: schemaOf([...userFields, number]) }))
    await fold.take(writer.rows(dataset, [{}], { fields: [upper], schema: schemaOf([...userFields, upper]) }))
    await fold.take(writer.rows(dataset, [{}], { fields: [{ name: 'what', type: optional({ kind: 'String' }) }] }))
    await fold.take(
      writer.rows(dataset, [{}], { fields: [zone], schema: schemaOf([{ name: 'must', type: { kind: 'String' } }]) }),
    )
    expect(fold.statuses().map((status) => (status.kind === 'rejected' ? status.error : 'ok'))).toEqual([
      'ok',
      'SchemaConflict',
      'SchemaConflict',
      'SchemaConflict',
      'SchemaConflict',
    ])
  })

  test('of a rejected batch is not taken', async () => {
    await fold.take(writer.rows(dataset, [{ after: 0 }], { fields: [zone], schema: schemaOf([...userFields, zone]) }))
    expect((await fold.take(cut(3))).plan).toMatchObject({ schemaChanged: false })
    expect(fold.state.schema?.fields).toHaveLength(6)
  })
})

describe('If-Match', () => {
  test('accepts while no block with rows or schema has ended above it and no rows are open', async () => {
    await fold.take(writer.rows(dataset, [{ after: 1 }, { after: 1 }]))
    await fold.take(writer.rows(dataset, [{ after: 2 }]))
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['committed', 'rejected', 'rejected'])
    await fold.take(cut(3))
    await fold.take(writer.rows(dataset, [{ after: 2 }]))
    expect(fold.statuses()).toMatchObject([{ kind: 'rejected', error: 'HeadMoved' }])
    await fold.take(cut(4))
    await fold.take(writer.rows(dataset, [{ after: 3 }]))
    expect(fold.statuses()).toMatchObject([{ kind: 'committed' }])
  })

  test('is judged after the idempotency key', async () => {
    await fold.takeAll([writer.rows(dataset, [{ key: 'k' }]), cut(3)])
    expect(await fold.take(writer.rows(dataset, [{ key: 'k', after: 0 }]))).toEqual({ effect: 'duplicate' })
  })
})

describe('memory of ids', () => {
  const day = 86_400_000

  test('keeps the last 10,000 keyed batches and all of the last 7 days', async () => {
    const keyed = (from: number, count: number): Uint8Array =>
      writer.rows(
        dataset,
        Array.from({ length: count }, (_, i) => ({ key: `k${from + i}` })),
      )
    await fold.takeAll([keyed(0, 10), cut(3, 0)])
    await fold.takeAll([keyed(10, 9_995), cut(4, 6 * day)])
    expect(fold.state.ids.known.size).toBe(10_005)
    await fold.takeAll([writer.rows(dataset, [{}]), cut(5, 7 * day + writer.atMs)])
    expect(fold.state.ids.known.size).toBe(10_000)
    expect((await fold.take(keyed(4, 1))).effect).toBe('changed')
    expect((await fold.take(keyed(5, 1))).effect).toBe('duplicate')
  })

  test('groups ids by checkpoint, and each 64th checkpoint repeats 63', async () => {
    for (let i = 0; i < 70; i++) await fold.takeAll([writer.rows(dataset, [{ key: `k${i}` }]), cut(3 + i)])
    const numbers = fold.dataPlans.map(({ checkpoint }) => checkpoint.ids.map(({ number }) => number))
    expect(numbers[0]).toEqual([0])
    expect(numbers[62]).toEqual([62])
    expect(numbers[63]).toEqual(Array.from({ length: 64 }, (_, i) => i))
    expect(numbers[64]).toEqual([64])
  })
})

test('a state that is taken apart and compared changes when anything does', async () => {
  const before = snapshotOf(fold.state)
  await fold.take(writer.rows(dataset, [{}]))
  expect(snapshotOf(fold.state)).not.toEqual(before)
})
