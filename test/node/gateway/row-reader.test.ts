// Long bodies are read by threads: the rows are those that this thread reads, and so is what is refused; what a body leaves
// behind is a free thread.

import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { rowsWith } from '../../../src/libraries/columnar/arrow/brought-rows.ts'
import { concatBatches } from '../../../src/libraries/columnar/arrow/columns.ts'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import type { ReaderOptions, StreamFormat } from '../../../src/libraries/formats/format.ts'
import { formatNamed } from '../../helpers/formats.ts'
import { type ReadRows, rowReader } from '../../../src/node/gateway/row-reader.ts'
import { batchesOf } from '../../../src/node/gateway/rows-spool.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { concatBytes, copyBytes, toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { sha2HashOfHex } from '../../../src/libraries/base/ids/identifiers.ts'
import { sha256Hex } from '../../../src/libraries/base/ids/native-crypto.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { defaultVocabulary, type Field, optional, timestampMs } from '../../../src/libraries/model/schema.ts'
import { ThreadPool } from '../../../src/node/machine/work/thread-pool.ts'
import type { TaskThreads } from '../../../src/node/machine/work/work-pool.ts'
import { SimulatedThreads, type SimulatedThreadsOptions } from '../../adapters/simulated-threads.ts'

const fields: readonly Field[] = [
  { name: 'n', type: optional({ kind: 'Int64' }) },
  { name: 'text', type: optional({ kind: 'String' }) },
  { name: 'list', type: optional({ kind: 'List', itemType: optional({ kind: 'Int64' }) }) },
]
const options: ReaderOptions = {
  fields,
  eventTimeType: timestampMs,
  vocabulary: defaultVocabulary,
  unknownFields: 'reject',
  recordBytes: 1024 * 1024,
  jsonDepth: 64,
}
const columns: readonly Field[] = [{ name: 'event_time', type: timestampMs }, ...fields]
const against = { options, sent: { fallbackMs: 1_772_000_000_000 }, fields: columns, isHashed: true }

/** All rows as one batch. */
function bytesOf(rows: readonly ReadRows[]): string {
  const batches = rows
    .flatMap((one) => batchesOf(one, columns))
    .map((one) => rowsWith(one, columns, [...columns.keys()]))
  return rows.length === 0 ? '' : toHex(encodeArrowStream(columns, [concatBatches(batches)]))
}

function streamFormat(name: string): StreamFormat {
  const format = formatNamed(name)
  if (format.kind !== 'stream') throw new TypeError('a format of streams')
  return format
}

/** Rows as bytes, how many there are and whether all fitted; or the refusal. */
async function read(name: string, chunks: readonly Uint8Array[], threads: TaskThreads | undefined): Promise<unknown> {
  const reader = rowReader(streamFormat(name), against, { threads, bytes: undefined })
  try {
    const rows: ReadRows[] = []
    // What is pushed is gone.
    for (const chunk of chunks) rows.push(...(await reader.push(copyBytes(chunk))))
    const hash = await reader.hash()
    expect(hash).toBe(sha2HashOfHex(sha256Hex(concatBytes(chunks))))
    const { rows: last, ...parsed } = await reader.finish()
    return { ...parsed, fits: reader.fits, rows: bytesOf([...rows, ...last]) }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const { cause: _, ...details } = error.details
    return { kind: error.kind, message: error.message, details }
  } finally {
    reader.end()
  }
}

function simulated(more: Partial<SimulatedThreadsOptions> = {}): SimulatedThreads {
  const wait = (): Promise<unknown> => new Promise(setImmediate)
  return new SimulatedThreads({ threads: 1, wait, compress: (bytes) => bytes, isLost: () => false, ...more })
}

const lineOf: Readonly<Record<string, (row: number) => string>> = {
  ndjson: (row) => `{"n":${row},"text":"${'long '.repeat(row % 40)}","list":[${row},null]}`,
  csv: (row) => (row === 0 ? 'n,text' : `${row},"${'two\nlines '.repeat(row % 20)}"`),
  json: (row) => (row === 0 ? '[{"n":0}' : `,{"n":${row},"text":"${'text '.repeat(row % 40)}"}`),
}
const faults = [undefined, '"', '{"n":"no number"}', '{"n":1', '\u0000', ',,,,', '{"unknown":1}'] as const

/** Blocks of the wire of any size, each with its own memory. */
function chunksOf(text: string, sizes: readonly number[]): Uint8Array[] {
  const bytes = utf8(text)
  const chunks: Uint8Array[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    chunks.push(bytes.slice(at, at + size))
    at += size
  }
  return chunks
}

test('a thread reads the same rows as this one, and refuses the same', async () => {
  const threads = simulated()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('ndjson', 'csv', 'json'),
      fc.integer({ min: 0, max: 12_000 }),
      fc.constantFrom(...faults),
      fc.nat(),
      fc.array(fc.integer({ min: 1000, max: 200_000 }), { minLength: 1, maxLength: 5 }),
      async (name, rows, fault, place, sizes) => {
        const lines = Array.from({ length: rows }, (_, row) => lineOf[name]?.(row) ?? '')
        if (fault !== undefined) lines.splice(place % (rows + 1), 0, fault)
        const chunks = chunksOf(`${lines.join('\n')}\n${name === 'json' ? ']' : ''}`, sizes)
        expect(await read(name, chunks, threads)).toEqual(await read(name, chunks, undefined))
        expect(threads.free).toBe(1)
      },
    ),
    { numRuns: 40 },
  )
})

const pool = new ThreadPool({ clock: systemClock, jobs: 0, queueLimit: 0, tasks: 1, heapMiB: 128 })
afterAll(() => pool.close())

test.each(['ndjson', 'csv', 'json'])(
  'so it is in a thread of the machine: %s',
  async (name) => {
    const lines = Array.from({ length: 20_000 }, (_, row) => lineOf[name]?.(row) ?? '')
    const good = chunksOf(`${lines.join('\n')}\n${name === 'json' ? ']' : ''}`, [65_536])
    const bad = chunksOf(`${lines.join('\n')}\n{"n":"x"}\n"\n`, [65_536])
    for (const chunks of [good, bad, good])
      expect(await read(name, chunks, pool)).toEqual(await read(name, chunks, undefined))
  },
  60_000,
)

test('a body whose thread is lost is refused for now, and the thread is free again', async () => {
  const chunks = chunksOf(Array.from({ length: 20_000 }, (_, row) => `{"n":${row}}`).join('\n'), [50_000])
  for (const after of [0, 1]) {
    let pieces = after
    const threads = simulated({ isLost: () => pieces-- === 0 })
    expect(await read('ndjson', chunks, threads)).toMatchObject({
      kind: 'Saturated',
      details: { retryAfterSeconds: 1 },
    })
    expect(threads.free).toBe(1)
  }
})

test('a part of the memory of others is copied', async () => {
  const all = utf8('{"n":1}\n'.repeat(40_000))
  const chunk = all.subarray(8)
  const kept = chunk.slice()
  const reader = rowReader(streamFormat('ndjson'), against, { threads: simulated(), bytes: undefined })
  await reader.push(chunk)
  expect(chunk).toEqual(kept)
  reader.end()
  reader.end()
})
