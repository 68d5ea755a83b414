// Connections of one producer at two gateways, while the builder lags: what each is told, and what is stored.

import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { readControls } from '../../src/gateway/controls.ts'
import type { StreamLine } from '../../src/gateway/ingest-stream.ts'
import { must } from '../../src/lib/assert.ts'
import { utf8 } from '../../src/lib/bytes.ts'
import { NodeError } from '../../src/model/errors.ts'
import { parseAliasText } from '../../src/model/names.ts'
import { ndjson, type Rig, withDataset } from './support.ts'

const stream = { ageMs: 1, rows: 10_000 }

/** A connection that begins with number `first`; each record is its number. */
class Connection {
  readonly #body = new Readable({ read: () => {} })
  readonly lines: StreamLine[] = []

  static async open(rig: Rig, first: number): Promise<Connection> {
    const connection = new Connection()
    const opened = await rig.gateway.stream({
      alias: parseAliasText('a/b'),
      chain: must(await rig.catalog.byAlias('a/b'), 'the dataset'),
      tokenId: 't1',
      controls: readControls({ 'content-type': 'application/x-ndjson' }, {}),
      body: connection.#body,
      producer: { id: 'p', epoch: 0, first },
      rights: async () => {},
    })
    void opened.run()
    void (async () => {
      for await (const line of opened.lines()) connection.lines.push(line)
    })()
    return connection
  }

  send(from: number, to: number): void {
    const numbers = Array.from({ length: to - from + 1 }, (_, at) => ({ n: from + at }))
    this.#body.push(utf8(ndjson(numbers)))
  }

  /** Ranges that it was told of, and how many rows were there before. */
  get told(): unknown[] {
    return this.lines.flatMap((line) =>
      line.kind === 'end'
        ? []
        : [[line.receipt.numbers.first, line.receipt.numbers.last, line.receipt.records.duplicates]],
    )
  }

  async toldOf(...ranges: unknown[]): Promise<void> {
    await vi.waitFor(() => expect(this.told).toEqual(ranges), 10_000)
  }

  async endsWith(kind: string): Promise<void> {
    const end = await vi.waitUntil(() => this.lines.find((line) => line.kind === 'end'), 10_000)
    expect(end.error instanceof NodeError ? end.error.kind : end.error).toBe(kind)
  }
}

/** Rows of the dataset, without the one that made it. */
async function rowsOf(rig: Rig): Promise<number> {
  await rig.rows('a/b', [{ n: 0 }])
  const chain = must(await rig.catalog.byAlias('a/b'), 'the dataset')
  return must(chain.slices.at(-1), 'a slice').end - 1
}

test('a batch that is there in part when its turn comes is cut again, and each record is stored once', async () => {
  const rig = await withDataset({ stream })
  const one = await Connection.open(rig, 11)
  one.send(11, 12)
  await one.toldOf([11, 12, 0])
  await rig.pause()
  const two = await Connection.open(rig, 13)
  one.send(13, 15)
  await one.toldOf([11, 12, 0], [13, 15, 0])
  two.send(13, 20)
  await rig.build()
  await two.toldOf([13, 15, 3], [16, 20, 0])
  expect(await rowsOf(rig)).toBe(10)
  // From now on the first connection is refused: it does not even cut the second one short.
  one.send(16, 18)
  await one.toldOf([11, 12, 0], [13, 15, 0], [16, 18, 0])
  await rig.rows('a/b', [{ n: 0 }])
  one.send(19, 19)
  await one.endsWith('ProducerFenced')
  two.send(21, 22)
  await two.toldOf([13, 15, 3], [16, 20, 0], [21, 22, 0])
})

test('a connection whose first records come after those of a later one is refused, and does not end that', async () => {
  const rig = await withDataset({ stream })
  const old = await Connection.open(rig, 0)
  const next = await Connection.open(rig, 0)
  next.send(0, 3)
  await next.toldOf([0, 3, 0])
  old.send(0, 9)
  await old.endsWith('OutcomeUnknown')
  next.send(4, 6)
  await next.toldOf([0, 3, 0], [4, 6, 0])
  expect(await rowsOf(rig)).toBe(7)
})

test('a record that is missing before the first one is a gap, and records that are there are not logged again', async () => {
  const rig = await withDataset({ stream })
  const one = await Connection.open(rig, 0)
  one.send(0, 3)
  await one.toldOf([0, 3, 0])
  const gap = await Connection.open(rig, 5)
  gap.send(5, 6)
  await gap.endsWith('SequenceGap')
  await rig.rows('a/b', [{ n: 0 }])
  const { length } = await rig.headers()
  const repeat = await Connection.open(rig, 1)
  repeat.send(1, 2)
  await repeat.toldOf([1, 2, 2])
  expect(await rig.headers()).toHaveLength(length)
})
