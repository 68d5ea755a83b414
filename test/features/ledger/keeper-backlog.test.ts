// A keeper with a dataset whose blocks take long to enter: what is entered so far is below a head that is shown, and is judged by what
// others hold, before all of it is there.

import { expect, test } from 'vitest'
import { Keeper } from '../../../src/features/ledger/keeper.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { entryBytes, noRoot } from '../../../src/libraries/ledger/entry.ts'
import { parseHead } from '../../../src/libraries/ledger/head.ts'
import { parseNote } from '../../../src/libraries/ledger/note.ts'
import { nodeKeyFromSeed } from '../../../src/libraries/proof/sign.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { keeperParts } from '../../helpers/keeper-parts.ts'

test('heads are shown while blocks of a dataset take long to enter', async () => {
  const sizes: number[] = []
  const memory = openMemoryStore()
  const store = {
    ...memory,
    replace: async (key: string, bytes: Uint8Array) => {
      if (key === 'ledger/checkpoint') sizes.push(parseHead(parseNote(bytes).text).size)
      await memory.replace(key, bytes)
    },
  }
  const clock = handClock()
  let shown: readonly [heads: number, state: string] = [0, '']
  let sequence = 0
  const take = async () => {
    await clock.advance(2_000)
    shown = [sizes.length, keeper.state.kind]
    const roots = { datasetTag: noRoot, blockTag: noRoot, batchRoot: noRoot, rowRoot: noRoot }
    const entry = entryBytes({ kind: 'block', ...roots, sequence: sequence++ })
    return { entries: sequence > 60 ? [] : [entry], done: new Map<never, never>() }
  }
  const waiting = { sweep: async () => {}, entered: () => {}, take }
  const { left } = keeperParts(store, { clock })
  const origin = 'data.example/ledger'
  const of = { store, clock, logger: silentLogger, ledger: 1, origin, waiting, left }
  const facts = { ledger: { origin, keys: ['key'] }, version: '1', engines: [] }
  const key = nodeKeyFromSeed(new Uint8Array(32).fill(7))
  const keeper: Keeper = new Keeper({ ...of, facts, signer: key, nodeKey: key })
  await keeper.step()
  expect(shown[0]).toBeGreaterThan(5)
  expect(shown[1]).toBe('running')
  expect(sizes.at(-1)).toBe(61)
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
})
