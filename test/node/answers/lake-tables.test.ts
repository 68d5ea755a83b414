// The manifests of a long chain: full ones that stay as they are, each slice once, and a footer read once.

import { beforeAll, expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import type { DatasetChain } from '../../../src/node/catalog/dataset-chain.ts'
import { Objects } from '../../../src/node/catalog/objects.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { equalBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { LakeTables } from '../../../src/features/iceberg/lake-tables.ts'
import { dataKey, headKey, packableOf } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { datasetId } from '../builder/support.ts'
import { chainObjects, nameObject } from '../../helpers/long-chain.ts'
import { smallSlice } from '../../helpers/small-slice.ts'

const alias = 'acme/stream'
const id = datasetId(alias)
const slices = 2_050
const location = 's3://lake/stream'
let chain: DatasetChain
let tables: LakeTables
/** Calls of the store since it was cleared. */
const calls = new Map<string, number>()

beforeAll(async () => {
  const store = openMemoryStore()
  let head = ''
  const sliceOf = (number: number): ReturnType<typeof smallSlice>['about'] => {
    const { bytes, about } = smallSlice(number, 2)
    void store.put(dataKey(id, about.physicalHash), bytes)
    return about
  }
  for (const { key, bytes } of [...chainObjects({ dataset: id, blocks: slices, sliceOf }), nameObject(id, alias)]) {
    const asked = packableOf(key)
    if (asked?.kind === 'blocks') head = asked.hash
    await store.put(key, bytes)
  }
  await store.replace(headKey(id), utf8(head))
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
  chain = must(await catalog.byAlias(alias), 'the dataset')
  const counted = new Proxy(store, {
    get: (of, name: keyof ObjectStore) => {
      calls.set(name, (calls.get(name) ?? 0) + 1)
      return of[name]
    },
  })
  tables = new LakeTables(new Objects(counted))
})

const file = async (name: string): Promise<Uint8Array> =>
  must(await tables.file(chain, name, { location, isHere: false }), name)
const sequenceOf = (slice: number): number => must(chain.slices.at(slice), 'a slice').sequence

interface Listed {
  readonly name: string
  readonly length: number
  readonly addedFiles: number
  readonly existingFiles: number
  readonly rows: number
}

/** The records of a list of manifests, after the Avro specification. */
function listed(bytes: Uint8Array): Listed[] {
  let at = 4
  const long = (): number => {
    let [value, scale] = [0, 1]
    for (; ; scale *= 128) {
      const byte = must(bytes[at++], 'a byte')
      value += (byte & 127) * scale
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
  }
  const text = (): string => {
    const length = long()
    at += length
    return Buffer.from(bytes.subarray(at - length, at)).toString()
  }
  for (let pairs = long(); pairs !== 0; pairs = long()) for (let i = 0; i < 2 * pairs; i++) text()
  const marker = bytes.subarray(at, (at += 16))
  const count = long()
  long()
  const records = Array.from({ length: count }, () => {
    const name = text().replace(`${location}/metadata/`, '')
    const [length = 0, , , , , , addedFiles = 0, existingFiles = 0, , addedRows = 0, existingRows = 0] = Array.from(
      { length: 12 },
      long,
    )
    return { name, length, addedFiles, existingFiles, rows: addedRows + existingRows }
  })
  expect(equalBytes(bytes.subarray(at), marker)).toBe(true)
  return records
}

test('a snapshot lists full manifests, the rest, and its own slice', async () => {
  const list = listed(await file(`snap-${sequenceOf(slices - 1)}.avro`))
  expect(list.map(({ name, addedFiles, existingFiles, rows }) => [name, addedFiles, existingFiles, rows])).toEqual([
    ['slices-0-1000.avro', 0, 1000, 2000],
    ['slices-1000-2000.avro', 0, 1000, 2000],
    ['slices-2000-2049.avro', 0, 49, 98],
    ['added-2049.avro', 1, 0, 2],
  ])
  for (const { name, length } of list) expect([name, (await file(name)).length]).toEqual([name, length])
  const earlier = listed(await file(`snap-${sequenceOf(2000)}.avro`))
  expect(earlier.map(({ name }) => name)).toEqual(['slices-0-1000.avro', 'slices-1000-2000.avro', 'added-2000.avro'])
  expect(earlier.slice(0, 2)).toEqual(list.slice(0, 2))
})

test('a footer is read once, and nothing is listed', async () => {
  await file(`snap-${sequenceOf(slices - 1)}.avro`)
  calls.clear()
  const one = await file('slices-1000-2000.avro')
  expect(equalBytes(await file('slices-1000-2000.avro'), one)).toBe(true)
  await file(`snap-${sequenceOf(1500)}.avro`)
  tables.table(chain, chain.headSequence, { location, isHere: false })
  expect([...calls]).toEqual([])
})

test('a table names the last hundred snapshots', () => {
  const table = tables.table(chain, chain.headSequence, { location, isHere: false }) as Readonly<
    Record<string, readonly unknown[]>
  > // lists of it
  expect(table['snapshots']).toHaveLength(100)
  expect(table['snapshot-log']).toHaveLength(100)
  expect(table['snapshots']?.at(-1)).toMatchObject({ 'snapshot-id': sequenceOf(slices - 1), 'schema-id': 0 })
  expect(table['snapshots']?.[0]).toMatchObject({ 'parent-snapshot-id': sequenceOf(slices - 101) })
})

test.each(['slices-0-1001.avro', 'slices-999-1001.avro', 'slices-5-5.avro', 'slices-9-3.avro', 'added-2050.avro'])(
  '%s is no file',
  async (name) => {
    expect(await tables.file(chain, name, { location, isHere: false })).toBeUndefined()
  },
)
