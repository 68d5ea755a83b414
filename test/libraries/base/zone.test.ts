// Zones by name and by offset, and what is none; judged against Python in test/judges.

import { expect, test } from 'vitest'
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

test('many days cost a bounded memory', () => {
  const zone = zoneNamed('Europe/Berlin')
  for (let day = 0; day < 40_000; day++) expect(zone?.instantsOf(day * 86_400 * 30)?.length).toBeGreaterThan(0)
})
