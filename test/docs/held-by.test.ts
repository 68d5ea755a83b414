// The page that says which test holds which sentence: each sentence is on its page, and each test is there.

import { expect, test } from 'vitest'
import { faultsOfTests, readSource, type ReadText, rowsOf } from '../helpers/test-tables.ts'

/** What is wrong with the sections of a text, one for each page; in the last ones no tests are named, but pages. */
function faultsOf(text: string, readText: ReadText): string[] {
  return text.split(/^## /m).flatMap((section) => {
    const [title = ''] = section.split('\n', 1)
    return rowsOf(section).flatMap(([quote = '', by = '', how]) => {
      const page = how === undefined ? title : by
      const isThere = readText(page).replace(/\s+/g, ' ').includes(quote)
      return [isThere ? [] : `${page} has no ${quote}`, how === undefined ? faultsOfTests(by, readText) : []].flat()
    })
  })
}

test('what the pages say is held by tests that are there', () => {
  const page = readSource('docs/decisions/held-by.md')
  expect(rowsOf(page).length).toBeGreaterThan(70)
  expect(faultsOf(page, readSource)).toEqual([])
})

test('a sentence or a test that is gone is found', () => {
  const table = '| Says | Held by |\n|---|---|\n| a word. | `a.test.ts` "is said" |\n'
  const text = `# Which\n\n## a.md\n\n${table}\n## By none\n\n| Says | Page | How |\n|---|---|---|\n| two words | a.md | seen |\n`
  const texts: Record<string, string> = { 'a.md': 'Not a\nword. Or two\n  words', 'a.test.ts': "it('is said'" }
  expect(faultsOf(text, (path) => texts[path] ?? '')).toEqual([])
  expect(faultsOf(text, () => '')).toHaveLength(3)
  expect(faultsOf(text.replace(' "is said"', ''), (path) => texts[path] ?? '')).toEqual(['no test: `a.test.ts`'])
})
