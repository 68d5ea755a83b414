// A witness over a store: whoever asks, at once or one after another, through any number of processes that die and begin anew, it
// cosigns one tree; what was cosigned is durable first; what a ledger signs beside that is kept, within bounds.

import { EventEmitter, once } from 'node:events'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evidenceCodec } from '../../../src/libraries/ledger/evidence.ts'
import { readRequest, Witness } from '../../../src/features/witness/witness.ts'
import { decodeUtf8, equalBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { noteOf, parseNote } from '../../../src/libraries/ledger/note.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { parseVerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import { addCheckpointBody, cosignaturesIn } from '../../../src/libraries/ledger/witness.ts'
import { evidencePrefix, witnessedKey, witnessedPrefix } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { listNumbers } from '../../../src/node/store/records.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { signer } from '../../libraries/ledger/keys.ts'
import { Branch, foreignHash, foreignPolicy } from './ledgers.ts'

const { logs } = parsePolicy(utf8(foreignPolicy))
const honest = new Branch('a', 64)
const branches = [honest, new Branch('b', 9), new Branch('c', 16), new Branch('d', 0)] as const

function witnessOn(store: ObjectStore, clock: Clock = systemClock): Witness {
  const keys = logs.map(({ key }) => key)
  return new Witness({
    store,
    clock,
    logger: silentLogger,
    name: 'w/witness',
    signer: signer(7),
    logs: keys,
  })
}

/** Status of the answer, and the size that a conflict tells. */
async function asked(witness: Witness, body: Uint8Array): Promise<string> {
  try {
    const answer = await witness.answer(readRequest(body))
    return answer.status === 200 ? '200' : `409 ${decodeUtf8(answer.body).trim()}`
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

/** The store with `act` before each operation on it. */
function slowed(store: ObjectStore, act: (operation: string) => Promise<void>): ObjectStore {
  return new Proxy(store, {
    get: (target, name: keyof ObjectStore) => {
      const work = target[name] as (...given: unknown[]) => unknown // of the port
      if (typeof work !== 'function' || name === 'fileOf') return work
      return async (...given: unknown[]) => {
        await act(name)
        return await work.apply(target, given)
      }
    },
  })
}

test('signs one tree, whatever any number of clients ask of any number of processes, which die at any operation', async () => {
  const request = fc.record({
    process: fc.nat(2),
    branch: fc.nat(branches.length - 1),
    oldSize: fc.oneof(fc.constant('last'), fc.nat(20)),
    more: fc.nat(6),
    lastOf: fc.boolean(),
    diesAt: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(12) }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 60 }),
      fc.scheduler(),
      async (requests, scheduler) => {
        const store = openMemoryStore()
        const cosigned: { size: number; branch: Branch }[] = []
        let size = 0
        const client = async ({ process, branch, oldSize, more, diesAt }: (typeof requests)[number]): Promise<void> => {
          let left = diesAt === 0 ? Number.POSITIVE_INFINITY : diesAt
          const witness = witnessOn(
            slowed(store, async (operation) => {
              if (--left === 0) throw new Error('died')
              await scheduler.schedule(Promise.resolve(), `${process} ${operation}`)
            }),
          )
          const from = oldSize === 'last' ? size : Number(oldSize)
          const tree = branches[branch] ?? honest
          const answer = await asked(witness, tree.body(from, from + more)).catch((error: Error) => {
            if (error.message !== 'died') throw error
          })
          if (answer !== '200') return
          cosigned.push({ size: from + more, branch: tree })
          size = Math.max(size, from + more)
        }
        const clients = [0, 1, 2].map(async (number) => {
          for (const one of requests) if (one.process === number) await client(one)
        })
        await scheduler.waitFor(Promise.all(clients))
        for (const { size: small, branch: one } of cosigned) {
          const larger = cosigned.filter((other) => other.size >= small)
          for (const { branch } of larger) expect(equalBytes(branch.tree(small).root, one.tree(small).root)).toBe(true)
        }
        const head = await witnessOn(store).head(foreignHash)
        const newest = Math.max(-1, ...cosigned.map((one) => one.size))
        // Of one that died before its answer nobody has the cosignature, but from here.
        expect(head === undefined ? -1 : Number(decodeUtf8(head).split('\n')[1])).toBeGreaterThanOrEqual(newest)
      },
    ),
    { numRuns: 200 },
  )
})

describe('a witness', () => {
  test('shows the head that it cosigned last, with both signatures and no others', async () => {
    const witness = witnessOn(openMemoryStore())
    expect(await witness.head(foreignHash)).toBeUndefined()
    const note = honest.note(5)
    const noise = { name: 'noise', keyId: 1, signature: new Uint8Array(5_000) }
    const signatures = [...Array.from({ length: 16 }, () => noise), ...note.signatures]
    const { body } = await witness.answer(
      readRequest(addCheckpointBody({ oldSize: 0, proof: [], note: { text: note.text, signatures } })),
    )
    const key = parseVerifierKey(witness.key)
    expect(cosignaturesIn(body, note.text, key)).toHaveLength(1)
    const head = (await witness.head(foreignHash)) ?? new Uint8Array()
    expect(decodeUtf8(head)).toBe(noteOf(note) + decodeUtf8(body))
    const policy = parsePolicy(
      utf8(`${foreignPolicy.replace('quorum none\n', '')}witness w ${witness.key}\nquorum w\n`),
    )
    expect(openHead(head, policy)).toMatchObject({ ok: true, quorum: 'met' })
  })

  test('of two requests with the same old size answers one, and tells the other the new size', async () => {
    const store = openMemoryStore()
    const [one, other] = [witnessOn(store), witnessOn(store)]
    const answers = await Promise.all([
      asked(one, honest.body(0, 9)),
      asked(other, honest.body(0, 9)),
      asked(one, branches[3].body(0, 9)),
    ])
    expect(answers.toSorted()).toEqual(['200', '409 9', '409 9'])
  })

  test('asked again for the head that it has cosigned last gives the same line for a minute, then one with the new time', async () => {
    const store = openMemoryStore()
    let nowMs = 1_790_000_000_000
    const witness = witnessOn(store, { ...systemClock, nowMs: () => nowMs })
    const line = async (oldSize: number): Promise<string> =>
      decodeUtf8((await witness.answer(readRequest(honest.body(oldSize, 9)))).body)
    const first = await line(0)
    nowMs += 59_000
    expect(await line(9)).toBe(first)
    expect(await listNumbers(store, witnessedPrefix(foreignHash))).toEqual([1])
    nowMs += 1_000
    const second = await line(9)
    expect(second).not.toBe(first)
    expect(await listNumbers(store, witnessedPrefix(foreignHash))).toEqual([1, 2])
    // A clock that was put back gives no line with a time to come.
    nowMs -= 3_600_000
    expect(await line(9)).not.toBe(second)
    expect(await listNumbers(store, witnessedPrefix(foreignHash))).toEqual([1, 2, 3])
  })

  test('that slept while others went on, and removed what lay at its number, signs nothing', async () => {
    const store = openMemoryStore()
    const awake = witnessOn(store)
    expect(await asked(awake, honest.body(0, 1))).toBe('200')
    const asleep = new EventEmitter()
    const sleeper = witnessOn(
      slowed(store, async (operation) => {
        if (operation !== 'put') return
        asleep.emit('sleeps')
        await once(asleep, 'wakes')
      }),
    )
    const sleeps = once(asleep, 'sleeps')
    const late = asked(sleeper, honest.body(1, 30))
    await sleeps
    for (let size = 1; size < 20; size++) expect(await asked(awake, honest.body(size, size + 1))).toBe('200')
    expect(await listNumbers(store, witnessedPrefix(foreignHash))).toHaveLength(8)
    asleep.emit('wakes')
    expect(await late).toBe('409 20')
    expect(await asked(awake, honest.body(20, 21))).toBe('200')
  })

  test('that is killed between its record and its answer has cosigned: the ledger learns its size and goes on', async () => {
    const store = openMemoryStore()
    const killed = witnessOn({
      ...store,
      put: async (key, bytes) => {
        await store.put(key, bytes)
        throw new Error('killed')
      },
    })
    await expect(killed.answer(readRequest(honest.body(0, 5)))).rejects.toThrow('killed')
    const next = witnessOn(store)
    expect(await asked(next, honest.body(0, 5))).toBe('409 5')
    expect(await asked(next, branches[3].body(0, 6))).toBe('409 5')
    expect(await asked(next, honest.body(5, 5))).toBe('200')
    expect(await asked(next, honest.body(5, 8))).toBe('200')
  })

  test('whose last record is damaged signs nothing, and no earlier one counts in its place', async () => {
    const store = openMemoryStore()
    const witness = witnessOn(store)
    for (const size of [0, 1]) await asked(witness, honest.body(size, size + 1))
    await store.replace(witnessedKey(foreignHash, 2), utf8('x'))
    expect(await asked(witness, honest.body(1, 2))).toBe('StoreUnavailable')
    expect(await asked(witness, honest.body(2, 2))).toBe('StoreUnavailable')
    await expect(witness.head(foreignHash)).rejects.toThrow('damaged')
  })
})

describe('evidence', () => {
  test('is two heads of one size, and a larger head that goes on by no proof; not what others can make', async () => {
    const store = openMemoryStore()
    const witness = witnessOn(store)
    const kept = async (): Promise<number> => (await store.list(evidencePrefix(foreignHash))).length
    await asked(witness, honest.body(0, 20))
    expect(await asked(witness, honest.body(3, 20))).toBe('409 20')
    expect(
      await asked(witness, addCheckpointBody({ oldSize: 20, proof: [new Uint8Array(32)], note: honest.note(20) })),
    ).toBe('InvalidRequest')
    const unsigned = { text: branches[1].note(20).text, signatures: honest.note(20).signatures }
    expect(await asked(witness, addCheckpointBody({ oldSize: 20, proof: [], note: unsigned }))).toBe('Forbidden')
    expect(await kept()).toBe(0)
    expect(await asked(witness, branches[1].body(20, 20))).toBe('InvalidRequest')
    expect(await asked(witness, branches[1].body(20, 20))).toBe('InvalidRequest')
    expect(await kept()).toBe(1)
    expect(await asked(witness, branches[1].body(20, 30))).toBe('InvalidRequest')
    expect(await asked(witness, branches[2].body(0, 20))).toBe('409 20')
    expect(await kept()).toBe(3)
    const [name] = await store.list(evidencePrefix(foreignHash))
    const { cosigned = '', signed } = evidenceCodec.decode(
      (await store.get(`${evidencePrefix(foreignHash)}/${name}`)) ?? new Uint8Array(),
    )
    for (const head of [cosigned, signed]) {
      expect(openHead(utf8(head), parsePolicy(utf8(foreignPolicy)))).toMatchObject({ ok: true })
    }
    expect(witness.counts).toEqual({ cosigned: 1, evidence: 3 })
  })

  test('has bounds, and room for two heads of one size where wrong proofs have filled the rest', async () => {
    const store = openMemoryStore()
    const witness = witnessOn(store)
    const kept = async (): Promise<number> => (await store.list(evidencePrefix(foreignHash))).length
    const strange = (n: number, forkAt: number): Branch => new Branch(`strange ${n}`, forkAt, 12)
    await asked(witness, honest.body(0, 10))
    for (let n = 0; n < 60; n++) await asked(witness, strange(n, 5).body(10, 12))
    expect(await kept()).toBe(50)
    for (let n = 0; n < 60; n++) await asked(witness, strange(n, 5).body(10, 10))
    expect(await kept()).toBe(100)
    expect(await asked(witness, honest.body(10, 12))).toBe('200')
    expect(parseNote((await witness.head(foreignHash)) ?? new Uint8Array()).signatures).toHaveLength(2)
  })
})
