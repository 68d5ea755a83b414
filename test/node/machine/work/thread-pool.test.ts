// The pool of threads: a job gives the same result there as here, and its end is its own.

import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/libraries/base/clock.ts'
import { utf8 } from '../../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import { JsonNumber, type JsonValue } from '../../../../src/libraries/base/json/value.ts'
import { type JobKind, type JobResult, type JobSettings, runJob } from '../../../../src/node/machine/work/jobs.ts'
import { idleMs, inlineBytes, ThreadPool } from '../../../../src/node/machine/work/thread-pool.ts'
import { handClock } from '../../../helpers/hand-clock.ts'
import { type Task, ThreadLost, type WorkPool } from '../../../../src/node/machine/work/work-pool.ts'

/** Every job in the caller's own thread. */
const inlinePool: Pick<WorkPool, 'run'> = {
  run: <K extends JobKind>(
    kind: K,
    pieces: readonly Uint8Array[],
    { settings }: { readonly settings: JobSettings<K> },
  ) => runJob(kind, pieces, settings) as Promise<JobResult<K>>,
}

const values = { name: 'jsonValues', value: 1_000_000 }
const pool = new ThreadPool({ clock: systemClock, jobs: 1, queueLimit: 2, tasks: 1, heapMiB: 64 })
afterAll(() => pool.close())

/** More bytes than are read in the caller's turn. */
const spaces = ' '.repeat(inlineBytes)
const piecesOf = (text: string): Uint8Array[] => [utf8(spaces), utf8(text)]

/** What a pool makes of a text: the value, or kind, message and place of the error. */
async function outcome(work: Pick<WorkPool, 'run'>, kind: 'json' | 'tokens' | 'proof', text: string): Promise<unknown> {
  try {
    if (kind === 'proof') return await work.run(kind, piecesOf(text), { settings: { values, sqlBytes: 1000 } })
    return await work.run(kind, piecesOf(text), { settings: values })
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const { cause: _, ...details } = error.details
    return { kind: error.kind, message: error.message, details }
  }
}

async function kindOf(running: Promise<unknown>): Promise<string> {
  return await running.then(
    () => 'done',
    (error: unknown) => (error instanceof NodeError ? error.kind : String(error)),
  )
}

describe('a job in a thread', () => {
  it('gives what it gives here, and fails as it fails here', async () => {
    const text = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom(
        '1e400',
        '-0',
        '1.50',
        '18446744073709551616',
        '{"a":1,"a":2}',
        '["\\ud800"]',
        '{"__proto__":[1.0]}',
      ),
    )
    const kind = fc.constantFrom('json', 'tokens', 'proof')
    await fc.assert(
      fc.asyncProperty(kind, text, async (asked, source) => {
        expect(await outcome(pool, asked, source)).toEqual(await outcome(inlinePool, asked, source))
      }),
      { numRuns: 150 },
    )
  })

  it('keeps numbers as tokens', async () => {
    const value = await pool.run('tokens', piecesOf('{"a":[1.50,{"b":1e2}]}'), { settings: values })
    const expected: JsonValue = new Map([['a', [new JsonNumber('1.50'), new Map([['b', new JsonNumber('1e2')]])]]])
    expect(value).toStrictEqual(expected)
  })

  it('hashes what is in pieces as one', async () => {
    const bytes = new Uint8Array(3 * inlineBytes).fill(7)
    const pieces = [bytes.slice(0, inlineBytes), bytes.slice(inlineBytes)]
    const whole = await inlinePool.run('hash', [bytes], { settings: undefined })
    expect(await pool.run('hash', pieces, { settings: undefined })).toBe(whole)
  })
})

describe('a job that breaks its thread', () => {
  it('is refused, and the next one is done', async () => {
    const text = `[${'{},'.repeat(999_000)}1]`
    expect(await kindOf(pool.run('tokens', [utf8(text)], { settings: values }))).toBe('BodyTooLarge')
    expect(await pool.run('json', piecesOf('[1]'), { settings: values })).toEqual([1])
  })
})

describe('jobs and tasks', () => {
  it('share threads one after the other, and never wait for one another', async () => {
    const both = new ThreadPool({ clock: systemClock, jobs: 1, queueLimit: 2, tasks: 1, heapMiB: 64 })
    const begin = (): Task<'columns'> | undefined => both.begin('columns', [], { bytes: 1e9, most: 9 })[0]
    const end = { kind: 'end' } as const
    for (const text of ['6', '7']) {
      const [task, none] = [begin(), begin()]
      expect(none).toBeUndefined()
      const said = task?.say(end)
      expect(await both.run('json', piecesOf(text), { settings: values })).toBe(Number(text))
      expect(await said).toEqual({ kind: 'digests', digests: new Map() })
      task?.end()
    }
    const task = begin()
    // Its thread may still answer before it ends.
    const [said] = await Promise.allSettled([task?.say(end), both.close()])
    expect(said.status === 'fulfilled' || said.reason instanceof ThreadLost).toBe(true)
    await expect(task?.say(end)).rejects.toThrow(ThreadLost)
  })
})

describe('jobs that are too many', () => {
  it('are refused at once; those of callers who are gone make room', async () => {
    const gone = new AbortController()
    const busy = pool.run('json', [utf8(`["${'x'.repeat(20_000_000)}"]`)], { settings: values })
    const waiting = [0, 1].map(() => pool.run('json', piecesOf('2'), { settings: values, signal: gone.signal }))
    const ended = waiting.map(kindOf)
    expect(await kindOf(pool.run('json', piecesOf('3'), { settings: values }))).toBe('Saturated')
    gone.abort()
    expect(await Promise.all(ended)).toEqual(['QueryTimeout', 'QueryTimeout'])
    expect(await pool.run('json', piecesOf('4'), { settings: values })).toBe(4)
    expect(await busy).toHaveLength(1)
  })

  it('end when their caller goes away, also one that runs', async () => {
    const gone = new AbortController()
    const running = kindOf(
      pool.run('json', [utf8(`[${'"a",'.repeat(900_000)}1]`)], { settings: values, signal: gone.signal }),
    )
    gone.abort()
    expect(await running).toBe('QueryTimeout')
    expect(await pool.run('json', piecesOf('5'), { settings: values })).toBe(5)
  })

  it('are refused when the pool is closed', async () => {
    const closing = new ThreadPool({ clock: systemClock, jobs: 1, queueLimit: 2, tasks: 1, heapMiB: 64 })
    const jobs = [1, 2].map(() => kindOf(closing.run('json', piecesOf('1'), { settings: values })))
    await closing.close()
    expect(await Promise.all(jobs)).toEqual(['Draining', 'Draining'])
    expect(await kindOf(closing.run('json', piecesOf('1'), { settings: values }))).toBe('Draining')
  })
})

describe('threads without work', () => {
  it('end after a while, and the next job has another', async () => {
    const clock = handClock()
    const resting = new ThreadPool({ clock, jobs: 1, queueLimit: 2, tasks: 1, heapMiB: 64 })
    const run = (text: string): Promise<unknown> => resting.run('json', piecesOf(text), { settings: values })
    expect(await run('1')).toBe(1)
    const working = run('2')
    await clock.advance(idleMs)
    expect(await working).toBe(2)
    expect(resting.threads).toBe(1)
    await clock.advance(idleMs)
    expect(resting.threads).toBe(0)
    expect(await run('3')).toBe(3)
    await resting.close()
  })
})
