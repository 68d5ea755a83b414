// Slices as files, whether they lie loose or in packs: the bytes are those of the chain, in bounded room, and no file goes
// while a statement has it.

import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { HaltError, NodeError } from '../../../src/libraries/base/errors.ts'
import { openStore } from '../../../src/app/open-storage.ts'
import { dataKey, packFileKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { listPacks } from '../../../src/node/store/packs.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { SliceSource } from '../../../src/node/files/slice-source.ts'
import { type SliceFileList, SliceFiles } from '../../../src/node/files/slice-files.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { type FarStore, openFarStore } from '../../adapters/far-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { dataset, objectsOfChain, putAll } from '../store/packed-chain.ts'

const blocks = 17 * 256
const headSequence = blocks + 2
/** The creation has three blocks. */
const packedSlices = 17 * 256 - 3
const fileBytes = 4096

let home = ''
let root = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-slices-'))
  root = join(home, 'store')
  // Packed and swept in memory: of a chain of this length a disk takes its time.
  const held = withPacks(openMemoryStore())
  await putLog(held, { id: 'log', kind: 'file', partitions: 1 })
  await putAll(held, objectsOfChain(blocks))
  await packChain(held, dataset, headSequence)
  await markSwept(held)
  await sweepChain(held, dataset, { beforeMs: 0 })
  const disk = await openStore(root, 'write')
  await putLog(disk, { id: 'log', kind: 'file', partitions: 1 })
  for (const key of await keysOf(held, 'datasets')) await disk.put(key, must(await held.get(key), 'it is listed'))
  await disk.close()
})
afterAll(() => rm(home, { recursive: true, force: true }))

async function keysOf(held: ObjectStore, prefix: string): Promise<string[]> {
  const names = await held.list(prefix)
  if (names.length === 0) return [prefix]
  return (await Promise.all(names.map((name) => keysOf(held, `${prefix}/${name}`)))).flat()
}

const bytesOf = (number: number): Uint8Array => utf8(`slice ${number}`)
const at = (number: number) => ({ hash: sha3Hash(bytesOf(number)), sizeBytes: 1000, sequence: number + 3 })
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)
const wanted = (numbers: readonly number[]) => ({ id: dataset, numbers, at })

async function expectFiles({ path }: SliceFileList, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) expect(new Uint8Array(await readFile(path(number)))).toEqual(bytesOf(number))
}

let store: ObjectStore
let dir = ''
beforeEach(async () => {
  store = await openStore(root, 'read')
  dir = await mkdtemp(join(home, 'cache-'))
})
afterEach(() => store.close())
const filesOf = (mostBytes: number, over = store, clock = systemClock): SliceFiles =>
  new SliceFiles({ store: over, dir, mostBytes, clock })
const plenty = 2 ** 40
const filesIn = async (folder: string): Promise<number> =>
  (await readdir(folder, { recursive: true })).filter((name) => /\/f1620[0-9a-f]{64}-\d+$/.test(name)).length

test('lie where they are as long as the loose copies of the store stay', async () => {
  const list = await filesOf(0).open(wanted(range(0, blocks)))
  expect(list.list).toBe(dataset)
  expect(list.path(5)).toBe(store.fileOf(dataKey(dataset, at(5).hash)))
  list.close('done')
})

describe('of a store whose loose copies are gone', () => {
  beforeAll(async () => {
    const writer = await openStore(root, 'write')
    await markSwept(writer)
    await writer.close()
  })

  test('come out of the packs, each once; those that no pack holds lie loose', async () => {
    const files = filesOf(plenty)
    const first = await files.open(wanted(range(200, 300)))
    await expectFiles(first, range(200, 300))
    expect(await filesIn(dir)).toBe(100)
    const { mtimeMs } = await stat(first.path(250))
    const all = await files.open(wanted(range(0, blocks)))
    expect(all.list).toBe(first.list)
    expect(all.path(250)).toBe(first.path(250))
    expect((await stat(all.path(250))).mtimeMs).toBe(mtimeMs)
    expect(await filesIn(dir)).toBe(packedSlices)
    await expectFiles(all, range(0, blocks))
    expect(all.path(blocks - 1)).toContain(root)
    for (const list of [first, all]) list.close('done')
  })

  test('make room for one another, least recently used first, never those in use', async () => {
    const files = filesOf(3 * 256 * fileBytes)
    const pages = [0, 1, 2, 3, 4].map((page) => range(Math.max(0, 256 * page - 3), 256 * page + 253))
    const numbersOf = (page: number): readonly number[] => must(pages[page], 'one of them')
    const held = await files.open(wanted(numbersOf(0)))
    for (const page of [1, 2, 1, 3]) (await files.open(wanted(numbersOf(page)))).close('done')
    // 2 was used before 1.
    expect(await filesIn(dir)).toBe(3 * 256 - 3)
    const folders = async (): Promise<string[]> => {
      const names = await readdir(dir, { recursive: true })
      return names
        .filter((name) => /^folders\/.*\/\d+$/.test(name))
        .map((name) => name.split('/').at(-1) ?? '')
        .sort()
    }
    expect(await folders()).toEqual(['0', '1', '3'])
    const others = await Promise.all([1, 3].map((page) => files.open(wanted(numbersOf(page)))))
    const refused = await files.open(wanted(numbersOf(4))).catch((error: unknown) => error)
    expect(refused instanceof NodeError && refused.kind).toBe('Saturated')
    await expectFiles(held, numbersOf(0))
    others[0]?.close('done')
    const last = await files.open(wanted(numbersOf(4)))
    expect(await folders()).toEqual(['0', '3', '4'])
    for (const list of [held, last, ...others.slice(1)]) list.close('done')
  })

  test('are refused for a statement that needs more than there may be', async () => {
    const files = filesOf(300 * fileBytes)
    const refused = await files.open(wanted(range(0, 600))).catch((error: unknown) => error)
    expect(refused instanceof NodeError && refused.kind).toBe('QueryNotAllowed')
    // What it had held is free again.
    const list = await files.open(wanted(range(1000, 1250)))
    await expectFiles(list, range(1000, 1250))
    list.close('done')
  })

  test('are made once for all who ask at the same time, and made again where a reader failed', async () => {
    const files = filesOf(plenty)
    const lists = await Promise.all(range(0, 8).map((i) => files.open(wanted(range(i * 10, 500)))))
    for (const list of lists) await expectFiles(list, range(80, 100))
    expect(await filesIn(dir)).toBe(500)
    const path = lists[0]?.path(90) ?? ''
    await rm(path)
    for (const [i, list] of lists.entries()) list.close(i === 7 ? 'suspect' : 'done')
    const again = await files.open(wanted([90]))
    expect(again.path(90)).toBe(path)
    await expectFiles(again, [90])
    again.close('done')
  })

  test('end with a caller who has gone', async () => {
    const gone = AbortSignal.abort(new TypeError('gone'))
    await expect(filesOf(plenty).open(wanted(range(0, 10)), gone)).rejects.toThrow('gone')
  })

  test('of a damaged pack are refused', async () => {
    const files = filesOf(plenty)
    const [pack] = await listPacks(store, dataset)
    const key = packFileKey(dataset, must(pack, 'a pack').record.hash)
    const damaged: ObjectStore = {
      ...store,
      async getRange(asked, start, end) {
        const bytes = await store.getRange(asked, start, end)
        return asked === key && bytes !== undefined && start < 10_000 ? bytes.map((byte) => byte ^ 1) : bytes
      },
    }
    await expect(filesOf(plenty, damaged).open(wanted([0, 1]))).rejects.toThrow(HaltError)
    const list = await files.open(wanted([0, 1]))
    await expectFiles(list, [0, 1])
    list.close('done')
  })

  test('come out of the pack that has taken the place of another', async () => {
    const clock = handClock()
    const [large] = await listPacks(store, dataset)
    let isGone = false
    const moving: ObjectStore = {
      ...store,
      list: async (prefix) => (isGone || !/\/packs(?:\/0)?$/.test(prefix) ? await store.list(prefix) : ['0']),
      // At first it seems that another pack is there.
      get: async (key) => {
        const bytes = await store.get(key)
        if (isGone || !key.endsWith('packs/0/0')) return bytes
        return utf8(`{"hash":"f1620${'0'.repeat(64)}","sizeBytes":${large?.record.sizeBytes}}`)
      },
      getRange: async (key, start, end) => {
        if (!key.includes(`f1620${'0'.repeat(64)}`)) return await store.getRange(key, start, end)
        isGone = true
        return undefined
      },
    }
    const list = await filesOf(plenty, moving, clock).open(wanted(range(0, 30)))
    await expectFiles(list, range(0, 30))
    list.close('done')
  })
})

describe('of a store elsewhere', () => {
  let far: FarStore
  beforeAll(async () => {
    far = openFarStore()
    await putLog(far, { id: 'log', kind: 'file', partitions: 1 })
    const disk = await openStore(root, 'read')
    for (const key of await keysOf(disk, 'datasets')) await far.put(key, must(await disk.get(key), 'it is listed'))
    await disk.close()
  })
  const overFar = (mostBytes = plenty): SliceFiles => filesOf(mostBytes, withPacks(far))
  const requestsOf = async (work: () => Promise<unknown>): Promise<number> => {
    far.keys.length = 0
    await work()
    return far.keys.length
  }

  test('are copies, packed or not, fetched with few requests and then with none', async () => {
    const files = overFar()
    const cold = await requestsOf(async () =>
      expectAndClose(await files.open(wanted(range(0, blocks))), range(0, blocks)),
    )
    // 17 packs, each its record, trailer and index, and what lies in it; the last blocks lie loose.
    expect(cold).toBeLessThan(60)
    expect(await filesIn(dir)).toBe(blocks)
    const warm = async () => expectAndClose(await files.open(wanted(range(0, blocks))), [0, 3000, blocks - 1])
    expect(await requestsOf(warm)).toBe(0)
  })

  test('are found again by the next process, which fetches only what is no longer whole', async () => {
    const first = await overFar().open(wanted(range(0, 600)))
    await writeFile(first.path(7), 'slice of another')
    await rm(first.path(8))
    const files = overFar()
    const again = await files.open(wanted(range(300, 600)))
    expect(again.path(300)).toBe(first.path(300))
    expect(far.keys.length).toBeGreaterThan(0)
    const fetched = await requestsOf(async () => expectAndClose(await files.open(wanted(range(0, 600))), range(0, 600)))
    expect(fetched).toBeGreaterThan(0)
    expect(fetched).toBeLessThan(30)
    again.close('done')
    const whole = overFar()
    expect(await requestsOf(async () => expectAndClose(await whole.open(wanted(range(0, 600))), range(0, 600)))).toBe(0)
  })

  test('that somebody writes to while they are in use are fetched anew by who opens them next', async () => {
    const files = overFar()
    const held = await files.open(wanted(range(0, 600)))
    await writeFile(held.path(7), 'slice 8')
    await rm(held.path(8))
    await writeFile(held.path(9), '')
    const fetched = await requestsOf(async () => expectAndClose(await files.open(wanted(range(0, 600))), range(0, 600)))
    expect(fetched).toBeGreaterThan(0)
    expect(await requestsOf(async () => expectAndClose(await files.open(wanted(range(0, 600))), range(0, 600)))).toBe(0)
    held.close('done')
  })

  test('are made again where somebody removed the cache or put something else in its place', async () => {
    const files = overFar()
    const works = async (): Promise<void> => expectAndClose(await files.open(wanted(range(0, 600))), range(0, 600))
    const held = await files.open(wanted(range(0, 300)))
    const path = held.path(7)
    const page = dirname(path)
    const another = async (place: string, what: 'folder' | 'file' | 'nothing'): Promise<void> => {
      await rm(place, { recursive: true, force: true })
      if (what === 'folder') await mkdir(place)
      if (what === 'file') await writeFile(place, 'of another program')
      await works()
    }
    await another(path, 'folder')
    await another(page, 'nothing')
    held.close('done')
    await another(page, 'file')
    await another(dirname(page), 'file')
    const again = await files.open(wanted(range(0, 300)))
    await another(dir, 'nothing')
    await expectFiles(again, [0, 299])
    again.close('suspect')
    await works()
    await files.close()
  })

  test('that an earlier process left make room for others, and what is no page is removed', async () => {
    const first = overFar()
    for (const page of [0, 1, 2]) {
      const numbers = range(Math.max(0, 256 * page - 3), 256 * page + 253)
      await expectAndClose(await first.open(wanted(numbers)), numbers)
    }
    const left = join(dir, 'folders', 'of', 'no index')
    await mkdir(left, { recursive: true })
    const files = overFar(2 * 256 * fileBytes)
    await expectAndClose(await files.open(wanted(range(253, 509))), range(253, 509))
    await expectAndClose(await files.open(wanted(range(1000, 1020))), range(1000, 1020))
    expect(await filesIn(dir)).toBe(256 + 20)
    await expect(stat(left)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('are refused where they are missing or have other bytes', async () => {
    const number = blocks - 1
    const key = dataKey(dataset, at(number).hash)
    const bytes = must(await far.get(key), 'a loose slice')
    await far.replace(key, utf8('slice of another'))
    await expect(overFar().open(wanted([number]))).rejects.toThrow(/damaged/)
    await far.delete(key)
    await expect(overFar().open(wanted([number]))).rejects.toThrow(/missing/)
    await far.put(key, bytes)
    await expectAndClose(await overFar().open(wanted([number])), [number])
  })

  test('can be read by ranges while they are held', async () => {
    const { read, close } = await overFar().reading(wanted([4, 5]))
    expect(await read(5, [0, 7])).toEqual(bytesOf(5))
    expect(await read(4, [2, 7])).toEqual(bytesOf(4).subarray(2, 7))
    close()
  })
})

const most = 32 * 1024 * 1024
test.each([
  ['below', [most / 2, most / 2 - 1], [2]],
  ['at', [most / 2, most / 2], [2]],
  ['above', [most / 2, most / 2 + 1], [1, 1]],
  ['at the number of small ones,', Array<number>(16).fill(1), [16]],
  ['above the number of small ones,', Array<number>(17).fill(1), [16, 1]],
])('slices %s the most that are read at once are what they are', async (_, sizes, expected) => {
  const own = openMemoryStore()
  const slices = sizes.map((sizeBytes, number) => ({ ...at(number), sizeBytes }))
  for (const [number, { hash }] of slices.entries()) await own.put(dataKey(dataset, hash), bytesOf(number))
  let underWay = 0
  const together: number[] = []
  const get = async (key: string): Promise<Uint8Array | undefined> => {
    together.push(underWay++ === 0 ? 1 : (together.pop() ?? 0) + 1)
    await new Promise((resolve) => setImmediate(resolve))
    return await own.get(key).finally(() => underWay--)
  }
  const found: Uint8Array[] = []
  for await (const { bytes } of new SliceSource({ ...own, get }, handClock()).fetch(dataset, slices)) found.push(bytes)
  expect([found, together]).toEqual([range(0, sizes.length).map(bytesOf), expected])
})

async function expectAndClose(list: SliceFileList, numbers: readonly number[]): Promise<void> {
  await expectFiles(list, numbers)
  list.close('done')
}
