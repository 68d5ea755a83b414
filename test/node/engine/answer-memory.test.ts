// What an answer takes of a query process: a bound of it holds while the answer is made, and what was taken is given back, so
// that the next statement of the same size is answered. Measured as the most memory that the process ever had.

import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { ChildHandle, type Outcome } from '../../../src/node/engine/process/child-handle.ts'
import { engineVersion, type ToChild } from '../../../src/node/engine/messages.ts'
import { Footers } from '../../../src/node/engine/duckdb/footers.ts'
import { ask, benchOptions, openBench, schemaOf, systemColumns, writeSlice } from './helpers.ts'

const mebibyte = 1024 * 1024
const settings = {
  engineVersion,
  memoryBytes: 384 * mebibyte,
  killBytes: 1024 * mebibyte,
  resultBytes: 48 * mebibyte,
  exportBytes: 1024 * mebibyte,
  dataRoots: ['/nowhere'],
}
const within = { name: 'queryMs', value: 120_000 } as const

async function open(): Promise<ChildHandle> {
  const { native } = benchOptions
  const child = new ChildHandle(settings, { folder: native.folder, state: await native.state() }, systemClock)
  onTestFinished(async () => {
    child.kill(new NodeError('Draining', 'the test is over'))
    await child.exited
  })
  await child.ready()
  return child
}

/** The most memory that the process had so far. */
function highestBytes({ pid }: ChildHandle): number {
  return statusBytes(pid, 'VmHWM')
}

function statusBytes(pid: number | undefined, member: 'VmHWM' | 'VmRSS'): number {
  const [, kibibytes] = new RegExp(`${member}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(must(kibibytes, 'Linux tells')) * 1024
}

function jobOf(sql: string): Pick<Extract<ToChild, { kind: 'run' }>['job'], 'analysis' | 'tables' | 'forget'> & {
  readonly reproducible: false
  readonly skip: 0
} {
  const none = { volatile: undefined, catalogue: undefined, narrowing: undefined, columns: undefined }
  const analysis = { sql, tables: [], isRaced: false, isProvable: true, listings: [], parameters: [], ...none }
  return { analysis, tables: [], forget: false, reproducible: false, skip: 0 }
}

/** Rows of the answer, or the limit that it met. */
async function outcomeOf(child: ChildHandle, message: ToChild): Promise<number | string | undefined> {
  const reader = { begin: () => undefined, more: async () => await Promise.resolve() }
  try {
    const found: Outcome = await child.perform(() => message, { within, signal: undefined, reader })
    return found.kind === 'answer' ? found.answer.rows : found.kind === 'streamed' ? found.end.rows : found.kind
  } catch (error) {
    return error instanceof NodeError ? error.details.limit?.name : String(error)
  }
}

function run(sql: string, dataFormat = 'JsonAoa'): ToChild {
  const job = { ...jobOf(sql), threads: 1, dataFormat, wantSchema: false, keyOrder: 'column', ascii: false } as const
  return { kind: 'run', job: { ...job, limit: 100_000 } }
}

function stream(sql: string, format: string): ToChild {
  const options = { escapeFormulas: false, geometry: undefined }
  return { kind: 'stream', job: { ...jobOf(sql), format, options, limit: undefined, inOffsetOrder: false } }
}

const text = "repeat('x', 100000 + (i % 10)::INT)"
/** What the engine takes itself for the rows of one vector of 2,048, and for what it has of the next. */
const ofEngine = 640 * mebibyte

describe.runIf(process.platform === 'linux')('the memory of a process', () => {
  test.each([text, `{'a': ['b', ${text}]}`, `map(['k'], [${text}::BLOB])`])(
    '%s of many rows is refused before it is copied, and then one of few is answered',
    async (value) => {
      const child = await open()
      const before = highestBytes(child)
      expect(await outcomeOf(child, run(`SELECT ${value} AS v FROM range(1000) r(i)`))).toBe('resultBytes')
      expect(highestBytes(child) - before).toBeLessThan(ofEngine)
      const next = child.usable ? child : await open()
      expect(await outcomeOf(next, run(`SELECT ${value} AS v FROM range(200) r(i)`))).toBe(200)
    },
  )

  test('answers that fit follow one another', async () => {
    const child = await open()
    const before = highestBytes(child)
    for (let at = 0; at < 6; at++)
      expect(await outcomeOf(child, run(`SELECT ${text} AS v, ${at} FROM range(400) r(i)`))).toBe(400)
    expect(child.usable).toBe(true)
    expect(highestBytes(child) - before).toBeLessThan(450 * mebibyte)
  })

  test.each(['Csv', 'Parquet'])('large rows leave as %s, none larger than an answer', async (format) => {
    const child = await open()
    const before = highestBytes(child)
    expect(await outcomeOf(child, stream(`SELECT ${text} AS v FROM range(2000) r(i)`, format))).toBe(2000)
    expect(highestBytes(child) - before).toBeLessThan(ofEngine)
    const row = stream(`SELECT repeat('x', ${49 * mebibyte}) AS v`, format)
    expect(await outcomeOf(child.usable ? child : await open(), row)).toBe('resultBytes')
  })

  test('what 3,000 files left in it comes back without work, and all of it once nobody reads them any more', async () => {
    const bench = await openBench({ spares: 0 })
    onTestFinished(bench.close)
    const pids: (number | undefined)[] = []
    const { perform } = ChildHandle.prototype
    vi.spyOn(ChildHandle.prototype, 'perform').mockImplementation(function (this: ChildHandle, ...given) {
      pids.push(this.pid)
      return perform.apply(this, given)
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const first = await writeSlice(bench, 'first', `SELECT ${systemColumns('7')}, 'a' AS city, 1::BIGINT AS n`)
    const files = Array.from({ length: 3_000 }, (_, at) => join(bench.root, `slice-${at}`))
    for (const file of files) copyFileSync(first, file)
    const schema = schemaOf({ name: 'city', type: { kind: 'String' } }, { name: 'n', type: { kind: 'Int64' } })
    const sumOf = async (count: number): Promise<string> => {
      const table = { files: files.slice(0, count), schema, rows: count }
      return await ask(bench.engine, 'SELECT sum("offset")::BIGINT AS s FROM t GROUP BY city', { tables: { t: table } })
    }
    expect(await sumOf(3_000)).toContain('21000')
    const [pid] = pids
    // The highest that it was: on a busy machine some may be back already.
    const full = statusBytes(pid, 'VmHWM')
    await expect.poll(() => statusBytes(pid, 'VmRSS')).toBeLessThan(full - 20 * mebibyte)
    for (let at = 0; at < 8; at++) expect(await sumOf(256)).toContain('1792')
    expect(new Set(pids)).toEqual(new Set([pid]))
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
    expect(await sumOf(256)).toContain('1792')
    expect(pids.at(-1)).not.toBe(pid)
  })
})

test.each([
  [1_024, 7, false],
  [1_024, 8, false],
  [1_025, 7, false],
  [1_025, 8, true],
])('footers of %i files that %i statements did not read are stale: %s', (count, others, areStale) => {
  const footers = new Footers()
  footers.read(Array.from({ length: count }, (_, at) => `slice ${at}`))
  for (let at = 0; at < others; at++) footers.read(['merged', `merged ${at}`])
  expect(footers.areStale).toBe(areStale)
})
