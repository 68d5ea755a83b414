// Every link between pages of this repository leads to a file, and to a heading where it names one.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesUnder, repository } from '../helpers/sources.ts'

const pages = [
  ...filesUnder('docs', ['.md']),
  ...filesUnder('examples', ['.md']),
  ...filesUnder('streams', ['.md']),
  ...filesUnder('src', ['.md']),
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].map((path) => ({
    path,
    text: readFileSync(join(repository, path), 'utf8'),
  })),
]

function anchorsOf(text: string): Set<string> {
  const headings = text.matchAll(/^#+ (.*)$/gm)
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^a-z0-9 _-]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function brokenLinks(page: { readonly path: string; readonly text: string }): string[] {
  const targets = [...page.text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? join(repository, page.path) : join(repository, dirname(page.path), path)
    if (!existsSync(file)) return true
    return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).has(anchor)
  })
}

describe('the pages', () => {
  it('link to files and headings that exist', () => {
    const broken = pages.flatMap((page) => brokenLinks(page).map((target) => `${page.path}: ${target}`))
    expect(broken).toEqual([])
  })

  it('name files in code text that exist', () => {
    const named = pages
      .filter(({ path }) => !path.startsWith('docs/decisions/'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:docs|examples|src|streams|test|scripts|bench)\/[\w./-]*\w\.\w+)`/g)].map(
          ([, file = '']) => `${path}: ${file}`,
        ),
      )
    expect(named.filter((one) => !existsSync(join(repository, one.split(': ')[1] ?? '')))).toEqual([])
  })
})
