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

/** Comments, then strings, templates and regular expressions. What stands in a template counts as text, too. */
const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|throw|yield|await))\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//gm

function blanked(text: string, isBlank: (token: string) => boolean): string {
  return text.replace(token, (found) => (isBlank(found) ? found.replace(/[^\n]/g, ' ') : found))
}

/** Code without comments; strings stay. */
export function withoutComments(text: string): string {
  return blanked(text, (found) => /^\/[/*]/.test(found))
}

/** Code without comments and without what stands in strings, templates and regular expressions. */
export function codeOnly(text: string): string {
  return blanked(text, () => true)
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
