// Invariant: what the store has answered survives a loss of power at any step, whole; what it has not answered is
// there whole or not at all. Method: concurrent writers on a disk that forgets every name that was not fsynced.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { errorCode } from '../../../src/node/machine/disk/files.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { openDirectoryStore } from '../../../src/node/store/directory/directory-store.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { SimulatedDisk, systemError } from '../../adapters/simulated-disk.ts'

const root = '/store'

/** A disk whose operations take random numbers of turns, so that writers interleave, until power is lost. */
function failingDisk(stepsLeft: number, random: () => number) {
  const disk = new SimulatedDisk([`${root}/.tmp`])
  let taken = 0
  disk.before = async () => {
    for (let turns = Math.floor(random() * 4); turns > 0; turns--) await Promise.resolve()
    if (taken >= stepsLeft) throw systemError('POWER')
    taken++
  }
  /** What is on the disk when power is back: path → bytes. */
  const afterPowerLoss = (): Map<string, Uint8Array> => {
    disk.crash(() => false)
    return new Map(disk.paths(root).map((path) => [path, disk.bytes(`${root}/${path}`)]))
  }
  return { files: disk.files, afterPowerLoss, steps: () => taken }
}

const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes)

/** A small generator of its own, so that a failing case can be repeated from its seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const keys = ['a/1', 'a/2', 'a/b/1', 'c/d/e/1']

interface Answered {
  readonly key: string
  readonly value: string
  readonly outcome: 'stored' | 'exists'
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 5)
  yield bytes.subarray(5)
}

/** Writers put into few keys until power is lost; resolves with what was answered. */
async function write(store: ObjectStore, writers: number, random: () => number): Promise<Answered[]> {
  const answered: Answered[] = []
  const writer = async (name: number): Promise<void> => {
    for (let i = 0; i < 4; i++) {
      const key = keys[Math.floor(random() * keys.length)] ?? 'a/1'
      const value = `value ${name}.${i} of ${key}`
      const outcome =
        i % 2 === 0 ? await store.put(key, utf8(value)) : await store.putStream(pieces(utf8(value)), () => key)
      answered.push({ key, value, outcome })
    }
  }
  await Promise.allSettled(Array.from({ length: writers }, (_, name) => writer(name)))
  return answered
}

async function losePower(stepsLeft: number, seed: number, writers: number) {
  const random = randomFrom(seed)
  const disk = failingDisk(stepsLeft, random)
  const stores = await Promise.all([openDirectoryStore(root, disk.files), openDirectoryStore(root, disk.files)]).catch(
    () => [],
  )
  const answered = (await Promise.all(stores.map((store) => write(store, writers, random)))).flat()
  return { answered, left: disk.afterPowerLoss(), steps: disk.steps() }
}

test('objects that were answered for survive a loss of power, and nothing is torn', async () => {
  let [lost, kept] = [0, 0]
  await fc.assert(
    fc.asyncProperty(fc.nat(220), fc.nat(), fc.integer({ min: 1, max: 3 }), async (stepsLeft, seed, writers) => {
      const { answered, left, steps } = await losePower(stepsLeft, seed, writers)
      if (steps >= stepsLeft) lost++
      kept += answered.length
      const missing = answered.filter(({ key }) => !left.has(key))
      const changed = answered.filter(
        ({ key, value, outcome }) => outcome === 'stored' && text(left.get(key)) !== value,
      )
      const torn = keys.filter(
        (key) => left.has(key) && !/^value \d\.\d of [a-e/1-2]+$/.test(text(left.get(key)) ?? ''),
      )
      expect({ missing, changed, torn }).toEqual({ missing: [], changed: [], torn: [] })
    }),
    { numRuns: 300 },
  )
  expect(lost).toBeGreaterThan(100)
  expect(kept).toBeGreaterThan(500)
})

test('a replaced object is, after a loss of power, the last one answered for or a later one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(60), fc.nat(), async (stepsLeft, seed) => {
      const disk = failingDisk(stepsLeft, randomFrom(seed))
      let [tried, answered] = [0, 0]
      const write = async (): Promise<void> => {
        const store = await openDirectoryStore(root, disk.files)
        while (tried < 9) {
          tried++
          await store.replace('refs/head', utf8(`${tried}`))
          answered = tried
        }
      }
      const failure = await write().catch((error: unknown) => error)
      expect([undefined, 'POWER']).toContain(errorCode(failure))
      const left = Number(text(disk.afterPowerLoss().get('refs/head')) ?? 0)
      expect(left).toBeGreaterThanOrEqual(answered)
      expect(left).toBeLessThanOrEqual(tried)
    }),
    { numRuns: 150 },
  )
})
