// What a half-written name may become.

import { describe, expect, test } from 'vitest'
import { completionsAt } from '../../../src/features/console/browser/completion.ts'

const known = {
  datasets: ['acme/readings', 'acme/sites', 'com.example.x/eth-usd'],
  columns: new Map([
    ['acme/readings', ['offset', 'sensor', 'Celsius', 'a "b"']],
    ['acme/sites', ['site']],
  ]),
}

/** The text with each option put in place; `|` is the cursor. */
function completed(text: string): string[] {
  const caret = text.indexOf('|')
  const statement = text.replace('|', '')
  const { from, options } = completionsAt(statement, caret, known)
  return options.map((option) => `${statement.slice(0, from)}${option.text}|${statement.slice(caret)}`)
}

describe('names that fit', () => {
  test.each([
    ['select 1 |', []],
    ['select * from rea|', ['select * from "acme/readings"|']],
    ['select * from ETH|', ['select * from "com.example.x/eth-usd"|']],
    ['select * from "acme/r|" x', ['select * from "acme/readings|" x']],
    ['select * from "acme/r|', ['select * from "acme/readings"|']],
    ['select sen| from "acme/readings"', ['select sensor| from "acme/readings"']],
    ['select sen| from acme.READINGS', ['select sensor| from acme.READINGS']],
    ['select off| from "acme/readings"', ['select "offset"| from "acme/readings"']],
    ['select cel| from acme."readings"', ['select "Celsius"| from acme."readings"']],
    [
      'select r.s| from "acme/readings" r',
      ['select r.sensor| from "acme/readings" r', 'select r."acme/sites"| from "acme/readings" r'],
    ],
    ['select "a| from x', ['select "acme/readings"| from x', 'select "acme/sites"| from x']],
    ['select si| from "acme/readings"', ['select "acme/sites"| from "acme/readings"']],
    ['select sensor| from "acme/readings"', []],
  ])('%s', (text, expected) => {
    expect(completed(text)).toEqual(expected)
  })

  test('double the quotes of a name', () => {
    expect(completed('from "acme/readings" select "a|')).toContain('from "acme/readings" select "a ""b"""|')
  })
})
