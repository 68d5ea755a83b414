// Streamed answers of the engine: failures early and late, readers that stop or never read, limits of time and room.

import { describe, expect, test } from 'vitest'
import type { AnswerStream } from '../../../src/node/engine/process/answer-stream.ts'
import { type Asking, streamWindowBytes, type StreamJob } from '../../../src/node/engine/messages.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { ask, asking, openBench, refusal, useBench } from './helpers.ts'

const bench = useBench({ exportSlots: 1 })

async function stream(sql: string, more: Partial<StreamJob> = {}, by: Asking = asking()): Promise<AnswerStream> {
  const analysis = await bench.engine.analyze(sql, by)
  const options = { escapeFormulas: false, geometry: undefined }
  const job = { analysis, tables: [], format: 'Csv', options, skip: 0, limit: undefined, inOffsetOrder: false, ...more }
  return await bench.engine.stream(job, by)
}

/** All bytes as text, or the error behind them. */
async function read({ pieces }: AnswerStream): Promise<string | NodeError> {
  const parts: Uint8Array[] = []
  try {
    for await (const piece of pieces) parts.push(piece)
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
  return Buffer.concat(parts).toString()
}

const failing = (at: number): string =>
  `SELECT CASE WHEN i = ${at} THEN CAST('x' || i AS INTEGER) ELSE i END AS v FROM range(2000000) r(i)`

describe('a statement that fails', () => {
  test('early, is refused with what the engine says', async () => {
    const error = await refusal(stream(failing(5000)))
    expect([error.kind, error.message]).toEqual(['SqlValue', "Could not convert string 'x5000' to INT32"])
  })

  test.each([1_000_000, 1_999_999])('in row %i, never ends as if it were whole', async (row) => {
    expect(await read(await stream(failing(row)))).toBeInstanceOf(NodeError)
    expect(await read(await stream('SELECT 1 AS a'))).toBe('a\r\n1\r\n')
  })

  test.each(['NdJson', 'Arrow', 'Parquet'])('late, breaks off as %s too', async (format) => {
    expect(await read(await stream(failing(1_500_000), { format }))).toBeInstanceOf(NodeError)
  })
})

describe('an answer that is not read', () => {
  const endless = "SELECT i, 'some text that takes room' AS t FROM range(10000000000) r(i)"

  test('stops at the window, holds up no other query, and goes on when it is read', async () => {
    const { start, pieces } = await stream(endless, { limit: 1_000_000 })
    expect(start.end).toBeUndefined()
    await systemClock.sleep(200)
    expect(await ask(bench.engine, 'SELECT 42')).toBe('[[42]]')
    let bytes = 0
    for await (const piece of pieces) bytes += piece.length
    expect(bytes).toBeGreaterThan(10 * streamWindowBytes)
  })

  test('ends with its reader, and its process serves the next', async () => {
    const { pieces } = await stream(endless)
    await pieces.next()
    await pieces.return({ rows: 0, truncated: false })
    expect(await read(await stream('SELECT 7 AS n'))).toBe('n\r\n7\r\n')
  })

  test('ends with its caller', async () => {
    const leaving = new AbortController()
    const answer = await stream(endless, {}, asking(leaving.signal))
    const reading = read(answer)
    leaving.abort()
    expect(await reading).toMatchObject({ kind: 'QueryTimeout' })
    expect(await read(await stream('SELECT 8 AS n'))).toBe('n\r\n8\r\n')
  })

  test('is refused where there is no room for a window of it', async () => {
    const full = new NodeError('Saturated', 'full')
    const taken: number[] = []
    const room = {
      take: (bytes: number): void => {
        taken.push(bytes)
        if (bytes > 1000) throw full
      },
    }
    expect(await refusal(stream(endless, {}, { ...asking(), room }))).toBe(full)
    expect(await read(await stream('SELECT 9 AS n', {}, { ...asking(), room }))).toBe('n\r\n9\r\n')
    expect(taken).toEqual([streamWindowBytes, 6])
  })
})

test('a window and a limit apply outside the statement', async () => {
  const answer = await stream('SELECT i FROM range(10) r(i) ORDER BY i DESC', { skip: 2, limit: 3 })
  expect([answer.start.end, await read(answer)]).toEqual([{ rows: 3, truncated: true }, 'i\r\n7\r\n6\r\n5\r\n'])
  const skipped = await stream('SELECT i FROM range(5) r(i)', { skip: 3 })
  expect([skipped.start.end, await read(skipped)]).toEqual([{ rows: 2, truncated: false }, 'i\r\n3\r\n4\r\n'])
})

test('an answer that takes too long, or grows too large, breaks off', async () => {
  const small = await openBench({ exportSlots: 1, exportMs: 4000, exportBytes: 3_000_000 })
  const run = async (sql: string): Promise<AnswerStream> => {
    const analysis = await small.engine.analyze(sql, asking())
    const options = { escapeFormulas: false, geometry: undefined }
    const job = { analysis, tables: [], format: 'Csv', options, skip: 0, limit: undefined, inOffsetOrder: false }
    return await small.engine.stream(job, asking())
  }
  expect(await read(await run('SELECT i FROM range(10000000) r(i)'))).toMatchObject({ kind: 'ResultTooLarge' })
  const slow =
    'SELECT count(*) FROM range(100000) a, range(100000) b, range(1000) c WHERE a.range + b.range + c.range < 0'
  expect(await refusal(run(slow))).toMatchObject({ kind: 'QueryTimeout', details: { limit: { name: 'exportMs' } } })
  await small.close()
})
