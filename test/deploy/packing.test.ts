// Packing in a checkout where a node runs: what that node serves stays.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'

test('what the build made for the package goes, and the pages stay', async () => {
  const root = mkdtempSync(join(tmpdir(), 'proofstream-pack-'))
  const manifest = join(root, 'package.json')
  cpSync(join(repository, 'package.json'), manifest)
  cpSync(join(repository, 'scripts', 'published-manifest.ts'), join(root, 'scripts', 'published-manifest.ts'))
  for (const path of ['dist/pages/console.css', 'dist/rerun/page.js', 'dist/main.js', 'dist/http/server.js']) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), '')
  }
  const before = readFileSync(manifest, 'utf8')
  for (const step of ['pack', 'restore']) {
    const { code, stderr } = await runProgram(['scripts/published-manifest.ts', step], { cwd: root })
    expect([code, stderr]).toEqual([0, ''])
  }
  expect(readFileSync(manifest, 'utf8')).toBe(before)
  const left = ['dist/pages/console.css', 'dist/rerun/page.js', 'dist/main.js', 'dist/http'].filter((path) =>
    existsSync(join(root, path)),
  )
  expect(left).toEqual(['dist/pages/console.css', 'dist/rerun/page.js'])
})
