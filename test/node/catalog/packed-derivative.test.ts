// The chain of a derivative dataset, out of a pack: the same blocks, slices and next block as when each block is read.

import { expect, test } from 'vitest'
import { DatasetChain } from '../../../src/node/catalog/dataset-chain.ts'
import { SummaryBuilder } from '../../../src/libraries/odf/chain/pack-summary.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import type { MetadataBlock, MetadataEvent } from '../../../src/libraries/model/events.ts'
import { instantFromMs } from '../../../src/libraries/model/instant.ts'
import { encodeBlock } from '../../../src/libraries/odf/block.ts'
import { datasetId, schemaOf, userFields } from '../builder/support.ts'

const id = datasetId('derived')
const packedBlocks = 256
const slice = (n: number) => sha3Hash(utf8(`slice ${n}`))

/** Two rows a block, and one more block than a pack has. */
function* events(): Generator<MetadataEvent> {
  yield { kind: 'Seed', datasetId: id, datasetKind: 'Derivative' }
  const queries = [{ query: 'select * from input' }]
  yield { kind: 'SetTransform', inputs: [], transform: { kind: 'Sql', engine: 'datafusion', queries } }
  yield { kind: 'SetDataSchema', schema: schemaOf(userFields) }
  for (let n = 0; n <= packedBlocks - 3; n++) {
    const offsetInterval = { start: 2 * n, end: 2 * n + 1 }
    yield {
      kind: 'ExecuteTransform',
      queryInputs: [],
      ...(n === 0 ? {} : { prevOffset: 2 * n - 1 }),
      newData: { logicalHash: slice(n), physicalHash: slice(n), offsetInterval, size: 100 + n },
    }
  }
}

test('a derivative chain out of a pack is the same chain', async () => {
  const name = { id, alias: 'acme/derived', log: 'origin', partition: 0, visibility: 'public' } as const
  const [read, packed] = [new DatasetChain(name), new DatasetChain(name)]
  const summary = new SummaryBuilder({ dataset: id, level: 0, number: 0, sequence: 0, offset: 0 })
  const named = new Map<number, MetadataBlock>()
  let last: { hash: string; block: MetadataBlock } | undefined
  for (const event of events()) {
    const sequenceNumber = read.blocks.length
    const before = last === undefined ? {} : { prevBlockHash: last.hash }
    const block = { systemTime: instantFromMs(1_000 * sequenceNumber), ...before, sequenceNumber, event }
    last = { hash: sha3Hash(encodeBlock(block)), block }
    read.apply(last.hash, block)
    if (sequenceNumber === packedBlocks) break
    summary.addCommit({ blocks: [last.hash], log: 'origin', partition: 0, next: sequenceNumber + 1 })
    summary.addBlock(last.hash, block)
    named.set(sequenceNumber, block)
  }
  packed.applyPacked(await summary.finish(), { from: 0, to: packedBlocks }, named)
  expect(packed.headSequence).toBe(packedBlocks - 1)
  const { hash, block } = must(last, 'a block')
  packed.apply(hash, block)
  for (const chain of [read, packed]) {
    expect(chain.blocks.at(packedBlocks)).toMatchObject({ kind: 'ExecuteTransform', rows: 2 * (packedBlocks - 2) })
  }
  expect(packed.blocks.slice(0, packedBlocks + 1)).toEqual(read.blocks.slice(0, packedBlocks + 1))
  expect(packed.slices.slice(0, 300)).toEqual(read.slices.slice(0, 300))
  expect(packed.slices.at(1)).toMatchObject({ hash: slice(1), start: 2, end: 3, sizeBytes: 101 })
  expect(packed.aspects).toEqual(read.aspects)
})
