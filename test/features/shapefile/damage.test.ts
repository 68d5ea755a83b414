// Shapefiles with damaged bytes, in their files or in the zip: whatever becomes of one, it is rows or a NodeError. SHAPEFILE_DAMAGE=10000
// tries as many, SEED others.

import { expect, test } from 'vitest'
import { shapefile } from '../../../src/features/shapefile/format.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { readFileBody } from '../../libraries/formats/reading.ts'
import { fixture } from './reading.ts'
import { entriesOf, zipOf } from './zips.ts'
import { seed } from '../../helpers/seed.ts'

const trials = Number(process.env['SHAPEFILE_DAMAGE'] ?? 400)
const names = ['values', 'polygons', 'lines-zm', 'points-m', 'multipoints', 'public-holes', 'page-932', 'page-850']

/** Numbers from 0 to below `below`, the same for the same seed. */
function chance(from: number): (below: number) => number {
  let state = from | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

function damaged(bytes: Buffer, next: (below: number) => number): Buffer {
  const out = Buffer.from(bytes)
  if (out.length === 0) return out
  switch (next(5)) {
    case 0:
      return out.subarray(0, next(out.length))
    case 1:
      return Buffer.concat([out, Buffer.alloc(next(64), next(256))])
    case 2: {
      const at = next(Math.max(1, out.length - 4))
      const extremes = [0, -1, 0x7fffffff, -0x80000000, 1, 1e6]
      if (at + 4 <= out.length) out.writeInt32LE(extremes[next(extremes.length)] ?? 0, at)
      return out
    }
    default:
      // The headers are where most can go wrong.
      for (let flips = 1 + next(3); flips > 0; flips--) {
        const at = next(2) === 0 ? next(Math.min(160, out.length)) : next(out.length)
        out[at] = (out[at] ?? 0) ^ (1 << next(8))
      }
      return out
  }
}

test(`${trials} damaged shapefiles of seed ${seed}`, async () => {
  let read = 0
  let longest = 0
  const kinds = new Map<string, number>()
  for (let trial = 0; trial < trials; trial++) {
    const next = chance(seed * 1_000_003 + trial)
    const whole = fixture(`${names[next(names.length)]}.zip`)
    const entries = entriesOf(whole)
    const hit = next(entries.length + 1)
    const zip =
      hit === entries.length
        ? damaged(whole, next)
        : zipOf(
            entries.map((entry, i) =>
              i === hit ? { ...entry, content: damaged(Buffer.from(entry.content), next) } : entry,
            ),
          )
    try {
      await readFileBody(shapefile, zip)
      read += 1
    } catch (error) {
      if (!(error instanceof NodeError)) throw new Error(`trial ${trial} of seed ${seed}`, { cause: error })
      longest = Math.max(longest, error.message.length)
      kinds.set(error.kind, (kinds.get(error.kind) ?? 0) + 1)
    }
  }
  expect(read).toBeLessThan(trials)
  expect(longest).toBeLessThan(1000)
  const known = [
    'MalformedBody',
    'RecordsDoNotFit',
    'UnsupportedCrs',
    'UnsupportedEncoding',
    'InvalidColumnName',
    'BodyTooLarge',
  ]
  expect([...kinds.keys()].filter((kind) => !known.includes(kind))).toEqual([])
})
