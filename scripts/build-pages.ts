// Makes the files of the console in dist/pages: a script of each island, the style, the icon; and the page that is a
// file of its own, verify.html, which holds its script and its style, and a policy that allows these two by their hashes
// and nothing else: no network, no other script, no markup from texts.
// Usage: node scripts/build-pages.ts [--if-installed]: without the development packages it then says so and ends well.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The text of verify.html. */
export async function verifyPage(): Promise<string> {
  const { browserBundle } = await import('./browser-bundle.ts')
  const script = await browserBundle('src/features/console/browser/verify-html.ts')
  const style = read('src/features/console/browser/console.css')
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
  return read('src/features/console/browser/verify.html').replace(
    /\b(?:POLICY|STYLE|SCRIPT|VERSION)\b/g,
    (name) => parts[name] ?? '',
  )
}

/** Builds the pages into `dist/pages`, and into `dist/rerun` the page that runs questions again. */
export async function buildPages(): Promise<void> {
  const { browserBundle } = await import('./browser-bundle.ts')
  putFiles('dist/pages/', [
    ['verify.html', await verifyPage()],
    ['console.css', read('src/features/console/browser/console.css')],
    ['icon.svg', read('src/features/console/browser/icon.svg')],
    ['land.json', read('src/features/console/browser/land.json')],
    ...(await islands()),
  ])
  putFiles('dist/rerun/', [
    ['page.html', read('src/features/console/browser/rerun.html')],
    ['page.css', read('src/features/console/browser/console.css')],
    ['page.js', await browserBundle('src/features/console/browser/rerun-page.ts')],
  ])
}

/** A folder with these files and no others. */
function putFiles(path: string, named: readonly (readonly [name: string, text: string])[]): void {
  const folder = new URL(path, root)
  const files = new Map(named)
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of files) {
    // Whole or not at all: a node may be reading it.
    const begun = new URL(`${name}.${process.pid}`, folder)
    writeFileSync(begun, text)
    renameSync(begun, new URL(name, folder))
  }
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(new URL(name, folder), { force: true })
}

/** Each file of `islands/` as a module of its own, by its name in dist/pages. */
async function islands(): Promise<[string, string][]> {
  const { browserModule } = await import('./browser-bundle.ts')
  const names = readdirSync(new URL('src/features/console/islands/', root))
  return await Promise.all(
    names.map(async (name): Promise<[string, string]> => [
      name.replace(/\.ts$/, '.js'),
      await browserModule(`src/features/console/islands/${name}`),
    ]),
  )
}

if (import.meta.main) {
  await buildPages().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !process.argv.includes('--if-installed')) throw error
    console.error('note: the pages were not built: the development packages are not installed')
  })
}
