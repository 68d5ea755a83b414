// The ways of a record and of a question, as docs/ARCHITECTURE.md lists their files, are what the code does: each file
// is imported by an earlier one, or the two meet in the log or the store; and the ways are short.

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../helpers/sources.ts'

const page = readFileSync(join(repository, 'docs/ARCHITECTURE.md'), 'utf8')
const source = join(repository, 'src')

/** Behind a port, or at the other side of the log: nothing of the way imports them. */
const met = [
  'node/log/file/file-log.ts',
  'node/builder/partition.ts',
  'node/store/directory/directory-store.ts',
  'node/engine/process/child.ts',
]

function filesOf(title: string): string[] {
  const section = page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const steps = [...section.matchAll(/^\d+\. (.*?):/gm)].map(([, step = '']) => step)
  return steps.flatMap((step) => [...step.matchAll(/`([^`]+\.ts)`/g)].map(([, name = '']) => name))
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, name = '']) =>
    relative(source, join(source, dirname(file), name)),
  )
}

test.each([
  { title: 'The way of a record', most: 15 },
  { title: 'The way of a question', most: 11 },
])('$title is at most $most files, each of which leads to the next', ({ title, most }) => {
  const files = filesOf(title)
  expect(files.length).toBeGreaterThan(5)
  expect(files.length).toBeLessThanOrEqual(most)
  const lost = files.filter(
    (file, at) => at > 0 && !met.includes(file) && !files.slice(0, at).some((one) => importsOf(one).includes(file)),
  )
  expect(lost).toEqual([])
})
