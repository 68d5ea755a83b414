// The class of a statement: what is called exact gives one answer, however the same rows lie in blocks.

import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask, askWhole, type AskOptions, useBench } from './helpers.ts'
import { blockFreeStatements, exactStatements, pinnedStatements, randomStatement } from './statement-corpus.ts'
import { rowsOf, schemas } from './statement-tables.ts'

const rows = 3000
const bench = useBench({ queryMs: 60_000 })
const layouts = new Map<number, NonNullable<AskOptions['tables']>>()

/** The same rows in `count` files of uneven sizes. */
async function written(name: 't' | 'u', total: number, count: number): Promise<string[]> {
  const files: string[] = []
  for (let file = 0, from = 0; file < count; file++) {
    const to = Math.round(total * ((file + 1) / count) ** 1.3)
    if (to === from) continue
    const path = join(bench.root, `${name}-${total}-${count}-${file}`)
    // A dictionary of this writer would make one value of 0.0 and -0.0.
    await bench.trusted.run(`COPY (${rowsOf(name, from, to)}) TO '${path}' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 0)`)
    files.push(path)
    from = to
  }
  return files
}

beforeAll(async () => {
  for (const count of [1, 5, 40, 1000]) {
    const t = { files: await written('t', rows, count), schema: schemas.t }
    const u = { files: await written('u', 12, Math.min(count, 12)), schema: schemas.u }
    layouts.set(count, { t, u })
  }
})

async function classOf(sql: string): Promise<string> {
  const options = { tables: layouts.get(1) ?? {}, limit: 1 }
  return (await askWhole(bench.engine, sql, options)).stability
}

/** Distinct answers over layouts. */
async function answers(sql: string, counts: readonly number[]): Promise<number> {
  const seen = new Set<string>()
  for (const count of counts) {
    const options = { tables: layouts.get(count) ?? {}, reproducible: true, ascii: true, limit: 100_000 }
    seen.add(await ask(bench.engine, sql, options))
  }
  return seen.size
}

describe('a statement whose rows alone decide the answer', () => {
  it('is there in all kinds', () => {
    expect(new Set(exactStatements).size).toBe(exactStatements.length)
    expect(exactStatements.length).toBeGreaterThanOrEqual(120)
  })

  it.each(exactStatements)('%s', async (sql) => {
    expect(await classOf(sql)).toBe('exact')
    expect(await answers(sql, [1, 5, 40])).toBe(1)
  })

  it('gives the same answer over a thousand blocks', async () => {
    for (const sql of exactStatements.filter((_, index) => index % 8 === 0)) {
      expect([sql, await answers(sql, [1, 1000])]).toEqual([sql, 1])
    }
  })
})

describe('a statement in which blocks do not show, and the version of the engine may', () => {
  it.each(blockFreeStatements)('%s', async (sql) => {
    expect(await classOf(sql)).toBe('pinned')
    expect(await answers(sql, [1, 5, 40])).toBe(1)
  })

  it.each([
    'select corr(a, b), covar_pop(a, b), regr_slope(a, b) from (values (1e0, 2e0), (3e0, 5e0), (4e0, 4e0)) v(a, b)',
    'select list_distance([1e0, 2e0], [3e0, 4e0])',
    'select stddev(range), kahan_sum(range) from range(9)',
  ])('without a dataset too: %s', async (sql) => {
    expect(await classOf(sql)).toBe('pinned')
  })

  it('is pinned where its last digits are those of the machine, and has no proof', async () => {
    expect(await classOf('select sin(x), exp(k), k ** 0.5 from t')).toBe('pinned')
  })

  it.each([
    'select z, offset from t order by z',
    'select * from t order by event_time',
    'select k, x from t order by k',
  ])('sorts more than 5,000 rows, among which it may lose the sign of a zero: %s', async (sql) => {
    const classes: string[] = []
    for (const [text, limit] of [
      [sql, 4999],
      [sql, 5000],
      [`${sql} limit 4000`, 9000],
      [`${sql} limit 5001`, 10],
    ] as const)
      classes.push((await askWhole(bench.engine, text, { tables: layouts.get(1) ?? {}, limit })).stability)
    expect(classes).toEqual(['exact', 'pinned', 'exact', 'pinned'])
  })
})

describe('a statement that blocks may show in, or that is not known', () => {
  it.each(pinnedStatements)('%s', async (sql) => {
    expect(await classOf(sql)).toBe('pinned')
  })

  it('does show them, in some', async () => {
    const joined = pinnedStatements.filter((sql) => /join|group by/.test(sql) && !sql.includes('positional'))
    let differing = 0
    for (const sql of joined) if ((await answers(sql, [1, 5, 40])) > 1) differing++
    expect(differing).toBeGreaterThan(0)
  })
})

describe('statements out of parts', () => {
  it('give one answer where they are called exact', async () => {
    const seen = { exact: 0, pinned: 0 }
    await fc.assert(
      fc.asyncProperty(randomStatement, async (sql) => {
        const found = await classOf(sql).catch(() => undefined) // a sum of text is none of either class
        if (found !== 'exact') return void seen.pinned++
        seen.exact++
        expect(await answers(sql, [1, 5, 40])).toBe(1)
      }),
      { numRuns: 150 },
    )
    expect(Math.min(seen.exact, seen.pinned)).toBeGreaterThan(20)
  })
})

interface Named {
  readonly from: string
  readonly column: string
}

/** Ways to give the column $c of $f another name or place; $as is often the name of a column of integers. */
const disguises = [
  '(select $c as $as from $f)',
  '(select $as: $c from $f)',
  '(from (select $c from $f) v($as))',
  '(with c($as) as (select $c from $f) select * from c)',
  '(with c as (select $c as $as from $f) from c)',
  '(select 1 as $as union all select $c from $f)',
  '(select $c as $as from $f union all select 1)',
  "(select s.$as from (select {'$as': $c} as s from $f))",
  "(select unnest(s) from (select {'$as': $c} as s from $f))",
  '(select unnest([$c]) as $as from $f)',
  '(from (select * replace (n + 0 as n) from (select $c as n from $f)) v($as))',
  '(select * rename (n as $as) from (select $c as n from $f))',
  "(select columns('^n$') as $as from (select $c as n from $f))",
  '(select coalesce($c, 0) as n, n as $as from $f)',
  '(select max($c) over () as $as from $f)',
  '(select case when $c > 0 then 1 else $c end as $as from $f)',
  '(select v.$as from $f w, lateral (select w.$c as $as) v)',
  '(select (select $c) as $as from $f)',
]

function disguised({ from, column }: Named, [template, as]: readonly [string, string]): Named {
  const parts: Readonly<Record<string, string>> = { $c: column, $f: from, $as: as }
  return { from: template.replaceAll(/\$(?:c|f|as)\b/g, (part) => parts[part] ?? ''), column: as }
}

describe('a float under any name', () => {
  it('keeps a sum from being called exact', async () => {
    const layer = fc.tuple(fc.constantFrom(...disguises), fc.constantFrom('k', 'm', 'y', 'offset_2'))
    const start = fc.constantFrom('x', 'z', 's.f', 'k / 2', 'm::double', 'sqrt(k)', 'avg(k) over ()', '1e0', 'l[1] + x')
    let ran = 0
    await fc.assert(
      fc.asyncProperty(start, fc.array(layer, { minLength: 1, maxLength: 4 }), async (first, layers) => {
        const base: Named = { from: `(select ${first} as f0 from t)`, column: 'f0' }
        const { from, column } = layers.reduce(disguised, base)
        const found = await classOf(`select sum(${column}) from ${from}`)
        ran++
        expect(found).toBe('pinned')
      }),
      { numRuns: 150 },
    )
    expect(ran).toBeGreaterThan(100)
  })
})
