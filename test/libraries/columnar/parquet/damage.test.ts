// Damaged files: flipped bits, bytes left out, tails cut off. Nothing crashes or hangs, every refusal is an error of the
// table, and where pages have checksums no damage of a page is ever read as other rows. A sample by a seed
// (SEED to repeat one); PARQUET_DAMAGES=10000 for more.

import { expect, test } from 'vitest'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import { fixture, type ReadColumn, readAll } from './parquet-helper.ts'
import { seed } from '../../../helpers/seed.ts'

const damages = Number(process.env['PARQUET_DAMAGES'] ?? 500)

/** Files with checksums, and some without. */
const files = [
  { name: 'nested-v1.parquet', hasChecksums: true, share: 1 },
  { name: 'nested-v2.parquet', hasChecksums: true, share: 1 },
  { name: 'matrix-zstd-v1.parquet', hasChecksums: true, share: 2 },
  { name: 'matrix-lz4-v2.parquet', hasChecksums: true, share: 2 },
  { name: 'matrix-brotli-v2.parquet', hasChecksums: true, share: 1 },
  { name: 'matrix-gzip-v1.parquet', hasChecksums: true, share: 1 },
  { name: 'matrix-snappy-v1.parquet', hasChecksums: false, share: 1 },
  { name: 'writer-duckdb-zstd.parquet', hasChecksums: false, share: 2 },
  { name: 'writer-polars-uncompressed.parquet', hasChecksums: false, share: 2 },
  { name: 'writer-fastparquet-snappy.parquet', hasChecksums: false, share: 2 },
  { name: 'geo-wkb.parquet', hasChecksums: false, share: 1 },
  { name: 'int96.parquet', hasChecksums: false, share: 1 },
]
const shares = files.reduce((sum, { share }) => sum + share, 0)

/** Mulberry32: a number in [0, 1) at each call. */
function randomOf(start: number): () => number {
  let state = start | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function damagedCopy(
  bytes: Uint8Array,
  random: () => number,
  footerAt: number,
): { bytes: Uint8Array; what: string; inPages: boolean } {
  const kind = random()
  const at = Math.floor(random() * bytes.length)
  if (kind < 0.1) return { bytes: bytes.slice(0, at), what: `cut at ${at}`, inPages: false }
  // Half of the damages to the footer, which is small and says most.
  const place =
    kind < 0.5 ? footerAt + Math.floor(random() * (bytes.length - footerAt)) : 4 + Math.floor(random() * (footerAt - 4))
  const copy = bytes.slice()
  const bit = 1 << Math.floor(random() * 8)
  copy[place] = kind > 0.95 ? Math.floor(random() * 256) : (copy[place] ?? 0) ^ bit
  if (kind > 0.9) copy[place + 1] = Math.floor(random() * 256)
  return { bytes: copy, what: `byte ${place} (footer at ${footerAt})`, inPages: place + 1 < footerAt }
}

function footerStart(bytes: Uint8Array): number {
  return bytes.length - 8 - new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true)
}

const refusals = ['MalformedBody', 'UnsupportedEncoding', 'RecordsDoNotFit', 'BodyTooLarge', 'UnsupportedCrs']

/** The rows, or the kind of the refusal; an error that no caller should see is thrown. */
async function rowsOrKind(bytes: Uint8Array): Promise<ReadColumn[] | string> {
  try {
    return await readAll(bytes)
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

for (const { name, hasChecksums, share } of files) {
  test(`${name}: damage is refused or harmless`, async () => {
    const bytes = fixture(name)
    const sound = await readAll(bytes)
    const random = randomOf(seed + name.length * 7919)
    const wrong: string[] = []
    const count = Math.ceil((damages * share) / shares)
    for (let i = 0; i < count; i++) {
      const damage = damagedCopy(bytes, random, footerStart(bytes))
      const found = await rowsOrKind(damage.bytes)
      if (typeof found === 'string') {
        if (!refusals.includes(found)) wrong.push(`${damage.what}: ${found}`)
      } else if (hasChecksums && damage.inPages && JSON.stringify(found) !== JSON.stringify(sound)) {
        wrong.push(`${damage.what}: other rows`)
      }
    }
    expect(wrong, `seed ${seed}`).toEqual([])
  })
}
