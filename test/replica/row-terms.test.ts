// What conditions say of the first column of a layout, and which file is read: the copy only where fewer rows are in those of
// its row groups that can hold one that is wanted.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { DatasetView } from '../../src/catalog/dataset-chain.ts'
import type { Given, Narrowing } from '../../src/engine/messages.ts'
import type { MergedFile } from '../../src/replica/file-list.ts'
import { sortColumnsOf } from '../../src/replica/merged-ranges.ts'
import { mayHold, termsOf, type Wanted } from '../../src/replica/row-terms.ts'
import { fewestRows } from '../../src/replica/view-files.ts'
import { schemaOf } from '../engine/helpers.ts'
import { sliceView } from '../helpers/slice-chain.ts'

const schema = schemaOf(
  { name: 'Device', type: { kind: 'Option', inner: { kind: 'Int32' } } },
  { name: 'city', type: { kind: 'String' } },
  { name: 'x', type: { kind: 'Float64' } },
  { name: 'geometry', type: { kind: 'String' } },
)
const base = sliceView(schema, [100, 100])
const under = (...sortBy: string[]): DatasetView => ({ ...base, layout: { sortBy } })

type Condition = Narrowing['conditions'][number]

function wantedOf(conditions: readonly Condition[], compared: Narrowing['compared'] = conditions): Wanted {
  const narrowing = { conditions, compared, first: undefined, inProofs: true }
  return { narrowing, parameters: [{ name: 'd', type: 'BIGINT', text: '7' }], skip: 0, limit: 10 }
}

const number = (text: string): Given => ({ kind: 'number', text })
const device = (is: Condition['is'], value: Given = number('7')): Condition => ({ column: 'device', is, value })

it('sorts by the columns whose bounds choose rows, up to the first of another kind', () => {
  const names = (...sortBy: string[]): string[] => sortColumnsOf(under(...sortBy)).map(({ name }) => name)
  expect(names('Device', 'event_time', 'city')).toEqual(['Device', 'event_time', 'city'])
  expect([names('city', 'x', 'Device'), names('x', 'city'), names('geometry'), names('gone', 'city')]).toEqual([
    ['city'],
    [],
    [],
    [],
  ])
  expect(sortColumnsOf(base)).toEqual([])
})

it('reads what constants and parameters say of the first column alone', () => {
  const keyOf = (view: DatasetView, ...conditions: Condition[]): unknown => termsOf(view, wantedOf(conditions))?.key
  const view = under('Device', 'city')
  expect(keyOf(view, device('='))).toEqual({ least: 7, most: 7 })
  expect(keyOf(view, device('>'), device('<=', number('9')), device('>=', number('3')))).toEqual({ least: 7, most: 9 })
  expect(keyOf(view, device('=', { kind: 'parameter', text: 'd' }))).toEqual({ least: 7, most: 7 })
  // A fraction, whose digits are not known here; a column that is not the first; a comparison that may fail.
  expect(keyOf(view, device('=', number('')))).toBeUndefined()
  expect(keyOf(view, { column: 'city', is: '=', value: { kind: 'text', text: 'a' } })).toBeUndefined()
  expect(keyOf(view, device('='), { column: 'city', is: '=', value: number('1') })).toBeUndefined()
  expect(keyOf(base, device('='))).toBeUndefined()
  const city: Condition = { column: 'city', is: '<', value: { kind: 'text', text: 'é' } }
  expect(keyOf(under('city'), city)).toEqual({ least: undefined, most: '\u00c3\u00a9' })
  const day: Condition = { column: 'event_time', is: '>=', value: { kind: 'day', text: '2026-01-02' } }
  expect(keyOf(under('event_time'), day)).toEqual({ least: Date.parse('2026-01-02'), most: undefined })
})

it('leaves out no row group with a value that is asked for', () => {
  const value = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -5n, max: 5n }))
  const is = fc.constantFrom('=', '<', '<=', '>', '>=')
  const meets = {
    '=': (a: bigint, b: bigint) => a === b,
    '<': (a: bigint, b: bigint) => a < b,
    '<=': (a: bigint, b: bigint) => a <= b,
    '>': (a: bigint, b: bigint) => a > b,
    '>=': (a: bigint, b: bigint) => a >= b,
  }
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 4 }),
      fc.array(fc.tuple(is, value), { minLength: 1, maxLength: 3 }),
      (values, asked) => {
        const conditions = asked.map(([op, constant]) => device(op, number(String(constant))))
        const key = termsOf(under('Device'), wantedOf(conditions))?.key ?? {}
        const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)).map(Number)
        const isThere = values.some((one) => asked.every(([op, constant]) => meets[op](one, constant)))
        expect(!isThere || mayHold([sorted[0] ?? 0, sorted.at(-1) ?? 0], key)).toBe(true)
      },
    ),
  )
})

it('reads a copy where fewer rows are in its row groups than in those of the merged file', async () => {
  const view = under('Device')
  const time = (min: number, max: number): { readonly min: number; readonly max: number } => ({ min, max })
  const file = (groups: MergedFile['groups'], order: MergedFile['order']): MergedFile => ({
    from: 0,
    to: 2,
    path: order,
    groups,
    order,
  })
  const merged = file(
    [
      { rows: 150, ...time(0, 1e3), key: [0, 9] },
      { rows: 50, ...time(1e6, 2e6), key: [0, 9] },
    ],
    'offsets',
  )
  const copy = file(
    [
      { rows: 80, ...time(0, 2e6), key: [0, 4] },
      { rows: 80, ...time(0, 2e6), key: [4, 9] },
      { rows: 40, ...time(0, 2e6) },
    ],
    'layout',
  )
  const copies = { sortedOf: () => Promise.resolve([copy]) }
  const readOf = async (...conditions: Condition[]): Promise<string | undefined> => {
    const [read] = await fewestRows(copies, [merged], { view, wanted: wantedOf(conditions) })
    return read?.path
  }
  const late: Condition = { column: 'event_time', is: '>', value: { kind: 'text', text: '1970-01-01T00:10:00Z' } }
  expect([await readOf(device('=')), await readOf(late), await readOf(device('>'), late)]).toEqual([
    'layout',
    'offsets',
    'offsets',
  ])
  expect(await readOf(device('>=', number('0')))).toBe('offsets')
  expect(await readOf(device('='), { column: 'offset', is: '>=', value: number('190') })).toBe('offsets')
  const none = await fewestRows({ sortedOf: () => Promise.resolve([]) }, [merged], {
    view,
    wanted: wantedOf([device('=')]),
  })
  expect(none).toEqual([merged])
})
