// Makes the folders of the packages of single libraries, such as dist-packages/verify, from what
// `npm run build` has made. `npm pack ./dist-packages/verify` packs one.
// Usage: npm run packages

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Library, libraryPackage, type RootManifest } from './library-package.ts'

const libraries: readonly Library[] = [
  {
    name: '@proofstream/verify',
    description:
      'Checks evidence of Proofstream and Open Data Fabric nodes offline: saved answers, bundles, proofs of a ledger, receipts.',
    entry: 'libraries/proof/verify',
    bin: ['proofstream-verify', 'cli/evidence'],
  },
  {
    name: '@proofstream/client',
    description: 'A Proofstream node from JavaScript: asks, writes, listens, and checks what was answered.',
    entry: 'libraries/client/client',
  },
  {
    name: '@proofstream/ledger',
    description:
      'Transparency ledgers in the formats of C2SP: trees, tiles, signed heads, witnesses, proof files and their verdict.',
    entry: 'libraries/ledger/ledger',
  },
]

const home = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, home), 'utf8')
// The tests install what this file makes of it.
const root = JSON.parse(read('package.json')) as RootManifest

rmSync(new URL('dist-packages/', home), { recursive: true, force: true })
for (const library of libraries) {
  const folder = new URL(`dist-packages/${library.name.replace('@proofstream/', '')}/`, home)
  const files = new Map(libraryPackage(library, root, (path) => read(`dist/${path}`)))
  files.set('LICENSE', read('LICENSE'))
  files.set('README.md', read(`src/${library.entry.replace(/[^/]+$/, '')}README.md`))
  for (const [path, text] of files) {
    const file = new URL(path, folder)
    mkdirSync(new URL('.', file), { recursive: true })
    writeFileSync(file, text)
  }
}
