// Both ends of the lists of files: what travels, and what the other end makes of it; then in a process, whose views show
// exactly the files that are meant while lists grow.
import { linkSync } from 'node:fs'
import { DuckDBConnection } from '@duckdb/node-api'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { Views } from '../../../src/node/engine/duckdb/views.ts'
import { areManySmall, HeldLists, SentLists } from '../../../src/node/engine/process/file-lists.ts'
import type { EngineTable, PlainTable } from '../../../src/node/engine/messages.ts'
import { asking, schemaOf, systemColumns, useBench, writeSlice } from './helpers.ts'

function table(
  list: string,
  to: number,
  { asked = [], only }: { asked?: number[]; only?: readonly number[] } = {},
): EngineTable {
  const path = (number: number): string => {
    asked.push(number)
    return `/${list}/${number}`
  }
  return { parts: ['a/b'], dataset: list, schema: undefined, files: { list, to, path, ...(only && { only }) } }
}

/** The paths of a table that travel. */
function pathsOf(table: PlainTable | undefined): readonly string[] | undefined {
  return table?.files.kind === 'all' ? table.files.more : table?.files.paths
}

test('a list travels once, then only what it grew by', () => {
  const sent = new SentLists()
  expect(pathsOf(sent.plain([table('x', 3)]).tables[0])).toEqual(['/x/0', '/x/1', '/x/2'])
  const asked: number[] = []
  expect(pathsOf(sent.plain([table('x', 3, { asked })]).tables[0])).toEqual([])
  expect(asked).toEqual([2])
  expect(pathsOf(sent.plain([table('x', 5)]).tables[0])).toEqual(['/x/3', '/x/4'])
  expect(pathsOf(sent.plain([table('x', 2)]).tables[0])).toEqual([])
  expect(pathsOf(sent.plain([table('y', 1)]).tables[0])).toEqual(['/y/0'])
})

test('a few files travel without their list', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  const asked: number[] = []
  const job = sent.plain([table('x', 1_000_000, { asked, only: [7, 900_000] })])
  expect(asked).toEqual([7, 900_000])
  expect(held.take(job)[0]?.files()).toEqual(['/x/7', '/x/900000'])
  expect(held.take(sent.plain([table('x', 2)]))[0]?.files()).toEqual(['/x/0', '/x/1'])
})

test('the other end has the files of each run, and a signature that differs when they do', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  const take = (...tables: EngineTable[]): { files: readonly string[]; signature: string }[] =>
    held.take(sent.plain(tables)).map(({ files, signature }) => ({ files: files(), signature }))
  const [first] = take(table('x', 2))
  expect(first?.files).toEqual(['/x/0', '/x/1'])
  const [grown, other, none] = take(table('x', 3), table('y', 2, { only: [1] }), table('z', 0))
  expect(grown?.files).toEqual(['/x/0', '/x/1', '/x/2'])
  expect(other?.files).toEqual(['/y/1'])
  expect(none?.files).toEqual([])
  expect(take(table('x', 2))[0]).toEqual(first)
  const [later] = take({ ...table('x', 3), bounds: [['"offset" >=', '5']] })
  expect(new Set([first, grown, other, none, later].map((one) => one?.signature)).size).toBe(5)
})

test('a list named twice in one job travels once', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  const job = sent.plain([table('x', 2), table('x', 3)])
  expect(job.tables.map(pathsOf)).toEqual([['/x/0', '/x/1'], ['/x/2']])
  expect(held.take(job).map(({ files }) => files())).toEqual([
    ['/x/0', '/x/1'],
    ['/x/0', '/x/1', '/x/2'],
  ])
})

test('many paths are forgotten on both ends, and sent again', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  held.take(sent.plain([table('x', 150_000)]))
  const job = sent.plain([table('y', 100_000)])
  expect(job.forget).toBe(true)
  expect(held.take(job)[0]?.files()).toHaveLength(100_000)
  const again = sent.plain([table('x', 2)])
  expect(again.forget).toBe(false)
  expect(held.take(again)[0]?.files()).toEqual(['/x/0', '/x/1'])
})

test('ends that disagree are an error, not another dataset', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  sent.plain([table('x', 2)])
  expect(() => held.take(sent.plain([table('x', 2)]))).toThrow('brings the files')
  held.take(new SentLists().plain([table('x', 2)]))
  const forged = { ...table('x', 2), files: { list: 'x', to: 2, path: () => '/other' } }
  expect(() => held.take(sent.plain([forged]))).toThrow('only ever grows')
})

describe('a view over a list that grows', () => {
  const bench = useBench()
  const paths: string[] = []
  const schema = schemaOf({ name: 'k', type: { kind: 'Int64' } })

  beforeAll(async () => {
    for (let i = 0; i < 8; i++) {
      paths.push(await writeSlice(bench, `grows-${i}`, `SELECT ${systemColumns(String(i))}, ${i * i}::BIGINT AS k`))
    }
  })

  /** Sums of k by name, each over the first so many files or over some of them. */
  async function sums(wanted: Readonly<Record<string, number | readonly number[]>>, list = 'one'): Promise<unknown> {
    const names = Object.keys(wanted)
    const sql = `SELECT ${names.map((name) => `(SELECT sum(k) FROM ${name})`).join(', ')}`
    const tables = names.map((name): EngineTable => {
      const files = wanted[name] ?? 0
      const path = (number: number): string => paths[number] ?? ''
      const numbers = typeof files === 'number' ? { to: files } : { to: paths.length, only: files }
      return { parts: [name], dataset: 'd', schema, files: { list, path, ...numbers } }
    })
    const job = {
      analysis: await bench.engine.analyze(sql, asking()),
      tables,
      reproducible: true,
      dataFormat: 'JsonAoa',
      wantSchema: false,
      keyOrder: 'canonical' as const,
      ascii: false,
      skip: 0,
      limit: 10,
    }
    return JSON.parse(Buffer.from((await bench.engine.run(job, asking())).data).toString())
  }

  test('shows the files up to its own end, whatever another has of the list', async () => {
    expect(await sums({ a: 3 })).toEqual([[5]])
    expect(await sums({ a: 5 })).toEqual([[30]])
    expect(await sums({ a: 3, b: 6 })).toEqual([[5, 55]])
    expect(await sums({ a: 3, b: 6 })).toEqual([[5, 55]])
    expect(await sums({ b: [1, 7], a: 8 })).toEqual([[50, 140]])
    expect(await sums({ a: [], b: 0 })).toEqual([[null, null]])
    expect(await sums({ a: 6, b: 8 })).toEqual([[55, 140]])
    expect(await sums({ a: 4 }, 'another')).toEqual([[14]])
    expect(await sums({ a: 4, b: 2 })).toEqual([[14, 1]])
  })

  test('has the types of its own schema, though its columns have the names of another', async () => {
    const other = await writeSlice(bench, 'other', `SELECT ${systemColumns('0')}, 'text' AS k`)
    const ask = async (path: string, type: 'Int64' | 'String'): Promise<string> => {
      const job = {
        analysis: await bench.engine.analyze('SELECT k FROM a', asking()),
        reproducible: true,
        dataFormat: 'JsonAoa',
        wantSchema: false,
        keyOrder: 'canonical' as const,
        ascii: false,
        skip: 0,
        limit: 10,
      }
      const files = { list: path, to: 1, path: () => path }
      const table = { parts: ['a'], dataset: path, schema: schemaOf({ name: 'k', type: { kind: type } }), files }
      return Buffer.from((await bench.engine.run({ ...job, tables: [table] }, asking())).data).toString()
    }
    const first = paths[2] ?? ''
    expect([await ask(first, 'Int64'), await ask(other, 'String'), await ask(first, 'Int64')]).toEqual([
      '[[4]]',
      '[["text"]]',
      '[[4]]',
    ])
  })

  test('looks up the columns of 1,024 slices once, and with one more anew', async () => {
    const [views, run] = [new Views(bench.trusted), vi.spyOn(DuckDBConnection.prototype, 'run')]
    const path = (number: number): string => `${paths[7]}-${number}`
    const looks = async (number: number): Promise<number> => {
      run.mockClear()
      await views.ensure([{ parts: ['t'], dataset: 'd', schema, signature: path(number), files: () => [path(number)] }])
      return run.mock.calls.filter(([sql]) => sql.startsWith('DESCRIBE')).length
    }
    const found: unknown[] = []
    for (let number = 0; number < 1025; number++) {
      linkSync(paths[7] ?? '', path(number))
      expect(await looks(number)).toBe(1)
      if (number >= 1022) found.push(await looks(0), ...(await (await bench.trusted.run('SELECT k FROM t')).getRows()))
    }
    run.mockRestore()
    expect(found).toEqual([0, [49n], 0, [49n], 1, [49n]])
  })
})

test('many files of few rows each are not kept in memory, and others are', () => {
  const table = (count: number, rows?: number): Parameters<typeof areManySmall>[0][number] => {
    const files = (): string[] => Array.from({ length: count }, String)
    return { files, ...(rows !== undefined && { rows }) }
  }
  const each = 4096
  expect(areManySmall([table(257, 257)])).toBe(true)
  expect(areManySmall([table(257, 257 * each - 1), table(1, 5)])).toBe(true)
  for (const one of [table(256, 256), table(257, 257 * each), table(257)]) expect(areManySmall([one])).toBe(false)
})
