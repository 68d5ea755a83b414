// A dataset of slices that nobody stores, by the number of their rows: what chooses slices sees no difference.

import { type DatasetView, viewOf } from '../../src/node/catalog/dataset-chain.ts'
import { DatasetChain } from '../../src/node/catalog/dataset-chain.ts'
import { sha3Hash } from '../../src/libraries/base/ids/identifiers.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import type { MetadataEvent } from '../../src/libraries/model/events.ts'
import type { DataSchema } from '../../src/libraries/model/schema.ts'

/** A view of slices with so many rows each, under `schema`. */
export function sliceView(schema: DataSchema, rowsOf: readonly number[]): DatasetView {
  const id = 'did:odf:a'
  const chain = new DatasetChain({ id, alias: 'a/t', log: 'x', partition: 0, visibility: 'public' })
  const apply = (event: MetadataEvent): void => {
    const sequence = chain.headSequence + 1
    chain.apply(sha3Hash(utf8(String(sequence))), {
      systemTime: '2026-01-01T00:00:00Z',
      sequenceNumber: BigInt(sequence),
      ...(sequence > 0 && { prevBlockHash: chain.head.hash }),
      event,
    })
  }
  apply({ kind: 'Seed', datasetId: id, datasetKind: 'Root' })
  apply({ kind: 'SetDataSchema', schema })
  let rows = 0
  for (const count of rowsOf) {
    const hash = sha3Hash(utf8(`slice at ${rows}`))
    const offsetInterval = { start: BigInt(rows), end: BigInt(rows + count - 1) }
    apply({
      kind: 'AddData',
      ...(rows > 0 && { prevOffset: BigInt(rows - 1) }),
      newData: { logicalHash: hash, physicalHash: hash, offsetInterval, size: 1n },
    })
    rows += count
  }
  return viewOf(chain)
}
