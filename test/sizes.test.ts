// The table of sizes at which the program changes its way, held against the source and the tests: each constant is in its file,
// and each test that is named is there.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from './helpers/sources.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const rows = read('docs/decisions/sizes.md')
  .split('\n')
  .map((line) => line.split(' | '))
  .filter(([, constant]) => constant?.startsWith('`') === true)
const inTicks = (text = ''): string => text.replace(/^`|`( \|)?$/g, '')

/** What is wrong with a row; empty where nothing is. */
function faultsOf([, constant, file, tests = '']: readonly string[], readText: (path: string) => string): string[] {
  const isThere = new RegExp(`^(export )?const ${inTicks(constant)} =`, 'm').test(readText(inTicks(file)))
  const named = [...tests.matchAll(/`([^`]+)` "([^"]+)"/g)]
  const gone = named.filter(([, path = '', words = '']) => !readText(path).includes(words))
  return [isThere ? [] : `${constant} is not in ${file}`, gone.map(([name]) => `${name} is gone`)].flat()
}

test('every size that is named is in the source, and so are its tests', () => {
  expect(rows.length).toBeGreaterThan(25)
  expect(rows.flatMap((row) => faultsOf(row, read))).toEqual([])
})

test('a size or a test that is gone is found', () => {
  const row = ['what', '`most`', '`a.ts`', '`a.test.ts` "is done" |']
  const texts: Record<string, string> = { 'a.ts': 'const most = 1', 'a.test.ts': "it('is done'" }
  expect(faultsOf(row, (path) => texts[path] ?? '')).toEqual([])
  expect(faultsOf(row, (path) => (path === 'a.ts' ? 'const mostly = 1' : ''))).toHaveLength(2)
})
