// Proofs of rows out of what is kept of their blocks: the same as anew, within a bound of memory, in a queue that has an end.

import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { int64RangeColumn } from '../../../src/libraries/columnar/arrow/columns.ts'
import { encodeSlice } from '../../../src/libraries/columnar/parquet/write-slice.ts'
import { BlockRecords, mostProofs, treeBytesMost } from '../../../src/node/files/block-records.ts'
import { runJob } from '../../../src/node/machine/work/jobs.ts'
import type { UpperTree } from '../../../src/node/machine/work/record-tree.ts'
import type { RowLeavesOf } from '../../../src/node/machine/work/row-leaves.ts'
import { dataKey } from '../../../src/node/store/layout.ts'
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

  test('are proven one after the other, and those who are too many are told to come again', async () => {
    const { records } = await recordsOver()
    let [running, most] = [0, 0]
    const ends: (() => void)[] = []
    const prove = async (): Promise<void> => {
      most = Math.max(most, ++running)
      await new Promise<void>((end) => ends.push(end))
      running--
    }
    const asked = Array.from({ length: mostProofs }, () => records.inTurn(prove))
    const refused = await records.inTurn(prove).catch((error: unknown) => error)
    expect(refused instanceof NodeError && [refused.kind, refused.details.retryAfterSeconds]).toEqual(['Saturated', 2])
    for (let done = 0; done < mostProofs; done++) {
      while (ends.length === 0) await new Promise(setImmediate)
      ends.pop()?.()
    }
    await Promise.all(asked)
    expect(most).toBe(1)
    await expect(records.inTurn(() => Promise.reject(new TypeError('one that fails')))).rejects.toThrow(
      'one that fails',
    )
    expect(await records.inTurn(async () => 7)).toBe(7)
  })
})
