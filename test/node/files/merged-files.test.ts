// Merged files on disk: bounded in bytes, the dataset not asked for longest dropped first; what an earlier process has left
// is found again, and what a larger file has taken the place of goes.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { DatasetView } from '../../../src/node/catalog/dataset-chain.ts'
import { sha256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { concatBytes, toHex } from '../../../src/libraries/base/bytes.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { encodeSlice } from '../../../src/libraries/columnar/parquet/write-slice.ts'
import { MergedFiles } from '../../../src/node/files/merged-files.ts'
import type { MergedBytes } from '../../../src/node/machine/work/merge.ts'
import { schemaOf } from '../engine/helpers.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { sliceView } from '../../helpers/slice-chain.ts'

const dir = mkdtempSync(join(tmpdir(), 'proofstream-merged-'))
afterAll(() => rmSync(dir, { recursive: true }))

const fields = [{ name: 'k', type: { kind: 'Int64' } } as const]
const values = new Uint8Array(8 * 100)
const column = { name: 'k', type: { kind: 'Int64' } as const, nullable: false, rows: 100, nullCount: 0, values }
const file = concatBytes(encodeSlice({ fields }, [{ rows: 100, columns: [column] }]))
const merged: MergedBytes = { file, hash: toHex(sha256(file)) }
const base = sliceView(schemaOf(), [1, 1, 1, 1])
const viewOf = (digit: string): DatasetView => ({ ...base, id: `did:odf:fed01${digit.repeat(64)}` })
const [a, b, c] = [viewOf('a'), viewOf('b'), viewOf('c')]

const clock = handClock()

async function open(mostBytes = 2.5 * file.length, under = ''): Promise<MergedFiles> {
  const files = new MergedFiles({
    dir: join(dir, under),
    mostBytes,
    graceMs: 1_000,
    clock,
    logger: silentLogger,
  })
  await files.load()
  return files
}

async function make(
  files: MergedFiles,
  view: DatasetView,
  [from, to]: readonly [from: number, to: number],
): Promise<boolean> {
  const hasRoom = await files.makeRoom(view.id, file.length)
  if (hasRoom) await files.keep(view, { from, to }, merged)
  return hasRoom
}

it('drops the files of the dataset that was not asked for longest, and none for a dataset that nobody asked for', async () => {
  const files = await open()
  expect([await make(files, a, [0, 2]), await make(files, b, [0, 2])]).toEqual([true, true])
  await files.of(b)
  await files.of(a)
  expect([await make(files, c, [0, 2]), files.files, files.dropped]).toEqual([false, 2, 0])
  expect([await make(files, a, [2, 4]), files.files, files.dropped]).toEqual([true, 2, 1])
  expect([(await files.of(a)).length, await files.of(b), files.takeLost(b.id)]).toEqual([2, [], true])
  expect(files.bytes).toBe(2 * file.length)
  expect(await make(files, b, [0, 2])).toBe(false)
  files.close()
})

it('finds again what is whole, and of a range that was joined the larger file', async () => {
  const files = await open()
  const folder = join(dir, readdirSync(dir).find((name) => name.includes('aaaa')) ?? '')
  writeFileSync(join(folder, 'part'), 'half')
  expect([files.files, (await files.of(a)).map(({ from, to }) => [from, to])]).toEqual([
    2,
    [
      [0, 2],
      [2, 4],
    ],
  ])
  files.close()
  const larger = await open(10 * file.length)
  expect(readdirSync(folder)).not.toContain('part')
  await make(larger, a, [0, 4])
  // Who was told of the smaller one may read it for a while.
  expect((await larger.find(a, { from: 0, to: 2 }, merged.hash))?.to).toBe(2)
  expect(await larger.find(b, { from: 0, to: 2 }, merged.hash)).toBeUndefined()
  expect(await larger.find(a, { from: 0, to: 2 }, merged.hash.replace(/./g, '0'))).toBeUndefined()
  expect((await larger.of(a)).map(({ from, to }) => [from, to])).toEqual([[0, 4]])
  await clock.advance(1_000)
  await expect.poll(() => readdirSync(folder).length).toBe(1)
  await expect.poll(() => [larger.files, larger.bytes]).toEqual([1, file.length])
  // A view that ends before the file does reads its slices.
  expect(await larger.of({ ...a, slices: sliceView(schemaOf(), [1, 1, 1]).slices })).toEqual([])
  larger.close()
})

it('clears away what somebody put in the place of a file or a folder', async () => {
  const files = await open(10 * file.length, 'strange')
  await make(files, a, [0, 2])
  const [{ path } = { path: '' }] = await files.of(a)
  const folderFor = async (): Promise<void> => {
    rmSync(path)
    mkdirSync(path)
  }
  await folderFor()
  expect([await files.of(a), files.refused]).toEqual([[], 1])
  expect(await make(files, a, [0, 2])).toBe(true)
  await folderFor()
  files.close()
  const next = await open(10 * file.length, 'strange')
  expect([await next.of(a), await make(next, a, [0, 2])]).toEqual([[], true])
  expect((await next.of(a)).length).toBe(1)
  const fileForFolder = (): void => {
    rmSync(dirname(path), { recursive: true })
    writeFileSync(dirname(path), 'of another program')
  }
  fileForFolder()
  expect([await next.of(a), await make(next, a, [0, 2])]).toEqual([[], true])
  next.close()
  fileForFolder()
  const last = await open(10 * file.length, 'strange')
  expect([await last.of(a), await make(last, a, [0, 2]), (await last.of(a)).length]).toEqual([[], true, 1])
  last.close()
})

it('does not take what somebody wrote to after it was checked', async () => {
  const files = await open(10 * file.length, 'written')
  await make(files, a, [0, 2])
  const [{ path } = { path: '' }] = await files.of(a)
  const changed = Buffer.from(file)
  changed.writeUInt8(changed.readUInt8(10) ^ 1, 10)
  writeFileSync(path, changed)
  expect([await files.of(a), files.refused]).toEqual([[], 1])
  files.close()
})
