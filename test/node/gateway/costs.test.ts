// What a body may cost: whatever it holds, in every format and as a stream, the log, cells and texts that come of it are
// bounded by the bytes that came (docs/decisions/ingest.md#memory-and-large-requests).

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formats } from '../../helpers/formats.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { optionalField } from '../../libraries/formats/reading.ts'
import { diagonal, fileBodies, streamBodies, wideFields } from './cost-bodies.ts'
import { type Cost, CostRig } from './cost-rig.ts'

const KiB = 1024
const MiB = 1024 * KiB

interface Bound {
  readonly perByte: number
  readonly more: number
}

type Bounds = Readonly<Record<'cells' | 'logged', Bound>>

const toldBytes = 256 * KiB
/** Bytes of the log for a cell, of decimals too, with what bitmaps and padding take. */
const cellBytes = 18

const bounds: Readonly<Record<'post' | 'otlp' | 'stream' | 'file', Bounds>> = {
  post: {
    cells: { perByte: 16, more: 512 * KiB },
    logged: { perByte: 16 * cellBytes + 64, more: cellBytes * 512 * KiB + MiB },
  },
  // What a resource says stands in every row of its records: the texts of those have a bound too, of 16 MiB at least.
  otlp: {
    cells: { perByte: 16, more: 512 * KiB },
    logged: { perByte: 16 * cellBytes + 64 + 16, more: cellBytes * 512 * KiB + 17 * MiB },
  },
  stream: {
    cells: { perByte: 20, more: 32 * KiB },
    logged: { perByte: 20 * cellBytes, more: cellBytes * 32 * KiB + MiB },
  },
  file: { cells: { perByte: 200, more: 64 * MiB }, logged: { perByte: 220, more: 80 * MiB } },
}

let rig: CostRig

beforeAll(async () => {
  const string = { kind: 'String' } as const
  const text = (...names: readonly string[]) => names.map((name) => optionalField(name, string))
  rig = await CostRig.with({
    wide: [...wideFields(), ...text('_measurement', 'geometry', 'feature_id', 'feature_extra')],
    logs: [...wideFields('attributes_'), ...text('resource_a', 'scope_name', 'body')],
  })
}, 120_000)

afterAll(() => rig.stop())

function demandBounded(cost: Cost, of: Bounds): void {
  for (const [what, { perByte, more }] of Object.entries(of) as ['cells' | 'logged', Bound][]) {
    const most = perByte * cost.received + more
    expect(cost[what] > most ? { what, most, ...cost } : 'bounded').toBe('bounded')
  }
  expect(cost.told > toldBytes ? cost : 'bounded').toBe('bounded')
}

test('every format has bodies here', () => {
  expect(Object.keys({ ...streamBodies, ...fileBodies }).toSorted()).toEqual(
    formats.all.map(({ name }) => name).toSorted(),
  )
})

describe('a post costs what its bytes allow', () => {
  test.each(Object.entries(streamBodies))(
    '%s',
    async (name, bodies) => {
      const isOtlp = name.startsWith('otlp')
      const [dataset, of] = isOtlp ? (['logs', bounds.otlp] as const) : (['wide', bounds.post] as const)
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => demandBounded(await rig.ofPost(dataset, body), of)),
        { numRuns: 20 },
      )
    },
    120_000,
  )

  test.each(Object.entries(fileBodies))(
    '%s',
    async (_, bodies) => {
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => demandBounded(await rig.ofPost('wide', body), bounds.file)),
        { numRuns: 6 },
      )
    },
    120_000,
  )
})

describe('so does a stream, however many batches it is cut into', () => {
  test('of rows that bring another column each', async () => {
    const bytes = utf8(
      diagonal('f', 4_000)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    )
    const cost = await rig.ofStream('wide', { format: 'ndjson', bytes }, 64 * KiB)
    demandBounded(cost, bounds.stream)
    expect([cost.outcome, cost.batches > 10]).toEqual(['logged', true])
  })

  const endless = formats.all.flatMap((format) =>
    format.kind === 'stream' && format.ends !== undefined ? format.name : [],
  )
  test.each(endless)(
    '%s',
    async (name) => {
      const bodies = streamBodies[name] ?? fc.constant(undefined as never)
      const chunks = fc.constantFrom(7, 1024, 64 * KiB)
      await fc.assert(
        fc.asyncProperty(bodies, chunks, async (body, chunkBytes) =>
          demandBounded(await rig.ofStream('wide', body, chunkBytes), bounds.stream),
        ),
        { numRuns: 10 },
      )
    },
    120_000,
  )
})
