// Run by `npm pack` and `npm publish` before and after they read package.json. A checkout asks for Node.js 20, because
// it brings a newer one along; the published package runs on the reader's Node.js and says which one that must be.
// The build belongs to the package: a checkout without it runs its sources. The pages that a node serves stay: one may be
// running here.
// Usage: node scripts/published-manifest.ts pack|restore

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)
const manifest = fileURLToPath(new URL('package.json', root))
const engines = { checkout: '"node": ">=20"', published: '"node": ">=22.18"' }
/** Of dist, what scripts/build-pages.ts makes for a checkout too. */
const served = ['pages', 'rerun']

function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`package.json must hold ${from} exactly once`)
  return text.replace(from, to)
}

const text = readFileSync(manifest, 'utf8')
if (process.argv[2] === 'pack') {
  if (!text.includes(engines.published)) writeFileSync(manifest, replaceOnce(text, engines.checkout, engines.published))
} else if (process.argv[2] === 'restore') {
  writeFileSync(manifest, replaceOnce(text, engines.published, engines.checkout))
  for (const name of readdirSync(new URL('dist/', root))) {
    if (!served.includes(name)) rmSync(new URL(`dist/${name}`, root), { recursive: true, force: true })
  }
} else {
  throw new Error('usage: node scripts/published-manifest.ts pack|restore')
}
