// What is spooled on its way to a bucket is the same in memory as in a file without a name.

import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { withSpooled } from '../../../src/drivers/s3/body.ts'

test('a stream is held in memory up to 8 MiB, and above in a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-body-'))
  const spooled = async (sizeBytes: number): Promise<unknown> => {
    const bytes = Buffer.alloc(sizeBytes, 'some bytes')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const directory = join(folder, String(sizeBytes))
    await withSpooled(directory, Readable.from([bytes.subarray(0, 999), bytes.subarray(999)]), async (body) => {
      expect(body).toMatchObject({ sizeBytes, sha256 })
      expect((await buffer(body.pieces())).equals(bytes)).toBe(true)
    })
    return await readdir(directory).catch(() => 'none') // It is made for the file.
  }
  const most = 8 * 1024 * 1024
  expect([await spooled(most - 1), await spooled(most), await spooled(most + 1)]).toEqual(['none', 'none', []])
  await rm(folder, { recursive: true })
})
