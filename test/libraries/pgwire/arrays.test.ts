// Arrays as PostgreSQL writes them in text, and the same as lists of the engine.

import { describe, expect, test } from 'vitest'
import { listText } from '../../../src/libraries/pgwire/arrays.ts'

describe('an array as text', () => {
  test.each<[array: string, list: string | undefined]>([
    ['{}', '[]'],
    [' { } ', '[]'],
    ['{1,-2,NULL}', '[1,-2,NULL]'],
    ['{s1, s2 }', '[s1,s2]'],
    ['{New York,x}', '[New York,x]'],
    [String.raw`{"a,b","say \"hi\"","c\\d",""}`, String.raw`["a,b","say \"hi\"","c\\d",""]`],
    [String.raw`{"\a"}`, '["a"]'],
    ["{it's,f(x),[1]}", `["it's","f(x)","[1]"]`],
    [String.raw`{a\,b}`, '["a,b"]'],
    ['{"NULL",null}', '["NULL",null]'],
    ['{2026-01-01 00:00:00+00}', '[2026-01-01 00:00:00+00]'],
    ['{{1},{2}}', undefined],
    ['[0:1]={1,2}', undefined],
    ['{1,}', undefined],
    ['{,1}', undefined],
    ['{"a}', undefined],
    ['{a"b"}', undefined],
    ['a,b', undefined],
    ['', undefined],
  ])('%s', (array, list) => {
    expect(listText(array)).toBe(list)
  })

  test('of a hundred thousand elements takes no time in their square', () => {
    const items = Array.from({ length: 100_000 }, (_, at) => `"x${at}"`).join(',')
    expect(listText(`{${items}}`)).toBe(`[${items}]`)
    expect(listText(`{${'a'.repeat(1_000_000)}`)).toBeUndefined()
    expect(listText(`{${'a'.repeat(1_000_000)}"}`)).toBeUndefined()
  })
})
