// The rules of tidiness that text alone can show. Each is a function of one file that returns its findings;
// tidy.test.ts runs them over the repository, and each over a snippet that breaks it.

import { basename } from 'node:path'
import { codeOnly, lineAt, type SourceFile, withoutComments } from './sources.ts'

export interface Rule {
  readonly name: string
  /** Files that the rule is about. */
  readonly applies: (path: string) => boolean
  /** `path:line what is wrong`. */
  readonly check: (file: SourceFile) => string[]
}

const inSource = (path: string): boolean => path.startsWith('src/') && !path.endsWith('.gen.ts')
const handWritten = (path: string): boolean => path.endsWith('.ts') && !path.endsWith('.gen.ts')

const maxFileLines = 400
const maxFunctionLines = 70
const maxCommentLines = 25

/** A finding for each match of `pattern` in `searched`. */
function each(file: SourceFile, searched: string, pattern: RegExp, what: string): string[] {
  return [...searched.matchAll(pattern)].map((match) => `${file.path}:${lineAt(searched, match.index)} ${what}`)
}

/** A rule that forbids a pattern in code, except in some files. */
function forbid(name: string, pattern: RegExp, except: RegExp): Rule {
  return {
    name,
    applies: (path) => inSource(path) && !except.test(path),
    check: (file) => each(file, codeOnly(file.text), pattern, name),
  }
}

const fileLength: Rule = {
  name: `has more than ${maxFileLines} lines`,
  applies: handWritten,
  check(file) {
    const lines = file.text.split('\n').length - 1
    return lines > maxFileLines ? [`${file.path}:1 has ${lines} lines, more than ${maxFileLines}`] : []
  },
}

/** Index of the bracket that closes the one at `open`, or the end. Works on code without comments and strings. */
function closing(code: string, open: number): number {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    const char = code.charAt(at)
    if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char) && --depth === 0) return at
  }
  return code.length
}

/** Where the body of a function begins whose parameter list opens at `params`, or undefined when it has none. */
function bodyStart(code: string, params: number): number | undefined {
  const after = closing(code, params) + 1
  const head = /^\s*(?::[^{};=]*)?(?:=>\s*)?\{/.exec(code.slice(after, after + 600))
  if (head === null) return undefined
  let start = after + head[0].length - 1
  for (;;) {
    // Braces that another brace, `|`, `&` or `=>` follows were those of a return type.
    const next = /^\s*(?:\[\])*\s*(?:[|&>][^{};=]*)?(?:=>\s*)?\{/.exec(
      code.slice(closing(code, start) + 1, closing(code, start) + 300),
    )
    if (next === null) return start
    start = closing(code, start) + next[0].length
  }
}

const functionHead =
  /\bfunction\b[^(]*\(|(?<=\n)\s+(?:(?:async|get|set|static|private|override)\s+)*\*?[\w#]+(?:<[^>()]*>)?\(|(?:=|=>|\(|,|:|\breturn|\basync)\s*(?=\()\(/g
const notFunctions = /^\s*(?:if|for|while|switch|catch|return|await|super)\b/

const functionLength: Rule = {
  name: `has a function of more than ${maxFunctionLines} lines`,
  applies: inSource,
  check(file) {
    const code = codeOnly(file.text)
    const findings: string[] = []
    for (const head of code.matchAll(functionHead)) {
      if (notFunctions.test(head[0])) continue
      const start = bodyStart(code, head.index + head[0].length - 1)
      if (start === undefined) continue
      const body = code.slice(start + 1, closing(code, start))
      const lines = body.split('\n').filter((line) => line.trim() !== '').length
      if (lines > maxFunctionLines) findings.push(`${file.path}:${lineAt(code, start)} a function has ${lines} lines`)
    }
    return findings
  },
}

const headerComment: Rule = {
  name: 'does not open with 1 to 6 comment lines',
  applies: (path) => handWritten(path) && /^(?:src|scripts|bench)\//.test(path),
  check(file) {
    const lines = file.text.replace(/^#!.*\n/, '').split('\n')
    const end = lines.findIndex((line) => !line.startsWith('//'))
    return end >= 1 && end <= 6 ? [] : [`${file.path}:1 opens with ${end} comment lines`]
  },
}

const commentLength: Rule = {
  name: `has a comment of more than ${maxCommentLines} lines`,
  applies: handWritten,
  check(file) {
    const findings: string[] = []
    let run = 0
    file.text.split('\n').forEach((line, at) => {
      run = /^\s*(?:\/\/|\/\*|\*)/.test(line) ? run + 1 : 0
      if (run === maxCommentLines + 1)
        findings.push(`${file.path}:${at + 1} a comment has more than ${maxCommentLines} lines`)
    })
    return findings
  },
}

const kebabCase: Rule = {
  name: 'is not named in kebab-case',
  applies: (path) => path.endsWith('.ts'),
  check({ path }) {
    const wellNamed = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9-]+)*\.ts$/.test(basename(path))
    return wellNamed ? [] : [`${path}:1 is not named in kebab-case`]
  },
}

/** `as` needs a reason on its line or above; `as const` and renaming in imports do not. */
const reasonedCasts: Rule = {
  name: 'casts without a reason',
  applies: inSource,
  check(file) {
    const lines = file.text.split('\n')
    const code = codeOnly(file.text).replace(/\b(?:import|export)\b[^;'"]*?\{[^}]*\}/g, (clause) =>
      clause.replace(/[^\n]/g, ' '),
    )
    let reasonedAt = Number.NEGATIVE_INFINITY
    return code.split('\n').flatMap((line, at) => {
      const casts = /[\w)\]}]\s+as\s+(?!const\b)[A-Za-z{[(]/.test(line)
      const comment = /\/\/ ?\S/.test(lines[at] ?? '') || /^\s*(?:\/\/|\*|\/\*)/.test(lines[at - 1] ?? '')
      // One reason may stand for casts on lines that follow one another.
      const reasoned = comment || reasonedAt === at - 1
      if (casts && reasoned) reasonedAt = at
      return casts && !reasoned ? [`${file.path}:${at + 1} casts without a reason`] : []
    })
  },
}

const focusedTests: Rule = {
  name: 'runs only a part of its tests',
  applies: (path) => path.startsWith('test/'),
  check: (file) =>
    each(file, codeOnly(file.text), /\b(?:test|it|describe)\.(?:only|skip|todo)\b/g, 'runs only a part of its tests'),
}

const machinePaths: Rule = {
  name: 'names a path of one machine',
  applies: () => true,
  check: (file) =>
    each(file, file.text, /(?<![\w.~*-])\/(?:home|Users|root|work|workspace)\/\w/g, 'names a path of one machine'),
}

const sentences: Rule = {
  name: 'has a test whose name is a number or a ticket',
  applies: (path) => path.endsWith('.test.ts'),
  check: (file) =>
    each(
      file,
      withoutComments(file.text),
      /\b(?:test|it)\(\s*(['"`])(?:#?\d+|[A-Z]+-\d+|\w*)\1/g,
      'has a test whose name is no sentence',
    ),
}

export const rules: readonly Rule[] = [
  fileLength,
  functionLength,
  headerComment,
  commentLength,
  kebabCase,
  reasonedCasts,
  focusedTests,
  machinePaths,
  sentences,
  forbid('throws a bare Error', /(?<![\w.])Error\(/g, /^src\/(?:lib\/assert|model\/errors)\.ts$/),
  forbid('reads process.env', /\bprocess\s*\.\s*env\b/g, /^src\/config\.ts$/),
  forbid('writes to the console', /\bconsole\s*\.\s*\w/g, /^src\/cli\//),
  forbid(
    'reads a clock or sets a timer',
    /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bprocess\.hrtime\b|(?:(?<![.\w])|\bglobalThis\.)set(?:Timeout|Interval)\b/g,
    /^src\/(?:lib|ops)\//,
  ),
  forbid('uses Math.random', /\bMath\.random\b/g, /^src\/(?:lib|ops)\//),
  {
    name: 'leaves work for later',
    applies: inSource,
    check: (file) => each(file, file.text, /\b(?:TODO|FIXME|XXX|HACK)\b/g, 'leaves work for later'),
  },
]

/** Findings of every rule over every file. */
export function tidyFindings(files: readonly SourceFile[], from: readonly Rule[] = rules): string[] {
  return files.flatMap((file) => from.filter((rule) => rule.applies(file.path)).flatMap((rule) => rule.check(file)))
}
