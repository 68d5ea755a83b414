// What a package of one library holds: the compiled files that its entry leads to, types too, in their folders, and a
// package.json that names no dependency but those that these files import. Pure: files are handed in.

import { posix } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'

export interface Library {
  readonly name: string
  readonly description: string
  /** The compiled entry, without `.js`, in the folder that `read` knows. */
  readonly entry: string
  /** A command of it, in the same folder: its name, and its compiled file without `.js`. */
  readonly bin?: readonly [name: string, file: string]
}

/** What of the root's package.json counts here. */
export interface RootManifest {
  readonly version: string
  readonly license: string
  readonly repository?: unknown
  readonly dependencies: Readonly<Record<string, string>>
  /** Compiled files with what bundlers for browsers take instead, as `./dist/…`. */
  readonly browser: Readonly<Record<string, string>>
}

/** Measured: the oldest release that @noble/hashes names. */
const node = '>=20.19'

/**
 * The files of the package by path, package.json among them. `read` returns the text of a compiled file. Throws what it
 * throws, and an Error where a file cannot be parsed or imports what the root does not depend on.
 */
export function libraryPackage(
  library: Library,
  root: RootManifest,
  read: (path: string) => string,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  const dependencies: Record<string, string> = {}
  const browser: Record<string, string> = {}
  const add = (path: string): void => {
    if (files.has(path)) return
    const text = read(path)
    files.set(path, text.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '\n'))
    const twin = root.browser[`./dist/${path}`]?.replace('./dist/', '')
    if (twin !== undefined) {
      browser[`./${path}`] = `./${twin}`
      add(twin)
    }
    for (const specifier of specifiersIn(path, text)) {
      if (specifier.startsWith('.')) add(targetOf(path, specifier))
      else if (!specifier.startsWith('node:')) {
        const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
        const version = root.dependencies[name]
        if (version === undefined) throw new Error(`${path} imports ${specifier}, which is no dependency`)
        dependencies[name] = version
      }
    }
  }
  const types = `${library.entry}.d.ts`
  const main = `${library.entry}.js`
  add(main)
  add(types)
  if (library.bin !== undefined) add(`${library.bin[1]}.js`)
  const { name, description } = library
  const { version, license, repository } = root
  const manifest = {
    name,
    version,
    description,
    license,
    ...(repository !== undefined && { repository }),
    type: 'module',
    engines: { node },
    sideEffects: false,
    exports: { '.': { types: `./${types}`, default: `./${main}` } },
    ...(library.bin !== undefined && { bin: { [library.bin[0]]: `${library.bin[1]}.js` } }),
    browser,
    dependencies: Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))),
  }
  return files.set('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
}

/** What a compiled file imports, re-exports or names in a type. */
function specifiersIn(path: string, text: string): readonly string[] {
  const { module, program, errors } = parseSync(path, text, { sourceType: 'module' })
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const found = new Set<string>()
  for (const { moduleRequest } of module.staticImports) found.add(moduleRequest.value)
  for (const { entries } of module.staticExports)
    for (const { moduleRequest } of entries) if (moduleRequest !== null) found.add(moduleRequest.value)
  new Visitor({
    ImportExpression({ source }) {
      if (source.type !== 'Literal' || typeof source.value !== 'string') throw new Error(`${path}: import of what?`)
      found.add(source.value)
    },
    TSImportType: ({ source }) => void found.add(source.value),
  }).visit(program)
  return [...found]
}

/** The compiled file that a relative specifier of `path` means: in a file of types, the types of it. */
function targetOf(path: string, specifier: string): string {
  const target = posix.join(posix.dirname(path), specifier)
  return path.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target
}
