// Enforces the tables of docs/ARCHITECTURE.md: who may import whom, no circles, one door per package, no barrels.

import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
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
  /** Floor, room (`node/log`) or file (`app/config.ts`) of `src/` → what it may import; `import(x)` by `import()` alone. */
  readonly allowed: ReadonlyMap<string, readonly string[]>
  /** Package → globs of its doors. */
  readonly doors: ReadonlyMap<string, readonly string[]>
}

const nodeSeam = 'src/libraries/base/ids/native-crypto.ts'
/** What of Node.js touches neither disk nor network nor processes. */
const pureModules = ['node:buffer', 'node:stream', 'node:util', 'node:zlib']

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
  const allowed = new Map<string, readonly string[]>()
  for (const table of ['Floor', 'Room', 'File']) {
    for (const [name = '', , imports = ''] of tableRows(markdown, table)) {
      const floor = name.includes('/') ? name.slice(0, name.indexOf('/')) : ''
      // A room of the same floor goes by its name alone.
      const whole = (item: string): string => (/[/.]/.test(item) ? item : `${floor}/${item}`)
      const items = imports.split(/\s+/).filter((item) => item !== '–' && item !== '')
      allowed.set(
        name,
        items.map((item) =>
          /^(?:import\()?(?:app|cli)\)?$/.test(item)
            ? item
            : item.replace(/^(import\()?(.*?)(\))?$/, (_, open = '', of, end = '') => open + whole(of) + end),
        ),
      )
    }
  }
  const doors = new Map(tableRows(markdown, 'Package').map(([name = '', places = '']) => [name, places.split(/\s+/)]))
  return { allowed, doors }
}

const rules = readRules(readFileSync(join(repository, 'docs/ARCHITECTURE.md'), 'utf8'))
const sources = filesUnder('src')

/** `src/node/log/x.ts` → `node/log`; `src/app/config.ts` → `app/config.ts`; `src/cli/x/y.ts` → `cli`. */
function unitOf(path: string): string {
  const [, floor = '', room = ''] = path.split('/')
  return floor === 'cli' || floor === 'app' || room === '' ? floor : `${floor}/${room}`
}

/** What a unit may import: what its floor may, and what its own row says. Undefined where it is in no table. */
function allowanceOf(unit: string, { allowed }: Rules): readonly string[] | undefined {
  const floor = unit.slice(0, unit.indexOf('/'))
  const isListed = allowed.has(unit) || floor === 'drivers' || floor === 'features'
  return isListed ? [...(allowed.get(floor) ?? []), ...(allowed.get(unit) ?? [])] : undefined
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
    if (unit === targetUnit) return undefined
    const allowance = allowanceOf(unit, from)
    if (allowance === undefined) return `${place}: ${unit} is in no table of docs/ARCHITECTURE.md`
    const isNamed = (name: string): boolean => allowance.some((glob) => matchesGlob(name, glob))
    const byCall = item.kind === 'dynamic' && allowance.includes(`import(${targetUnit})`)
    return isNamed(targetUnit) || byCall ? undefined : `${place}: ${unit} may not import ${targetUnit}`
  }
  if (item.specifier.startsWith('node:')) {
    const inBrowser = /^src\/features\/console\/(?:browser|islands)\//.test(path)
    const isLibrary = path.startsWith('src/libraries/') && path !== nodeSeam
    const isAllowed = path.startsWith('src/libraries/formats/') && pureModules.includes(item.specifier)
    return (inBrowser || isLibrary) && !isAllowed
      ? `${place}: ${unitOf(path)} may not import ${item.specifier}`
      : undefined
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
  const publicFiles = [
    'src/index.ts',
    'src/libraries/client/client.ts',
    'src/libraries/ledger/ledger.ts',
    'src/libraries/proof/verify.ts',
  ]
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

/** What is part of a circle, or leads to one: what imports nothing that is left goes first. */
function circles(imports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const left = new Set(imports.keys())
  const isFree = (name: string): boolean => [...(imports.get(name) ?? [])].every((other) => !left.has(other))
  for (let gone = [...left].filter(isFree); gone.length > 0; gone = [...left].filter(isFree)) {
    for (const name of gone) left.delete(name)
  }
  return [...left]
}

describe('the source tree', () => {
  test('imports only what docs/ARCHITECTURE.md allows', () => {
    expect(importFindings(sources, rules)).toEqual([])
  })

  test('has no circle, of files or of rooms, whether by import or by import()', () => {
    const targets = (path: string, text: string): string[] =>
      importsOf(text).flatMap(({ specifier }) => targetOf(path, specifier) ?? [])
    const ofFiles = new Map(sources.map(({ path, text }) => [path, new Set(targets(path, text))]))
    expect(circles(ofFiles)).toEqual([])
    const ofUnits = new Map<string, Set<string>>()
    for (const [path, found] of ofFiles) {
      const others = [...found].map(unitOf).filter((unit) => unit !== unitOf(path))
      ofUnits.set(unitOf(path), new Set([...(ofUnits.get(unitOf(path)) ?? []), ...others]))
    }
    expect(circles(ofUnits)).toEqual([])
  })

  test('has no barrels, wildcard exports or default exports', () => {
    expect(exportFindings(sources)).toEqual([])
  })

  test('has every room and every file beside them in the tables', () => {
    const units = new Set(sources.map(({ path }) => unitOf(path)))
    expect([...units].filter((unit) => allowanceOf(unit, rules) === undefined && !rules.allowed.has(unit))).toEqual([])
    expect(units.size).toBeGreaterThan(5)
  })

  test('uses every package that package.json asks for at run time, each through a door', () => {
    const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      dependencies: object
      optionalDependencies: object
      peerDependencies: object
    }
    const asked = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
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
        (path) =>
          !/^src\/libraries\/(?:base|model|proof)\/|^src\/libraries\/columnar\/outputs\/value-text\.ts$/.test(path),
      ),
    ).toEqual([])
  })
})

describe('the rules about imports', () => {
  const findings = (path: string, text: string): string[] => importFindings([{ path, text }], rules)

  test.each([
    ['src/libraries/model/a.ts', "import { x } from '../../node/store/layout.ts'"],
    ['src/libraries/base/a.ts', "import type { X } from '../model/names.ts'"],
    ['src/libraries/columnar/arrow/a.ts', "import { x } from '../../odf/block.ts'"],
    ['src/node/gateway/a.ts', "import { x } from '../builder/fold.ts'"],
    ['src/node/answers/a.ts', "const x = await import('../gateway/publish.ts')"],
    ['src/node/http/a.ts', "import { x } from '../store/layout.ts'"],
    ['src/node/http/a.ts', "import { x } from '../../features/ogc/routes.ts'"],
    ['src/node/store/a.ts', "import { x } from '../../drivers/s3/s3-store.ts'"],
    ['src/node/store/a.ts', "import type { Config } from '../config.ts'"],
    ['src/node/http/a.ts', "const x = await import('../../app/features.ts')"],
    ['src/features/ogc/a.ts', "import { x } from '../iceberg/routes.ts'"],
    ['src/features/ogc/a.ts', "import { x } from '../../app/node.ts'"],
    ['src/drivers/s3/a.ts', "import { x } from '../kafka/options.ts'"],
    ['src/drivers/s3/a.ts', "import { x } from '../../features/ogc/routes.ts'"],
    ['src/cli/a.ts', "import { x } from '../node/engine/engine.ts'"],
    ['src/node/store/a.ts', "import { x } from '../../../test/helpers/sources.ts'"],
    ['src/libraries/base/json/a.ts', "import { readFile } from 'node:fs/promises'"],
    ['src/libraries/proof/a.ts', "import { sign } from 'node:crypto'"],
    ['src/node/store/a.ts', "import { pino } from 'pino'"],
    ['src/node/engine/query.ts', "import { DuckDBInstance } from '@duckdb/node-api'"],
    ['src/node/http/a.ts', "import express from 'express'"],
    ['src/node/gateway/a.ts', "import\n  { a,\n b }\n from 'fastify'"],
    ['src/node/gateway/a.ts', "export { x } from '../answers/pin.ts'"],
    ['src/node/gateway/a.ts', "import '../access/tokens.ts'"],
    ['src/node/gateway/a.ts', "new Worker(new URL('../engine/process/child.ts', import.meta.url))"],
    ['src/node/unheard/a.ts', "import { x } from '../log/tail.ts'"],
    ['src/unheard/a.ts', "import { x } from '../libraries/base/bytes.ts'"],
  ])('find what %s may not do: %s', (path, text) => {
    expect(findings(path, text)).toHaveLength(1)
  })

  test.each([
    ['src/node/builder/a.ts', "import { x } from '../store/layout.ts'\nimport { y } from './fold.ts'"],
    ['src/features/toy/a.ts', "import { x } from '../../node/http/context.ts'"],
    ['src/app/features.ts', "const x = await import('../features/toy/feature.ts')"],
    ['src/cli/a.ts', "const { startNode } = await import('../app/node.ts')"],
    ['src/node/engine/duckdb/a.ts', "import { DuckDBInstance } from '@duckdb/node-api'"],
    [nodeSeam, "import { createHash } from 'node:crypto'"],
    ['src/node/http/a.ts', "import swagger from '@fastify/swagger'"],
    [
      'src/libraries/model/a.ts',
      "// import { x } from '../store/layout.ts'\n/* from 'fastify' */ export const from = 'fastify'",
    ],
    [
      'src/libraries/model/a.ts',
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
    for (const text of texts) expect(exportFindings([{ path: 'src/libraries/base/x.ts', text }])).toHaveLength(1)
    expect(exportFindings([{ path: 'src/index.ts', text: texts[2] ?? '' }])).toEqual([])
    expect(exportFindings([{ path: 'src/index.ts', text: texts[0] ?? '' }])).toHaveLength(1)
    expect(exportFindings([{ path: 'src/libraries/base/x.ts', text: '// export * is bad\nexport { a }' }])).toEqual([])
  })

  test('follow what a file loads, but not what it only names as a type', () => {
    const files = [
      {
        path: 'src/libraries/proof/verify.ts',
        text: "import type { T } from './t.ts'\nimport { a } from './a.ts'",
      },
      { path: 'src/libraries/proof/a.ts', text: "import { b } from 'fastify'" },
      { path: 'src/libraries/proof/t.ts', text: "import 'kafkajs'" },
    ]
    expect(loadedBy('src/libraries/proof/verify.ts', files)).toEqual({
      files: ['src/libraries/proof/a.ts', 'src/libraries/proof/verify.ts'],
      packages: ['fastify'],
    })
  })
})
