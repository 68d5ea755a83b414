// Enforces the tables of docs/ARCHITECTURE.md: who may import whom, one door per package, no barrels. (No cycles: .oxlintrc.json.)

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  codeOnly,
  filesUnder,
  type Import,
  importsOf,
  packageOf,
  repository,
  type SourceFile,
  targetOf,
} from './helpers/sources.ts'

interface Rules {
  /** Folder or file of `src/` → what it may import; `import(x)` may be loaded only by `import()`. */
  readonly allowed: ReadonlyMap<string, ReadonlySet<string>>
  /** Package → globs of its doors. */
  readonly doors: ReadonlyMap<string, readonly string[]>
}

const pureFolders = ['lib', 'model', 'json', 'ids', 'outputs', 'odf', 'arrow', 'parquet', 'chain', 'proof', 'bundle']
const nodeSeam = 'src/libraries/base/ids/native-crypto.ts'

/** Rows of the Markdown table whose header begins with `first`. */
function tableRows(markdown: string, first: string): string[][] {
  const lines = markdown.split('\n')
  const header = lines.findIndex((line) => line.startsWith(`| ${first} |`))
  expect(header, `a table that begins with ${first}`).toBeGreaterThanOrEqual(0)
  const end = lines.findIndex((line, at) => at > header && !line.startsWith('|'))
  return lines.slice(header + 2, end < 0 ? undefined : end).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split(' | ')
      .map((cell) => cell.replaceAll('`', '').trim()),
  )
}

function readRules(markdown: string): Rules {
  const allowed = new Map<string, ReadonlySet<string>>()
  for (const table of ['Folder', 'File']) {
    for (const [name = '', , imports = ''] of tableRows(markdown, table)) {
      allowed.set(name, new Set(imports.split(/\s+/).filter((item) => item !== '–')))
    }
  }
  const doors = new Map(tableRows(markdown, 'Package').map(([name = '', places = '']) => [name, places.split(/\s+/)]))
  return { allowed, doors }
}

const rules = readRules(readFileSync(join(repository, 'docs', 'ARCHITECTURE.md'), 'utf8'))
const sources = filesUnder('src')

/** `src/store/x.ts` → `store`; `src/main.ts` → `main.ts`. */
function unitOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function globMatches(glob: string, path: string): boolean {
  const pattern = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^src/${pattern}$`).test(path)
}

/** The door globs for a package, by name or by `@scope/*`. */
function doorsOf(name: string, { doors }: Rules): readonly string[] | undefined {
  return doors.get(name) ?? doors.get(`${name.split('/')[0]}/*`)
}

function importFinding(path: string, item: Import, from: Rules): string | undefined {
  const place = `${path}:${item.line}`
  const target = targetOf(path, item.specifier)
  if (target !== undefined) {
    if (!target.startsWith('src/')) return `${place} imports ${target}, which is outside src/`
    const [unit, targetUnit] = [unitOf(path), unitOf(target)]
    if (unit === targetUnit) {
      const isOther = unit === 'features' && path.split('/')[2] !== target.split('/')[2]
      return isOther ? `${place}: a feature may not import another` : undefined
    }
    const allowed = from.allowed.get(unit)
    if (allowed === undefined) return `${place}: ${unit} is in no table of docs/ARCHITECTURE.md`
    const byCall = item.kind === 'dynamic' && allowed.has(`import(${targetUnit})`)
    return allowed.has(targetUnit) || byCall ? undefined : `${place}: ${unit} may not import ${targetUnit}`
  }
  if (item.specifier.startsWith('node:')) {
    const inBrowser = /^src\/features\/console\/(?:browser|islands)\//.test(path)
    const pure = (inBrowser || pureFolders.includes(unitOf(path))) && path !== nodeSeam
    return pure ? `${place}: ${unitOf(path)} may not import ${item.specifier}` : undefined
  }
  const name = packageOf(item.specifier)
  const doors = doorsOf(name, from)
  if (doors === undefined) return `${place} imports ${name}, which has no door in docs/ARCHITECTURE.md`
  return doors.some((door) => globMatches(door, path))
    ? undefined
    : `${place} imports ${name}, whose door is ${doors.join(', ')}`
}

function importFindings(files: readonly SourceFile[], from: Rules): string[] {
  return files.flatMap(({ path, text }) => importsOf(text).flatMap((item) => importFinding(path, item, from) ?? []))
}

/** Re-exports, wildcard and default exports: names come from the file that defines them. */
function exportFindings(files: readonly SourceFile[]): string[] {
  const publicFiles = ['src/index.ts', 'src/libraries/proof/verify.ts']
  const shapes: [RegExp, string, boolean][] = [
    [/\bexport\s*\*/, 'exports everything of another file', false],
    [/\bexport\s+default\b/, 'has a default export', false],
    [/\bexport\s+(?:type\s+)?\{[^}]*\}\s*from\b/, 're-exports', true],
  ]
  return files.flatMap(({ path, text }) =>
    shapes
      .filter(
        ([shape, , allowedInPublic]) => shape.test(codeOnly(text)) && !(allowedInPublic && publicFiles.includes(path)),
      )
      .map(([, what]) => `${path} ${what}`),
  )
}

/** Files and packages that loading `entry` loads: value imports only, for type imports leave no trace at run time. */
function loadedBy(entry: string, files: readonly SourceFile[]): { files: string[]; packages: string[] } {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    for (const { specifier, kind } of importsOf(texts.get(path) ?? '')) {
      if (kind !== 'value') continue
      const target = targetOf(path, specifier)
      if (target === undefined) packages.add(specifier.startsWith('node:') ? specifier : packageOf(specifier))
      else visit(target)
    }
  }
  visit(entry)
  return { files: [...seen].sort(), packages: [...packages].sort() }
}

describe('the source tree', () => {
  test('imports only what docs/ARCHITECTURE.md allows', () => {
    expect(importFindings(sources, rules)).toEqual([])
  })

  test('has no barrels, wildcard exports or default exports', () => {
    expect(exportFindings(sources)).toEqual([])
  })

  test('has every folder and top-level file in the tables', () => {
    const units = new Set(sources.map(({ path }) => unitOf(path)))
    expect([...units].filter((unit) => !rules.allowed.has(unit))).toEqual([])
    expect(units.size).toBeGreaterThan(5)
  })

  test('uses every package that package.json asks for at run time, each through a door', () => {
    const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      dependencies: object
      peerDependencies: object
    }
    const asked = Object.keys(manifest.dependencies)
    // What users install beside it where they need it.
    const peers = Object.keys(manifest.peerDependencies)
    expect(asked.filter((name) => doorsOf(name, rules) === undefined)).toEqual([])
    // Pages carry what they import: nobody installs it beside the package.
    const installed = sources.filter(({ path }) => !path.startsWith('src/features/console/'))
    const imported = installed
      .flatMap(({ text }) => importsOf(text))
      .filter(({ specifier }) => /^[@a-z]/.test(specifier))
    const packages = new Set(
      imported.filter(({ specifier }) => !specifier.startsWith('node:')).map((item) => packageOf(item.specifier)),
    )
    expect([...packages].filter((name) => ![...asked, ...peers].includes(name))).toEqual([])
  })

  test('lets the offline verifier load neither DuckDB nor Kafka nor fastify, nor the store', () => {
    const { files, packages } = loadedBy('src/libraries/proof/verify.ts', sources)
    expect(files).toContain(nodeSeam)
    expect(packages.filter((name) => /duckdb|kafka|fastify|pino|hyparquet/.test(name))).toEqual([])
    expect(
      files.filter(
        (path) => !/^src\/(?:lib|model|json|ids|proof)\/|^src\/(?:outputs\/value-text|verify)\.ts$/.test(path),
      ),
    ).toEqual([])
  })
})

describe('the rules about imports', () => {
  const findings = (path: string, text: string): string[] => importFindings([{ path, text }], rules)

  test.each([
    ['src/model/a.ts', "import { x } from '../store/layout.ts'"],
    ['src/model/a.ts', "import type { X } from '../json/json.ts'"],
    ['src/gateway/a.ts', "import { x } from '../builder/fold.ts'"],
    ['src/replica/a.ts', "const x = await import('../gateway/publish.ts')"],
    ['src/http/a.ts', "import { x } from '../store/layout.ts'"],
    ['src/cli/a.ts', "import { startNode } from '../node.ts'"],
    ['src/store/a.ts', "import { x } from '../../test/helpers/sources.ts'"],
    ['src/json/a.ts', "import { readFile } from 'node:fs/promises'"],
    ['src/proof/a.ts', "import { sign } from 'node:crypto'"],
    ['src/store/a.ts', "import { pino } from 'pino'"],
    ['src/engine/query.ts', "import { DuckDBInstance } from '@duckdb/node-api'"],
    ['src/http/a.ts', "import express from 'express'"],
    ['src/gateway/a.ts', "import\n  { a,\n b }\n from 'fastify'"],
    ['src/gateway/a.ts', "export { x } from '../replica/pin.ts'"],
    ['src/gateway/a.ts', "import '../access/tokens.ts'"],
    ['src/gateway/a.ts', "new Worker(new URL('../engine/duckdb-child.ts', import.meta.url))"],
    ['src/unheard/a.ts', "import { x } from '../lib/bytes.ts'"],
  ])('find what %s may not do: %s', (path, text) => {
    expect(findings(path, text)).toHaveLength(1)
  })

  test.each([
    ['src/builder/a.ts', "import { x } from '../store/layout.ts'\nimport { y } from './fold.ts'"],
    ['src/cli/a.ts', "const { startNode } = await import('../node.ts')"],
    ['src/engine/duckdb-child.ts', "import { DuckDBInstance } from '@duckdb/node-api'"],
    ['src/libraries/base/ids/native-crypto.ts', "import { createHash } from 'node:crypto'"],
    ['src/http/a.ts', "import swagger from '@fastify/swagger'"],
    ['src/model/a.ts', "// import { x } from '../store/layout.ts'\n/* from 'fastify' */ export const from = 'fastify'"],
    [
      'src/model/a.ts',
      'const text = `import { x } from "fastify"`\nexport type A = "pino"'.replaceAll('import', 'imports'),
    ],
  ])('leave alone what %s may do: %s', (path, text) => {
    expect(findings(path, text)).toEqual([])
  })

  test('find barrels and default exports, but let the public files re-export', () => {
    const texts = [
      "export * from './a.ts'",
      'export default 1',
      "export { a } from './a.ts'",
      "export type { A } from './a.ts'",
    ]
    for (const text of texts) expect(exportFindings([{ path: 'src/lib/x.ts', text }])).toHaveLength(1)
    expect(exportFindings([{ path: 'src/index.ts', text: texts[2] ?? '' }])).toEqual([])
    expect(exportFindings([{ path: 'src/index.ts', text: texts[0] ?? '' }])).toHaveLength(1)
    expect(exportFindings([{ path: 'src/lib/x.ts', text: '// export * is bad\nexport { a }' }])).toEqual([])
  })

  test('follow what a file loads, but not what it only names as a type', () => {
    const files = [
      {
        path: 'src/libraries/proof/verify.ts',
        text: "import type { T } from './t.ts'\nimport { a } from './proof/a.ts'",
      },
      { path: 'src/proof/a.ts', text: "import { b } from 'fastify'" },
      { path: 'src/t.ts', text: "import 'kafkajs'" },
    ]
    expect(loadedBy('src/libraries/proof/verify.ts', files)).toEqual({
      files: ['src/proof/a.ts', 'src/libraries/proof/verify.ts'],
      packages: ['fastify'],
    })
  })
})
