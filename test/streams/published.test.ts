// Published schemas and examples never change: their hashes are locked. The types are those of the schemas.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const streams = new URL('../../streams/', import.meta.url)

/** `records/v1.schema.json` → SHA-256 of the file, for every schema and examples file. */
function hashes(): Record<string, string> {
  const out: Record<string, string> = {}
  for (const entry of readdirSync(streams, { recursive: true, encoding: 'utf8' })) {
    const path = entry.replaceAll('\\', '/')
    if (!/\/v[0-9]+\.(schema|examples)\.json$/.test(path)) continue
    out[path] = createHash('sha256')
      .update(readFileSync(new URL(path, streams)))
      .digest('hex')
  }
  return out
}

test('no published file differs from its locked hash, and none is missing or unlocked', () => {
  const locked: unknown = JSON.parse(readFileSync(new URL('lock.json', streams), 'utf8'))
  expect(hashes()).toEqual(locked)
})

test('the generated types are those of the schemas', async () => {
  const root = new URL('../../', import.meta.url)
  await promisify(execFile)(process.execPath, ['scripts/generate.ts', '--check'], { cwd: root })
})
