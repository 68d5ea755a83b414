// The words of a statement: a small lexer, enough to find words outside strings, names and comments. Pure.

import { foldAscii } from '../model/names.ts'

export interface SqlToken {
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'parameter' | 'symbol' | 'unfair comment'
  /** UTF-16 index of the first unit, and after the last. */
  readonly start: number
  readonly end: number
  /** Words and names of parameters in ASCII lower case; symbols as they are; empty for the rest, `?` too. */
  readonly text: string
}

/** The engine's own lexer takes time in the square of the depth, and of how many there are. Beyond, and open ones, are unfair. */
const [maxCommentDepth, maxComments] = [100, 1000]

const space = /[\s\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]+/y
const word = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y
const numeral = /(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?/y
const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y
const parameter = /\?|\$(?:\d+|[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)/y
const operator = /::|:=|->>|->|[<>=!~^|&@#*/%+-]+|./suy

/** Tokens of `sql` in order; never throws: what is left open ends with the text. */
export function lexSql(sql: string): SqlToken[] {
  const tokens: SqlToken[] = []
  let [at, comments] = [0, 0]
  while (at < sql.length) {
    if (sql.startsWith('/*', at)) {
      const { end, isFair } = blockComment(sql, at)
      if (!isFair || ++comments > maxComments) tokens.push({ kind: 'unfair comment', start: at, end, text: '' })
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
  const token = (kind: SqlToken['kind'], end: number, text = ''): SqlToken => ({ kind, start, end, text })
  const unit = sql[start] ?? ''
  if (unit === "'") return token('string', quotedEnd(sql, start))
  if (unit === '"') return token('name', quotedEnd(sql, start))
  if (/[eExXbB]/.test(unit) && sql[start + 1] === "'")
    return token('string', quotedEnd(sql, start + 1, /e/i.test(unit)))
  const tag = match(dollarTag, sql, start)
  if (tag !== undefined) {
    const close = sql.indexOf(tag, start + tag.length)
    return token('string', close < 0 ? sql.length : close + tag.length)
  }
  const asked = match(parameter, sql, start)
  if (asked !== undefined) return token('parameter', start + asked.length, foldAscii(asked.slice(1)))
  const name = match(word, sql, start)
  if (name !== undefined) return token('word', start + name.length, foldAscii(name))
  const digits = match(numeral, sql, start)
  if (digits !== undefined) return token('number', start + digits.length)
  const symbol = symbolText(match(operator, sql, start) ?? unit)
  return token('symbol', start + symbol.length, symbol)
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

/** Index behind the quoted text that opens at `open`; a doubled quote is part of it. */
function quotedEnd(sql: string, open: number, escapes = false): number {
  const quote = sql[open]
  for (let i = open + 1; i < sql.length; i++) {
    if (escapes && sql[i] === '\\') i++
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return i + 1
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
