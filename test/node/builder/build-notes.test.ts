// Blocks whose building ends the process: two deaths, and the dataset halts alone; a later start tries again.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import { BuildTurns } from '../../../src/node/builder/committer.ts'
import { buildBytes } from '../../../src/node/builder/dataset-state.ts'
import { type BuildNotes, notedBytes, openBuildNotes } from '../../../src/node/builder/poison.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { decodeMessage, encodeMessage } from '../../../src/node/log/messages.ts'
import { timestampMs } from '../../../src/libraries/model/schema.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { newestLowWaterMark } from '../../../src/node/store/records.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { appendText } from '../../helpers/slices.ts'
import { baseMs, buildAll, datasetId, rowCount, start, TestWriter, userFields } from './support.ts'
import { until } from '../../helpers/until.ts'

const large = datasetId('large')
const small = datasetId('small')
const rows = 34
const payload = longTexts()
let dir: string
let notes: BuildNotes
let log: EventLog
let store: ObjectStore

/** Rows of a MiB each. */
function longTexts(): Uint8Array {
  const fields = [{ name: 'event_time', type: timestampMs }, must(userFields[0], 'a text column')]
  const columns = fields.map((field) => {
    const builder = createColumnBuilder(field)
    for (let row = 0; row < rows; row++) {
      if (field.name === 'event_time') builder.appendInt64(baseMs + row)
      else appendText(builder, 'x'.repeat(notedBytes / 32))
    }
    return builder.finish()
  })
  return encodeArrowStream(fields, [{ rows, columns }])
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-notes-'))
  notes = openBuildNotes(join(dir, 'builds'))
  log = Object.assign(openMemoryLog({ id: 'log-1' }), { release: async () => {} })
  store = openMemoryStore()
  const writer = new TestWriter('w')
  const message = decodeMessage(writer.rows(large, [{ rows }]))
  if (message.kind !== 'message') throw new TypeError('a message')
  await log.append(0, [
    writer.create(large, 'acme/large'),
    writer.create(small, 'acme/small'),
    encodeMessage(message.header, payload),
    writer.rows(small, [{ rows: 3 }]),
    writer.cut([
      { dataset: large, sequence: 3 },
      { dataset: small, sequence: 3 },
    ]),
  ])
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const left = (): Promise<string[]> => readdir(join(dir, 'builds'))

/** A life that ends in the midst of building the large block. */
async function die(): Promise<void> {
  let isBuilding = false
  const dying: ObjectStore = {
    ...store,
    putStream: () => {
      isBuilding = true
      return new Promise(() => {})
    },
    put: (key, bytes) => (key.includes('/data/') ? new Promise(() => {}) : store.put(key, bytes)),
  }
  let ends = 0
  const dead: BuildNotes = {
    begin: async (name, text) => {
      const deaths = await notes.begin(name, text)
      isBuilding = true
      return deaths
    },
    end: async () => void ends++,
  }
  const { builder } = await start(log, dying, { notes: dead })
  await until('the large block is being built', () => isBuilding)
  void builder.stop()
  expect(ends).toBe(0)
}

describe('a large block', () => {
  test('leaves no note once it is built', async () => {
    await buildAll(log, store, { notes })
    expect(await rowCount(store, large)).toBe(rows)
    expect(await left()).toEqual([])
  })

  test('of which the process died twice halts its dataset alone; the start after that tries again', async () => {
    await die()
    expect(await left()).toHaveLength(1)
    await die()
    const { builder } = await buildAll(log, store, { notes })
    expect(builder.status()).toMatchObject({
      ready: true,
      halted: [{ dataset: large, reason: 'PoisonBlock', message: 2 }],
    })
    expect(builder.status().halted[0]?.what).toMatch(/ended twice .* more memory, or reject its message/)
    expect([await rowCount(store, large), await rowCount(store, small)]).toEqual([0, 3])
    expect(await newestLowWaterMark(store, 'log-1', 0)).toMatchObject({ halted: [{ dataset: large, message: 2 }] })
    expect(await left()).toEqual([])
    const after = await buildAll(log, store, { notes })
    expect(after.builder.status().halted).toEqual([])
    expect(await rowCount(store, large)).toBe(rows)
  })

  test('of which the process died once is built by the next', async () => {
    await die()
    await buildAll(log, store, { notes })
    expect(await rowCount(store, large)).toBe(rows)
    expect(await left()).toEqual([])
  })
})

test('large blocks are built one after the other, small ones at once', async () => {
  const turns = new BuildTurns(1e6)
  const began: string[] = []
  const ends: (() => void)[] = []
  const build = (name: string) => () => {
    began.push(name)
    return new Promise<void>((resolve) => ends.push(resolve))
  }
  const running = [turns.run(1e8, build('a')), turns.run(1e8, build('b')), turns.run(10, build('c'))]
  await until('two have begun', () => began.length === 2)
  expect(began).toEqual(['a', 'c'])
  ends[0]?.()
  await until('the next has begun', () => began.length === 3)
  expect(began).toEqual(['a', 'c', 'b'])
  for (const end of ends) end()
  await Promise.all(running)
})

test('a block of 4 MiB is built beside others, a larger one is not', async () => {
  const begun = async (bytes: number): Promise<readonly number[]> => {
    const turns = new BuildTurns(1e9)
    let count = 0
    const build = () => new Promise<number>((resolve) => (count++, setImmediate(() => resolve(count))))
    return await Promise.all([turns.run(bytes, build), turns.run(bytes, build)])
  }
  const most = 4 * 1024 * 1024
  expect([await begun(most - 1), await begun(most), await begun(most + 1)]).toEqual([
    [2, 2],
    [2, 2],
    [1, 2],
  ])
})

test('of small blocks as many are built at once as have room, in turn, and one in any case', async () => {
  const turns = new BuildTurns(100)
  const ends = new Map<string, () => void>()
  const began: string[] = []
  const build = (name: string) => async () => {
    began.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    if (name === 'c') throw new Error('it cannot be built')
  }
  const sizes = { a: 60, b: 40, c: 1, d: 1000, e: 10 }
  const running = Object.entries(sizes).map(([name, bytes]) => turns.run(bytes, build(name)).catch(() => undefined))
  await until('two have begun', () => began.length === 2)
  const steps = { a: ['a', 'b', 'c'], b: ['a', 'b', 'c'], c: ['a', 'b', 'c', 'd'], d: ['a', 'b', 'c', 'd', 'e'] }
  for (const [name, after] of Object.entries(steps)) {
    ends.get(name)?.()
    await until(`${name} has made room`, () => began.length === after.length)
    expect(began).toEqual(after)
  }
  ends.get('e')?.()
  await Promise.all(running)
})

test('a block of few logged bytes and many columns is as large as its cells', () => {
  const fields = Array.from({ length: 1900 }, (_, i) => ({ name: `c${i}`, type: timestampMs }))
  const plan = { payloadBytes: 1_000_000, rows: 100_000, schema: { fields } }
  expect(buildBytes(plan)).toBeGreaterThan(notedBytes)
  expect(buildBytes({ ...plan, rows: 1 })).toBe(1_000_000)
})
