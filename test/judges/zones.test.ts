// Local times of all zones around each change of clocks, held against Python's zoneinfo with the same data (pip install tzdata, of
// the version that Node.js has); loudly not tested elsewhere.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { zoneDataVersion, zoneNamed } from '../../src/libraries/base/zone.ts'

/** `npm run explore` tries all years. */
const years = (process.env['ZONE_YEARS'] ?? '2015-2030').split('-')

/** What Python prints, the version of its data first; none where it has no such data. */
function lines(names: readonly string[]): unknown[] {
  const script = join(import.meta.dirname, 'python/zones.py')
  const env = { ...process.env, PYTHONTZPATH: '' }
  const options = { input: names.join('\n'), env, encoding: 'utf8', maxBuffer: 2 ** 30 } as const
  const { status, stdout } = spawnSync('python3', [script, ...years], options)
  return status === 0
    ? stdout
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line))
    : ['none']
}

test('are the instants that Python has, around each change of clocks', () => {
  const names = Intl.supportedValuesOf('timeZone')
  const [version, ...zones] = lines(names) as [string, ...[string, [number, number[]][]][]] // what zones.py prints
  if (version !== zoneDataVersion) {
    const text = `NOT TESTED: Python has the time zones of ${version}, Node.js those of ${zoneDataVersion}`
    if (process.env['CI'] === 'true') throw new Error(text)
    process.stderr.write(`${text}\n`)
    return
  }
  expect(zones.length).toBeGreaterThan(400)
  const wrong = zones.flatMap(([name, times]) => {
    const zone = zoneNamed(name)
    return times.flatMap(([local, instants]) => {
      const found = zone?.instantsOf(local)
      return JSON.stringify(found) === JSON.stringify(instants) ? [] : [{ name, local, found, instants }]
    })
  })
  expect(wrong).toEqual([])
})
