// Rows cost what they bring, however wide their dataset is: in the log, and in cells that are counted.

import { afterEach, expect, test } from 'vitest'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import { ArrowStreamReader } from '../../../src/libraries/columnar/arrow/ipc-reader.ts'
import { ndjson, receiptOf, Rig } from './support.ts'

let rig: Rig
let wide: Readonly<Record<string, number>>

/** A dataset of so many columns, and a row that brings them all. */
async function wideDataset(width: number): Promise<void> {
  rig = await new Rig().build()
  wide = Object.fromEntries(Array.from({ length: width }, (_, i) => [`c${i}`, i]))
  await rig.rows('a/b', [wide], { query: { create: 'true' } })
}

afterEach(() => rig.stop())

/** Bytes of what is in the log, and the columns of each message. */
async function logged(): Promise<{ bytes: number; columns: number[] }> {
  let size = 0
  const columns: number[] = []
  for await (const entries of rig.log.read(0, 0, { follow: false })) {
    for (const { bytes } of entries) {
      size += bytes.length
      const message = decodeMessage(bytes)
      if (message.kind !== 'message' || message.header.kind !== 'rows') continue
      if (message.header.part === undefined || message.header.part.number === 1) {
        const [batch] = new ArrowStreamReader().push(message.payload)
        columns.push(batch?.columns.length ?? 0)
      }
    }
  }
  return { bytes: size, columns }
}

const bodies = {
  'application/x-ndjson': '{"c0":1}\n'.repeat(7000),
  'application/json': `[${'{"c0":1},'.repeat(6999)}{"c0":1}]`,
  'text/csv': `c0\n${'1\n'.repeat(7000)}`,
  'text/tab-separated-values': `c0\n${'1\n'.repeat(7000)}`,
  'text/x-line-protocol': 'm c0=1\n'.repeat(7000),
}

test('columns that a body does not bring are not in the log, whatever its format', async () => {
  await wideDataset(400)
  for (const [type, body] of Object.entries(bodies)) {
    const before = await logged()
    const query = type === 'text/x-line-protocol' ? { unknownFields: 'ignore', eventTimeUnit: 'ns' } : {}
    const receipt = receiptOf(await rig.post('a/b', body, { headers: { 'content-type': type }, query }))
    expect([type, receipt.records.committed]).toEqual([type, 7000])
    const after = await logged()
    expect(after.bytes - before.bytes).toBeLessThan(10 * body.length)
    expect(after.columns.slice(before.columns.length)).toEqual([2])
  }
})

test('nor are they of a long body, also where the last record brings another one', async () => {
  await wideDataset(40)
  const before = await logged()
  const many = '{"c0":1}\n'.repeat(300_000)
  const [first, second] = [
    receiptOf(await rig.post('a/b', many)),
    receiptOf(await rig.post('a/b', `${many}{"c7":1}\n`)),
  ]
  expect([first.records.committed, second.records.committed]).toEqual([300_000, 300_001])
  const after = await logged()
  expect(after.columns.slice(before.columns.length)).toEqual([2, 3])
  expect(after.bytes - before.bytes).toBeLessThan(10 * many.length)
}, 120_000)

test('rows that would take far more cells than bytes are refused, and a stream sends them in smaller batches', async () => {
  await wideDataset(400)
  const before = await logged()
  const body = ndjson([wide]) + '{"c0":1}\n'.repeat(20_000)
  await expect(rig.post('a/b', body)).rejects.toMatchObject({
    kind: 'BodyTooLarge',
    details: { limit: { name: 'cellRatio', value: 16, unit: 'times' } },
  })
  expect(await logged()).toEqual(before)
})

test('nor do columns of nulls take more in the log than half of the texts beside them', async () => {
  await wideDataset(1000)
  await rig.rows('a/b', [{ text: '' }], { query: { unknownFields: 'add' } })
  const before = await logged()
  const body = ndjson(Array.from({ length: 200 }, (_, i) => ({ text: `${i}`.padEnd(50_000) })))
  await rig.post('a/b', body)
  const after = await logged()
  expect(after.bytes - before.bytes).toBeLessThan(1.5 * body.length)
})
