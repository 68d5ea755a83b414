// JSON layouts without an engine: their names, and that batches of rows join to one text.
import { describe, expect, test } from 'vitest'
import { decodeUtf8 } from '../../../../src/libraries/base/bytes.ts'
import { jsonLayoutNames, jsonLayoutOf } from '../../../../src/libraries/columnar/outputs/layouts.ts'

const batches = [
  [
    ['1', '2'],
    ['"a"', '"b"'],
  ],
  [['3'], ['"c"']],
  [[], []],
]

describe('JSON layouts', () => {
  test.each([
    ['JsonAoa', '[[1,"a"],[2,"b"],[3,"c"]]', '[]'],
    ['JsonAos', '[{"n":1,"s":"a"},{"n":2,"s":"b"},{"n":3,"s":"c"}]', '[]'],
    ['JsonSoa', '{"n":[1,2,3],"s":["a","b","c"]}', '{}'],
  ])('%s joins batches, and has a form of no rows', (name, text, none) => {
    for (const [given, expected] of [
      [batches, text],
      [batches.slice(2), none],
      [[], none],
    ] as const) {
      let written = ''
      const sink = { write: (piece: Uint8Array) => void (written += decodeUtf8(piece)), check: () => undefined }
      const writer = jsonLayoutOf(name)?.begin(sink, ['"n":', '"s":'])
      for (const columns of given) {
        writer?.rows({
          count: columns[0]?.length ?? 0,
          cells: (column, out) => (row) => out.ascii(columns[column]?.[row] ?? ''),
        })
      }
      writer?.end()
      expect(written).toBe(expected)
    }
  })

  test.each(jsonLayoutNames)('%s ends within a row of the bound', (name) => {
    let cells = 0
    const check = (waitingBytes: number): void => {
      if (waitingBytes > 100) throw new Error('too large')
    }
    const writer = jsonLayoutOf(name)?.begin({ write: () => undefined, check }, ['"n":', '"s":'])
    const written = (): void => writer?.rows({ count: 1000, cells: (_, out) => () => out.integer(cells++) })
    expect(written).toThrow('too large')
    expect(cells).toBeLessThan(101)
  })

  test.each(jsonLayoutNames)('%s is known in four spellings and no other', (name) => {
    const upper = name.slice(0, -1) + name.slice(-1).toUpperCase()
    const dashed = name.replace('Json', 'json-').toLowerCase()
    for (const text of [name, upper, name.toLowerCase(), dashed]) expect(jsonLayoutOf(text)?.name).toBe(name)
    for (const text of [name.toUpperCase(), `${name} `, dashed.toUpperCase()]) {
      expect(jsonLayoutOf(text)).toBeUndefined()
    }
  })
})
