// Connections of one producer at two gateways, while the builder lags: what each is told, and what is stored.

import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { problemOf } from '../../../src/node/http/problem.ts'
import { ndjson as ndjsonFormat } from '../../../src/libraries/formats/json/format.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import type { StreamLine } from '../../../src/node/gateway/ingest-stream.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { ndjson, type Rig, withDataset } from './support.ts'
import { until } from '../../helpers/until.ts'

const stream = { ageMs: 1, rows: 10_000 }

/** A connection that begins with number `first`; each record is its number. */
class Connection {
  readonly #body = new Readable({ read: () => {} })
  readonly lines: StreamLine[] = []

  static async open(rig: Rig, first: number, epoch: number | 'no producer' = 0, id = 'p'): Promise<Connection> {
    const connection = new Connection()
    const opened = await rig.gateway.stream({
      alias: parseAliasText('a/b'),
      chain: must(await rig.catalog.byAlias('a/b'), 'the dataset'),
      tokenId: 't1',
      controls: readControls({ 'content-type': 'application/x-ndjson' }, {}),
      body: connection.#body,
      format: ndjsonFormat,
      producer: epoch === 'no producer' ? undefined : { id, epoch, first },
      rights: async () => {},
    })
    void opened.run()
    void (async () => {
      for await (const line of opened.lines()) connection.lines.push(line)
    })()
    return connection
  }

  /** Then `blanks` lines, each of which uses up a number. */
  send(from: number, to: number, blanks = 0): void {
    const numbers = Array.from({ length: to - from + 1 }, (_, at) => ({ n: from + at }))
    this.#body.push(utf8(`${ndjson(numbers)}${' \n'.repeat(blanks)}`))
  }

  /** Records that fill more than 64 KiB: such bodies are not read whole. */
  sendLong(from: number, to: number, odd: Readonly<Record<number, unknown>> = {}): void {
    const pad = 'x'.repeat(8 * 1024)
    const rows = Array.from({ length: to - from + 1 }, (_, at) => ({ n: odd[from + at] ?? from + at, pad }))
    this.#body.push(utf8(ndjson(rows)))
  }

  /** The first `count` ranges that it is told of, and how many rows of each were there before. */
  async told(count: number): Promise<unknown[]> {
    const told = await until(`${count} receipts`, () => {
      const receipts = this.lines.flatMap((line) => (line.kind === 'end' ? [] : [line.receipt]))
      return receipts.length >= count && receipts
    })
    return told.map(({ numbers, records }) => [numbers.first, numbers.last, records.duplicates])
  }

  /** The sender has no more. */
  over(): void {
    this.#body.push(null)
  }

  /** Number of the last record that it ends with. */
  get last(): number | undefined {
    return this.lines.find((line) => line.kind === 'end')?.last
  }

  /** The kind of the error that it ends with. */
  async end(): Promise<unknown> {
    const error = await this.error()
    return error instanceof NodeError ? error.kind : error
  }

  async error(): Promise<unknown> {
    return (await until('the end', () => this.lines.find((line) => line.kind === 'end'))).error
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
  expect(await one.told(1)).toEqual([[11, 12, 0]])
  await rig.pause()
  const two = await Connection.open(rig, 13)
  one.send(13, 15)
  expect(await one.told(2)).toEqual([
    [11, 12, 0],
    [13, 15, 0],
  ])
  two.send(13, 20)
  await rig.build()
  expect(await two.told(2)).toEqual([
    [13, 15, 3],
    [16, 20, 0],
  ])
  expect(await rowsOf(rig)).toBe(10)
  // From now on the first connection is refused: it does not even cut the second one short.
  one.send(16, 18)
  expect(await one.told(3)).toEqual([
    [11, 12, 0],
    [13, 15, 0],
    [16, 18, 0],
  ])
  await rig.rows('a/b', [{ n: 0 }])
  one.send(19, 19)
  expect(await one.end()).toBe('ProducerFenced')
  two.send(21, 22)
  expect(await two.told(3)).toEqual([
    [13, 15, 3],
    [16, 20, 0],
    [21, 22, 0],
  ])
})

test('blank lines behind records that are there keep their numbers: nothing is missing before the next batch', async () => {
  const rig = await withDataset({ stream })
  const one = await Connection.open(rig, 0)
  one.send(0, 3)
  expect(await one.told(1)).toEqual([[0, 3, 0]])
  const two = await Connection.open(rig, 2)
  two.send(2, 3, 2)
  expect(await two.told(1)).toEqual([[2, 3, 2]])
  two.send(6, 7)
  expect(await two.told(2)).toEqual([
    [2, 3, 2],
    [4, 7, 0],
  ])
  // Sent again, whoever cuts it: none is stored twice, and none is taken for another.
  const again = await Connection.open(rig, 4)
  again.send(4, 3, 2)
  again.send(6, 8)
  expect(await again.told(2)).toEqual([
    [4, 7, 2],
    [8, 8, 0],
  ])
  expect(await rowsOf(rig)).toBe(7)
})

test('a batch of a long body is tried, cut and read again as a short one', async () => {
  const rig = await withDataset({ stream })
  await rig.rows('a/b', [{ n: 0, pad: '' }], { query: { unknownFields: 'add' } })
  const one = await Connection.open(rig, 0)
  one.sendLong(0, 19)
  expect(await one.told(1)).toEqual([[0, 19, 0]])
  const two = await Connection.open(rig, 10)
  two.sendLong(10, 39)
  expect(await two.told(2)).toEqual([
    [10, 19, 10],
    [20, 39, 0],
  ])
  two.sendLong(40, 69, { 55: 'no number' })
  expect(await two.end()).toBe('RecordsDoNotFit')
  expect(await two.told(3)).toContainEqual([40, 54, 0])
  expect(await rowsOf(rig)).toBe(56)
})

test('a connection whose first records come after those of a later one is refused, and does not end that', async () => {
  const rig = await withDataset({ stream })
  const old = await Connection.open(rig, 0)
  const next = await Connection.open(rig, 0)
  next.send(0, 3)
  expect(await next.told(1)).toEqual([[0, 3, 0]])
  old.send(0, 9)
  expect(await old.end()).toBe('LogUnavailable')
  next.send(4, 6)
  expect(await next.told(2)).toEqual([
    [0, 3, 0],
    [4, 6, 0],
  ])
  expect(await rowsOf(rig)).toBe(7)
})

test('a record that is missing before the first one is a gap, and records that are there are not logged again', async () => {
  const rig = await withDataset({ stream })
  const one = await Connection.open(rig, 0)
  one.send(0, 3)
  expect(await one.told(1)).toEqual([[0, 3, 0]])
  const gap = await Connection.open(rig, 5)
  gap.send(5, 6)
  expect(await gap.end()).toBe('SequenceGap')
  await rig.rows('a/b', [{ n: 0 }])
  const { length } = await rig.headers()
  const repeat = await Connection.open(rig, 1)
  repeat.send(1, 2)
  expect(await repeat.told(1)).toEqual([[1, 2, 2]])
  expect(await rig.headers()).toHaveLength(length)
})

describe('a stream that has ended tells of no record that is not stored', () => {
  test('where a sender of a higher epoch has taken over, before or after its last record was logged', async () => {
    const rig = await withDataset({ stream })
    const one = await Connection.open(rig, 0, 1)
    one.send(0, 3)
    expect(await one.told(1)).toEqual([[0, 3, 0]])
    const two = await Connection.open(rig, 100, 2)
    two.send(100, 100)
    expect(await two.told(1)).toEqual([[100, 100, 0]])
    one.send(4, 4)
    one.over()
    expect([await one.end(), one.last]).toEqual(['ProducerFenced', 3])
    await rig.pause()
    two.send(101, 103)
    expect(await two.told(2)).toContainEqual([101, 103, 0])
    // Its beginning is in the log before the last records of the other.
    const three = await Connection.open(rig, 0, 3)
    three.send(0, 0)
    await until('it', async () => JSON.stringify(await rig.headers()).includes('"epoch":3'))
    two.send(104, 105)
    expect(await two.told(3)).toContainEqual([104, 105, 0])
    two.over()
    await rig.build()
    expect([await two.end(), two.last]).toEqual(['ProducerFenced', 103])
    three.over()
    expect([await three.end(), three.last]).toEqual([undefined, 0])
    // The one that made the dataset, and those that count.
    expect(await rowsOf(rig)).toBe(4 + 4 + 1)
  })

  test('where the dataset was deleted under it, with numbers and without', async () => {
    const rig = await withDataset({ stream })
    const [numbered, plain] = [await Connection.open(rig, 7), await Connection.open(rig, 0, 'no producer')]
    for (const one of [numbered, plain]) one.send(7, 8)
    expect(await numbered.told(1)).toEqual([[7, 8, 0]])
    expect(await plain.told(1)).toEqual([[0, 1, 0]])
    await rig.gateway.delete(must(await rig.catalog.byAlias('a/b'), 'the dataset'), { ifMatch: '*', graceMs: 60_000 })
    for (const one of [numbered, plain]) {
      one.send(9, 9)
      one.over()
    }
    expect([await numbered.end(), numbered.last]).toEqual(['DatasetDeleted', 8])
    expect([await plain.end(), plain.last]).toEqual(['DatasetDeleted', 1])
  })

  test('where no block comes: then it is looked up who is the current one', async () => {
    const rig = await withDataset({ stream })
    const one = await Connection.open(rig, 0)
    one.send(0, 3)
    expect(await one.told(1)).toEqual([[0, 3, 0]])
    const next = await Connection.open(rig, 4)
    next.send(4, 4)
    expect(await next.told(1)).toEqual([[4, 4, 0]])
    await rig.pause()
    one.send(4, 5)
    one.over()
    expect([await one.end(), one.last]).toEqual(['ProducerFenced', 3])
  }, 60_000)
})

test('many devices that connect again while the builder lags are told 503 with Retry-After, and each record is stored once', async () => {
  const rig = await withDataset({ stream })
  await rig.pause()
  const before = must(await rig.catalog.byAlias('a/b'), 'the dataset').headSequence
  const devices = Array.from({ length: 300 }, (_, number) => `device ${number}`)
  const connect = async (device: string): Promise<Connection> => {
    const connection = await Connection.open(rig, 0, 0, device)
    connection.send(0, 2)
    connection.over()
    return connection
  }
  // Each gives up its first connection, whose records are in the log, and repeats them over another.
  const messages = async (): Promise<number> => (await rig.headers()).filter(({ kind }) => kind === 'rows').length
  await Promise.all(devices.map(connect))
  const logged = async (rounds: number): Promise<boolean> =>
    JSON.stringify(await rig.headers()).split('"begins"').length - 1 === rounds * devices.length
  await until('the first ones', () => logged(1))
  const again = await Promise.all(devices.map(connect))
  await until('the others', () => logged(2))
  expect(await messages()).toBeLessThan(devices.length)
  await rig.build()
  for (const connection of again) {
    expect(problemOf(await connection.error(), '')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  }
  for (const connection of await Promise.all(devices.map(connect))) {
    expect([await connection.end(), connection.last]).toEqual([undefined, 2])
  }
  const chain = must(await rig.catalog.byAlias('a/b'), 'the dataset')
  // A block decides for many: it is not one for each device.
  expect(chain.headSequence - before).toBeLessThan(devices.length / 3)
  expect(await rowsOf(rig)).toBe(3 * devices.length)
}, 60_000)
