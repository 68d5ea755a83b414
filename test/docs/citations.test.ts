// Comments and pages cite only pages that are in the repository: sources by path, pages and tests also by bare name.
// Public specifications are cited by their full address. A numbered section that is cited is there, too.

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { filesUnder, repository } from '../helpers/sources.ts'

const comment = /(?<=^|\s)\/\/.*$|^\s*\/?\*.*$/gm
const address = /https?:\/\/\S+/g
const page = /(?<![\w./}-])(?:\.{1,2}\/)*[\w-][\w./-]*\.md\b/g
const names = new Set(filesUnder('docs', ['.md']).map(({ path }) => basename(path)))

const everyPath = ['src', 'test', 'bench', 'scripts'].flatMap((folder) => filesUnder(folder).map(({ path }) => path))

function missingPages(path: string, text: string): string[] {
  const prose = path.endsWith('.md') ? text : (text.match(comment) ?? []).join('\n')
  const isThere = (name: string): boolean =>
    existsSync(join(repository, dirname(path), name)) ||
    existsSync(join(repository, name)) ||
    (!path.startsWith('src/') && names.has(name))
  const cited = new Set(prose.replaceAll(address, '').match(page))
  return [...cited].filter((name) => !isThere(name)).map((name) => `${path} cites ${name}`)
}

test('no file cites a page that is not there', () => {
  const files = ['src', 'test', 'docs', 'scripts', 'bench'].flatMap((folder) => filesUnder(folder, ['.ts', '.md']))
  expect(files.flatMap(({ path, text }) => missingPages(path, text))).toEqual([])
})

const section = /(docs\/spec\/[\w-]+\.md) §(\d+)/g

test('a section that a source cites is one of the page', () => {
  const cited = filesUnder('src').flatMap(({ path, text }) =>
    [...text.matchAll(section)].map(([, page = '', number = '']) => ({ path, page, number })),
  )
  const missing = cited.filter(({ page, number }) => {
    const place = join(repository, page)
    return existsSync(place) && !readFileSync(place, 'utf8').includes(`\n## ${number}. `)
  })
  expect(missing).toEqual([])
  expect(cited.length).toBeGreaterThan(10)
})

/** Sources and tests as pages and comments name them; a test also without its ending, several by how they begin. */
const named = /(?<![\w/.@-])(?:src|test|bench|scripts)\/[\w./-]*\w/g
/** Sources as pages name them, in `src`. */
const source = /(?<=`)[a-z]+\/[\w./-]+\.ts(?=`)/g

test('sources and tests that are named are there', () => {
  const files = ['src', 'docs', 'bench'].flatMap((folder) => filesUnder(folder, ['.ts', '.md']))
  const missing = files.flatMap(({ path, text }) => {
    const prose = path.endsWith('.md') ? text : (text.match(comment) ?? []).join('\n')
    const inSource = path.endsWith('.md') ? (prose.match(source) ?? []).map((name) => `src/${name}`) : []
    return [...(prose.replaceAll(address, '').match(named) ?? []), ...inSource]
      .filter(
        (name) =>
          ![name, name.replace(/^src\//, '')].some(
            (one) => existsSync(join(repository, one)) || everyPath.some((path) => path.startsWith(one)),
          ),
      )
      .map((name) => `${path} names ${name}`)
  })
  expect(missing).toEqual([])
})

test('a page that is not there is found; one at an address or beside the file is no fault', () => {
  expect(missingPages('src/a.ts', '// See contract.md §4 and docs/spec/nowhere.md.')).toHaveLength(2)
  expect(missingPages('docs/cli.md', '[errors](errors.md), README.md, https://example.org/x.md')).toEqual([])
})
