// A store that was put back to an older copy: before anything new is signed, a quorum of witnesses is asked, and what one of
// them shows halts the ledger, whichever way the trees differ. What is only claimed halts nothing.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { Keeper, type KeeperDeps } from '../../../src/features/ledger/keeper.ts'
import { readHistory } from '../../../src/features/ledger/stored-ledger.ts'
import { batchCodec } from '../../../src/features/ledger/records.ts'
import { evidenceCodec } from '../../../src/features/ledger/put-back.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { entryBytes, noRoot } from '../../../src/libraries/ledger/entry.ts'
import { parseHead } from '../../../src/libraries/ledger/head.ts'
import { parseNote } from '../../../src/libraries/ledger/note.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { parseAddCheckpoint } from '../../../src/libraries/ledger/witness.ts'
import { nodeKeyFromSeed } from '../../../src/libraries/proof/sign.ts'
import { emptyRoot } from '../../../src/libraries/ledger/tree.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { keyText, origin, signer } from '../../libraries/ledger/keys.ts'
import { until } from '../../helpers/until.ts'
import { SmallWitness } from './small-witness.ts'

const logKey = keyText(origin, 1, 1)
const nodeKey = nodeKeyFromSeed(new Uint8Array(32).fill(8))
/** No block waits, and none is left of what was removed. */
const waiting: KeeperDeps['waiting'] = {
  sweep: async () => {},
  take: async () => ({ entries: [], done: new Map() }),
  entered: () => {},
}
const left = { sweep: async () => {}, take: async () => [] }

let witnesses: SmallWitness[]
const keepers: Keeper[] = []

beforeEach(async () => {
  witnesses = await Promise.all([1, 2, 3].map((number) => SmallWitness.start(number, logKey)))
})

afterEach(async () => {
  await Promise.all(keepers.splice(0).map(({ publisher }) => publisher.close()))
  await Promise.all(witnesses.map((witness) => witness.close()))
})

/** A keeper of a life of its own, which has something new to say of itself: an entry. */
function keeperOn(store: ObjectStore, version: string, isWitnessed = true, take = waiting.take): Keeper {
  const group = ['group G 2 W1 W2 W3', 'quorum G', '']
  const policy = parsePolicy(utf8([...witnesses.map(({ line }) => line), ...group].join('\n')))
  const facts = { ledger: { origin, keys: [logKey] }, version, engines: [] }
  const deps = { store, clock: systemClock, logger: silentLogger, ledger: 1, origin, signer: signer(1), facts, nodeKey }
  const keeper = new Keeper({ ...deps, waiting: { ...waiting, take }, left, waitMs: 0, ...(isWitnessed && { policy }) })
  keepers.push(keeper)
  return keeper
}

/** Everything that the store has now. */
async function copyOf(store: ObjectStore): Promise<ObjectStore> {
  const copy = openMemoryStore()
  const add = async (key: string): Promise<void> => {
    const bytes = await store.get(key)
    if (bytes !== undefined) await copy.put(key, bytes)
    for (const name of await store.list(key)) await add(`${key}/${name}`)
  }
  for (const root of ['ledger', 'ledger-states', 'ledger-heads', 'ledger-evidence']) await add(root)
  return copy
}

async function sizeOf(store: ObjectStore): Promise<number> {
  const bytes = await store.get('ledger/checkpoint')
  return bytes === undefined ? 0 : parseHead(parseNote(bytes).text).size
}

/** Steps until all three witnesses have cosigned `size` entries. */
async function grown(keeper: Keeper, size: number): Promise<void> {
  await until(`${size} entries`, async () => {
    await keeper.step()
    if (keeper.state.kind === 'halted') throw new Error(keeper.state.reason)
    return witnesses.every(({ last }) => last.size === size) ? true : undefined
  })
}

async function halted(keeper: Keeper): Promise<string> {
  return await until('the halt', async () => {
    await keeper.step()
    return keeper.state.kind === 'halted' ? keeper.state.reason : undefined
  })
}

/** Steps until every witness has answered. */
async function answered(keeper: Keeper): Promise<void> {
  await until('answers', async () => {
    await keeper.step()
    return keeper.publisher.witnesses.some((one) => one.isAsking || one.state === 'not asked') ? undefined : true
  })
}

test('nothing is entered or signed before a quorum has said that it holds no larger tree', async () => {
  for (const witness of witnesses.slice(1)) witness.manner = (_, response) => Boolean(response.destroy())
  const store = openMemoryStore()
  const keeper = keeperOn(store, '1')
  await answered(keeper)
  await keeper.step()
  expect([keeper.state.kind, await store.list('ledger'), witnesses[0]!.last.size]).toEqual(['unconfirmed', [], 0])
  for (const witness of witnesses) witness.manner = undefined
  // Of those that answered nothing the next start asks again.
  await grown(keeperOn(store, '1'), 1)
})

test('a witness that does not know the ledger holds no larger tree', async () => {
  for (const witness of witnesses) witness.logKey = undefined
  const store = openMemoryStore()
  const keeper = keeperOn(store, '1')
  await until('the first entry', async () => {
    await keeper.step()
    return (await sizeOf(store)) === 1 ? true : undefined
  })
  expect(keeper.state.kind).toBe('running')
})

test('an older copy of the store halts, keeps what shows it, and goes on when what is missing was put back', async () => {
  const store = openMemoryStore()
  await grown(keeperOn(store, '1'), 1)
  const older = await copyOf(store)
  await grown(keeperOn(store, '2'), 2)
  await grown(keeperOn(store, '3'), 3)
  const before = await copyOf(older)
  const reason = await halted(keeperOn(older, '4'))
  expect(reason).toMatch(/^LedgerRegressed: W\d has a head of 3 entries/)
  expect(await older.list('ledger/batches')).toEqual(await before.list('ledger/batches'))
  expect(await older.get('ledger/checkpoint')).toEqual(await before.get('ledger/checkpoint'))
  const [name] = await older.list('ledger-evidence/1')
  const evidence = evidenceCodec.decode((await older.get(`ledger-evidence/1/${name}`))!)
  const shown = parseHead(parseNote(Buffer.from(evidence.note, 'base64')).text)
  expect([shown.size, evidence.have.size]).toEqual([3, 1])
  // What was kept speaks at the next start, whoever is there.
  for (const witness of witnesses) witness.manner = (_, response) => Boolean(response.destroy())
  expect(await halted(keeperOn(older, '5'))).toContain('LedgerRegressed')
  for (const witness of witnesses) witness.manner = undefined
  for (const batch of await store.list('ledger/batches')) {
    await older.put(`ledger/batches/${batch}`, (await store.get(`ledger/batches/${batch}`))!)
  }
  for (const hash of await store.list('ledger/statements')) {
    await older.put(`ledger/statements/${hash}`, (await store.get(`ledger/statements/${hash}`))!)
  }
  await grown(keeperOn(older, '6'), 4)
})

test('a store whose head is ahead of its batches halts without any witness', async () => {
  const store = openMemoryStore()
  await grown(keeperOn(store, '1', true), 1)
  await grown(keeperOn(store, '2'), 2)
  await store.delete('ledger/batches/1')
  expect(await halted(keeperOn(store, '3', false))).toMatch(/LedgerRegressed: the store has a head of 2/)
})

test.each([
  ['larger', 1],
  ['as large', 2],
  ['smaller', 3],
])('a tree that grew another way, where that of the witnesses is %s, halts', async (_, entries) => {
  const store = openMemoryStore()
  await grown(keeperOn(store, '1'), 1)
  const other = await copyOf(store)
  await grown(keeperOn(store, '2'), 2)
  if (entries < 2) await grown(keeperOn(store, '3'), 3)
  // Entered where nobody saw it: the key signs two trees.
  for (let version = 1; version < entries; version++) await keeperOn(other, `other ${version}`, false).step()
  const keeper = keeperOn(other, `other ${entries - 1}`)
  expect(await halted(keeper)).toContain('LedgerRegressed')
})

test('the same at any later time', async () => {
  const store = openMemoryStore()
  const running = keeperOn(store, '1')
  await grown(running, 1)
  const other = await copyOf(store)
  await grown(keeperOn(other, '2'), 2)
  // Its next head is another one of the same size.
  const put = batchCodec.decode((await other.get('ledger/batches/1'))!)
  await keeperOn(store, '3', false).step()
  expect((await store.get('ledger/batches/1')) === undefined || put.to.size).toBe(2)
  expect(await halted(running)).toContain('LedgerRegressed')
})

test('a witness that names a smaller size, and then does not take the right proof, has not answered', async () => {
  const store = openMemoryStore()
  await grown(keeperOn(store, '1'), 1)
  for (const witness of witnesses) {
    witness.manner = (request, response, body) => {
      if (request.method !== 'POST') return Boolean(response.writeHead(404).end())
      const isFirst = parseAddCheckpoint(body).oldSize === 0
      return Boolean(isFirst ? response.writeHead(409).end('1\n') : response.writeHead(422).end())
    }
  }
  const keeper = keeperOn(store, '2')
  await answered(keeper)
  expect([keeper.state.kind, await sizeOf(store)]).toEqual(['unconfirmed', 1])
})

test('what is only claimed halts nothing, and is no answer', async () => {
  const store = openMemoryStore()
  await grown(keeperOn(store, '1'), 1)
  const lies = [
    { status: 409, body: '99\n' },
    { status: 422, body: '' },
  ]
  for (const { status, body } of lies) {
    // It shows nothing, or a head that another key has signed.
    for (const note of [
      '',
      'x',
      `${origin}\n99\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— ${origin} AAAAAAAA\n`,
    ]) {
      for (const witness of witnesses.slice(0, 2)) {
        witness.manner = (request, response) =>
          Boolean(request.method === 'POST' ? response.writeHead(status).end(body) : response.writeHead(200).end(note))
      }
      const keeper = keeperOn(store, 'lied to')
      await answered(keeper)
      await keeper.step()
      expect([keeper.state.kind, await sizeOf(store)]).toEqual(['unconfirmed', 1])
    }
  }
  // One liar among three does no more than not help.
  witnesses[0]!.manner = undefined
  const keeper = keeperOn(store, '2')
  await until('an entry', async () => {
    await keeper.step()
    return (await sizeOf(store)) === 2 ? true : undefined
  })
  expect([keeper.state.kind, await store.list('ledger-evidence/1')]).toEqual(['running', []])
})

test('a keeper that is killed at any operation of the store, with witnesses, leaves what the next one completes', async () => {
  const changing = ['put', 'replace', 'get', 'list'] as const
  for (let at = 0, isDone = false; !isDone; at++) {
    const store = openMemoryStore()
    for (const witness of witnesses) {
      witness.last = { size: 0, root: emptyRoot }
      witness.note = ''
    }
    let number = 0
    const dying = { ...store }
    for (const name of changing) {
      const own = store[name] as (...args: unknown[]) => Promise<unknown> // each returns a promise
      Object.assign(dying, {
        [name]: async (...args: unknown[]) => {
          if (number++ >= at) throw new Error('killed')
          return await own(...args)
        },
      })
    }
    const killed = keeperOn(dying, '1')
    for (let step = 0; step < 8 && number <= at && !isDone; step++) {
      await killed.step().catch(() => {})
      await until('answers', async () => (killed.publisher.witnesses.some((one) => one.isAsking) ? undefined : true))
      isDone = number <= at && (await sizeOf(store)) === 1 && witnesses.every(({ last }) => last.size === 1)
    }
    await killed.publisher.close()
    const next = keeperOn(store, '2')
    const size = await until('an entry', async () => {
      await next.step()
      if (next.state.kind === 'halted') throw new Error(`${at}: ${next.state.reason}`)
      const now = await sizeOf(store)
      return witnesses.every(({ last }) => last.size === now && now > 0) ? now : undefined
    })
    expect(size).toBeLessThanOrEqual(2)
    // Nothing of it reaches the witnesses of the next turn.
    await answered(next)
    await next.publisher.close()
  }
})

test('a start reads a state from the 64th batch on, and is where the keeper is', async () => {
  const store = openMemoryStore()
  const block = { kind: 'block', datasetTag: noRoot, blockTag: noRoot, batchRoot: noRoot, rowRoot: noRoot } as const
  let [sequence, batches] = [0, 0]
  // Each block is a batch of its own.
  const blocks = () => (sequence < batches ? [entryBytes({ ...block, sequence: sequence++ })] : [])
  const keeper = keeperOn(store, '1', false, async () => ({ entries: blocks(), done: new Map() }))
  const startAfter = async (count: number): Promise<string> => {
    batches = count
    await keeper.step()
    const history = await readHistory(store, 1)
    const from = history.batches
    for (let bytes; (bytes = await store.get(`ledger/batches/${history.batches}`)) !== undefined;)
      history.takeIn(batchCodec.decode(bytes))
    expect([history.batches, history.head.size]).toEqual([count, await sizeOf(store)])
    return `${from} ${await store.list('ledger-states/1')}`
  }
  expect([await startAfter(63), await startAfter(64), await startAfter(65)]).toEqual(['0 ', '64 64', '64 64'])
})
