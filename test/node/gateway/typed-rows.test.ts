// Rows on their way to the log: few of them in memory, many of them in a file that never outlives its request.

import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { broughtRows } from '../../../src/libraries/columnar/arrow/brought-rows.ts'
import { concatBatches, sliceBatch } from '../../../src/libraries/columnar/arrow/columns.ts'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import { partBytes } from '../../../src/node/gateway/large-batch.ts'
import { type RowsForLog, TypedRows } from '../../../src/node/gateway/typed-rows.ts'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import type { Field, RecordBatch } from '../../../src/libraries/model/schema.ts'
import { rowsPayload, userFields } from '../builder/support.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { decodeArrowStream } from '../../helpers/slices.ts'
import { kindOf, ndjson, Rig, spoolDir } from './support.ts'

const eventTime: Field = { name: 'event_time', type: { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' } }
const fields = [eventTime, ...userFields]
const everything = decodeArrowStream(rowsPayload(40_000, 0))

async function streamOf(rows: RowsForLog): Promise<Uint8Array> {
  if (rows.kind === 'few') return encodeArrowStream(rows.fields, [rows.columns])
  if (rows.kind === 'sent') throw new TypeError('rows in a spool')
  const pieces: Uint8Array[] = []
  for await (const piece of rows.stream()) pieces.push(piece)
  return concatBytes(pieces)
}

const options = { fields, spoolDir, mostBytes: 1e9, onCells: () => {} }

test('are the same rows in the same order, wherever they are cut', async () => {
  const cuts = fc.array(fc.nat(everything.rows), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(cuts, fc.nat(everything.rows), async (places, end) => {
      const edges = [0, ...places.filter((place) => place < end), end].toSorted((x, y) => x - y)
      const batches: RecordBatch[] = []
      for (const [i, from] of edges.slice(0, -1).entries()) {
        const to = edges[i + 1] ?? end
        if (to > from) batches.push(sliceBatch(everything, from, to))
      }
      fc.pre(batches.length > 0)
      const typed = new TypedRows(options)
      for (const batch of batches) await typed.add([broughtRows(batch)])
      const rows = await typed.finish()
      const whole = concatBatches([decodeArrowStream(await streamOf(rows))])
      expect(Buffer.from(encodeArrowStream(fields, [whole]))).toEqual(
        Buffer.from(encodeArrowStream(fields, [sliceBatch(everything, 0, end)])),
      )
      await typed.discard()
      await typed.discard()
    }),
    { numRuns: 20 },
  )
  expect(readdirSync(spoolDir)).toEqual([])
})

test('are spooled when they no longer fit into one part', async () => {
  const typed = new TypedRows(options)
  await typed.add([broughtRows(everything)])
  expect((await typed.finish()).kind).toBe('spooled')
  await typed.discard()
  const few = new TypedRows(options)
  await few.add([broughtRows(sliceBatch(everything, 0, 9))])
  const rows = await few.finish()
  expect(rows).toMatchObject({ kind: 'few', columns: { rows: 9 } })
  expect(rows.kind === 'few' && rows.bytes < partBytes).toBe(true)
})

test('that would take too much as columns are refused, however small the body was', async () => {
  const rig = await new Rig({ limits: { ...defaultLimits(), columnBytes: 3_000_000, cellRatio: 1000 } }).build()
  const wide = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`column_${i}`, i]))
  await rig.rows('a/b', [wide], { query: { create: 'true' } })
  const sparse = `{"column_1":1}\n${'{}\n'.repeat(400_000)}`
  await expect(rig.post('a/b', sparse)).rejects.toMatchObject({
    kind: 'BodyTooLarge',
    details: { limit: { name: 'columnBytes' } },
  })
  expect((await rig.headers()).filter((header) => header.kind === 'rows')).toHaveLength(1)
  await rig.stop()
})

test('leave no file behind, whether they were stored, refused or only looked at', async () => {
  const rig = await new Rig().build()
  await rig.rows('a/b', [{ n: 1, text: '' }], { query: { create: 'true' } })
  const rows = Array.from({ length: 60_000 }, (_, n) => ({ n, text: `${n} ${'x'.repeat(20)}` }))
  expect((await rig.rows('a/b', rows)).records.committed).toBe(60_000)
  expect(await kindOf(rig.post('a/b', `${ndjson(rows)}{"n":"x"}\n`))).toBe('RecordsDoNotFit')
  expect((await rig.post('a/b', ndjson(rows), { query: { dryRun: 'true', unknownFields: 'add' } })).status).toBe(200)
  expect(await kindOf(rig.rows('a/b', rows, { headers: { 'if-match': 'f1620' } }))).toBe('HeadMoved')
  expect(readdirSync(spoolDir)).toEqual([])
  await rig.stop()
})
