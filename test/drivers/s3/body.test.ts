// What is spooled on its way to a bucket: in memory up to 8 MiB, above in a file without a name; the body is the same.

import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { withSpooled } from '../../../src/drivers/s3/body.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-body-'))
afterAll(() => rm(folder, { recursive: true }))

const memoryBytes = 8 * 1024 * 1024

test.each([
  [-1, 'memory'],
  [0, 'memory'],
  [1, 'a file'],
])('a stream of 8 MiB and %i bytes is held in %s', async (more, place) => {
  const bytes = Buffer.alloc(memoryBytes + more, 'some bytes')
  const directory = join(folder, String(more))
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 999_999) yield bytes.subarray(at, at + 999_999)
  }
  const whole = await withSpooled(directory, chunks(), async (body) => {
    expect(body.sizeBytes).toBe(bytes.length)
    expect(body.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
    const [start, end] = [bytes.length - 2_000_000, bytes.length - 1]
    expect(Buffer.concat(await Array.fromAsync(body.pieces(start, end))).equals(bytes.subarray(start, end))).toBe(true)
    return Buffer.concat(await Array.fromAsync(body.pieces()))
  })
  expect(whole.equals(bytes)).toBe(true)
  // The directory is made for the file, which has no name any more.
  expect(await readdir(directory).catch(() => 'none')).toEqual(place === 'memory' ? 'none' : [])
})
