// A checkout for who only tries it: `npm ci --omit=dev && npm start` has the console and the page that checks proofs, warns of
// nothing, and takes little room.

import { cpSync, mkdtempSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import pages from '../../scripts/pages/package.json' with { type: 'json' }
import { copied, env, repository, run, serve } from './checkout.ts'

const home = mkdtempSync(join(tmpdir(), 'proofstream-try-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

test('a checkout without development packages serves its pages, in at most 150 MB of packages', async () => {
  const checkout = copied(home)
  unlinkSync(join(checkout, 'node_modules'))
  for (const name of ['package-lock.json', '.npmrc']) cpSync(join(repository, name), join(checkout, name))
  const install = ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund']
  const { stderr } = await run('npm', install, { cwd: checkout, env })
  expect(stderr).not.toMatch(/warn/i)
  const { stdout: size } = await run('du', ['-sm', 'node_modules'], { cwd: checkout })
  expect(Number.parseInt(size, 10)).toBeLessThanOrEqual(150)
  const { stderr: notes } = await run('npm', ['run', 'prestart'], { cwd: checkout, env })
  expect(notes).not.toContain('not built')
  const { url, stop } = await serve(join(checkout, 'bin', 'proofstream.js'), checkout)
  try {
    expect(await (await fetch(`${url}/assets/verify.html`)).text()).toContain('<script')
    const home = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(home) ?? []
    expect((await fetch(url + script)).headers.get('content-type')).toContain('javascript')
  } finally {
    await stop()
  }
})

test('the pages are built by the same packages in both kinds of checkout', () => {
  expect(manifest.devDependencies).toMatchObject(pages.dependencies)
})
