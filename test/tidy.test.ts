// Enforces what text can show of the style and .oxlintrc.json cannot: header comments, reasoned casts, seams, names of
// tests, places of planted bugs, dead test files.

import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../src/cli/program.ts'
import { clientEnvironment, loadConfig, optionTable } from '../src/app/config.ts'
import vitestConfig from '../vitest.config.ts'
import {
  codeOnly,
  filesUnder,
  importsOf,
  lineAt,
  repository,
  type SourceFile,
  targetOf,
  withoutComments,
} from './helpers/sources.ts'
import { mutants, planted } from './mutants/mutants.ts'
import { slowFiles } from './slow-files.ts'

const folders = ['src', 'test', 'bench', 'scripts', 'bin', 'docs', 'streams', 'texts', '.ci']
const files = folders.flatMap((folder) => filesUnder(folder, ['.ts', '.js', '.md', '.json', 'run']))

interface Rule {
  readonly applies: RegExp
  readonly except?: RegExp
  /** Indices in the text of the file where it is broken. */
  readonly find: (text: string) => readonly number[]
  /** A text that breaks it once. */
  readonly broken: string
}

const matches = (text: string, pattern: RegExp): number[] => [...text.matchAll(pattern)].map(({ index }) => index)

/** `as` needs a reason on its line or above; `as const` and renaming in imports do not. One may stand for lines in a row. */
function castsWithoutReason(text: string): number[] {
  const lines = text.split('\n')
  const code = codeOnly(text).replace(/\b(?:import|export)\b[^;'"]*?\{[^}]*\}/g, (clause) =>
    clause.replace(/[^\n]/g, ' '),
  )
  const found: number[] = []
  let reasonedAt = -2
  let start = 0
  code.split('\n').forEach((line, at) => {
    if (/[\w)\]}]\s+as\s+(?!const\b)[A-Za-z{[(]/.test(line)) {
      const comment = /\/\/ ?\S/.test(lines[at] ?? '') || /^\s*(?:\/\/|\*|\/\*)/.test(lines[at - 1] ?? '')
      if (comment || reasonedAt === at - 1) reasonedAt = at
      else found.push(start)
    }
    start += line.length + 1
  })
  return found
}

const source = /^src\/(?!.*\.gen\.ts$).*\.ts$/
const rules: Readonly<Record<string, Rule>> = {
  'does not open with 1 to 6 comment lines': {
    applies: /^(?:src|scripts|bench)\/(?!.*\.gen\.ts$).*\.ts$/,
    find: (text) => (/^(?:#!.*\n)?(?:\/\/.*\n){1,6}(?!\/\/)/.test(text) ? [] : [0]),
    broken: 'export const a = 1\n',
  },
  'casts without a reason': { applies: source, find: castsWithoutReason, broken: '\nconst a = b as number\n' },
  'throws a bare Error': {
    applies: source,
    except: /^src\/libraries\/base\/(?:assert|errors)\.ts$/,
    find: (text) => matches(codeOnly(text), /(?<![\w.])Error\(/g),
    broken: "throw new Error('not Error()') // new Error()\n",
  },
  'reads the time of the machine': {
    applies: source,
    except: /^src\/(?:libraries\/base|node\/machine)\//,
    find: (text) => matches(codeOnly(text), /\bnew Date\(\s*\)/g),
    broken: 'new Date()\n',
  },
  'names a path of one machine': {
    applies: /^/,
    find: (text) => matches(text, /(?<![\w.~*-])\/(?:home|Users|root|work|workspace)\/\w/g),
    broken: ['', 'home', 'somebody'].join('/'),
  },
  'has a test whose name is no sentence': {
    applies: /\.test\.ts$/,
    find: (text) => matches(withoutComments(text), /\b(?:test|it)\(\s*(['"`])(?:#?\d+|[A-Z]+-\d+|\w*)\1/g),
    broken: ['test', "('works', () => {})"].join(''),
  },
}

interface Project {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

function projects(): Project[] {
  // The configuration's type allows shapes that this one does not use.
  const config = vitestConfig as {
    test: { projects: { test: { include: string[]; exclude?: string[]; setupFiles?: string[] } }[] }
  }
  return config.test.projects.map(({ test: { include, exclude = [], setupFiles = [] } }) => ({
    include: [...include, ...setupFiles],
    exclude: exclude.filter((glob) => !slowFiles.includes(glob)),
  }))
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
  test.each(Object.entries(rules))('has no file that %s', (_, { applies, except, find, broken }) => {
    expect(find(broken)).toHaveLength(1)
    const judged = files.filter(({ path }) => applies.test(path) && except?.test(path) !== true)
    expect(judged.length).toBeGreaterThan(50)
    expect(judged.flatMap(({ path, text }) => find(text).map((at) => `${path}:${lineAt(text, at)}`))).toEqual([])
  })

  test('has a place for each bug that is planted to test the tests', () => {
    const sources = filesUnder('src')
    for (const mutant of mutants) expect(planted(sources, mutant).text).not.toBe('')
    const marks = sources.flatMap(({ text }) => [...text.matchAll(/\/\/ mutant: (.+)/g)].map(([, name = '']) => name))
    expect(marks.sort()).toEqual(mutants.map(({ name }) => name).sort())
  })

  test('leaves no test out of the quick ones that is not there', () => {
    expect(slowFiles.filter((glob) => !files.some(({ path }) => matchesGlob(path, glob)))).toEqual([])
  })

  test('has no part that is larger than docs/decisions/size.md says, and no part that it does not name', () => {
    const rows = readFileSync(join(repository, 'docs/decisions/size.md'), 'utf8').matchAll(
      /^\| (`.*`) \| ([\d,]+) \| (.*) ?\|$/gm,
    )
    const parts = [...rows].map(([, folders = '', most = '', why = '']) => ({
      folders: folders.replaceAll('`', '').split(' '),
      most: Number(most.replaceAll(',', '')) + (why.startsWith('only falls') ? 300 : 0),
    }))
    const linesOf = (folder: string): number =>
      filesUnder(folder).reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    const lines = parts.map(({ folders, most }) => ({
      folders,
      most,
      lines: folders.reduce((sum, one) => sum + linesOf(one), 0),
    }))
    expect(lines.filter(({ most, lines }) => lines > most)).toEqual([])
    const named = new Set(parts.flatMap(({ folders }) => folders))
    const places = filesUnder('src').map(({ path }) => path.split('/'))
    const found = places
      .filter((at) => at.length > 2)
      .map((at) => at.slice(0, /^(?:node|app|cli)$/.test(at[1] ?? '') ? 2 : 3).join('/'))
    expect([...new Set(found)].filter((part) => !named.has(part))).toEqual([])
    const rooms = new Set(places.filter(([, floor]) => floor === 'node').map((at) => at[2]))
    expect(rooms.size).toBeLessThanOrEqual(16)
  })

  test('has at most 37 options of a node and 35 commands, as the help shows them', () => {
    const program = createProgram({ clientEnvironment, loadConfig, optionTable }, [], async () => {})
    const serve = program.commands.find((command) => command.name() === 'serve')
    const flags = serve?.helpInformation().match(/^ +--/gm) ?? []
    expect(flags.length).toBe(optionTable.length + 1)
    // Seven of them are of the ledger: its name, its key, its delay, its witnesses and how long they are waited for, and the
    // authority that stamps its heads, and how often. Three are of the PostgreSQL door: its address and its certificate.
    expect(flags.length).toBeLessThanOrEqual(37)
    const commandsOf = (command: Command): string[] =>
      command.commands.length === 0 ? [command.name()] : command.commands.flatMap(commandsOf)
    const commands = commandsOf(program)
    // Four of them are of the ledger, one the way out where it cannot go on; one prints what shells complete them with, one makes
    // packs of evidence.
    expect(commands.length).toBeLessThanOrEqual(35)
  })

  test('has no dead test file', () => {
    expect(deadTests(files, projects())).toEqual([])
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
