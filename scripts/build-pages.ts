// Makes the pages that are files of their own: dist/console/verify.html holds its script and its style, and a policy that
// allows these two by their hashes and nothing else: no network, no other script, no markup from texts.
// Usage: node scripts/build-pages.ts [--if-installed]: without the development packages it then says so and ends well.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The text of verify.html. */
export async function verifyPage(): Promise<string> {
  const { browserBundle } = await import('./browser-bundle.ts')
  const script = await browserBundle('src/console/verify-page.ts')
  const style = read('src/console/verify.css')
  // Nothing in either may end its element before its time.
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error('script or style ends its own element')
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const parts: Readonly<Record<string, string>> = { POLICY: policy, STYLE: style, SCRIPT: script, VERSION: version }
  return read('src/console/verify.html').replace(/\b(?:POLICY|STYLE|SCRIPT|VERSION)\b/g, (name) => parts[name] ?? '')
}

/** Builds the pages into `dist/console`. */
export async function buildPages(): Promise<void> {
  const folder = new URL('dist/console/', root)
  mkdirSync(folder, { recursive: true })
  // Whole or not at all: a node may be reading it.
  const begun = new URL(`verify.html.${process.pid}`, folder)
  writeFileSync(begun, await verifyPage())
  renameSync(begun, new URL('verify.html', folder))
}

if (import.meta.main) {
  await buildPages().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !process.argv.includes('--if-installed')) throw error
    console.error('note: the pages were not built: the development packages are not installed')
  })
}
