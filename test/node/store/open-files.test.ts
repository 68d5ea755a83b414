import { expect, test } from 'vitest'
import type { FileSystem } from '../../../src/node/machine/disk/files.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { OpenFiles } from '../../../src/node/store/directory/open-files.ts'
import { SimulatedDisk } from '../../adapters/simulated-disk.ts'

/** A disk with files of their own name, and how many are open. */
async function diskWith(paths: readonly string[]) {
  const disk = new SimulatedDisk(['/d'])
  for (const path of paths) await disk.files.writeNew(path, [utf8(`bytes of ${path}`)])
  const count = { open: 0, opened: 0, most: 0 }
  const files: FileSystem = {
    ...disk.files,
    async open(path, mode) {
      const file = await disk.files.open(path, mode)
      count.opened++
      count.most = Math.max(count.most, ++count.open)
      let isOpen = true
      return {
        ...file,
        read: async (into, at) => {
          await new Promise((resolve) => setImmediate(resolve))
          if (!isOpen) throw new TypeError('read after close')
          return file.read(into, at)
        },
        close: async () => {
          if (isOpen) count.open--
          isOpen = false
          await file.close()
        },
      }
    },
  }
  return { files, count }
}

const paths = Array.from({ length: 20 }, (_, i) => `/d/${i}`)

test('few files stay open, and each read gets the bytes of its own', async () => {
  const { files, count } = await diskWith(paths)
  const held = new OpenFiles(files, 4)
  const reads = Array.from({ length: 400 }, (_, i) => paths[(i * 7) % paths.length] ?? '')
  const got = await Promise.all(reads.map((path) => held.readRange(path, 0, 9 + path.length, () => {})))
  expect(got.map((bytes) => Buffer.from(bytes).toString())).toEqual(reads.map((path) => `bytes of ${path}`))
  await expect.poll(() => count.open).toBe(4)
  const { opened } = count
  const last = reads.at(-1) ?? ''
  await held.readRange(last, 0, 5, () => {})
  expect(count.opened).toBe(opened)
  await held.close()
  expect(count.open).toBe(0)
})

test('a range outside the file is refused, and a file that is missing is looked for again', async () => {
  const { files, count } = await diskWith(['/d/0'])
  const held = new OpenFiles(files, 4)
  await expect(held.readRange('/d/1', 0, 1, () => {})).rejects.toMatchObject({ code: 'ENOENT' })
  await files.writeNew('/d/1', [utf8('x')])
  expect(await held.readRange('/d/1', 0, 1, () => {})).toEqual(utf8('x'))
  await expect(held.readRange('/d/1', 0, 2, () => {})).rejects.toThrow(RangeError)
  const check = (size: number): never => {
    throw new TypeError(`of ${size} bytes`)
  }
  await expect(held.readRange('/d/1', 0, 1, check)).rejects.toThrow('of 1 bytes')
  await held.close()
  expect(count.open).toBe(0)
})
