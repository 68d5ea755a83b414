// A follower holds a ledger against its copies in turns of the event loop, also where nothing has to be read for it, and its log
// says why it does not vouch.

import { expect, test } from 'vitest'
import { BlockRecords } from '../../../src/node/files/block-records.ts'
import { Keeper } from '../../../src/features/ledger/keeper.ts'
import { Follower } from '../../../src/features/witness/follower.ts'
import { NotChecked } from '../../../src/features/witness/followed-ledger.ts'
import { OwnCopies } from '../../../src/features/witness/own-copies.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { toHex } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { entryBytes, noRoot } from '../../../src/libraries/ledger/entry.ts'
import { parseHead } from '../../../src/libraries/ledger/head.ts'
import { parseNote } from '../../../src/libraries/ledger/note.ts'
import { secretsToJson } from '../../../src/libraries/ledger/secrets.ts'
import { nodeKeyFromSeed } from '../../../src/libraries/proof/sign.ts'
import { runJob } from '../../../src/node/machine/work/jobs.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { keeperParts } from '../../helpers/keeper-parts.ts'
import { chainObjects, nameObject } from '../../helpers/long-chain.ts'
import { startToldLedgers } from './told-ledgers.ts'

const dataset = `did:odf:fed01${'1'.repeat(64)}`
const origin = 'data.example/ledger'
const clock = systemClock
const fault = (reason: string | number) => new NotChecked(String(reason))
const tiles = { lacks: fault, altered: fault, newer: fault }

test('it compares at most 32 entries in a turn', async () => {
  const store = openMemoryStore()
  for (const { key, bytes } of [...chainObjects({ dataset, blocks: 600 }), nameObject(dataset, 'acme/long')])
    await store.put(key, bytes)
  const { catalog, keys, waiting, left } = keeperParts(store)
  const facts = { ledger: { origin, keys: ['key'] }, version: '1', engines: [] }
  const [signer, nodeKey] = [7, 8].map((byte) => nodeKeyFromSeed(new Uint8Array(32).fill(byte)))
  const of = { store, clock, logger: silentLogger, ledger: 1, origin, waiting, left, facts }
  await new Keeper({ ...of, signer: must(signer, 'a key'), nodeKey: must(nodeKey, 'a key') }).step()
  const head = parseHead(parseNote(must(await store.get('ledger/checkpoint'), 'a head')).text)

  const key = await keys.of(dataset)
  const told = { kind: 'told', salt: toHex(key.salt), keys: secretsToJson(key.secretsUpTo(1_000)) } as const
  const names = await catalog.names()
  const copies = new OwnCopies({
    origin: { shown: () => ({ names, sinceMs: clock.monotonicMs() }), secretsOf: async () => told },
    catalog,
    records: new BlockRecords({ store, work: { run: (kind, pieces, { settings }) => runJob(kind, pieces, settings) } }),
    clock,
    signal: new AbortController().signal,
  })
  const ledger = { ...tiles, read: async (name: string) => await store.get(`ledger/${name}`) }
  const { signal } = new AbortController()
  const lines: unknown[] = []
  const logger = { ...silentLogger, warn: (fields: object) => void lines.push(fields) }
  const elsewhere = { ...ledger, read: async () => undefined }
  const lost = new Follower({ store, clock, logger, origin, ledger: elsewhere, copies, signal })
  for (let i = 0; i < 2; i++) await expect(lost.vouch(head, '')).rejects.toThrow('Not all entries')
  expect(lines).toEqual([{ origin, reason: expect.stringContaining('tile/') }])

  const follower = new Follower({ store, clock, logger: silentLogger, origin, ledger, copies, signal })
  const perTurn: number[] = []
  let [isOver, before] = [false, 0]
  const vouched = follower.vouch(head, '').finally(() => (isOver = true))
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    const { compared } = follower.counts
    perTurn.push(compared - before)
    before = compared
  }
  expect(await vouched).toBeUndefined()
  expect(follower.counts).toEqual({ compared: head.size - 1, ordered: 0 })
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(32)
})

test('after 16,384 entries it keeps what it has checked, and goes on from there after a crash', async () => {
  const entry = { kind: 'block', datasetTag: noRoot, blockTag: noRoot, batchRoot: noRoot, rowRoot: noRoot } as const
  const all = Array.from({ length: 16_385 }, (_, sequence) => entryBytes({ ...entry, sequence }))
  const told = await startToldLedgers()
  const ledger = { ...tiles, read: async (name: string) => told.files.get(`/stranger/${name}`) }
  const copies = { begin: () => undefined, judge: async () => 'unknown' } as unknown as OwnCopies
  const { signal } = new AbortController()
  const checked: number[] = []
  for (const size of [16_383, 16_384, 16_385]) {
    const entries = all.slice(0, size)
    told.tell('stranger', entries)
    const head = parseHead(told.note('stranger', entries).text)
    const store = openMemoryStore()
    for (let start = 0; start < 2; start++) {
      const follower = new Follower({ store, clock: handClock(), logger: silentLogger, origin, ledger, copies, signal })
      expect(await follower.vouch(head, '')).toBeUndefined()
      checked.push(follower.counts.ordered)
    }
  }
  await told.close()
  expect(checked).toEqual([16_383, 16_383, 16_384, 0, 16_385, 1])
})
