// Proofs of rows out of what is kept of their blocks: the same as anew, within a bound of memory, in a queue that has an end.

import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { concatBytes, u64Bytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { sha256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import { batchSalt, isBelow } from '../../../src/libraries/ledger/roots.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { encodeCheckpoint } from '../../../src/libraries/odf/chain/checkpoint.ts'
import { int64RangeColumn } from '../../../src/libraries/columnar/arrow/columns.ts'
import { encodeSlice } from '../../../src/libraries/columnar/parquet/write-slice.ts'
import { BlockRecords, mostProofs, treeBytesMost } from '../../../src/node/files/block-records.ts'
import { runJob } from '../../../src/node/machine/work/jobs.ts'
import type { UpperTree } from '../../../src/node/machine/work/record-tree.ts'
import type { RowLeavesOf } from '../../../src/node/machine/work/row-leaves.ts'
import { checkpointKey, dataKey } from '../../../src/node/store/layout.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { datasetId } from '../builder/support.ts'

const rows = 700
const compress = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes)
const fields = [{ name: 'n', type: { kind: 'Int64' } }] as const
const slice = concatBytes(encodeSlice({ fields, compress }, [{ rows, columns: [int64RangeColumn('n', 0, rows)] }]))
const id = datasetId('a')
const secret = new Uint8Array(32).fill(1)

/** What the class looks at of a chain with one block, which has this hash. */
const blockOf = (hash: string) => {
  const ref = { sequence: 0, hash: sha3Hash(slice), start: 0, sizeBytes: slice.length }
  const chain = { name: { id, alias: 'acme/a' }, slices: { at: () => ref } }
  return { chain, block: { hash, sequence: 0, sliceCount: 1 }, secret } as never // a chain has more than is looked at
}

async function recordsOver(made?: Partial<UpperTree>) {
  const store = openMemoryStore()
  await store.put(dataKey(id, sha3Hash(slice)), slice)
  const known: boolean[] = []
  const run = async (kind: 'rowLeaves', pieces: readonly Uint8Array[], { settings }: { settings: RowLeavesOf }) => {
    known.push(settings.tree !== undefined)
    const { tree, ...rest } = await runJob(kind, pieces, settings)
    return { ...rest, tree: { ...tree, ...made } }
  }
  return { known, records: new BlockRecords({ store, work: { run: run as never } }) } // row leaves are all that is asked for
}

describe('the batches of a block', () => {
  test.each([1, 999, 1_000, 1_001, 2_500])(
    'of which there are %i have one root, and each its place below it',
    async (count) => {
      const store = openMemoryStore()
      const outcomes = Array.from({ length: count }, (_, position) => {
        const status = { kind: 'committed', start: position, end: position } as const
        return { id: `w-${position}`, position, index: 0, status }
      })
      const bodies = outcomes.map(({ id }) => sha3Hash(utf8(id)))
      const of = { number: 0, log: '0'.repeat(32), partition: 0, next: count, moved: 0, outcomes, bodies }
      const none = { attempts: [], writers: [], ids: [], earlier: {} }
      const bytes = encodeCheckpoint({ ...of, ...none, sliceWriter: 'slice-1, zstd 1.5.7' })
      await store.put(checkpointKey(id, sha3Hash(bytes)), bytes)
      const chain = {
        name: { id, alias: 'acme/a' },
        checkpointAt: () => sha3Hash(bytes),
        checkpointBytes: () => bytes.length,
      }
      const open = { chain, block: { kind: 'AddData', hash: 'one', sequence: 0 }, secret } as never // as above
      const records = new BlockRecords({ store, work: { run: () => Promise.reject(new TypeError('of rows')) } })
      const leaves = outcomes.map(({ id, position }, at) => {
        const record = { id, bodyHash: bodies[at], status: 'committed', offsets: { start: position, end: position } }
        return leafHash(concatBytes([batchSalt(secret, at), canonicalBytes(fromPlain(record))]))
      })
      const root = sha256(concatBytes([u64Bytes(count), treeRoot(leaves)]))
      for (const at of new Set([0, Math.min(999, count - 1), Math.min(1_000, count - 1), count - 1])) {
        const below = await records.batches(open, { id: `w-${at}`, bodyHash: bodies[at]!, status: 'committed' })
        expect(below?.root).toEqual(root)
        expect(below?.shown?.place).toMatchObject({ index: at, count })
        expect(below?.shown && isBelow(root, leaves[at]!, below.shown.place)).toBe(true)
      }
      const other = await records.batches(open, { id: 'w-0', bodyHash: bodies[0]!, status: 'rejected' })
      expect(other).toEqual({ root })
    },
  )
})

describe('the rows of a block', () => {
  test('are hashed once for all proofs of them, which are those that are made anew', async () => {
    const { records, known } = await recordsOver()
    for (const wanted of [0, 300, 699, 300]) {
      const kept = await records.rows(blockOf('one'), wanted)
      const anew = await (await recordsOver()).records.rows(blockOf('one'), wanted)
      expect(kept).toEqual(anew)
    }
    expect(known).toEqual([false, true, true, true])
  })

  test('are hashed again where those of other blocks have taken the memory', async () => {
    const { records, known } = await recordsOver({ tiles: new Uint8Array(treeBytesMost / 2 - 8_192) })
    for (const hash of ['one', 'two', 'one', 'three', 'one']) await records.rows(blockOf(hash))
    await records.rows(blockOf('three'), 3).catch(() => undefined)
    await records.rows(blockOf('two'), 3).catch(() => undefined)
    expect(known.slice(-2)).toEqual([true, false])
  })

  test('are proven one after the other, of each caller in turn, and those who are too many are told to come again', async () => {
    const { records } = await recordsOver()
    const made: string[] = []
    const ends: (() => void)[] = []
    let running = 0
    const prove = (of: string): Promise<unknown> =>
      records.inTurn([of], async () => {
        made.push(of)
        expect(++running).toBe(1)
        await new Promise<void>((end) => ends.push(end))
        running--
      })
    // One is made at once; others leave half of the room to this caller.
    const ofOne = Array.from({ length: 60 }, () => prove('a').catch((error: unknown) => error))
    const others = ['b', 'c', 'b'].map(prove)
    const waiting = 1 + mostProofs / 2
    for (let done = 0; done < waiting + others.length; done++) {
      while (ends.length === 0) await new Promise(setImmediate)
      ends.pop()?.()
    }
    await Promise.all(others)
    expect(made.slice(0, 8).join('')).toBe('aabcabaa')
    expect(made).toHaveLength(waiting + others.length)
    const refused = (await Promise.all(ofOne)).filter((error) => error instanceof NodeError)
    expect(refused.map(({ kind, details }) => [kind, details.retryAfterSeconds])).toEqual(
      Array.from({ length: 60 - waiting }, () => ['Saturated', 2]),
    )
    const failing = records.inTurn(['a'], () => Promise.reject(new TypeError('one that fails')))
    await expect(failing).rejects.toThrow('one that fails')
    expect(await records.inTurn(['a'], async () => 7)).toBe(7)
  })

  test('have no room where too many callers wait', async () => {
    expect(mostProofs).toBe(64)
    const { records } = await recordsOver()
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    const made = Array.from({ length: mostProofs + 1 }, (_, at) => records.inTurn([String(at)], () => ended))
    await expect(records.inTurn(['one more'], () => ended)).rejects.toThrow('Too many proofs')
    end()
    await Promise.all(made)
  })
})
