// The rows that a checked answer shows: the same cells in every layout, every token as it came.

import { expect, test } from 'vitest'
import { firstRows } from '../../../src/libraries/evidence/rows.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'

const of = (text: string, most = 10): ReturnType<typeof firstRows> => firstRows(parseJson(text), most)

test('every layout shows the same cells', () => {
  const schema = '"schema":{"fields":[{"name":"a"},{"name":"b"}]}'
  const expected = {
    columns: ['a', 'b'],
    rows: [
      ['1.0', 'x'],
      ['', '{"c":[1]}'],
    ],
  }
  expect(of(`{"data":[[1.0,"x"],[null,{"c":[1]}]],${schema}}`)).toEqual(expected)
  expect(of('{"data":[{"a":1.0,"b":"x"},{"a":null,"b":{"c":[1]}}]}')).toEqual(expected)
  expect(of('{"data":{"a":[1.0,null],"b":["x",{"c":[1]}]}}')).toEqual(expected)
})

test('no more than asked for, and long cells cut', () => {
  const shown = of(`{"data":[["${'x'.repeat(9000)}"],[2],[3]]}`, 2)
  expect(shown?.rows).toHaveLength(2)
  expect(shown?.rows[0]?.[0]).toHaveLength(501)
  expect(shown?.columns).toEqual([])
})

test('what is not a list of rows has none', () => {
  for (const text of ['{}', '{"data":"a,b"}', '{"data":1}', '[]', 'null']) expect(of(text)).toBeUndefined()
  expect(of('{"data":[]}')?.rows).toEqual([])
  expect(of('{"data":{}}')?.rows).toEqual([])
  expect(of('{"data":[1,[2],{"a":3}]}')?.rows).toEqual([['1'], ['2'], ['{"a":3}']])
})
