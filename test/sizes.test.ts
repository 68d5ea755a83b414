// The table of sizes at which the program changes its way, held against the source and the tests: each constant is in its file,
// and each test that is named is there.

import { expect, test } from 'vitest'
import { faultsOfTests, readSource, type ReadText, rowsOf } from './helpers/test-tables.ts'

const inTicks = (text = ''): string => text.replace(/^`|`$/g, '')

/** What is wrong with a row; empty where nothing is. */
function faultsOf([, constant, file, tests = '']: readonly string[], readText: ReadText): string[] {
  const isThere = new RegExp(`^(export )?const ${inTicks(constant)}(: [^=]+)? =`, 'm').test(readText(inTicks(file)))
  return [isThere ? [] : `${constant} is not in ${file}`, faultsOfTests(tests, readText)].flat()
}

test('every size that is named is in the source, and so are its tests', () => {
  const rows = rowsOf(readSource('docs/decisions/sizes.md'))
  expect(rows.length).toBeGreaterThan(25)
  expect(rows.flatMap((row) => faultsOf(row, readSource))).toEqual([])
})

test('a size without a test is found, and a size or a test that is gone', () => {
  const row = ['what', '`most`', '`a.ts`', '`a.test.ts` "is done"']
  const texts: Record<string, string> = { 'a.ts': 'const most = 1', 'a.test.ts': "it('is done'" }
  expect(faultsOf(row, (path) => texts[path] ?? '')).toEqual([])
  expect(faultsOf(row.with(3, ''), (path) => texts[path] ?? '')).toHaveLength(1)
  expect(faultsOf(row, (path) => (path === 'a.ts' ? 'const mostly = 1' : ''))).toHaveLength(2)
})
