// Columns of files cast to the types of a dataset: every source type × target type against a model that counts in exact
// fractions, with nulls, bytes under nulls, and columns of which some values fit and some do not.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ColumnCast } from '../../../src/libraries/formats/cast.ts'
import { tablePlan } from '../../../src/libraries/formats/column-plan.ts'
import { Warnings } from '../../../src/libraries/base/warnings.ts'
import { FaultLog } from '../../../src/libraries/formats/fault-log.ts'
import type { FormatOptions } from '../../../src/libraries/formats/format.ts'
import { type Column, type DataType, optional, timestampMs, typeText } from '../../../src/libraries/model/schema.ts'
import { arbitraryOf, columnOf, decimal, fits, model, plain, sources, targets, utc, type Value } from './cast-model.ts'
import { base, readerOptions, valueAt } from './reading.ts'

interface CastRun {
  readonly column: Column
  readonly faults: FaultLog
  readonly warnings: readonly string[]
}

function run(column: Column, to: DataType, more: Partial<FormatOptions> = {}, isRequired = false): CastRun {
  const fields = [{ name: 'x', type: isRequired ? to : optional(to) }]
  const plan = tablePlan(readerOptions(fields))
  const faults = new FaultLog()
  const warnings = new Warnings()
  const cast = new ColumnCast(column.type, plan.columns[1]!, { plan, options: { ...base, ...more }, faults, warnings })
  return { column: cast.cast(column, 100), faults, warnings: warnings.texts }
}

/** A value as the model has it. */
function plainValue(column: Column, row: number): Value {
  const value = valueAt(column, row) as Value
  return typeof value === 'number' && !column.type.kind.startsWith('Float') ? BigInt(value) : value
}

/** Floats in a String column are compared as numbers: their digits are those of value-text.ts, which has tests of its own. */
function comparable(from: DataType, to: DataType, value: Value): Value {
  return from.kind.startsWith('Float') && to.kind === 'String' && value !== null ? Number(value) : value
}

const pairs = sources.flatMap((from) => targets.map((to) => [`${typeText(from)} → ${typeText(to)}`, from, to] as const))

describe('a column of a file', () => {
  test.each(pairs)('is cast without loss, refused, or cut with a warning: %s', (_, from, to) => {
    const value = fc.option(arbitraryOf(from), { freq: 5, nil: null })
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), (values) => {
        const { column, faults, warnings } = run(columnOf(from, values), to)
        const expected = values.map((v) => (v === null ? fits(null) : model(v, from, to)))
        const wrong = expected.flatMap((outcome, row) => ('fault' in outcome ? [[100 + row, outcome.fault]] : []))
        expect(faults.errors.map(({ record, kind }) => [record, kind])).toEqual(wrong)
        expect(faults.errors.every(({ message }) => message.includes("'x'") || message.includes('range'))).toBe(true)
        if (wrong.length > 0) return
        const cuts = expected.flatMap((outcome, row) =>
          'value' in outcome && outcome.isCut === true ? [100 + row] : [],
        )
        const places = cuts.length > 1 ? `(${cuts.length} times, first in record ${cuts[0]})` : `(record ${cuts[0]})`
        expect(warnings.map((text) => text.slice(text.indexOf('(')))).toEqual(cuts.length === 0 ? [] : [`${places}.`])
        expect([column.rows, column.nullCount]).toEqual([values.length, values.filter((v) => v === null).length])
        const made = values.map((_value, row) => comparable(from, to, plainValue(column, row)))
        expect(made).toEqual(expected.map((outcome) => comparable(from, to, 'value' in outcome ? outcome.value : null)))
      }),
      { numRuns: 40 },
    )
  })

  test('of a type that the dataset has too is not copied', () => {
    const column = columnOf({ kind: 'Int64' }, [1n, null, 3n])
    expect(run(column, { kind: 'Int64' }).column.values).toBe(column.values)
    const text = columnOf(plain('String'), ['a', 'b'])
    expect(run(text, plain('String')).column.offsets).toBe(text.offsets)
  })

  test('with nulls does not fit a required column, and each is told', () => {
    const { faults } = run(columnOf({ kind: 'Int8' }, [1n, null, null]), { kind: 'Int64' }, {}, true)
    expect(faults.errors.map(({ record, kind }) => [record, kind])).toEqual([
      [101, 'MissingRequired'],
      [102, 'MissingRequired'],
    ])
    expect(run(columnOf({ kind: 'Int8' }, [1n, 2n]), { kind: 'Int64' }, {}, true).faults.total).toBe(0)
    expect(run(columnOf(plain('Null'), [null]), { kind: 'Int64' }, {}, true).faults.total).toBe(1)
  })

  test('of times without a zone needs timeZone=UTC, unless all are null', () => {
    const column = columnOf({ kind: 'Timestamp', unit: 'Millisecond' }, [null, 5n, 6n])
    for (const to of [timestampMs, plain('String')]) {
      const { faults } = run(column, to)
      expect(faults.errors.map(({ record, kind }) => [record, kind])).toEqual([
        [101, 'BadTimestamp'],
        [102, 'BadTimestamp'],
      ])
      expect(faults.errors[0]!.message).toContain('timeZone=UTC')
      expect(run(column, to, { timeZone: 'UTC' }).faults.total).toBe(0)
    }
    expect(run(columnOf({ kind: 'Timestamp', unit: 'Millisecond' }, [null]), timestampMs).faults.total).toBe(0)
  })
})

describe('JSON text of a file', () => {
  const list = (itemType: DataType): DataType => ({ kind: 'List', itemType })

  test('becomes lists, by the rules of JSON bodies', () => {
    const column = columnOf(plain('String'), ['[1,null,-9007199254740993]', null, '[]'])
    const made = run(column, list(optional({ kind: 'Int64' })))
    expect(made.faults.total).toBe(0)
    expect([0, 1, 2].map((row) => valueAt(made.column, row))).toEqual([[1n, null, -9007199254740993n], null, []])
    const prices = run(columnOf(plain('String'), ['[1.50,2]']), list(decimal(9, 2)))
    expect([prices.faults.total, valueAt(prices.column, 0)]).toEqual([0, [150n, 200n]])
    expect(run(columnOf(plain('String'), []), list(utc('Millisecond'))).column.rows).toBe(0)
  })

  test('that is no list of such items is refused, each by its record', () => {
    const texts = ['[1]', '[1.5]', '{"a":1}', 'text', '[1],"y":2', '', '[300]', '[2]']
    const { faults } = run(columnOf(plain('String'), texts), list({ kind: 'UInt8' }))
    expect(faults.errors.map(({ record, kind }) => [record, kind])).toEqual([
      [101, 'WrongType'],
      [102, 'WrongType'],
      [103, 'MalformedRecord'],
      [104, 'UnknownField'],
      [105, 'MalformedRecord'],
      [106, 'OutOfRange'],
    ])
    expect(faults.errors[0]).toMatchObject({ column: 'x', pointer: '/x/0' })
  })

  test('of more faults than are told is still refused', () => {
    const { faults } = run(
      columnOf(
        plain('String'),
        Array.from({ length: 150 }, () => '[-1]'),
      ),
      list({ kind: 'UInt8' }),
    )
    expect([faults.errors.length, faults.total]).toEqual([100, 150])
  })
})

describe('the event time of a file', () => {
  function eventTimes(column: Column, type: DataType, more: Partial<FormatOptions> = {}): CastRun {
    const plan = tablePlan(readerOptions([], { eventTimeType: type }))
    const faults = new FaultLog()
    const warnings = new Warnings()
    const cast = new ColumnCast(column.type, plan.columns[0]!, {
      plan,
      options: { ...base, ...more },
      faults,
      warnings,
    })
    return { column: cast.cast(column, 0), faults, warnings: warnings.texts }
  }

  test('is cut to milliseconds, downwards, whichever way it is cast', () => {
    const nanos = [1_700_000_000_123_456_789n, -1n, null, 0n]
    const far = [...nanos, 9_000_000_000_000_000_001n]
    for (const values of [nanos, far]) {
      const { column, faults } = eventTimes(columnOf(utc('Nanosecond'), values), timestampMs)
      expect(faults.total).toBe(0)
      const floor = (n: bigint): bigint => (n - (((n % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n
      expect(values.map((_, row) => plainValue(column, row))).toEqual(values.map((n) => (n === null ? null : floor(n))))
    }
  })

  test('is a number only where its unit is said', () => {
    const column = columnOf({ kind: 'Int32' }, [1_700_000_000n, null])
    expect(eventTimes(column, timestampMs).faults.errors[0]).toMatchObject({ record: 0, kind: 'WrongType' })
    const made = eventTimes(column, timestampMs, { eventTimeUnit: 's' })
    expect([made.faults.total, plainValue(made.column, 0)]).toEqual([0, 1_700_000_000_000n])
  })

  test('has memory of its own where some are missing, for the fallback is written there', () => {
    const column = columnOf(timestampMs, [1n, null])
    expect(eventTimes(column, timestampMs).column.values).not.toBe(column.values)
    const date = columnOf(plain('Date'), [1n, null])
    expect(eventTimes(date, plain('Date')).column.values).not.toBe(date.values)
  })
})
