// Names and pins as lists, without a store behind them.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import { DatasetChain } from '../../../src/node/catalog/dataset-chain.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import type { PinnedDataset } from '../../../src/libraries/model/query.ts'
import { aliasOfParts, inOrder, pinNames, Reader } from '../../../src/node/answers/pin.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'

const pinned = fc.record({
  id: fc.constantFrom('did:odf:a', 'did:odf:b', 'did:odf:c'),
  alias: fc.constantFrom('x/y', 'X/y', 'did:odf:a'),
  blockHash: fc.constantFrom('f16201', 'f16202'),
  blockTime: fc.constant('2026-01-01T00:00:00Z'),
})

describe('a name in SQL', () => {
  it.each([
    [['acme/goods'], 'acme/goods'],
    [['acme', 'goods'], 'acme/goods'],
    [['acme', 'com.example', 'goods'], 'acme/com.example.goods'],
    [['did:odf:fed01ab'], 'did:odf:fed01ab'],
  ])('%j stands for %s', (parts, alias) => {
    expect(aliasOfParts(parts)).toBe(alias)
  })
})

describe('the list of pins', () => {
  it('is ordered by id and alias, holds each once, and does not depend on the order of names', () => {
    fc.assert(
      fc.property(fc.array(pinned), (pins: PinnedDataset[]) => {
        const list = inOrder(pins)
        const key = (one: PinnedDataset): string => `${one.id} ${one.alias} ${one.blockHash}`
        expect(new Set(list.map(key))).toEqual(new Set(pins.map(key)))
        expect(list).toHaveLength(new Set(pins.map(key)).size)
        expect(list.map(key)).toEqual(list.map(key).toSorted())
        expect(inOrder(pins.toReversed())).toEqual(list)
      }),
    )
  })
})

describe('names of a dataset that grows while they are looked up', () => {
  const chain = new DatasetChain({ id: 'did:odf:a', alias: 'acme/goods', log: 'x', partition: 0, visibility: 'public' })
  const grow = (): void => {
    const sequence = chain.headSequence + 1
    const prevBlockHash = sequence === 0 ? undefined : chain.head.hash
    chain.apply(sha3Hash(utf8(String(sequence))), {
      systemTime: '2026-01-01T00:00:00Z',
      sequenceNumber: BigInt(sequence),
      ...(prevBlockHash === undefined ? {} : { prevBlockHash }),
      event:
        sequence === 0
          ? { kind: 'Seed', datasetId: 'did:odf:a', datasetKind: 'Root' }
          : { kind: 'SetInfo', description: String(sequence) },
    })
  }

  /** Each look-up finds the chain one block longer. */
  class GrowingReader extends Reader {
    override async find(): Promise<DatasetChain> {
      grow()
      return chain
    }
  }

  it('are one snapshot', async () => {
    const announcements = openLocalAnnouncements(silentLogger)
    const catalog = new Catalog({ store: openMemoryStore(), announcements, logger: silentLogger })
    const names = [{ parts: ['acme/goods'] }, { parts: ['ACME/goods'] }, { parts: ['did:odf:a'] }]
    const bindings = await pinNames(new GrowingReader(catalog, () => true), names, undefined)
    expect(bindings.map((binding) => binding.pinned.alias)).toEqual(['acme/goods', 'ACME/goods', 'did:odf:a'])
    expect(new Set(bindings.map((binding) => binding.pinned.blockHash)).size).toBe(1)
    expect(chain.blocks).toHaveLength(3)
  })
})
