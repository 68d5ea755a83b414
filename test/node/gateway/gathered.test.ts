// What streams gather of records that have no end yet is bounded for all of a caller's together: more is not read, and a
// record that does not come to its end in time ends its stream.

import { Readable } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { ndjson } from '../../../src/libraries/formats/json/format.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import { GatheredBytes } from '../../../src/libraries/base/gathered-bytes.ts'
import type { StreamLine } from '../../../src/node/gateway/ingest-stream.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { fastClock } from '../builder/support.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { type Rig, withDataset } from './support.ts'

const KiB = 1024
let rig: Rig

afterEach(() => rig.stop())

/** A stream whose sender has bytes without end. */
class Sender {
  taken = 0
  readonly body: Readable
  readonly lines: StreamLine[] = []

  constructor(chunk: Uint8Array, most = Number.POSITIVE_INFINITY) {
    this.body = new Readable({
      highWaterMark: 1,
      read: () => {
        if (this.taken >= most) return
        this.taken += chunk.length
        this.body.push(chunk.slice())
      },
    })
  }

  async open(tokenId: string): Promise<this> {
    const stream = await rig.gateway.stream({
      alias: parseAliasText('a/b'),
      chain: must(await rig.catalog.byAlias('a/b'), 'the dataset'),
      tokenId,
      controls: readControls({ 'content-type': 'application/x-ndjson' }, {}),
      body: this.body,
      format: ndjson,
      producer: undefined,
      rights: async () => {},
    })
    void stream.run()
    void (async () => {
      for await (const line of stream.lines()) this.lines.push(line)
    })()
    return this
  }
}

const letters = Buffer.alloc(16 * KiB, 'x')
const limits = { ...defaultLimits(), openIngestBytes: 4096 * KiB }

test('no more is read of all streams of a caller than its share, which others do not feel', async () => {
  rig = await withDataset({ limits })
  const senders = await Promise.all(Array.from({ length: 40 }, () => new Sender(letters).open('t1')))
  const other = await new Sender(letters, 128 * KiB).open('t2')
  const taken = (): number => senders.reduce((sum, sender) => sum + sender.taken, 0)
  await vi.waitUntil(() => other.taken === 128 * KiB, 10_000)
  await vi.waitUntil(async () => {
    const before = taken()
    await new Promise((resolve) => setTimeout(resolve, 50))
    return before > 0 && before === taken()
  }, 30_000)
  // 64 KiB and two chunks of each, and half of all that may be open, since it counts twice.
  expect(taken()).toBeLessThan(40 * (64 + 32) * KiB + 2048 * KiB)
  for (const { body } of [...senders, other]) body.destroy()
})

test('a long record without an end ends its stream after 30 s, and what it held is free', async () => {
  const fast = fastClock(100)
  const clock = { ...fast, nowMs: () => Math.floor(fast.nowMs()) }
  rig = await withDataset({ limits, clock })
  const senders = await Promise.all(Array.from({ length: 4 }, () => new Sender(letters).open('t1')))
  const slow = await new Sender(letters, 128 * KiB).open('t2')
  const short = await new Sender(letters, 48 * KiB).open('t2')
  const ends = await vi.waitUntil(() => {
    const told = [...senders, slow].map(({ lines }) => lines.at(-1))
    return told.every((line) => line?.kind === 'end') && told
  }, 20_000)
  // The first of them may come to the end of what a record may have before the others leave it no room.
  const ended = ['QuotaExceeded', 'Saturated', 'RequestTimeout', 'RecordsDoNotFit']
  const kinds = ends.map((line) => (line.kind === 'end' && line.error instanceof NodeError ? line.error.kind : ''))
  for (const kind of kinds.slice(0, 4)) expect(ended).toContain(kind)
  expect(kinds[4]).toBe('RequestTimeout')
  expect(short.lines).toEqual([])
  const after = await new Sender(letters, 256 * KiB).open('t1')
  await vi.waitUntil(() => after.taken === 256 * KiB, 10_000)
  for (const { body } of [...senders, slow, short, after]) body.destroy()
})

test('chunks are the same bytes together, however they were cut', () => {
  const bytes = Uint8Array.from({ length: 200 * KiB }, (_, at) => at * 7)
  for (const size of [1, 1000, 20 * KiB]) {
    const gathered = new GatheredBytes()
    for (let at = 0; at < bytes.length; at += size) gathered.add(bytes.subarray(at, at + size))
    expect(gathered.bytes).toBe(bytes.length)
    expect(Buffer.from(gathered.joined(bytes.subarray(0, 1), bytes.subarray(1, 2)))).toEqual(
      Buffer.concat([bytes.subarray(0, 1), bytes, bytes.subarray(1, 2)]),
    )
  }
})
