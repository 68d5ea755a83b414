// The engine for browsers, 150 MB, which nodes and tests use where it is installed beside them; `.ci/run` does so.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { repository } from './sources.ts'

const name = '@duckdb/duckdb-wasm'
const { peerDependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  peerDependencies: Readonly<Record<string, string>>
}

/** The release that nodes serve. */
export const browserEngineVersion = peerDependencies[name] ?? 'none'

export const hasBrowserEngine = isInstalled()
if (!hasBrowserEngine) {
  const message = `the engine for browsers is not here: npm install --no-save ${name}@${browserEngineVersion}`
  if (process.env['CI'] === 'true') throw new Error(message)
  console.warn(`NOT RUN: ${message}`)
}

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(`${name}/dist/duckdb-eh.wasm`)
    return true
  } catch {
    return false
  }
}
