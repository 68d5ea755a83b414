// Zones by name and by offset, and what is none; judged against Python in test/judges.

import { expect, test, vi } from 'vitest'
import { zoneNamed } from '../../../src/libraries/base/zone.ts'

test.each([
  ['+05:30', 0, [-19_800]],
  ['-00:30', 0, [1800]],
  ['UTC', 5, [5]],
])('an offset is a zone: %s', (name, local, instants) => {
  expect(zoneNamed(name)?.instantsOf(local)).toEqual(instants)
})

test.each(['', '+24:00', '+1:00', 'Europe/Nowhere', 'europe berlin', '../UTC', 'x'.repeat(100)])(
  '%j is no zone',
  (name) => {
    expect(zoneNamed(name)).toBeUndefined()
  },
)

const day = 86_400

/** How often the data of the platform is looked at. */
function looksDuring(work: () => void): number {
  const looks = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
  try {
    work()
    return looks.mock.calls.length
  } finally {
    looks.mockRestore()
  }
}

/** Days from `first` on, each once, in an order that jumps. */
function shuffledDays(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => (first + ((at * 7919) % count)) * day)
}

test('a day costs little more than a look, in any order, and nothing the second time', () => {
  const work = (): void => {
    for (const local of shuffledDays(0, 20_000))
      expect(zoneNamed('Europe/Paris')?.instantsOf(local + 9999)).toBeDefined()
  }
  expect(looksDuring(work)).toBeLessThan(30_000)
  expect(looksDuring(work)).toBe(0)
})

test('times around a change of clocks are not looked up one by one', () => {
  const change = Date.UTC(2026, 9, 25) / 1000
  const looks = looksDuring(() => {
    for (let local = change - day; local < change + 2 * day; local++) zoneNamed('Europe/Rome')?.instantsOf(local)
  })
  expect(looks).toBeLessThan(100)
})

test.each([
  ['0031-03-30T02:30:00Z', ['0031-03-30T01:37:00Z']],
  ['2426-10-25T02:30:00Z', ['2426-10-25T00:30:00Z', '2426-10-25T01:30:00Z']],
  ['9998-03-29T02:30:00Z', []],
  ['9998-03-29T03:00:00Z', ['9998-03-29T01:00:00Z']],
  ['9999-07-01T12:00:00Z', ['9999-07-01T10:00:00Z']],
])('years far away have the rules of their days of the week: %s', (local, instants) => {
  const found = zoneNamed('Europe/Berlin')?.instantsOf(Date.parse(local) / 1000)
  expect(found?.map((at) => Math.round(at / 60))).toEqual(instants.map((text) => Math.round(Date.parse(text) / 60_000)))
})

test('distant years cost what 800 years do', () => {
  const looks = looksDuring(() => {
    for (let year = 2200; year < 9990; year += 10) zoneNamed('Europe/Vienna')?.instantsOf(Date.UTC(year, 5) / 1000)
    for (let year = 400; year < 1800; year += 10) zoneNamed('Europe/Vienna')?.instantsOf(Date.UTC(year, 5) / 1000)
  })
  expect(looks).toBeLessThan(400)
})
