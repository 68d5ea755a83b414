// The source files as text, and just enough reading of TypeScript for the rules in architecture.test.ts and
// tidy.test.ts: what is comment, what is string, what is imported.

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'

export interface SourceFile {
  /** Relative to the repository, with `/`. */
  readonly path: string
  readonly text: string
}

export interface Import {
  readonly specifier: string
  readonly kind: 'value' | 'type' | 'dynamic'
  /** 1-based. */
  readonly line: number
}

export const repository = join(import.meta.dirname, '..', '..')
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', 'fixtures', 'vectors', 'dist', 'coverage', '.git'])

/** Files under `folder` (relative to the repository) whose name ends in one of `endings`, fixtures and vectors left out. */
export function filesUnder(folder: string, endings: readonly string[] = ['.ts']): SourceFile[] {
  const files: SourceFile[] = []
  const walk = (directory: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) {
        if (!skippedFolders.has(entry.name)) walk(path)
      } else if (endings.some((ending) => entry.name.endsWith(ending))) {
        files.push({ path: relative(repository, path).split(sep).join('/'), text: readFileSync(path, 'utf8') })
      }
    }
  }
  try {
    walk(join(repository, folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return files
}

/** 1-based line of an index in `text`. */
export function lineAt(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++
  return line
}

type Part = 'code' | 'comment' | 'string'

/** `text` with the given parts replaced by spaces; line ends and length stay. */
export function blank(text: string, parts: ReadonlySet<Part>): string {
  let out = ''
  let at = 0
  for (const [part, end] of scan(text)) {
    const piece = text.slice(at, end)
    out += parts.has(part) ? piece.replace(/[^\n]/g, ' ') : piece
    at = end
  }
  return out
}

/** Code without comments; strings stay. */
export function withoutComments(text: string): string {
  return blank(text, new Set(['comment']))
}

/** Code without comments and without what stands in strings, templates and regular expressions. */
export function codeOnly(text: string): string {
  return blank(text, new Set(['comment', 'string']))
}

const regexMayFollow = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|throw|yield|await))\s*$/

/** Splits a text into code, comments and strings (templates and regular expressions count as strings): part, end. */
function* scan(text: string): Generator<[Part, number]> {
  // Depth of braces inside each `${` that is open.
  const templates: number[] = []
  let start = 0
  let at = 0
  while (at < text.length) {
    const char = text[at]
    const end = specialEnd(text, at, templates)
    if (end !== undefined) {
      if (at > start) yield ['code', at]
      yield [char === '/' && /[/*]/.test(text[at + 1] ?? '') ? 'comment' : 'string', end]
      start = end
      at = end
      continue
    }
    const depth = templates.at(-1)
    if (depth !== undefined && char === '{') templates[templates.length - 1] = depth + 1
    if (depth !== undefined && char === '}') templates[templates.length - 1] = depth - 1
    at++
  }
  if (at > start) yield ['code', at]
}

/** End of the comment, string, template piece or regular expression that begins at `at`, or undefined for plain code. */
function specialEnd(text: string, at: number, templates: number[]): number | undefined {
  const char = text[at]
  const next = text[at + 1]
  if (char === '/' && next === '/') return endOr(text, text.indexOf('\n', at))
  if (char === '/' && next === '*') return endOr(text, text.indexOf('*/', at + 2) + 2, 1)
  if (char === "'" || char === '"') return quotedEnd(text, at, char)
  if (char === '`') return templateEnd(text, at + 1, templates)
  if (char === '}' && templates.at(-1) === 0) {
    templates.pop()
    return templateEnd(text, at + 1, templates)
  }
  if (char === '/' && regexMayFollow.test(text.slice(Math.max(0, at - 40), at))) return regexEnd(text, at)
  return undefined
}

function endOr(text: string, end: number, missing = -1): number {
  return end === missing ? text.length : end
}

function quotedEnd(text: string, at: number, quote: string): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === quote || text[i] === '\n') return i + 1
  }
  return text.length
}

function templateEnd(text: string, at: number, templates: number[]): number {
  for (let i = at; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '`') return i + 1
    else if (text[i] === '$' && text[i + 1] === '{') {
      templates.push(0)
      return i + 2
    }
  }
  return text.length
}

function regexEnd(text: string, at: number): number | undefined {
  let inClass = false
  for (let i = at + 1; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '[') inClass = true
    else if (text[i] === ']') inClass = false
    else if (text[i] === '/' && !inClass) return i + 1
  }
  return undefined
}

const importPattern =
  /\b(?:(import|export)\s+(type\s+)?(?:[\w$*\s{},]*?\bfrom\s*)?|import\s*\(\s*|import\.meta\.resolve\(\s*|new URL\(\s*)(['"])([^'"\n]+)\3/g

/** What a file imports, re-exports or loads: static, type-only, `import()`, `new URL('./x.ts', …)`. */
export function importsOf(text: string): Import[] {
  const imports: Import[] = []
  for (const match of withoutComments(text).matchAll(importPattern)) {
    const [whole, keyword, typeOnly, , specifier = ''] = match
    const loads = keyword === undefined
    if (whole.startsWith('new URL') && !/^\.{1,2}\/.*\.[jt]s$/.test(specifier)) continue
    if (keyword === 'export' && !/\bfrom\b/.test(whole)) continue
    const kind = loads ? 'dynamic' : typeOnly === undefined ? 'value' : 'type'
    imports.push({ specifier, kind, line: lineAt(text, match.index) })
  }
  return imports
}

/** The repository path that a relative specifier in `from` means, or undefined for a package. */
export function targetOf(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined
}

/** `@scope/name/x` → `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
