// Damaged Arrow streams and files: bits, lengths and ends of the fixtures changed by a seed (ARROW_DAMAGE=10000 for
// more, SEED for the same again). Whatever is changed, the reader ends in rows or in a NodeError that says where.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openArrow } from '../../../../src/libraries/formats/arrow/format.ts'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import { defaultLimits } from '../../../helpers/default-limits.ts'
import { bodyFile } from '../reading.ts'
import { seed } from '../../../helpers/seed.ts'

const folder = join(import.meta.dirname, '../../../fixtures/arrow')
const runs = Number(process.env['ARROW_DAMAGE'] ?? 500)
/** Where the node would say that rows take too much. */
const mostRows = 200_000

const samples = readdirSync(folder)
  .filter((name) => /\.arrows?$/.test(name) && !name.startsWith('hostile-'))
  .map((name) => readFileSync(join(folder, name)))

/** Numbers below `below`, the same for the same seed (mulberry32). */
function chance(start: number): (below: number) => number {
  let state = start
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const extremes = [0, 1, -1, 0x7fffffff, -0x80000000, 0xff, 0x100, 8, 1 << 20]

function damaged(whole: Buffer, next: (below: number) => number): Buffer {
  const bytes = Buffer.from(whole)
  switch (next(5)) {
    case 0:
      return bytes.subarray(0, next(bytes.length))
    case 1: {
      const at = next(bytes.length - 8)
      bytes.writeInt32LE(extremes[next(extremes.length)]! | 0, at - (at % 4))
      return bytes
    }
    case 2: {
      const [from, to, length] = [next(bytes.length), next(bytes.length), next(64)]
      bytes.copyWithin(to, from, from + length)
      return bytes
    }
    default:
      for (let flips = 1 + next(3); flips > 0; flips--) {
        // Most bytes of a small file are metadata; half of the flips are at its ends, where the lengths are.
        const at = next(2) === 0 ? next(bytes.length) : next(2) === 0 ? next(200) : bytes.length - 1 - next(200)
        bytes[at % bytes.length]! ^= 1 << next(8)
      }
      return bytes
  }
}

async function read(bytes: Buffer): Promise<string> {
  try {
    const file = await openArrow(bodyFile(bytes), defaultLimits())
    let rows = 0
    for await (const batch of file.batches([...file.fields.keys()])) {
      rows += batch.rows
      if (batch.rows > 16_384) return 'too many rows in a batch'
      if (rows > mostRows) return 'rows'
    }
    return 'rows'
  } catch (error) {
    if (!(error instanceof NodeError)) return error instanceof Error ? `${error.name}: ${error.stack}` : 'no error'
    const hasPlace = /^(?:The (?:body|column|geometries of column)|Record batch|Record \d+:)/.test(error.message)
    return hasPlace ? error.kind : `no place: ${error.message}`
  }
}

describe('a damaged Arrow body', () => {
  test(`is read or refused, and nothing else happens (seed ${seed})`, async () => {
    const next = chance(seed)
    const outcomes = new Map<string, number>()
    for (let run = 0; run < runs; run++) {
      const outcome = await read(damaged(samples[next(samples.length)]!, next))
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    const known = ['rows', 'MalformedBody', 'UnsupportedEncoding', 'RecordsDoNotFit', 'UnsupportedCrs', 'BodyTooLarge']
    expect([...outcomes.keys()].filter((outcome) => !known.includes(outcome))).toEqual([])
    expect(outcomes.get('MalformedBody')).toBeGreaterThan(runs / 10)
  })

  test('that is cut off at any byte is refused, unless the cut is between messages of a stream', async () => {
    for (const name of ['grown.arrows', 'grown.arrow', 'nanoarrow.arrows']) {
      const whole = readFileSync(join(folder, name))
      const outcomes = new Map<string, number>()
      for (let length = 0; length < whole.length; length++) {
        const outcome = await read(whole.subarray(0, length))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
      const between = outcomes.get('rows') ?? 0
      expect(between).toBeLessThan(name.endsWith('s') ? 16 : 1)
      expect([...outcomes.keys()].filter((outcome) => outcome !== 'rows')).toEqual(['MalformedBody'])
    }
  })
})
