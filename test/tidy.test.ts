// Enforces what text can show of the style: lengths, headers, names, seams. The rules are in helpers/tidy-rules.ts.

import { matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import vitestConfig from '../vitest.config.ts'
import { filesUnder, importsOf, type SourceFile, targetOf } from './helpers/sources.ts'
import { mutants, planted } from './mutants/mutants.ts'
import { rules, tidyFindings } from './helpers/tidy-rules.ts'

const folders = ['src', 'test', 'bench', 'scripts', 'bin', 'docs', 'streams', 'texts', '.ci']
const files = folders.flatMap((folder) => filesUnder(folder, ['.ts', '.js', '.md', '.json', 'run']))

interface Project {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

function projects(): Project[] {
  // The configuration's type allows shapes that this one does not use.
  const config = vitestConfig as { test: { projects: { test: { include: string[]; exclude?: string[] } }[] } }
  return config.test.projects.map(({ test: { include, exclude = [] } }) => ({ include, exclude }))
}

/** Test files that no project runs, and files of `test/` that no test file uses. */
function deadTests(all: readonly SourceFile[], from: readonly Project[]): string[] {
  const runs = (path: string): boolean =>
    from.some(
      ({ include, exclude }) =>
        include.some((glob) => matchesGlob(path, glob)) && !exclude.some((glob) => matchesGlob(path, glob)),
    )
  const texts = new Map(all.map(({ path, text }) => [path, text]))
  const used = new Set<string>()
  const use = (path: string): void => {
    if (used.has(path)) return
    used.add(path)
    for (const { specifier } of importsOf(texts.get(path) ?? '')) {
      const target = targetOf(path, specifier)
      if (target !== undefined) use(target)
    }
  }
  const candidates = all.filter(
    ({ path }) => path.endsWith('.ts') && (path.startsWith('test/') || /\.(?:test|spec)\.ts$/.test(path)),
  )
  for (const { path } of all) if (runs(path) || !path.startsWith('test/')) use(path)
  return candidates
    .filter(({ path }) => (/\.(?:test|spec)\.ts$/.test(path) ? !runs(path) : !used.has(path) && !namedIn(all, path)))
    .map(({ path }) => path)
}

/** True when another file names this one, as a test does that starts a program. */
function namedIn(all: readonly SourceFile[], path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return all.some((file) => file.path !== path && file.text.includes(name))
}

describe('the repository', () => {
  test('is tidy', () => {
    expect(tidyFindings(files)).toEqual([])
    expect(files.length).toBeGreaterThan(50)
  })

  test('has a place for each bug that is planted to test the tests', () => {
    const sources = filesUnder('src')
    for (const mutant of mutants) expect(planted(sources, mutant).text).not.toBe('')
    const marks = sources.flatMap(({ text }) => [...text.matchAll(/\/\/ mutant: (.+)/g)].map(([, name]) => name))
    expect(marks.sort()).toEqual(mutants.map(({ name }) => name).sort())
  })

  test('has no dead test file', () => {
    expect(deadTests(files, projects())).toEqual([])
  })
})

const header = '// What it is.\n'
const long = (lines: number, line = 'x()\n'): string => line.repeat(lines)
// Written in two pieces, so that this file does not break the rules itself.
const home = ['', 'home', 'somebody', 'x'].join('/')
const only = ['test', 'only'].join('.')
const name = (text: string): string => text
const later = ['TO', 'DO'].join('')

/** For each rule: files that break it once, and files that do not. */
const cases: Record<string, { bad: [string, string][]; good: [string, string][] }> = {
  'has more than 400 lines': {
    bad: [['src/lib/a.ts', header + long(400)]],
    good: [
      ['src/lib/a.ts', header + long(399)],
      ['src/log/messages.gen.ts', long(900)],
    ],
  },
  'has a function of more than 70 lines': {
    bad: [
      ['src/lib/a.ts', `${header}export function f(a: number, b = (): void => {}): { x: number } {\n${long(71)}}\n`],
      ['src/lib/a.ts', `${header}const f = async (a: number): Promise<void> => {\n${long(71)}}\n`],
      ['src/lib/a.ts', `${header}class A {\n  async method<T>(a: T): Promise<T> {\n${long(71)}  }\n}\n`],
      ['src/lib/a.ts', `${header}go(async () => {\n${long(71)}})\n`],
    ],
    good: [
      ['src/lib/a.ts', `${header}function f(): void {\n${long(70)}}\n`],
      ['src/lib/a.ts', `${header}function f(): void {\n${long(60)}// why\n${long(15, '\n')}}\n`],
      ['src/lib/a.ts', `${header}const table = {\n${long(90, 'a: 1,\n')}}\n`],
      ['src/lib/a.ts', `${header}class A {\n${long(30, '  m(): void {\n    x()\n  }\n')}}\n`],
      ['test/a.test.ts', `describe('x', () => {\n${long(90)}})\n`],
    ],
  },
  'does not open with 1 to 6 comment lines': {
    bad: [
      ['src/lib/a.ts', 'export const a = 1\n'],
      ['src/lib/a.ts', `${long(7, '// x\n')}export const a = 1\n`],
      ['scripts/a.ts', '\n// late\n'],
    ],
    good: [
      ['src/lib/a.ts', `${long(6, '// x\n')}\nexport const a = 1\n`],
      ['scripts/a.ts', `#!/usr/bin/env node\n${header}x()\n`],
      ['test/a.test.ts', 'x()\n'],
    ],
  },
  'has a comment of more than 25 lines': {
    bad: [['src/lib/a.ts', `${header}\n${long(26, ' * x\n')}`]],
    good: [['src/lib/a.ts', `${header}\n${long(25, '// x\n')}x()\n${long(25, '// x\n')}`]],
  },
  'is not named in kebab-case': {
    bad: [
      ['src/lib/fileLog.ts', header],
      ['src/lib/file_log.ts', header],
      ['test/Log.test.ts', ''],
    ],
    good: [
      ['src/lib/file-log.ts', header],
      ['test/log/file-log.test.ts', ''],
      ['src/log/messages.gen.ts', header],
    ],
  },
  'casts without a reason': {
    bad: [
      ['src/lib/a.ts', `${header}\nconst a = b as number\n`],
      ['src/lib/a.ts', `${header}\nconst a = (b() as unknown) ?? c\n`],
      ['src/lib/a.ts', `${header}\n// why\nconst a = b\nconst c = d as number\n`],
    ],
    good: [
      ['src/lib/a.ts', `${header}\nconst a = b as number // the caller checked it\n`],
      ['src/lib/a.ts', `${header}\n// checked above\nconst a = b as number\nconst c = d as number\n`],
      [
        'src/lib/a.ts',
        `${header}\nconst a = ['x'] as const\nimport { x as y } from './b.ts'\nconst t = 'known as number'\n`,
      ],
      ['src/lib/a.ts', `${header}\nimport {\n  type x as y,\n} from './b.ts'\nimport * as z from './c.ts'\n`],
    ],
  },
  'runs only a part of its tests': {
    bad: [['test/a.test.ts', `${only}('x y', () => {})\n`]],
    good: [['test/a.test.ts', "test.each([1])('x y', () => {})\n"]],
  },
  'names a path of one machine': {
    bad: [
      ['src/lib/a.ts', `${header}const a = '${home}'\n`],
      ['docs/a.md', `See ${home}.\n`],
    ],
    good: [['docs/a.md', 'See https://example.org/home/page and ./proofstream-data.\n']],
  },
  'has a test whose name is a number or a ticket': {
    bad: [
      ['test/a.test.ts', `${name('test')}('#12', () => {})\n`],
      ['test/a.test.ts', `${name('it')}('ABC-12', () => {})\n`],
      ['test/a.test.ts', `${name('test')}('works', () => {})\n`],
    ],
    good: [['test/a.test.ts', "test('keeps the first bytes', () => {})\n"]],
  },
  'throws a bare Error': {
    bad: [
      ['src/lib/a.ts', `${header}throw new Error('x')\n`],
      ['src/lib/a.ts', `${header}throw Error('x')\n`],
    ],
    good: [
      ['src/lib/assert.ts', `${header}throw new Error('x')\n`],
      ['src/lib/a.ts', `${header}throw new NodeError('Internal', 'not new Error() here') // new Error(x)\n`],
      ['test/a.test.ts', "throw new Error('x')\n"],
    ],
  },
  'reads process.env': {
    bad: [['src/node.ts', `${header}const a = process.env.HOME\n`]],
    good: [
      ['src/config.ts', `${header}const a = process.env\n`],
      ['src/node.ts', `${header}const a = 'process.env'\n`],
    ],
  },
  'writes to the console': {
    bad: [['src/log/a.ts', `${header}console.log(1)\n`]],
    good: [['src/cli/a.ts', `${header}console.log(1)\n`]],
  },
  'reads a clock or sets a timer': {
    bad: [
      ['src/log/a.ts', `${header}Date.now()\n`],
      ['src/log/a.ts', `${header}new Date()\n`],
      ['src/log/a.ts', `${header}setTimeout(f, 1)\n`],
      ['src/log/a.ts', `${header}globalThis.setTimeout(f, 1)\n`],
      ['src/log/a.ts', `${header}const t = performance.now()\n`],
    ],
    good: [
      ['src/lib/clock.ts', `${header}Date.now()\n`],
      ['src/ops/a.ts', `${header}setInterval(f, 1)\n`],
      ['src/cli/a.ts', `${header}request.setTimeout(1)\n`],
      ['src/log/a.ts', `${header}new Date(clock.nowMs())\n`],
    ],
  },
  'uses Math.random': {
    bad: [['src/log/a.ts', `${header}Math.random()\n`]],
    good: [['src/lib/a.ts', `${header}Math.random()\n`]],
  },
  'leaves work for later': {
    bad: [['src/lib/a.ts', `${header}// ${later}: everything\n`]],
    good: [['src/lib/a.ts', `${header}const todo = 1\n`]],
  },
}

describe.each(rules)('the rule "$name"', (rule) => {
  test('finds what breaks it, and only that', () => {
    const { bad, good } = cases[rule.name] ?? { bad: [], good: [] }
    expect(bad.length, 'snippets that break the rule').toBeGreaterThan(0)
    for (const [path, text] of bad)
      expect([path, text, tidyFindings([{ path, text }], [rule])]).toMatchObject([path, text, [expect.any(String)]])
    for (const [path, text] of good)
      expect([path, text, tidyFindings([{ path, text }], [rule])]).toEqual([path, text, []])
  })
})

test('a test file that no project runs is found, and so is a file that no test uses', () => {
  const some: Project[] = [{ include: ['test/**/*.test.ts'], exclude: ['test/slow/**'] }]
  const all = [
    { path: 'test/a.test.ts', text: "import './used.ts'" },
    { path: 'test/used.ts', text: '' },
    { path: 'test/unused.ts', text: '' },
    { path: 'test/slow/b.test.ts', text: '' },
    { path: 'test/c.spec.ts', text: '' },
    { path: 'src/lib/d.test.ts', text: '' },
  ]
  expect(deadTests(all, some)).toEqual(['test/unused.ts', 'test/slow/b.test.ts', 'test/c.spec.ts', 'src/lib/d.test.ts'])
})
