// What is said of single blocks, over ledgers of many sizes: proofs of each entry, over older heads, and while tiles go; and promises
// by the state of the keeper and the time.

import { describe, expect, test } from 'vitest'
import type { KeeperStatus } from '../../../src/features/ledger/about.ts'
import { Answers, type AnswersDeps, blockShown } from '../../../src/features/ledger/answers.ts'
import { BlockRecords } from '../../../src/node/files/block-records.ts'
import { History } from '../../../src/features/ledger/history.ts'
import { claimOrigin } from '../../../src/features/ledger/identity.ts'
import { type LedgerTree, newestTree } from '../../../src/features/ledger/stored-ledger.ts'
import { LedgerKeys } from '../../../src/features/ledger/ledger-keys.ts'
import { batchCodec, mostBatchEntries, placesCodec } from '../../../src/features/ledger/records.ts'
import { fromHex, toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { noRoot, promisedEntry } from '../../../src/libraries/ledger/entry.ts'
import { judgeProof } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { parseTileName, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { tlogProofText } from '../../../src/libraries/ledger/tlog-proof.ts'
import type { NameRecord } from '../../../src/libraries/odf/chain/records.ts'
import { runJob } from '../../../src/node/machine/work/jobs.ts'
import { ledgerBatchKey, ledgerMetKey, ledgerObjectKey, ledgerPlacesKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { keyText, origin, signedHead, twoOfThree } from '../../libraries/ledger/keys.ts'

const name: NameRecord = {
  id: `did:odf:fed01${'1'.repeat(64)}`,
  alias: 'acme/weather',
  log: 'log',
  partition: 0,
  visibility: 'public',
}
const hashOf = (sequence: number): string => `f1620${sequence.toString(16).padStart(64, '0')}`
const blockOf = (sequence: number) => ({ sequence, hash: hashOf(sequence), systemTime: '1970-01-01T00:00:00Z' })
const policy = parsePolicy(utf8(twoOfThree))
const running: KeeperStatus = {
  state: { kind: 'running' },
  delayMs: 1_000,
  waitMs: 30_000,
  waiting: { datasets: 0, blocks: 0, sinceMs: undefined },
  unshown: { entries: 0, sinceMs: undefined },
  aside: { datasets: 0, sinceMs: undefined, has: () => false },
  witnesses: [],
}

/** A ledger of one dataset's blocks in a store. */
class StoredLedger {
  readonly store: ObjectStore = openMemoryStore()
  readonly #history = History.empty()
  readonly #keys = new LedgerKeys(this.store)
  #size = 0

  /** Enters blocks up to this size, and publishes the head with the lines of these witnesses. Partial tiles of older ones go. */
  async grow(size: number, witnesses: readonly number[] = []): Promise<Uint8Array> {
    const { store } = this
    await claimOrigin(store, 1, { origin, key: keyText(origin, 1, 1) })
    const key = await this.#keys.of(name.id)
    while (this.#size < size) {
      const count = Math.min(100, size - this.#size)
      const blocks = Array.from({ length: count }, (_, i) => blockOf(this.#size + i))
      this.#size += count
      const entries = blocks.map((block) => key.entryOf({ ...block, batchRoot: noRoot, rowRoot: noRoot }))
      const batch = this.#history.propose(entries)
      await store.put(ledgerBatchKey(1, this.#history.batches), batchCodec.encode(batch))
      const { tiles, places } = this.#history.takeIn(batch)
      for (const { tag, group, indexes } of places) {
        await store.put(ledgerPlacesKey(1, tag, group), placesCodec.encode([...indexes]))
      }
      for (const { tile, bytes } of tiles) {
        for (let width = 1; width < tile.width; width++) {
          await store.delete(ledgerObjectKey(1, tileName({ ...tile, width })))
        }
        await store.put(ledgerObjectKey(1, tileName(tile)), bytes)
      }
    }
    const head = signedHead(this.#history.head, { witnesses })
    await store.replace(ledgerObjectKey(1, 'checkpoint'), head)
    if (witnesses.length >= 2) await store.replace(ledgerMetKey(1), head)
    return head
  }

  answers({ heads, ...more }: Partial<AnswersDeps> & Partial<Pick<LedgerTree, 'heads'>> = {}): Answers {
    const { store } = this
    const records = new BlockRecords({
      store,
      work: { run: (kind, pieces, { settings }) => runJob(kind, pieces, settings) },
    })
    const tree = async () => {
      const newest = await newestTree(store, policy)
      return newest && { ...newest, ...(heads && { heads }) }
    }
    const times = { clock: handClock(), delayMs: 1_000, waitMs: 30_000 }
    return new Answers({ store, tree, ...times, records, status: () => running, ...more })
  }
}

async function judged(answers: Answers, sequence: number) {
  const block = blockOf(sequence)
  const proven = await answers.prove(name, block, blockShown(block))
  if (proven.kind !== 'proven') return proven.kind
  const verdict = judgeProof(tlogProofText(proven.proof) ?? new Uint8Array(), policy)
  const { facts } = Object(verdict) as { facts?: { sequence: number; block: string; ledger: { size: number } } }
  expect(facts).toMatchObject({ sequence, block: hashOf(sequence) })
  return { verdict: verdict.verdict, size: facts?.ledger.size, quorum: proven.quorum }
}

describe('a proof', () => {
  test('is had of every entry, at any size of the tree', async () => {
    const ledger = new StoredLedger()
    const answers = ledger.answers()
    for (const size of [1, 2, 64, 65, 255, 256, 257, 511, 513, 700]) {
      await ledger.grow(size, [1, 2])
      for (let sequence = 0; sequence < size; sequence += 1 + Math.floor(size / 40)) {
        expect(await judged(answers, sequence)).toMatchObject({ verdict: 'included', size })
      }
      expect(await judged(answers, size)).toBe('not yet')
    }
  })

  test('is over the newest head whose quorum is met, if that has the entry, though its tiles are gone', async () => {
    const ledger = new StoredLedger()
    await ledger.grow(300, [1, 2])
    await ledger.grow(700, [3])
    expect(parseTileName('tile/0/001.p/44')).toBeDefined()
    expect(await ledger.store.get('ledger/tile/0/001.p/44')).toBeUndefined()
    const answers = ledger.answers()
    expect(await judged(answers, 299)).toEqual({ verdict: 'included', size: 300, quorum: 'met' })
    expect(await judged(answers, 300)).toEqual({ verdict: 'witness quorum not met', size: 700, quorum: 'not met' })
  })

  test('is made again over the head that came meanwhile, where tiles go under it', async () => {
    const ledger = new StoredLedger()
    const old = { note: await ledger.grow(300), size: 300, quorum: 'none' } as const
    await ledger.grow(310)
    let isFirst = true
    const heads: LedgerTree['heads'] = async () => {
      if (!isFirst) return (await newestTree(ledger.store, undefined))?.heads() ?? []
      isFirst = false
      return [old]
    }
    expect(await judged(ledger.answers({ heads }), 270)).toMatchObject({ size: 310 })
    await ledger.store.delete('ledger/tile/0/001.p/54')
    await expect(judged(ledger.answers(), 270)).rejects.toMatchObject({ kind: 'StoreUnavailable' })
  })

  test('has no secret but those of its block', async () => {
    const ledger = new StoredLedger()
    await ledger.grow(3)
    const key = await new LedgerKeys(ledger.store).of(name.id)
    const { proof } = Object(await ledger.answers().proofOf(name, blockOf(1))) as { proof: string }
    const shown = Buffer.from(/^extra (.*)$/m.exec(proof)?.[1] ?? '', 'base64').toString()
    for (const secret of [0, 1, 2].map((sequence) => key.secretOf(sequence))) expect(shown).not.toContain(toHex(secret))
  })
})

describe('a promise', () => {
  const soon = 31_000

  test('is of what is to come, and past its time of what is there', async () => {
    const ledger = new StoredLedger()
    await ledger.grow(5)
    const clock = handClock()
    const answers = ledger.answers({ clock })
    const salt = expect.stringMatching(/^[0-9a-f]{64}$/)
    const inTime = { ledger: origin, by: new Date(soon).toISOString(), datasetSalt: salt, blockSalt: salt }
    expect(await answers.promiseOf(name, blockOf(7))).toEqual(inTime)
    expect(await answers.promiseOf(name, blockOf(4))).toEqual(inTime)
    const promise = await answers.promiseOf(name, blockOf(4))
    const [dataset, block] = [promise?.datasetSalt, promise?.blockSalt].map((text) => fromHex(text ?? '')!)
    const { hash } = blockOf(4)
    const promised = promisedEntry({
      dataset: { id: name.id, salt: dataset! },
      block: { hash, sequence: 4, salt: block! },
    })
    const key = await new LedgerKeys(ledger.store).of(name.id)
    expect(key.entryOf({ ...blockOf(4), batchRoot: noRoot, rowRoot: noRoot }).subarray(0, 73)).toEqual(promised)
    await clock.advance(soon + 1)
    expect(await answers.promiseOf(name, blockOf(7))).toBeUndefined()
    expect(await answers.promiseOf(name, blockOf(4))).toEqual({ ...inTime, by: new Date(soon + 1).toISOString() })
  })

  test('is made of no dataset of which more blocks wait than a batch takes', async () => {
    const ledger = new StoredLedger()
    await ledger.grow(5)
    const answers = ledger.answers({ clock: handClock() })
    expect(await answers.promiseOf(name, blockOf(4 + mostBatchEntries))).toBeDefined()
    expect(await answers.promiseOf(name, blockOf(5 + mostBatchEntries))).toBeUndefined()
  })

  test('is made by a keeper that runs and is not late alone', async () => {
    const ledger = new StoredLedger()
    await ledger.grow(5)
    const clock = handClock()
    await clock.advance(2_000)
    const states: (KeeperStatus | undefined)[] = [
      undefined,
      { ...running, state: { kind: 'halted', reason: 'x' } },
      { ...running, state: { kind: 'stuck' } },
      { ...running, state: { kind: 'unconfirmed' } },
      { ...running, waiting: { datasets: 1, blocks: 1, sinceMs: 900 } },
      { ...running, waitMs: 500, unshown: { entries: 1, sinceMs: 400 } },
      { ...running, aside: { datasets: 1, sinceMs: 1_900, has: (id) => id === name.id } },
    ]
    for (const status of states) {
      expect(await ledger.answers({ clock, status: () => status }).promiseOf(name, blockOf(7))).toBeUndefined()
    }
    const waiting = { ...running, waiting: { datasets: 1, blocks: 1, sinceMs: 1_500 } }
    expect(await ledger.answers({ clock, status: () => waiting }).promiseOf(name, blockOf(7))).toBeDefined()
    const never = { clock, waitMs: undefined }
    expect(await ledger.answers(never).promiseOf(name, blockOf(7))).toBeUndefined()
  })
})
