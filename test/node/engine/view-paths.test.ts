// The path of a data directory is the operator's: whatever it looks like, a view shows what the slices hold.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ask, openBench, useBench, schemaOf, systemColumns, writeSlice } from './helpers.ts'

const bench = useBench()
let slice: string

const stored = ['user', 'filename', 'file_row_number', 'file_index', 'year', 'rowid']

beforeAll(async () => {
  const values = stored.map((name) => `'stored ${name}' AS "${name}"`).join(', ')
  slice = await writeSlice(bench, 'first', `SELECT ${systemColumns('0')}, ${values}`)
  const later = await writeSlice(bench, 'second', `SELECT ${systemColumns('1')}, ${values}, 'new' AS more`)
  // All of them exist, so that a pattern would find more than its own file.
  for (const directory of directories) {
    mkdirSync(join(bench.root, directory), { recursive: true })
    for (const [index, from] of [slice, later].entries()) copyFileSync(from, join(bench.root, directory, `f${index}`))
  }
})

const schema = schemaOf(
  ...[...stored, 'more'].map((name) => ({ name, type: { kind: 'Option', inner: { kind: 'String' } } }) as const),
)

const directories = [
  'user=alice',
  'year=2024/user=7',
  'filename=x',
  'more=guess',
  'star*',
  'starry',
  'a[0-9]b',
  'a5b',
  'a?b',
  'a{x,y}b',
  '**',
  '[!a]',
  "quote'",
  'per%20cent',
  'comma,',
  'semi;',
  'back\\slash',
  'é ü',
  '~',
  '$HOME',
]

describe('a path', () => {
  test.each(directories)('with %s shows the stored values and no file twice', async (directory) => {
    const files = [0, 1].map((index) => join(bench.root, directory, `f${index}`))
    const tables = { 'a/b': { files, schema } }
    const names = stored.map((name) => `"${name}"`).join(', ')
    const row = stored.map((name) => `"stored ${name}"`).join(',')
    expect(await ask(bench.engine, `SELECT ${names}, more FROM "a/b" ORDER BY "offset"`, { tables })).toBe(
      `[[${row},null],[${row},"new"]]`,
    )
    expect(await ask(bench.engine, `SELECT count(*) FROM "a/b" WHERE "user" = 'stored user'`, { tables })).toBe('[[2]]')
  })

  test('of a data directory that looks like a pattern is readable from its top', async () => {
    for (const name of ['d[0-9]=*?', 'd7=xy']) {
      const root = join(bench.root, 'roots', name)
      mkdirSync(root, { recursive: true })
      copyFileSync(slice, join(root, 'f'))
      const other = await openBench({ dataRoots: [root] })
      const tables = { 'a/b': { files: [join(root, 'f')], schema } }
      expect(await ask(other.engine, 'SELECT "user" FROM "a/b"', { tables })).toBe('[["stored user"]]')
      await other.close()
    }
  })
})
