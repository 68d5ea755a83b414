// A small lexer of the engine's SQL: enough to find words outside strings, names and comments. Used to quote the bare
// word `offset` and to name the kind of a statement; the engine's own parser decides everything else.

import { foldAscii } from '../model/names.ts'

export interface SqlToken {
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'symbol' | 'unfair comment'
  /** UTF-16 index of the first unit, and after the last. */
  readonly start: number
  readonly end: number
  /** Words in ASCII lower case; symbols as they are; empty for the rest. */
  readonly text: string
}

/** The engine's own lexer takes time in the square of the depth. Deeper comments, and open ones, are unfair. */
const maxCommentDepth = 100

const space = /[\s\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]+/y
const word = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y
const numeral = /(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?/y
const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y
const operator = /::|:=|->>|->|[<>=!~^|&@#*/%+-]+|./suy

/** Tokens of `sql` in order; never throws: what is left open ends with the text. */
export function lexSql(sql: string): SqlToken[] {
  const tokens: SqlToken[] = []
  let at = 0
  while (at < sql.length) {
    if (sql.startsWith('/*', at)) {
      const { end, isFair } = blockComment(sql, at)
      if (!isFair) tokens.push({ kind: 'unfair comment', start: at, end, text: '' })
      at = end
      continue
    }
    const skipped = skipBlank(sql, at)
    if (skipped > at) {
      at = skipped
      continue
    }
    const token = tokenAt(sql, at)
    tokens.push(token)
    at = token.end
  }
  return tokens
}

function tokenAt(sql: string, start: number): SqlToken {
  const unit = sql[start] ?? ''
  if (unit === "'")
    return { kind: 'string', start, end: quotedEnd(sql, start, { quote: "'", escapes: false }), text: '' }
  if (unit === '"') return { kind: 'name', start, end: quotedEnd(sql, start, { quote: '"', escapes: false }), text: '' }
  if (/[eExXbB]/.test(unit) && sql[start + 1] === "'") {
    const escapes = unit === 'e' || unit === 'E'
    return { kind: 'string', start, end: quotedEnd(sql, start + 1, { quote: "'", escapes }), text: '' }
  }
  const tag = match(dollarTag, sql, start)
  if (tag !== undefined) {
    const close = sql.indexOf(tag, start + tag.length)
    return { kind: 'string', start, end: close < 0 ? sql.length : close + tag.length, text: '' }
  }
  const name = match(word, sql, start)
  if (name !== undefined) return { kind: 'word', start, end: start + name.length, text: foldAscii(name) }
  const digits = match(numeral, sql, start)
  if (digits !== undefined) return { kind: 'number', start, end: start + digits.length, text: '' }
  const symbol = symbolText(match(operator, sql, start) ?? unit)
  return { kind: 'symbol', start, end: start + symbol.length, text: symbol }
}

/** Operators stop before a comment that begins inside them. */
function symbolText(run: string): string {
  const comment = run.slice(1).search(/--|\/\*/)
  return comment < 0 ? run : run.slice(0, comment + 1)
}

/** Index after white space or a comment to the end of its line that begins at `at`. */
function skipBlank(sql: string, at: number): number {
  const blank = match(space, sql, at)
  if (blank !== undefined) return at + blank.length
  if (sql.startsWith('--', at)) {
    const end = sql.slice(at).search(/[\r\n]/)
    return end < 0 ? sql.length : at + end
  }
  return at
}

/** The block comment that begins at `at`, with those inside it. */
function blockComment(sql: string, at: number): { readonly end: number; readonly isFair: boolean } {
  let depth = 0
  let deepest = 0
  for (let i = at; i < sql.length; i++) {
    if (sql.startsWith('/*', i)) {
      deepest = Math.max(deepest, ++depth)
      i++
    } else if (sql.startsWith('*/', i)) {
      depth--
      i++
      if (depth === 0) return { end: i + 1, isFair: deepest <= maxCommentDepth }
    }
  }
  return { end: sql.length, isFair: false }
}

function quotedEnd(sql: string, open: number, form: { quote: string; escapes: boolean }): number {
  for (let i = open + 1; i < sql.length; i++) {
    if (form.escapes && sql[i] === '\\') i++
    else if (sql[i] === form.quote) {
      if (sql[i + 1] !== form.quote) return i + 1
      i++
    }
  }
  return sql.length
}

function match(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at
  const found = pattern.exec(sql)?.[0]
  return found === '' ? undefined : found
}

