// What is drawn of which answer: kinds of charts by their columns and rows, and nothing where nothing would be true.

import { describe, expect, test } from 'vitest'
import { type AnswerColumn, type Rows, unitOf, valueText } from '../../../src/features/console/charts/cells.ts'
import { automaticChoice, axesOf, chartKinds } from '../../../src/features/console/charts/choice.ts'
import { chartMarks } from '../../../src/features/console/charts/draw.ts'
import { type Bars, type Chart, chartsOf, type Plot } from '../../../src/features/console/charts/points.ts'
import {
  drawnColumns,
  type KnownColumn,
  namingColumn,
  plotOfSpans,
} from '../../../src/features/console/charts/spans.ts'
import { charts as markupOf } from '../../../src/features/console/pictures.ts'

const types: Readonly<Record<string, string>> = {
  t: 'Timestamp(us)',
  d: 'Date',
  n: 'Float64',
  i: 'Int64',
  s: 'String',
  b: 'Bool',
  g: 'List(String)',
}

/** `event_time:t celsius:n`. */
function columnsOf(text: string): AnswerColumn[] {
  return text.split(' ').map((column) => {
    const [name = '', letter = ''] = column.split(':')
    return { name, type: types[letter] ?? letter, isNumber: letter === 'n' || letter === 'i' }
  })
}

/** Rows by line, cells by space; `-` is null. */
function rowsOf(...lines: readonly string[]): Rows {
  return lines.map((line) => line.split(' ').map((cell) => (cell === '-' ? undefined : cell)))
}

const hour = (i: number): string => `2026-03-01T${String(i).padStart(2, '0')}:00:00Z`

/** `line of a b over t`. */
function drawn(names: string, rows: Rows): string {
  const columns = columnsOf(names)
  const choice = automaticChoice(columns, rows)
  if (choice === undefined) return 'nothing'
  const found = chartsOf(columns, rows, choice)
  return `${choice.kind} of ${found.map(({ y }) => y).join(' ')} over ${columns[choice.x]?.name}`
}

function chartsFor(names: string, rows: Rows): Chart[] {
  const columns = columnsOf(names)
  const choice = automaticChoice(columns, rows)
  return choice === undefined ? [] : chartsOf(columns, rows, choice)
}

const plotFor = (names: string, rows: Rows): Plot => chartsFor(names, rows)[0] as Plot
const barsFor = (names: string, rows: Rows): Bars => chartsFor(names, rows)[0] as Bars

describe('what is drawn unasked', () => {
  test.each([
    ['coordinates', 'iata:s latitude:n longitude:n', rowsOf('a 1 10', 'b 2 20', 'c 3 30'), 'nothing'],
    [
      'coordinates beside a number',
      'latitude:n longitude:n mag:n t:t',
      rowsOf(`1 10 3 ${hour(1)}`, `2 20 4 ${hour(2)}`),
      'line of mag over t',
    ],
    ['numbers by name', 'state:s n:i', rowsOf('TX 5', 'AK 9', 'CA 1'), 'bars of n over state'],
    ['numbers by name that fall', 'state:s n:i', rowsOf('TX 9', 'AK 5', 'CA 1'), 'bars of n over state'],
    ['numbers by truth value', 'ok:b n:i', rowsOf('true 5', 'false 9'), 'bars of n over ok'],
    ['numbers by name and null', 'state:s n:i', rowsOf('TX 5', '- 9'), 'bars of n over state'],
    ['names that repeat', 'state:s n:i', rowsOf('TX 5', 'TX 9', 'CA 1'), 'nothing'],
    ['two names', 'state:s city:s n:i', rowsOf('TX a 5', 'AK b 3', 'CA c 9'), 'nothing'],
    ['times', 't:t n:n', rowsOf(`${hour(3)} 1`, `${hour(1)} 2`), 'line of n over t'],
    ['days', 'd:d n:n', rowsOf('2026-03-01 1', '2026-03-02 2'), 'line of n over d'],
    ['one time', 't:t n:n', rowsOf(`${hour(1)} 1`, `${hour(1)} 2`), 'nothing'],
    ['a number that rises', 'k:i n:n', rowsOf('1 5', '2 3', '3 9'), 'line of n over k'],
    ['a number that falls', 'k:i n:n m:n', rowsOf('3 5 1', '2 3 1', '1 9 2'), 'line of n m over k'],
    ['a number that turns', 'k:i n:n', rowsOf('1 5', '3 3', '2 9'), 'dots of n over k'],
    ['a number that stays', 'k:i n:n', rowsOf('1 5', '1 3', '2 4'), 'dots of n over k'],
    ['a number that is null once', 'k:i n:n m:n', rowsOf('1 5 2', '- 3 1', '3 4 3'), 'nothing'],
    ['three numbers without order', 'a:n b:n c:n', rowsOf('1 5 2', '0 3 1', '3 4 3', '1 5 4'), 'nothing'],
    ['one row', 'a:s n:n', rowsOf('x 1'), 'nothing'],
    ['no row', 't:t n:n', [], 'nothing'],
    ['no number', 't:t s:s', rowsOf(`${hour(1)} a`, `${hour(2)} b`), 'nothing'],
    ['columns of the node', 'offset:i system_time:t', rowsOf(`0 ${hour(1)}`, `1 ${hour(2)}`), 'nothing'],
    ['lists', 'g:g n:n', rowsOf('[1] 1', '[2] 2'), 'nothing'],
  ])('of %s', (_, names, rows, expected) => {
    expect(drawn(names, rows)).toBe(expected)
  })
})

describe('lines', () => {
  const devices = (count: number, apart: number): Rows =>
    Array.from({ length: count * 10 }, (_, i) => [
      new Date(Date.UTC(2026, 2, 1) + Math.floor(i / count) * 60_000 + (i % count) * apart).toISOString(),
      `d${i % count}`,
      String(i),
    ])
  const namesOf = (plot: Plot): (string | undefined)[] => plot.series.map(({ name }) => name)

  test('of several series at the same times are not joined', () => {
    const { series } = plotFor('t:t device:s n:n', devices(3, 0))
    expect(series.map(({ name, points }) => [name, points.length])).toEqual([
      ['d0', 10],
      ['d1', 10],
      ['d2', 10],
    ])
  })

  test('of series that take turns are not joined, though no time repeats', () => {
    expect(namesOf(plotFor('t:t device:s n:n', devices(3, 7_000)))).toEqual(['d0', 'd1', 'd2'])
  })

  test('of a state that rarely changes stay one line', () => {
    const rows = Array.from({ length: 20 }, (_, i) => [hour(i), i < 12 ? 'ok' : 'warn', String(i)])
    expect(namesOf(plotFor('t:t state:s n:n', rows))).toEqual([undefined])
  })

  test('of more than six series, or of times that repeat for no reason shown, are means with a band', () => {
    for (const [names, rows] of [
      ['t:t device:s n:n', devices(7, 0)],
      ['t:t n:n', rowsOf(`${hour(1)} 1`, `${hour(1)} 5`, `${hour(2)} 4`)],
    ] as const) {
      const { series } = plotFor(names, rows)
      expect(series.map(({ name }) => name)).toEqual([undefined])
      expect(series[0]?.points[0]?.yText).toMatch(/^mean 3, /)
    }
  })

  test('say of each point the cell as it is, and of many rows the span that a point is of', () => {
    const few = plotFor('t:t n:n', rowsOf(`${hour(2)} 9007199254740993`, '2026-03-01T01:00:07.5Z 0.100'))
    expect(few.series[0]?.points.map(({ xText, yText }) => [xText, yText])).toEqual([
      ['2026-03-01T01:00:07.5Z', '0.100'],
      ['2026-03-01 02:00', '9007199254740993'],
    ])
    const rows = Array.from({ length: 1000 }, (_, i) => [String(i), String(i % 10)])
    const [one] = plotFor('k:i n:n', rows).series
    expect(one?.points.length).toBeLessThanOrEqual(201)
    expect(one?.points[1]).toMatchObject({ xText: 'from 5', least: 5, greatest: 9 })
  })
})

describe('bars', () => {
  test('are at most thirty, in the order of the answer, and the rest is counted', () => {
    const rows = Array.from({ length: 54 }, (_, i) => [`s${i}`, String((i * 7) % 54)])
    const bars = barsFor('s:s n:i', rows)
    expect(bars.bars.map(({ label }) => label)).toEqual(Array.from({ length: 30 }, (_, i) => `s${i}`))
    expect(bars.left).toBe(24)
    const text = markupOf([bars])?.text ?? ''
    expect(text).toContain('24 more are below')
    expect(text).toContain('; 24 more rows')
  })

  test('of negative values go left of zero, and null has none', () => {
    const text = markupOf(chartsFor('s:s n:n', rowsOf('a 30', 'b -10', 'c -')))?.text ?? ''
    const rects = [...text.matchAll(/<rect x="([^"]+)"\s+width="([^"]+)"/g)].map(([, x, width]) => [x, width])
    expect(rects).toEqual([
      ['25.00', '75.00'],
      ['0.00', '25.00'],
    ])
    expect(text).toContain('aria-label="n for each s: a 30, b -10, c null"')
  })
})

describe('what a reader can choose', () => {
  const kinds = (names: string, rows: Rows): string =>
    chartKinds.filter((kind) => axesOf(kind, columnsOf(names), rows).length > 0).join(' ')

  test.each([
    ['k:i n:n', rowsOf('1 5', '2 3', '3 9'), 'line bars dots'],
    ['k:i n:n', rowsOf('1 5', '1 5', '2 9'), 'dots'],
    ['s:s n:n', rowsOf('a 5', 'b 3'), 'bars'],
    ['s:s n:n', rowsOf('a 5', 'a 3'), ''],
    ['lat:n lon:n', rowsOf('1 5', '2 3'), ''],
    ['t:t s:s n:n', rowsOf(`${hour(1)} a 5`, `${hour(2)} a 3`), 'line bars dots'],
  ])('of %s, %j: %s', (names, rows, expected) => {
    expect(kinds(names, rows)).toBe(expected)
  })
})

describe('a chart', () => {
  test('names its columns with the unit that a name surely says', () => {
    const sure = { temp_c: '°C', celsius: '°C', latency_ms: 'ms', humidity_pct: '%', speed_kmh: 'km/h', Temp_C: '°C' }
    for (const [name, unit] of Object.entries(sure)) expect([name, unitOf(name)]).toEqual([name, unit])
    for (const name of ['c', 'ms', 'pct', 'vitamin', 'height_m', 'items', 'temp_f', 'constructor', 'a_constructor'])
      expect([name, unitOf(name)]).toEqual([name, undefined])
  })

  test('writes whole numbers in full and others to five digits', () => {
    expect([9_876_543, -59, 0, 249.75, 12_345.678, 0.00012, 1e12].map(valueText)).toEqual([
      '9,876,543',
      '-59',
      '0',
      '249.75',
      '12,346',
      '1.20e-4',
      '1.00e+12',
    ])
  })

  test('is escaped text, whatever its columns and cells say', () => {
    const evil = '"><script>alert(1)</script>'
    const columns = [
      { name: evil, type: 'String', isNumber: false },
      { name: `${evil}y`, type: 'Int64', isNumber: true },
    ]
    const rows = [
      [evil, '1'],
      ['x', '2'],
    ]
    for (const kind of chartKinds) {
      const text = markupOf(chartsOf(columns, rows, { kind, x: kind === 'bars' ? 0 : 1, ys: [1] }))?.text ?? ''
      expect(text).not.toContain('<script')
    }
    expect(markupOf([])).toBe(undefined)
  })

  test('tells series apart by more than colour', () => {
    const rows = rowsOf(`${hour(1)} a 1`, `${hour(1)} b 2`, `${hour(2)} a 3`, `${hour(2)} b 4`)
    const text = JSON.stringify(chartMarks(chartsFor('t:t s:s n:n', rows)))
    for (const part of ['"line series-0"', '"line series-1"', '"legend"', 'a line each for a, b'])
      expect(text).toContain(part)
  })
})

describe('the charts of a dataset', () => {
  const column = (name: string, least: string, greatest: string, more: Partial<KnownColumn> = {}): KnownColumn => ({
    name,
    type: 'Float64',
    isNumber: true,
    isSystem: false,
    figures: { nulls: 0, distinct: 98, least, greatest },
    ...more,
  })

  test('are of columns that vary, without ids, coordinates and what the node fills', () => {
    const columns = [
      column('version', '3.0', '3.0'),
      column('id', '1.0', '100.0'),
      column('offset', '0', '99', { isSystem: true }),
      column('lat', '1.5', '70.5'),
      column('lon', '1.5', '70.5'),
      ...['a', 'b', 'c', 'd', 'e'].map((name) => column(name, '0.0', '100.0')),
    ]
    expect(drawnColumns(columns, 100)).toEqual(['a', 'b', 'c', 'd'])
    expect(drawnColumns([column('n', '1', '2')], 2)).toEqual(['n'])
    expect(drawnColumns(columns, undefined)).toEqual(['version', 'id', 'a', 'b'])
  })

  test('have a line for each name where one column has few and none is missing', () => {
    const names = (distinct: number, nulls = 0): KnownColumn =>
      column('s', 'a', 'b', {
        type: 'String',
        isNumber: false,
        figures: { nulls, distinct, least: 'a', greatest: 'b' },
      })
    expect(namingColumn([names(3), column('n', '1', '2')])).toBe('s')
    for (const columns of [[names(1)], [names(7)], [names(3, 1)], [names(3), names(2)], []])
      expect(namingColumn(columns)).toBe(undefined)
  })

  const span = (at: number, series: string | undefined, mean: number, rows = 1) => {
    return { span: at, series, rows, mean, least: mean - 1, greatest: mean + 1 }
  }
  const of = { x: 't', y: 'n', fromMs: 0, toMs: 10 * 3_600_000, count: 10 }

  test('join series that hardly meet, each row counted once', () => {
    const { series } = plotOfSpans({
      ...of,
      spans: [span(0, 'a', 10, 3), span(0, 'b', 20, 1), span(1, 'a', 5), span(2, 'b', 6), span(3, 'b', 7)],
    })
    expect(series.map(({ name }) => name)).toEqual([undefined])
    expect(series[0]?.points.map(({ mean, least, greatest }) => [mean, least, greatest])[0]).toEqual([12.5, 9, 21])
  })

  test('keep series apart that stand in the same spans', () => {
    const { series } = plotOfSpans({ ...of, spans: [0, 1, 2].flatMap((at) => [span(at, 'a', 1), span(at, 'b', 9)]) })
    expect(series.map(({ name, points }) => [name, points.map(({ mean }) => mean)])).toEqual([
      ['a', [1, 1, 1]],
      ['b', [9, 9, 9]],
    ])
    expect(series[0]?.points[1]).toMatchObject({ xText: 'from 1970-01-01 01:00', yText: 'mean 1, 0 to 2' })
  })
})
