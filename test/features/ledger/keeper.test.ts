// Keepers that are killed before or after any operation of the store, and several at once: whatever happens, one tree is
// signed, every block is in it once and in order, and the next keeper goes on.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Keeper } from '../../../src/features/ledger/keeper.ts'
import { Places } from '../../../src/features/ledger/stored-ledger.ts'
import { batchCodec, entriesOf } from '../../../src/features/ledger/records.ts'
import { decodeUtf8, toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { nameCodec } from '../../../src/libraries/odf/chain/records.ts'
import { headKey, ledgerKeyKey } from '../../../src/node/store/layout.ts'
import { parseEntry } from '../../../src/libraries/ledger/entry.ts'
import { parseHead } from '../../../src/libraries/ledger/head.ts'
import { parseNote } from '../../../src/libraries/ledger/note.ts'
import { entriesOfBundle, tileIn, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { nodeKeyFromSeed } from '../../../src/libraries/proof/sign.ts'
import { putRetired, putSigner } from '../../../src/node/store/signers.ts'
import { removeChain } from '../../../src/node/store/remove-chain.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { keeperParts, type KeeperParts } from '../../helpers/keeper-parts.ts'
import { chainObjects, nameObject } from '../../helpers/long-chain.ts'

const idOf = (at: number): string => `did:odf:fed01${String(at).repeat(64)}`
/** Datasets by their chains' AddData blocks. Some fill more than a bundle. */
const sizes = [3, 0, 270] as const
const stored = sizes.flatMap((blocks, at) => {
  const dataset = idOf(at)
  return [...chainObjects({ dataset, blocks }), nameObject(dataset, `acme/d${at}`)]
})
const chainLengths = sizes.map((_, at) => stored.filter(({ key }) => key.includes(`${at}${at}${at}/blocks/`)).length)
const origin = 'data.example/ledger'
const signer = nodeKeyFromSeed(new Uint8Array(32).fill(7))
const nodeKey = nodeKeyFromSeed(new Uint8Array(32).fill(8))

async function storeWithChains(): Promise<ObjectStore> {
  const store = openMemoryStore()
  for (const { key, bytes } of stored) await store.put(key, bytes)
  return store
}

interface Kept {
  readonly keeper: Keeper
  readonly parts: KeeperParts
}

function keptOn(store: ObjectStore, { version = '1', clock = systemClock } = {}): Kept {
  const parts = keeperParts(store, { clock })
  const facts = { ledger: { origin, keys: ['key'] }, version, engines: [] }
  const of = { store, clock, logger: silentLogger, ledger: 1, origin, signer, facts, nodeKey }
  return { keeper: new Keeper({ ...of, ...parts }), parts }
}

/** A keeper of a process of its own. Versions differ so that each says something new of itself. */
function keeperOn(store: ObjectStore, version = '1'): Keeper {
  return keptOn(store, { version }).keeper
}

const changing = ['put', 'replace', 'delete', 'get', 'list'] as const

/** The store with `act` around each operation on what is the ledger's, by its number. */
function around(
  store: ObjectStore,
  act: (number: number, work: () => Promise<unknown>) => Promise<unknown>,
): ObjectStore {
  let number = 0
  const wrapped = { ...store }
  for (const name of changing) {
    const own = store[name] as (...args: unknown[]) => Promise<unknown> // each returns a promise
    Object.assign(wrapped, {
      [name]: (...args: unknown[]) =>
        String(args[0]).startsWith('ledger') ? act(number++, () => own(...args)) : own(...args),
    })
  }
  return wrapped
}

/** Heads that were ever published over this store, newest last. */
function noteHeads(store: ObjectStore, heads: Uint8Array[]): ObjectStore {
  return {
    ...store,
    replace: async (key, bytes) => {
      if (key === 'ledger/checkpoint') heads.push(bytes)
      await store.replace(key, bytes)
    },
  }
}

/** What is wrong with the ledger of a store and the heads that were shown of it; empty where nothing is. */
async function faultsOf(store: ObjectStore, heads: readonly Uint8Array[]): Promise<string[]> {
  const faults: string[] = []
  const entries: Uint8Array[] = []
  for (let number = 0; ; number++) {
    const bytes = await store.get(`ledger/batches/${number}`)
    if (bytes === undefined) break
    const batch = batchCodec.decode(bytes)
    if (batch.from.size !== entries.length) faults.push(`batch ${number} begins at ${batch.from.size}`)
    entries.push(...entriesOf(batch))
    if (batch.to.root !== rootText(entries)) faults.push(`batch ${number} has another root`)
  }
  for (const head of heads) {
    const { size, root } = parseHead(parseNote(head).text)
    if (toHex(root) !== toHex(treeRoot(entries.slice(0, size).map(leafHash)))) faults.push('split-view')
  }
  const shown = parseHead(parseNote((await store.get('ledger/checkpoint')) ?? new Uint8Array()).text)
  if (shown.size !== entries.length) faults.push(`the head has ${shown.size} of ${entries.length} entries`)
  for (let index = 0; index * 256 < shown.size; index++) {
    const tile = tileIn(shown.size, 'entries', index)
    const bundle = tile && (await store.get(`ledger/${tileName(tile)}`))
    const stored = bundle && entriesOfBundle(bundle, tile.width)
    const wanted = entries.slice(index * 256, (index + 1) * 256)
    if (stored?.map(toHex).join() !== wanted.map(toHex).join()) faults.push(`bundle ${index} differs`)
  }
  const bySequence = new Map<string, number[]>()
  const places = new Places(store, 1)
  for (const [index, entry] of entries.map(parseEntry).entries()) {
    if (entry.kind !== 'block') continue
    const tag = toHex(entry.datasetTag)
    const place = await places.indexOf(tag, entry.sequence)
    if (place !== index) faults.push(`the place of entry ${index} is ${place}`)
    if ((await places.indexOf(tag, 10_000)) !== undefined) faults.push('a block that is not entered has a place')
    bySequence.set(tag, [...(bySequence.get(tag) ?? []), entry.sequence])
  }
  const lengths = [...bySequence.values()].map((sequences) => sequences.length).sort((x, y) => x - y)
  const wanted = [...chainLengths].sort((x, y) => x - y)
  if (lengths.join() !== wanted.join()) faults.push(`datasets have ${lengths.join()} of ${wanted.join()} blocks`)
  for (const sequences of bySequence.values())
    if (sequences.some((sequence, at) => sequence !== at)) faults.push(`entries in the order ${sequences.join()}`)
  if (entries[0]?.[0] !== 2) faults.push('the first entry is no statement')
  return faults
}

function rootText(entries: readonly Uint8Array[]): string {
  return Buffer.from(treeRoot(entries.map(leafHash))).toString('base64')
}

describe('keepers', () => {
  test('enter every block once, say who they are, and change nothing when nothing came', async () => {
    const heads: Uint8Array[] = []
    const store = noteHeads(await storeWithChains(), heads)
    await keeperOn(store).step()
    expect(await faultsOf(store, heads)).toEqual([])
    const before = await store.list('ledger/batches')
    await keeperOn(store).step()
    expect([await store.list('ledger/batches'), heads.length]).toEqual([before, 1])
    const statement = decodeUtf8(
      must(await store.get(`ledger/statements/${(await store.list('ledger/statements'))[0]}`)),
    )
    expect(JSON.parse(statement)).toMatchObject({
      type: 'proofstream/statement/1',
      ledger: { origin },
      node: nodeKey.did,
    })
  })

  test('that are killed before or after any operation leave what the next one completes', async () => {
    for (const isAfter of [false, true]) {
      for (let at = 0, isDone = false; !isDone; at++) {
        const heads: Uint8Array[] = []
        const store = noteHeads(await storeWithChains(), heads)
        const dying = around(store, async (number, work) => {
          if (number < at) return await work()
          if (number === at && isAfter) await work()
          throw new Error('killed')
        })
        isDone = await keeperOn(dying)
          .step()
          .then(
            () => true,
            (error: unknown) => {
              if (String(error) !== 'Error: killed') throw error
              return false
            },
          )
        await keeperOn(store, '2').step()
        expect([at, isAfter, await faultsOf(store, heads)]).toEqual([at, isAfter, []])
      }
    }
  })

  test('at once, in any order of their operations, sign one tree', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 4 }), async (scheduler, count) => {
        const heads: Uint8Array[] = []
        const store = noteHeads(await storeWithChains(), heads)
        const keepers = Array.from({ length: count }, (_, i) =>
          keeperOn(
            around(store, async (_number, work) => {
              await scheduler.schedule(Promise.resolve(), `${i}`)
              return await work()
            }),
            `${i}`,
          ),
        )
        const steps = keepers.map((keeper) => keeper.step())
        await scheduler.waitFor(Promise.all(steps))
        await keeperOn(store, '9').step()
        expect(keepers.map(({ state }) => state.kind)).toEqual(keepers.map(() => 'running'))
        expect(await faultsOf(store, heads)).toEqual([])
      }),
      { numRuns: 20 },
    )
  })

  test('find after a start what a dataset got that became private, and leave out one whose key is damaged', async () => {
    const store = await storeWithChains()
    const [turned, damaged] = stored.filter(({ key }) => key.startsWith('names/'))
    const long = [...chainObjects({ dataset: idOf(0), blocks: sizes[0] + 2 })]
    await keeperOn(store).step()
    for (const { key, bytes } of long) await store.put(key, bytes)
    const name = nameCodec.decode(must(turned).bytes)
    await store.replace(must(turned).key, nameCodec.encode({ ...name, visibility: 'private' }))
    await store.replace(ledgerKeyKey(idOf(1)), new Uint8Array())
    await keeperOn(store, '1').step()
    const batch = batchCodec.decode(must(await store.get('ledger/batches/1')))
    expect([batch.entries.length, await store.get('ledger/batches/2'), must(damaged).key]).toEqual([
      2,
      undefined,
      'names/acme/d1',
    ])
  })

  test('enter what was handed over of datasets before they were removed, each block once', async () => {
    const heads: Uint8Array[] = []
    const store = noteHeads(await storeWithChains(), heads)
    const names = stored.filter(({ key }) => key.startsWith('names/'))
    const remove = async (at: number): Promise<void> => {
      const { key, bytes } = must(names[at])
      await store.replace(headKey(idOf(at)), new Uint8Array())
      const [when, name] = ['2026-01-01T00:00:00.000Z', nameCodec.decode(bytes)]
      const deletion = { state: 'deleted', name, at: when, until: when } as const
      for (let times = 0; times < 2; times++) await keeperParts(store).left.handOver(deletion)
      await removeChain(store, idOf(at), new AbortController().signal)
      await store.delete(key)
      await keeperParts(store).left.handOver(deletion)
      expect(await store.get(ledgerKeyKey(idOf(at)))).toBeUndefined()
    }
    await remove(2)
    await keeperOn(store).step()
    await remove(0)
    await keeperOn(store, '2').step()
    expect([await faultsOf(store, heads), await store.list('ledger-left')]).toEqual([[], []])
  })

  test.each([
    ['are missing', () => undefined],
    ['are damaged', () => new Uint8Array(7)],
    ['cannot be read', () => Promise.reject(new TypeError('of a kind that nobody has thought of'))],
  ])('set a dataset aside whose objects %s, enter all others, and enter it when they are back', async (_, read) => {
    const heads: Uint8Array[] = []
    const own = noteHeads(await storeWithChains(), heads)
    let isAway = true
    const isGone = (key: string): boolean => isAway && key.startsWith(`datasets/${idOf(0).slice('did:odf:'.length)}`)
    const store = { ...own, get: async (key: string) => (isGone(key) ? await read() : await own.get(key)) }
    const clock = handClock()
    const { keeper, parts } = keptOn(store, { clock })
    for (let steps = 0; steps < 3; steps++) await keeper.step()
    const { aside, waiting } = parts
    expect([keeper.state.kind, aside.datasets, aside.has(idOf(0))]).toEqual(['running', 1, true])
    expect(waiting.load).toEqual({ datasets: 0, blocks: 0, sinceMs: undefined })
    expect(await faultsOf(own, heads)).toEqual(['datasets have 3,273 of 3,6,273 blocks'])
    isAway = false
    await keeper.step()
    expect(aside.datasets).toBe(1)
    await clock.advance(120_000)
    await keeper.step()
    expect([aside.datasets, aside.sinceMs, await faultsOf(own, heads)]).toEqual([0, undefined, []])
  })

  test('say that they are stuck where the files of the tree cannot be stored, and go on when they can', async () => {
    const own = await storeWithChains()
    let isFull = true
    const put: ObjectStore['put'] = async (key, bytes) => {
      if (isFull && key.startsWith('ledger/tile/')) throw new TypeError('a file is in the place of its folder')
      return await own.put(key, bytes)
    }
    const keeper = keeperOn({ ...own, put })
    expect(keeper.state.kind).toBe('running')
    for (let steps = 0; steps < 2; steps++) await expect(keeper.step()).rejects.toThrow('in the place of its folder')
    expect(keeper.state.kind).toBe('stuck')
    isFull = false
    await keeper.step()
    expect([keeper.state.kind, await faultsOf(own, [])]).toEqual(['running', []])
  })

  test('state that a key was retired at the next look for keys, five minutes after the last', async () => {
    const store = await storeWithChains()
    const clock = handClock()
    const { keeper } = keptOn(store, { clock })
    const statements = async (): Promise<string[]> =>
      await Promise.all(
        (await store.list('ledger/statements')).map(async (hash) =>
          decodeUtf8(must(await store.get(`ledger/statements/${hash}`))),
        ),
      )
    await keeper.step()
    const { did } = nodeKeyFromSeed(new Uint8Array(32).fill(9))
    const retired = { at: '2026-05-01T00:00:00.000Z', why: 'leaked' } as const
    await putSigner(store, did)
    await putRetired(store, did, retired)
    await clock.advance(299_999)
    await keeper.step()
    expect((await statements()).filter((text) => text.includes(did))).toEqual([])
    await clock.advance(1)
    for (let steps = 0; steps < 2; steps++) await keeper.step()
    const all = (await statements()).map((text) => JSON.parse(text) as { retired: object[] })
    expect(all.filter((one) => one.retired.length > 0).map((one) => one.retired)).toEqual([[{ node: did, ...retired }]])
  })

  test('are stuck where a step does not end', async () => {
    const own = await storeWithChains()
    const clock = handClock()
    const { keeper } = keptOn({ ...own, list: () => new Promise(() => {}) }, { clock })
    void keeper.step()
    await clock.advance(60_001)
    expect(keeper.state.kind).toBe('stuck')
  })

  test('enter a dataset of more blocks than a batch takes, and what is left of one', async () => {
    const blocks = 600
    const store = openMemoryStore()
    for (const at of [4, 5]) {
      for (const { key, bytes } of chainObjects({ dataset: idOf(at), blocks })) await store.put(key, bytes)
      const { key, bytes } = nameObject(idOf(at), `acme/d${at}`)
      await store.put(key, bytes)
    }
    const { parts, keeper } = keptOn(store)
    const length = (await parts.catalog.byId(idOf(4)))?.blocks.length ?? 0
    const name = must(await parts.catalog.nameOf('acme/d5'))
    const when = '2026-01-01T00:00:00.000Z'
    await store.put(headKey(idOf(5)), new Uint8Array())
    await parts.left.handOver({ state: 'deleted', name, at: when, until: when })
    const [tag] = await store.list('ledger-left')
    expect(await store.list(`ledger-left/${tag}`)).toHaveLength(2)
    await removeChain(store, idOf(5), new AbortController().signal)
    await store.delete('names/acme/d5')
    await keeper.step()
    const numbers = await store.list('ledger/batches')
    const batches = await Promise.all(numbers.map((at) => store.get(`ledger/batches/${at}`)))
    const counts = batches.map((bytes) => batchCodec.decode(must(bytes)).entries.length)
    expect(Math.max(...counts)).toBeLessThanOrEqual(512)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2 * length + 1)
    expect([keeper.state.kind, length > 512, await store.list('ledger-left')]).toEqual(['running', true, []])
  })

  test('enter blocks that take long some at a time, so that all datasets have their turns', async () => {
    const heads: Uint8Array[] = []
    const own = noteHeads(await storeWithChains(), heads)
    const clock = handClock()
    const get: ObjectStore['get'] = async (key) => {
      if (key.includes('/checkpoints/')) await clock.advance(500)
      return await own.get(key)
    }
    const { keeper } = keptOn({ ...own, get }, { clock })
    await keeper.step()
    expect(await faultsOf(own, heads)).toEqual([])
    const batches = await own.list('ledger/batches')
    expect(batches.length).toBeGreaterThanOrEqual(Math.ceil(sizes[2] / 32))
  })

  test('leave out what was handed over of a dataset and is damaged, and go on with all others', async () => {
    const store = await storeWithChains()
    await store.put(`ledger-left/${'ab'.repeat(32)}/0`, utf8('["AAAA"]'))
    await store.put(`ledger-left/${'cd'.repeat(32)}/0`, utf8('{'))
    const { keeper, parts } = keptOn(store)
    await keeper.step()
    expect([keeper.state.kind, parts.aside.datasets, await faultsOf(store, [])]).toEqual(['running', 2, []])
  })

  test('halt where a batch does not follow, and sign nothing more', async () => {
    const heads: Uint8Array[] = []
    const store = noteHeads(await storeWithChains(), heads)
    await keeperOn(store).step()
    const batch = batchCodec.decode(must(await store.get('ledger/batches/0')))
    const to = { ...batch.to, root: Buffer.alloc(32).toString('base64') }
    await store.put(
      'ledger/batches/1',
      batchCodec.encode({
        from: batch.to,
        to: { ...to, size: batch.to.size + 1 },
        // A statement, which may come at any time.
        entries: batch.entries.slice(0, 1),
      }),
    )
    const keeper = keeperOn(store, '2')
    await keeper.step()
    expect(keeper.state).toMatchObject({ kind: 'halted', reason: expect.stringContaining('batch 1') })
    expect(heads).toHaveLength(1)
  })
})

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing is there')
  return value
}
