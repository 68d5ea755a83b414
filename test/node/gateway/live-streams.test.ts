// Streams of a live sender, by a clock that the test moves: when the first batch is due, what a quote that is not closed takes in,
// and what is counted of what waits.

import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import type { EndlessFormat } from '../../../src/libraries/formats/format.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import { IngestStream, type StreamLine, type StreamReceipt } from '../../../src/node/gateway/ingest-stream.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { formatNamed } from '../../helpers/formats.ts'
import { handClock, type HandClock } from '../../helpers/hand-clock.ts'
import { until } from '../../helpers/until.ts'
import { fastClock } from '../builder/support.ts'
import { withDataset } from './support.ts'

const format = (name: string): EndlessFormat => formatNamed(name) as EndlessFormat // the tests name such formats

/** A stream whose batches go nowhere: what is cut, and when, is kept. */
class Live {
  readonly clock: HandClock = handClock()
  readonly body = new Readable({ read: () => {} })
  readonly cut: [text: string, atMs: number][] = []
  heldBytes = 0

  constructor(name: string, decides: boolean) {
    const place = (batch: { bytes: Uint8Array; first: number; last: number }): Promise<StreamReceipt> => {
      this.cut.push([decodeUtf8(batch.bytes), this.clock.monotonicMs()])
      return Promise.resolve({ numbers: { first: batch.first, last: batch.last } } as StreamReceipt) // nothing else is read
    }
    const hold = (bytes: number): undefined => void (this.heldBytes = bytes)
    const stream = new IngestStream(
      {
        clock: this.clock,
        limits: defaultLimits(),
        ageMs: 250,
        rows: 10_000,
        draining: new AbortController().signal,
        gather: () => ({ hold, leave: () => {} }),
        batches: { place, whole: (batch) => batch, refused: () => Promise.resolve(undefined) },
      },
      {
        body: this.body,
        contentEncoding: undefined,
        format: format(name),
        first: 0,
        decides,
        rights: () => Promise.resolve(),
      },
    )
    void stream.run()
    // Nobody looks at the receipts.
    void (async () => {
      for await (const line of stream.lines()) if (line.kind === 'end') return
    })()
  }

  /** Sends a text, and lets it be read. */
  async send(text: string): Promise<void> {
    this.body.push(utf8(text))
    for (let turn = 0; turn < 10; turn++) await this.clock.advance(0)
  }

  async pass(ms: number): Promise<void> {
    for (const step of [ms, 0, 0, 0]) await this.clock.advance(step)
  }
}

describe('the first batch', () => {
  test.each([
    [true, 1_000],
    [false, 250],
  ])('where it decides types: %s is cut at %i ms, the next one at 250 ms', async (decides, ageMs) => {
    const live = new Live('csv', decides)
    await live.send('a\n')
    await live.pass(60_000)
    expect(live.cut).toEqual([])
    await live.send('1\n')
    await live.pass(ageMs - 1)
    await live.send('1.5\n')
    expect(live.cut).toEqual([])
    await live.pass(1)
    expect(live.cut).toEqual([['a\n1\n1.5\n', 60_000 + ageMs]])
    await live.send('2\n')
    await live.pass(249)
    expect(live.cut).toHaveLength(1)
    await live.pass(1)
    expect(live.cut[1]).toEqual(['a\n2\n', 60_000 + ageMs + 250])
  })

  test('is cut at 10,000 records, whatever its age', async () => {
    const live = new Live('ndjson', true)
    await live.send('{}\n'.repeat(9_999))
    expect(live.cut).toEqual([])
    await live.send('{}\n')
    expect(live.cut).toEqual([['{}\n'.repeat(10_000), 0]])
  })
})

test('a header is counted as long as the stream is', async () => {
  const live = new Live('csv', false)
  await live.send(`${'x'.repeat(100_000)}\n`)
  expect(live.heldBytes).toBe(100_001)
  await live.send('1\n')
  expect(live.heldBytes).toBe(100_003)
  await live.pass(250)
  expect([live.cut.length, live.heldBytes]).toEqual([1, 100_001])
})

describe('a quote', () => {
  test('that has taken in a line end for 30 s is a record, apart from those before it', async () => {
    const live = new Live('csv', false)
    await live.send('a,b\n1,2\n"3,4\n')
    await live.pass(250)
    expect(live.cut).toEqual([['a,b\n1,2\n', 250]])
    await live.send('5,6\n')
    await live.pass(29_999)
    expect(live.cut).toHaveLength(1)
    await live.pass(1)
    expect(live.cut[1]).toEqual(['a,b\n"3,4\n5,6\n\n', 30_250])
  })

  test('that is closed in time, or a record without a line end in it, is waited for', async () => {
    const live = new Live('csv', false)
    await live.send('a,b\n"1\n')
    await live.pass(29_999)
    await live.send('",2\n3,"4')
    await live.pass(250)
    expect(live.cut).toEqual([['a,b\n"1\n",2\n', 30_249]])
    await live.pass(200_000)
    expect(live.cut).toHaveLength(1)
    await live.send('"\n')
    await live.pass(250)
    expect(live.cut[1]?.[0]).toBe('a,b\n3,"4"\n')
  })

  test('that is never closed ends the stream with its number, and what came before is stored', async () => {
    const fast = fastClock(100)
    const rig = await withDataset({ clock: { ...fast, nowMs: () => Math.floor(fast.nowMs()) } })
    const body = new Readable({ read: () => {} })
    const stream = await rig.gateway.stream({
      alias: parseAliasText('a/b'),
      chain: await rig.catalog.byAlias('a/b'),
      tokenId: 't1',
      controls: readControls({ 'content-type': 'text/csv' }, {}),
      body,
      format: format('csv'),
      producer: undefined,
      rights: () => Promise.resolve(),
    })
    const lines: StreamLine[] = []
    void stream.run()
    void (async () => {
      for await (const line of stream.lines()) lines.push(line)
    })()
    body.push(utf8('n\n1\n2\n"3\n4\n'))
    const end = await until('the end', () => lines.find((line) => line.kind === 'end'))
    expect(end.last).toBe(1)
    const { kind, details } = end.error as NodeError // looked at below
    expect([kind, details.errors?.[0]?.kind, details.errors?.[0]?.record]).toEqual([
      'RecordsDoNotFit',
      'UnclosedQuote',
      2,
    ])
    await rig.stop()
  })
})
