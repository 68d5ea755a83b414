// Statements in which blocks do not show answer alike over slices, over merged files, and over both; a node makes the files behind its
// readers, and answers as before when they are damaged or gone.

import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createLogicalHash } from '../../../src/libraries/columnar/arrow/logical-hash.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import { openSlice } from '../../../src/libraries/columnar/parquet/read-slice.ts'
import { mergeSlices } from '../../../src/node/machine/work/merge.ts'
import { ask, asking, type AskOptions, schemaOf, systemColumns, useBench } from '../engine/helpers.ts'
import { blockFreeStatements, exactStatements, randomStatement } from '../engine/statement-corpus.ts'
import { decompress, readSlice } from '../../helpers/slices.ts'
import { startLiveNode } from '../../helpers/live-node.ts'

const bench = useBench({ queryMs: 60_000 })
const rows = 3000
const option = <K extends string>(name: string, kind: K) => ({ name, type: { kind } as { kind: K } })
const schema = schemaOf(
  option('k', 'Int32'),
  option('m', 'Int64'),
  option('x', 'Float64'),
  option('z', 'Float64'),
  option('g', 'String'),
  option('d', 'Date'),
  { name: 'p', type: { kind: 'Decimal', precision: 9, scale: 2 } },
  option('b', 'Bool'),
  { name: 'l', type: { kind: 'List', itemType: { kind: 'Int64' } } },
  option('q', 'Int32'),
)
const columns = `(hash(i * 31) % 7)::INT AS k, (hash(i * 7) % 900)::BIGINT AS m,
  CASE hash(i * 17) % 9 WHEN 0 THEN NULL WHEN 1 THEN 0e0 WHEN 2 THEN -0e0 ELSE (hash(i) % 100000) / 7e3 - 4 END AS x,
  CASE WHEN hash(i * 13) % 2 = 0 THEN 0e0 ELSE -0e0 END AS z, 'g' || (hash(i * 3) % 12) AS g,
  DATE '2024-01-01' + (hash(i * 5) % 400)::INT AS d, ((hash(i * 11) % 10000) / 100)::DECIMAL(9, 2) AS p,
  hash(i * 19) % 2 = 0 AS b, [(hash(i * 23) % 4)::BIGINT, i % 3] AS l, (i // 500)::INT AS q`

/** The rows of files in one. */
async function mergedOf(name: string, paths: readonly string[]): Promise<string> {
  const files = await Promise.all(paths.map(async (path) => new Uint8Array(await readFile(path))))
  const schemas = [openSlice(must(files[0], 'a file'), { decompress }).fields]
  const slices = []
  for (const file of files) {
    const batch = await readSlice(file)
    const hash = createLogicalHash(must(schemas[0], 'a schema'))
    hash.update(batch)
    slices.push({ rows: batch.rows, logicalHash: hash.digest(), schema: 0 })
  }
  const parts = files.map((file) => ({ sizeBytes: file.length, hash: sha3Hash(file), schema: 0 }))
  const { file } = await mergeSlices(concatBytes(files), { parts, slices, schemas })
  const path = join(bench.root, name)
  await writeFile(path, file)
  return path
}

type Tables = NonNullable<AskOptions['tables']>

/** The same rows as slices, half merged, and merged in one file or in several, by the number of slices. */
const forms = new Map<number, readonly Tables[]>()

beforeAll(async () => {
  for (const count of [1, 5, 40, 1000]) {
    const slices: string[] = []
    for (let file = 0, from = 0; file < count; file++) {
      const to = Math.max(from + 1, Math.round(rows * ((file + 1) / count) ** 1.1))
      const select = `SELECT ${systemColumns('i')}, ${columns} FROM range(${from}, ${Math.min(to, rows)}) r(i)`
      const path = join(bench.root, `slice-${count}-${file}`)
      await bench.trusted.run(`COPY (${select}) TO '${path}' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 0)`)
      slices.push(path)
      from = to
      if (from >= rows) break
    }
    const half = Math.max(1, slices.length >> 1)
    const first = await mergedOf(`first-${count}`, slices.slice(0, half))
    const all = await mergedOf(`all-${count}`, slices)
    const rest = half < slices.length ? [await mergedOf(`rest-${count}`, slices.slice(half))] : []
    const tablesOf = (files: readonly string[]): Tables => ({ t: { files, schema } })
    forms.set(count, [slices, [first, ...slices.slice(half)], [first, ...rest], [all]].map(tablesOf))
  }
})

/** The most rows that are asked for: more than there are. */
const limit = 4999

async function isBlockFree(sql: string, most = limit): Promise<boolean> {
  const of = { sql, tables: [{ parts: ['t'], schema }], parameters: [], rows: { skip: 0, limit: most } }
  const judged = await bench.engine.analyze(sql, asking()).then(
    () => bench.engine.judge(of, asking()),
    () => undefined,
  )
  return judged?.isBlockFree === true
}

async function answersOf(sql: string, count: number): Promise<Set<string>> {
  const answers = new Set<string>()
  for (const tables of must(forms.get(count), 'forms of the rows')) {
    for (const proof of [{ reproducible: true, ascii: true }, { ordered: true }]) {
      const options = { ...proof, dataFormat: 'JsonAos', keyOrder: 'canonical' as const, ascii: true, limit }
      answers.add(await ask(bench.engine, sql, { tables, ...options }).catch(String))
    }
  }
  return answers
}

// Neither `u` nor the struct `s` is merged here.
const own = [...exactStatements, ...blockFreeStatements].filter((sql) => !/\bu\b|\bs\b/.test(sql))

describe('a statement in which blocks do not show', () => {
  it('gives the same bytes over slices, over merged files, and over both', async () => {
    expect(own.length).toBeGreaterThan(80)
    for (const sql of own) expect([sql, (await answersOf(sql, 40)).size]).toEqual([sql, 1])
    for (const [at, sql] of own.filter((_, index) => index % 8 === 0).entries()) {
      expect([sql, (await answersOf(sql, [1, 5, 1000][at % 3] ?? 1)).size]).toEqual([sql, 1])
    }
  })

  it('does so whatever it is made of', async () => {
    let free = 0
    const parts = randomStatement.filter((sql) => !sql.includes(' u '))
    await fc.assert(
      fc.asyncProperty(parts, fc.constantFrom(1, 5, 40), async (sql, count) => {
        if (!(await isBlockFree(sql))) return
        free++
        expect([sql, (await answersOf(sql, count)).size]).toEqual([sql, 1])
      }),
      { numRuns: Number(process.env['MERGED_RUNS'] ?? 80) },
    )
    expect(free).toBeGreaterThan(10)
  })
})

describe('a sort that keeps more than 5,000 rows', () => {
  const sql = 'select z, offset from t order by z'

  it('may give back -0.0 as 0.0, by how the rows lie in files: it reads no merged ones', async () => {
    const paths: string[] = []
    for (let file = 0; file < 250; file++) {
      const [from, to] = file === 0 ? [0, 4000] : [3999 + file, 4000 + file]
      const path = join(bench.root, `long-${file}`)
      const select = `SELECT ${systemColumns('i')}, ${columns} FROM range(${from}, ${to}) r(i)`
      await bench.trusted.run(`COPY (${select}) TO '${path}' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 0)`)
      paths.push(path)
    }
    const merged = await mergedOf('long', paths)
    const answersTo = async (most: number): Promise<number> => {
      const options = { reproducible: true, ascii: true, limit: most }
      const answers = [paths, [merged]].map((files) =>
        ask(bench.engine, sql, { tables: { t: { files, schema } }, ...options }),
      )
      return new Set(await Promise.all(answers)).size
    }
    expect([await answersTo(6000), await isBlockFree(sql, 6000)]).toEqual([2, false])
    expect([await answersTo(4999), await isBlockFree(sql, 4999)]).toEqual([1, true])
  })

  it('reads them where no value is another that is equal', async () => {
    expect(await isBlockFree('select g, k, d from t order by m', 100_000)).toBe(true)
    expect(await isBlockFree('select * from t', 100_000)).toBe(true)
  })
})

const posts = 530
const alias = 'acme/stream'
const questions = [
  'select count(*) as c, max(n) as s, min(event_time) as t from "acme/stream"',
  'select city, count(*) as c, max(added) as a from "acme/stream" group by city',
  'select n, city, added from "acme/stream" where offset between 250 and 262',
  'select * from "acme/stream" where event_time > \'2026-01-01T00:08:20Z\' and n < 515',
  'select n from "acme/stream" order by offset desc limit 20',
  'select n, city from "acme/stream" order by event_time limit 20',
  'select avg(x) as y from "acme/stream"',
  'select a.n from "acme/stream" a join "acme/stream" b using (n) where a.n < 5 order by all',
  'select cast(city as int) as c from "acme/stream" limit 3',
  'select count(*) as c, min(offset) as a, max(offset) as b from "acme/stream" where offset <> 7',
  'select cast(offset as tinyint) as c from "acme/stream" limit 3',
]

describe('a node', () => {
  it('merges what is small and many, answers as it did, and goes on when the files are damaged or gone', async () => {
    const dir = join(bench.root, 'data')
    const cut = { waitAgeMs: 1, openAgeMs: 1 }
    let live = await startLiveNode({ data: dir }, { cut, limits: { keptAnswerBytes: 0, mergedFileBytes: 0 } })
    for (let n = 0; n < posts; n++) {
      const row = { event_time: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(), n, x: n / 7 + 0.5 }
      // What fails behind the rows that are needed fails in no slice that is read.
      const city = n % 3 === 1 ? null : n === 101 ? 'Rome' : String(n % 12)
      const late = n < 300 ? {} : { added: n }
      await live.ingest(
        alias,
        [{ ...row, city, ...late }],
        n === 0 ? '?create=true' : n === 300 ? '?unknownFields=add' : '',
      )
    }
    const answers = async (): Promise<string[]> => {
      const found: string[] = []
      for (const sql of questions) {
        for (const include of [['Schema'], ['Proof']]) found.push((await live.query(sql, { include })).text)
        const path = `/query?query=${encodeURIComponent(sql)}&dataFormat=Csv`
        found.push((await live.call(path)).text.replace(/urn:.*/g, ''))
      }
      return [...found, (await live.call(`/${alias}/tail?limit=300`)).text, (await live.call(`/${alias}/export`)).text]
    }
    const scan = async (sql: string, include = ['Proof']): Promise<string> =>
      String((await live.query(sql, { include, explain: true })).headers['query-scan'])
    const [count = '', , byOffset = '', byTime = '', newest = '', , average = '', , , byNumber = ''] = questions
    const before = await answers()
    const slices = `files-read=${posts}, files=${posts}, row-groups-read=${posts}, row-groups=${posts}, rows-read=${posts}, rows=${posts}`
    expect(await scan(count)).toBe(slices)
    // Offsets are known without opening so many files.
    const offsets = `files-read=0, files=${posts}, row-groups-read=0, row-groups=0, rows-read=0, rows=${posts}`
    expect(await scan(byNumber)).toBe(offsets)
    await live.node.stop()

    live = await startLiveNode({ data: dir }, { cut, limits: { keptAnswerBytes: 0 } })
    await expect.poll(() => scan(count)).toContain('merged-files-read=2')
    const merged =
      'files-read=20, files=20, row-groups-read=20, row-groups=20, rows-read=530, rows=530, merged-files-read=2'
    expect([await scan(count), await scan(count, [])]).toEqual([merged, merged])
    expect(await scan(average)).toBe(slices)
    expect(await scan(byNumber)).toBe(merged)
    expect(await scan(byOffset)).toContain('files-read=2, files=20')
    expect(await scan(byTime)).toContain('files-read=19, files=20')
    expect(await scan(newest)).toContain('files-read=19, files=20')
    expect(await answers()).toEqual(before)
    expect((await live.call('/metrics')).text).toMatch(/^proofstream_merged_files 2$/m)
    await live.node.stop()

    const folder = join(dir, 'cache', 'merged')
    const [dataset = ''] = await readdir(folder)
    const [first = '', second = ''] = await readdir(join(folder, dataset))
    const bytes = await readFile(join(folder, dataset, first))
    bytes[100] = (bytes[100] ?? 0) ^ 1
    await writeFile(join(folder, dataset, first), bytes)
    await truncate(join(folder, dataset, second), 1000)
    await writeFile(join(folder, dataset, 'part'), 'half of a file')
    live = await startLiveNode({ data: dir }, { cut, limits: { keptAnswerBytes: 0 } })
    expect(await answers()).toEqual(before)
    await expect.poll(() => scan(count)).toBe(merged)
    expect(await readdir(join(folder, dataset))).toEqual([first, second])

    await rm(folder, { recursive: true })
    expect(await answers()).toEqual(before)
    await expect.poll(() => scan(count)).toBe(merged)
    const proof = (await live.query(count, { include: ['Proof'] })).text
    const headers = { 'content-type': 'application/json' }
    expect((await live.call('/verify', { method: 'POST', headers, body: proof })).at('ok')).toBe(true)
    await live.stop()
  })
})
