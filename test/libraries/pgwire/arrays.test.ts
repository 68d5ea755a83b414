// Arrays as PostgreSQL writes them in text, and as the engine reads lists.

import { describe, expect, test } from 'vitest'
import { arrayText, elementsOf, listText } from '../../../src/libraries/pgwire/arrays.ts'

describe('an array as text', () => {
  test.each<[array: string, elements: readonly (string | null)[] | undefined]>([
    ['{}', []],
    [' { } ', []],
    ['{1,-2,NULL}', ['1', '-2', null]],
    ['{s1, s2 }', ['s1', 's2']],
    ['{New York,x}', ['New York', 'x']],
    [String.raw`{"a,b","say \"hi\"","c\\d",""}`, ['a,b', 'say "hi"', String.raw`c\d`, '']],
    [String.raw`{"\a",b\,c}`, ['a', 'b,c']],
    [String.raw`{a\,}`, ['a,']],
    [String.raw`{a\ , b }`, ['a ', 'b']],
    ['{\u00a0,a\u00a0,\u2003b}', ['\u00a0', 'a\u00a0', '\u2003b']],
    ['{\u00a0}', ['\u00a0']],
    ["{it's,f(x),[1]}", ["it's", 'f(x)', '[1]']],
    ['{"NULL",null}', ['NULL', null]],
    ['{{1},{2}}', undefined],
    ['[0:1]={1,2}', undefined],
    ['{1,}', undefined],
    ['{,1}', undefined],
    ['{"a}', undefined],
    ['{a"b"}', undefined],
    ['a,b', undefined],
    ['', undefined],
  ])('%s', (array, elements) => {
    expect(elementsOf(array)).toEqual(elements)
    expect(elements && elementsOf(arrayText(elements))).toEqual(elements)
  })

  test('of a hundred thousand elements takes no time in their square', () => {
    const items = Array.from({ length: 100_000 }, (_, at) => `x${at}`)
    expect(elementsOf(arrayText(items))).toEqual(items)
    expect(elementsOf(`{${'a'.repeat(1_000_000)}`)).toBeUndefined()
    expect(elementsOf(`{${'a'.repeat(1_000_000)}"}`)).toBeUndefined()
  })

  test('of many blanks takes no time in their square', () => {
    const wide = ' '.repeat(1_000_000)
    expect(elementsOf(`{a${wide},${wide}b${wide}c${wide}}${wide}`)).toEqual(['a', `b${wide}c`])
    for (const array of [`{a,${wide}{}`, `{a${wide}{}`, `{a${wide}`, `{${wide}`, `{a,${wide}}`, `{"a"${wide}b}`]) {
      expect(elementsOf(array)).toBeUndefined()
    }
  })

  test('and as a list', () => {
    expect(listText(['a', null, '"', String.raw`c\d`, "it's"])).toBe(String.raw`["a",NULL,"\"","c\\d","it's"]`)
  })
})
