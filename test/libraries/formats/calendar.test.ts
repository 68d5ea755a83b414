// Dates and times against the calendar of Date, and the forms that are none.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  daysFromCivil,
  notADate,
  noSuchDay,
  readDate,
  readInstant,
  TimeScan,
} from '../../../src/libraries/base/calendar.ts'

const scan = new TimeScan()

function instant(text: string, utc = false): string | number | undefined {
  const bytes = Buffer.from(text)
  return readInstant(scan, bytes, 0, bytes.length, utc) ?? scan.seconds
}

describe('readDate', () => {
  it('agrees with Date on each day of the years 0 to 9999', () => {
    const start = Date.parse('0000-01-01T00:00:00Z')
    const wrong: string[] = []
    for (let day = 0; day < 3_652_425; day += 13) {
      const date = new Date(start + day * 86_400_000)
      const days = daysFromCivil(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
      if (days !== date.getTime() / 86_400_000) wrong.push(date.toISOString())
    }
    expect(wrong).toEqual([])
  })

  it('knows exactly the days that exist', () => {
    for (const year of ['1900', '2000', '2023', '2024']) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
          const date = new Date(`${text}T00:00:00Z`)
          const exists = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
          expect([text, readDate(Buffer.from(text), 0, 10)]).toEqual([
            text,
            exists ? date.getTime() / 86_400_000 : noSuchDay,
          ])
        }
      }
    }
  })

  it.each(['2024-1-01', '2024/01/01', '20240101', '2024-01-0', 'abcd-ef-gh', ''])('refuses %s', (text) => {
    expect(readDate(Buffer.from(text), 0, text.length)).toBe(notADate)
  })
})

describe('readInstant', () => {
  it('agrees with Date.parse, offsets included', () => {
    const time = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9998-12-31T00:00:00Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(time, fc.integer({ min: -23 * 60, max: 23 * 60 }), (date, east) => {
        const ms = Math.floor(date.getTime() / 1000) * 1000
        const local = new Date(ms + east * 60_000).toISOString().slice(0, 19)
        const sign = east < 0 ? '-' : '+'
        const hours = String(Math.floor(Math.abs(east) / 60)).padStart(2, '0')
        const minutes = String(Math.abs(east) % 60).padStart(2, '0')
        expect(instant(`${local}${sign}${hours}:${minutes}`)).toBe(ms / 1000)
        expect(instant(`${local.replace('T', ' ')}${sign}${hours}${minutes}`)).toBe(ms / 1000)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['2024-01-31T12:00:00Z', 1_706_702_400],
    ['2024-01-31t12:00:00Z', 1_706_702_400],
    ['2024-01-31 12:00:00Z', 1_706_702_400],
    ['2024-01-31T12:00Z', 1_706_702_400],
    ['2024-01-31T14:00:00+02', 1_706_702_400],
    ['2024-01-31T12:00:00.999999999999Z', 1_706_702_400],
    ['2024-01-31T12:00:00', 'zone-missing'],
    ['2024-02-30T12:00:00Z', 'date'],
    ['2023-02-29T12:00:00Z', 'date'],
    ['2024-13-01T12:00:00Z', 'date'],
    ['2024-01-31T24:00:00Z', 'time'],
    ['2024-01-31T23:59:60Z', 'time'],
    ['2024-01-31T12:60:00Z', 'time'],
    ['2024-01-31T12:00:00+24:00', 'zone'],
    ['2024-01-31T12:00:00 Z', 'zone'],
    ['2024-01-31T12:00:00CET', 'zone'],
    ['2024-01-31T12:00:00.Z', 'form'],
    ['2024-01-31T12:00:0Z', 'form'],
    ['2024-01-31  12:00:00Z', 'form'],
    ['2024-01-31', 'form'],
    ['1706702400', 'form'],
    ['31.01.2024 12:00:00Z', 'form'],
  ])('reads %s as %s', (text, expected) => {
    expect(instant(text)).toBe(expected)
  })

  it('keeps nine digits of the fraction and cuts off the rest', () => {
    instant('2024-01-31T12:00:00.1234567899Z')
    expect(scan.nanos).toBe(123_456_789)
    instant('2024-01-31T12:00:00.5Z')
    expect(scan.nanos).toBe(500_000_000)
  })

  it('takes a time without zone for UTC when told so', () => {
    expect(instant('2024-01-31T12:00:00', true)).toBe(1_706_702_400)
  })
})
