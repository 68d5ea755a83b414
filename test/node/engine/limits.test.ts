// What stops a hostile or unlucky query: deadline, memory, queue, the caller's departure, death of the process.
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, asking, type Bench, openBench, refusal } from './helpers.ts'

type Options = NonNullable<Parameters<typeof openBench>[0]>

async function bench(options: Options): Promise<Bench> {
  const opened = await openBench(options)
  onTestFinished(opened.close)
  return opened
}

/** Runs until it is stopped. */
const endless =
  'SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range + c.range < 0'

/** A fresh process may need longer than the short time of these tests for its first answer on a busy machine. */
async function answersAgain(engine: Bench['engine']): Promise<void> {
  await expect.poll(async () => await ask(engine, 'SELECT 1').catch(() => '')).toBe('[[1]]')
}

describe('deadline', () => {
  test('a query over its time is 504, even where the engine ignores interrupts, and the next one is answered', async () => {
    const { engine } = await bench({ queryMs: 500 })
    const stubborn = "SELECT levenshtein(repeat('ab', 100000), repeat('ba', 100000))"
    for (const sql of [endless, stubborn]) {
      const error = await refusal(ask(engine, sql))
      expect(error.kind).toBe('QueryTimeout')
      expect(error.details.limit).toEqual({ name: 'queryMs', value: 500, unit: 'ms' })
      await answersAgain(engine)
    }
  })

  test('planning that never ends is stopped too', async () => {
    const { engine } = await bench({ queryMs: 500, memoryBytes: 256 * 1024 * 1024 })
    const doubling = Array.from({ length: 30 }, (_, i) => `a${i} + a${i} AS a${i + 1}`)
    const error = await refusal(ask(engine, `SELECT 1 AS a0, ${doubling.join(', ')}`))
    expect(['QueryTimeout', 'ResultTooLarge']).toContain(error.kind)
    await answersAgain(engine)
  })
})

describe('memory', () => {
  test('a query beyond its memory is 413 with the limit, and the next one is answered', async () => {
    const { engine } = await bench({ memoryBytes: 200 * 1024 * 1024 })
    for (const sql of [
      // Buffers of the engine, which it counts itself.
      'SELECT list(a ORDER BY b) FROM (SELECT range AS a, hash(range) AS b FROM range(20000000))',
      // One value, which nobody counts: the process outgrows its bound.
      "SELECT length(repeat('x', 3000000000))",
    ]) {
      const error = await refusal(ask(engine, sql))
      expect(error.kind).toBe('ResultTooLarge')
      expect(error.details.limit?.name).toBe('queryMemoryBytes')
      expect(await ask(engine, 'SELECT 1')).toBe('[[1]]')
    }
  })
})

describe('departure', () => {
  test('a caller that leaves frees the process at once', async () => {
    const { engine } = await bench({})
    const leaving = new AbortController()
    const running = refusal(ask(engine, endless, { signal: leaving.signal }))
    const next = ask(engine, 'SELECT 1')
    setTimeout(() => leaving.abort(), 50)
    expect((await running).kind).toBe('QueryTimeout')
    expect(await next).toBe('[[1]]')
  })

  test('a caller that leaves the queue is taken out of it; one that has left is not even queued', async () => {
    const { engine } = await bench({ queueLimit: 1 })
    const first = new AbortController()
    const running = refusal(ask(engine, endless, { signal: first.signal }))
    let texts = 0
    // What was analysed once is remembered: each text is a new one.
    await expect
      .poll(async () => (await refusal(engine.analyze(`SELECT ${++texts}`, asking(AbortSignal.timeout(20))))).message)
      .toBe('The query was cancelled.')
    expect((await refusal(engine.analyze('SELECT 0', asking(AbortSignal.abort())))).message).toBe(
      'The query was cancelled.',
    )
    first.abort()
    await running
    expect(await ask(engine, 'SELECT 1')).toBe('[[1]]')
  })
})

describe('queue', () => {
  test('a full queue is 503, and all that fit are answered', async () => {
    const { engine } = await bench({ processes: 1, queueLimit: 2 })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, async (_, i) => await engine.analyze(`SELECT ${i}`)),
    )
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason.kind)
    expect(refused).toEqual(['Saturated', 'Saturated', 'Saturated'])
  })

  test('several processes answer at the same time', async () => {
    const { engine } = await bench({ processes: 2 })
    const leaving = new AbortController()
    const busy = refusal(ask(engine, endless, { signal: leaving.signal }))
    expect(await ask(engine, 'SELECT 1')).toBe('[[1]]')
    leaving.abort()
    await busy
  })

  test('closing fails what runs and what waits, and takes no more', async () => {
    const { engine } = await openBench({})
    const running = refusal(ask(engine, endless))
    const waiting = refusal(engine.analyze('SELECT 1'))
    await engine.close()
    expect((await running).kind).toBe('Draining')
    expect((await waiting).kind).toBe('Draining')
    expect((await refusal(engine.analyze('SELECT 1'))).kind).toBe('Draining')
  })
})

test('an engine whose processes do not start any more says so, until they do', async () => {
  const { engine } = await bench({ queryMs: 500 })
  const { execPath } = process
  onTestFinished(() => {
    process.execPath = execPath
  })
  expect(engine.fault()).toBeUndefined()
  process.execPath = '/nowhere/node'
  // It costs the only process that stands.
  expect((await refusal(ask(engine, endless))).kind).toBe('QueryTimeout')
  await expect.poll(() => engine.fault()).toBe('no process of the query engine starts')
  process.execPath = execPath
  await answersAgain(engine)
  expect(engine.fault()).toBeUndefined()
})
