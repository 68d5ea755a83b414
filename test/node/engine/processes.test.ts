// Which process a query runs in, with real processes: what one has read stays among those who may read it.
import { array, assert as assertProperty, asyncProperty, constantFrom, record, uniqueArray } from 'fast-check'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ChildHandle } from '../../../src/node/engine/process/child-handle.ts'
import { ChildPool } from '../../../src/node/engine/process/child-pool.ts'
import type { EngineCaller } from '../../../src/node/engine/messages.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { ask, type Bench, benchOptions, openBench, refusal, schemaOf, systemColumns, writeSlice } from './helpers.ts'

const rights: Readonly<Record<string, readonly string[]>> = {
  alice: ['alice/private'],
  bob: ['bob/private'],
  admin: ['alice/private', 'bob/private'],
  nobody: [],
}

function caller(name: string): EngineCaller {
  return { key: [name], mayRead: (dataset) => rights[name]?.includes(dataset) ?? false }
}

/** Datasets that anyone may read; a test may change it. */
let open = new Set(['public/a', 'public/b'])
afterEach(() => {
  open = new Set(['public/a', 'public/b'])
  vi.restoreAllMocks()
})

const mebibyte = 1024 * 1024

async function engineWithTables(
  processes: number,
  spares = 1,
): Promise<{
  bench: Bench
  pids: number[]
  read(name: string, dataset: string): Promise<string>
}> {
  let started = 0
  const { perform, ready } = ChildHandle.prototype
  vi.spyOn(ChildHandle.prototype, 'ready').mockImplementation(async function (this: ChildHandle) {
    await ready.call(this)
    started++
  })
  const bench = await openBench({ processes, spares, isOpen: (dataset) => open.has(dataset), queueLimit: 100 })
  onTestFinished(bench.close)
  await ask(bench.engine, 'SELECT 0')
  // The one at work and a spare one.
  await expect.poll(() => started).toBe(1 + spares)
  const files = [await writeSlice(bench, 'slice', `SELECT ${systemColumns('0')}`)]
  const table = { files, schema: schemaOf() }
  const names = ['public/a', 'public/b', 'alice/private', 'bob/private']
  const tables = Object.fromEntries(names.map((name) => [name, table]))
  const pids: number[] = []
  vi.spyOn(ChildHandle.prototype, 'perform').mockImplementation(function (this: ChildHandle, ...given) {
    pids.push(this.pid ?? 0)
    return perform.apply(this, given)
  })
  let texts = 0
  return {
    bench,
    pids,
    // Each text is a new one: the analysis needs a process too.
    read: (name, dataset) =>
      ask(bench.engine, `SELECT count(*) + 0 * ${texts++} FROM "${dataset}"`, { tables, caller: caller(name) }),
  }
}

describe('a process that has read a private dataset', () => {
  test.each([
    [1, 0],
    [1, 1],
    [2, 1],
  ])('serves nobody who may not read it, of %i at work and %i ready', async (processes, spares) => {
    const { pids, read } = await engineWithTables(processes, spares)
    const pidsOf = async (name: string, dataset: string): Promise<Set<number>> => {
      const from = pids.length
      expect(await read(name, dataset)).toBe('[[1]]')
      return new Set(pids.slice(from))
    }
    const alices = await pidsOf('alice', 'alice/private')
    for (const [name, dataset] of [
      ['nobody', 'public/a'],
      ['bob', 'bob/private'],
      ['bob', 'public/b'],
      ['nobody', 'public/b'],
    ] as const) {
      const others = await pidsOf(name, dataset)
      // The process that only parsed the text of alice has read nothing of hers.
      expect([...others].filter((pid) => pid === [...alices].at(-1))).toEqual([])
    }
  })

  test('serves who may read all of it', async () => {
    const { pids, read } = await engineWithTables(1)
    await read('alice', 'alice/private')
    const process = pids.at(-1)
    await read('admin', 'alice/private')
    expect(pids.at(-1)).toBe(process)
  })

  test('is no reason for open data to lose its warm process', async () => {
    const { pids, read } = await engineWithTables(2)
    await read('nobody', 'public/a')
    const warm = pids.at(-1)
    for (let i = 0; i < 5; i++) {
      await read('alice', 'alice/private')
      await read('nobody', 'public/b')
      expect(pids.at(-1)).toBe(warm)
    }
  })

  test('that was open when it was read counts as what it is now', async () => {
    const { pids, read } = await engineWithTables(1)
    await read('nobody', 'public/a')
    const process = pids.at(-1)
    open = new Set(['public/b'])
    await read('nobody', 'public/b')
    expect(pids.at(-1)).not.toBe(process)
  })

  test.each([0, 1])('costs two callers in turn no more than a start each, with %i ready', async (spares) => {
    const { read, pids } = await engineWithTables(1, spares)
    for (let i = 0; i < 6; i++) {
      const name = i % 2 === 0 ? 'alice' : 'bob'
      expect(await read(name, `${name}/private`)).toBe('[[1]]')
    }
    expect(new Set(pids).size).toBeLessThanOrEqual(7)
    // Asking at the same time leaves nobody out either.
    const asked = ['alice', 'bob', 'admin', 'alice', 'bob', 'nobody', 'alice', 'bob']
    const answers = asked.map((name) => read(name, name === 'alice' || name === 'bob' ? `${name}/private` : 'public/a'))
    expect(await Promise.all(answers)).toEqual(asked.map(() => '[[1]]'))
  })
})

test('whatever the order of queries, a process is given to nobody who may not read what it has read', async () => {
  const pool = new ChildPool(
    {
      native: benchOptions.native,
      cores: 2,
      processes: 2,
      exportSlots: 1,
      exportMs: 1000,
      exportBytes: mebibyte,
      queryMs: 1000,
      memoryBytes: 128 * mebibyte,
      resultBytes: mebibyte,
      queueLimit: 1,
      callerSharePercent: 100,
      isOpen: (dataset) => open.has(dataset),
      dataRoots: [],
      logger: silentLogger,
      clock: systemClock,
    },
    { workers: 2, spares: 1, within: { name: 'queryMs', value: 1000 } },
    { onReady: () => undefined, onUnusable: () => undefined },
  )
  await pool.prove()
  onTestFinished(async () => await pool.close())
  const step = record({
    name: constantFrom('alice', 'bob', 'admin', 'nobody'),
    reads: uniqueArray(constantFrom('public/a', 'public/b', 'alice/private', 'bob/private'), { maxLength: 2 }),
  })
  await assertProperty(
    asyncProperty(array(step, { maxLength: 12 }), async (steps) => {
      const held: ChildHandle[] = []
      for (const { name, reads } of steps) {
        const wanted = {
          caller: caller(name),
          reads: reads.filter((id) => open.has(id) || rights[name]?.includes(id)),
          leave: 0,
        }
        await expect
          .poll(
            () => {
              const child = held.length < 2 ? pool.take(wanted) : undefined
              if (child !== undefined) held.push(child)
              const over = held.length > 1 || child === undefined ? held.shift() : undefined
              if (over !== undefined) pool.release(over)
              return child
            },
            { interval: 5 },
          )
          .toBeDefined()
        for (const child of held.slice(-1)) {
          for (const id of child.read) expect(open.has(id) || rights[name]?.includes(id), `${name} ${id}`).toBe(true)
        }
      }
      for (const child of held) pool.release(child)
    }),
    { numRuns: 15 },
  )
})

describe('a caller whose every query costs a process', () => {
  test('takes none from others', async () => {
    const { engine } = (await engineWithTables(2)).bench
    let goesOn = true
    const costly = (async () => {
      for (let deaths = 0; goesOn; deaths++) {
        const sql = `SELECT length(repeat('x', ${3_000_000_000 + deaths}))`
        const error = await refusal(ask(engine, sql, { caller: caller('costly') }))
        expect(['ResultTooLarge', 'QueryTimeout', 'Saturated']).toContain(error.kind)
      }
    })()
    const times: number[] = []
    for (let i = 0; i < 20; i++) {
      const startMs = systemClock.monotonicMs()
      expect(await ask(engine, `SELECT ${i}`, { caller: caller('other') })).toBe(`[[${i}]]`)
      times.push(systemClock.monotonicMs() - startMs)
      await systemClock.sleep(50)
    }
    goesOn = false
    await costly
    times.sort((a, b) => a - b)
    // Nobody waits for a process to start as a rule, and starting them leaves time for others.
    expect(times[10]).toBeLessThan(2000)
  })
})

const fixedJob = {
  tables: [],
  reproducible: false,
  dataFormat: 'JsonAoa',
  wantSchema: false,
  keyOrder: 'column',
  ascii: false,
  skip: 0,
  limit: 1,
} as const

describe('a caller who holds all workers', () => {
  const endless =
    'SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range + c.range < 0'

  test.each([1, 2])('keeps nobody else from %i', async (processes) => {
    const { bench } = await engineWithTables(processes)
    const leaving = new AbortController()
    const held = Array.from({ length: processes + 3 }, (_, i) =>
      refusal(ask(bench.engine, `${endless} AND ${i} = ${i}`, { caller: caller('hog'), signal: leaving.signal })),
    )
    await expect.poll(() => bench.engine.load().running).toBe(processes)
    for (let i = 0; i < 5; i++)
      expect(await ask(bench.engine, `SELECT ${i}`, { caller: caller('other') })).toBe(`[[${i}]]`)
    leaving.abort()
    await Promise.all(held)
  })

  test('keeps nobody from what the node itself asks for a caller, and neither does a long one of that', async () => {
    const { bench } = await engineWithTables(1)
    const leaving = new AbortController()
    const own = (name: string, sql: string): ReturnType<Bench['engine']['runOwn']> =>
      bench.engine.runOwn(sql, fixedJob, { caller: caller(name), signal: leaving.signal })
    const held = Array.from({ length: 3 }, (_, i) => refusal(own('hog', `${endless} AND ${i} = ${i}`)))
    held.push(refusal(ask(bench.engine, endless, { caller: caller('other'), signal: leaving.signal })))
    await expect.poll(() => bench.engine.load().running).toBe(2)
    for (let i = 0; i < 5; i++) {
      expect(Buffer.from((await own('other', `SELECT ${i}`)).data).toString()).toBe(`[[${i}]]`)
    }
    leaving.abort()
    await Promise.all(held)
  })

  test('finds its share of the queue full while others find room', async () => {
    const bench = await openBench({ processes: 1, queueLimit: 8, callerSharePercent: 50 })
    onTestFinished(bench.close)
    await bench.engine.analyze(endless)
    const leaving = new AbortController()
    const send = (name: string): Promise<NodeError> =>
      refusal(ask(bench.engine, endless, { caller: caller(name), signal: leaving.signal }))
    const held = Array.from({ length: 5 }, () => send('hog'))
    await expect.poll(() => bench.engine.load()).toEqual({ running: 1, waiting: 4 })
    const error = await send('hog')
    expect([error.kind, error.details.limit, error.details.retryAfterSeconds]).toEqual([
      'Saturated',
      { name: 'callerShare', value: 50, unit: 'percent' },
      1,
    ])
    held.push(send('other'), send('other'), send('third'))
    await expect.poll(() => bench.engine.load()).toEqual({ running: 2, waiting: 6 })
    leaving.abort()
    expect(new Set((await Promise.all(held)).map(({ kind }) => kind))).toEqual(new Set(['QueryTimeout']))
  })
})

test('an answer that finds no room is refused, and its process goes on', async () => {
  const bench = await openBench({})
  onTestFinished(bench.close)
  let asked = 0
  const room = {
    take: (bytes: number) => {
      asked = bytes
      throw new NodeError('Saturated', 'no room')
    },
  }
  const large = "SELECT repeat('x', 1000) FROM range(5000)"
  for (const limit of [1, 5000]) {
    expect((await refusal(ask(bench.engine, large, { room, limit }))).kind).toBe('Saturated')
    expect(asked).toBeGreaterThan(limit * 1000)
    expect(JSON.parse(await ask(bench.engine, large, { limit }))).toHaveLength(limit)
  }
})
