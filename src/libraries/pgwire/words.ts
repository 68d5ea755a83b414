// The words of a statement, one after the other, for those that a session understands by itself.

import { lexSql, type SqlToken } from '../sql/lexer.ts'
import { PostgresFault } from './report.ts'

/** The words of a statement, one after the other. */
export class Words {
  readonly #sql: string
  readonly #tokens: readonly SqlToken[]
  #at = 0

  constructor(sql: string) {
    this.#sql = sql
    this.#tokens = lexSql(sql).filter(({ text }) => text !== ';')
  }

  /** The next word or symbol, in lower case. */
  peek(): string | undefined {
    return this.#tokens[this.#at]?.text
  }

  next(): SqlToken | undefined {
    return this.#tokens[this.#at++]
  }

  /** Passes over one of these, if it comes. */
  may(...texts: readonly string[]): boolean {
    if (!texts.some((text) => this.peek() === text)) return false
    this.#at++
    return true
  }

  must(text: string): void {
    if (!this.may(text)) throw this.#fault()
  }

  /** One of these. */
  oneOf(...texts: readonly string[]): string {
    const found = texts.find((text) => this.may(text))
    if (found === undefined) throw this.#fault()
    return found
  }

  word(): string {
    const token = this.next()
    if (token === undefined) throw this.#fault()
    return token.kind === 'string' || token.kind === 'name' ? unquoted(this.#textOf(token)) : token.text
  }

  /** A name: quoted as it is, else in lower case. */
  name(): string {
    const token = this.next()
    if (token?.kind === 'word') return token.text
    if (token?.kind === 'name') return unquoted(this.#textOf(token))
    throw this.#fault()
  }

  nameOrAll(): string | undefined {
    return this.may('all') ? undefined : this.name()
  }

  /** A name of a setting, which may have a point in it. */
  setting(): string {
    let name = this.name()
    while (this.may('.')) name = `${name}.${this.name()}`
    return name
  }

  /** A name in parts, as it is written. */
  path(): string {
    const start = this.#tokens[this.#at]?.start ?? this.#sql.length
    this.name()
    while (this.may('.')) this.name()
    return this.#sql.slice(start, this.#tokens[this.#at - 1]?.end)
  }

  /** What stands for a setting: one value or several; undefined for DEFAULT. */
  values(): string | undefined {
    if (this.may('default')) return undefined
    const values = [this.value() ?? '']
    while (this.may(',')) values.push(this.value() ?? '')
    return values.join(', ')
  }

  /** A constant; null for NULL. */
  value(): string | null {
    if (this.may('null')) return null
    const sign = this.may('-') ? '-' : (this.may('+'), '')
    const token = this.next()
    if (token === undefined || token.kind === 'symbol' || token.kind === 'parameter') throw this.#fault()
    const text = this.#textOf(token)
    if (token.kind === 'word') return sign + token.text
    return sign + (token.kind === 'number' ? text : unquoted(text))
  }

  /** The number of a parameter, if one comes. */
  place(): number | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'parameter') return undefined
    this.#at++
    return Number(token.text)
  }

  /** A whole number, if one comes. */
  count(): number | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'number') return undefined
    this.#at++
    const count = Number(this.#textOf(token))
    if (!Number.isSafeInteger(count)) throw this.#fault()
    return count
  }

  /** What stands between this bracket and the one that closes it. */
  inBrackets(): string {
    this.must('(')
    const start = this.#tokens[this.#at - 1]?.end ?? 0
    for (let depth = 1; ; this.#at++) {
      const token = this.#tokens[this.#at]
      if (token === undefined) throw this.#fault()
      if (token.text === '(') depth++
      if (token.text === ')' && --depth === 0) {
        this.#at++
        return this.#sql.slice(start, token.start)
      }
    }
  }

  rest(): string {
    const start = this.#tokens[this.#at]?.start
    if (start === undefined) throw this.#fault()
    return this.#sql.slice(start)
  }

  /** The statement, where nothing follows. */
  last<T>(statement: T): T {
    if (this.peek() !== undefined) throw this.#fault()
    return statement
  }

  #textOf({ start, end }: SqlToken): string {
    return this.#sql.slice(start, end)
  }

  #fault(): PostgresFault {
    const token = this.#tokens[this.#at] ?? this.#tokens.at(-1)
    const near = token === undefined ? 'end of input' : `"${this.#textOf(token).slice(0, 50)}"`
    return new PostgresFault('42601', `syntax error at or near ${near}`)
  }
}

/** A quoted name or text as what it says: `"a"`, `'a'`, `E'a\n'`, `$$a$$`. */
function unquoted(text: string): string {
  if (text.startsWith('$')) {
    const tag = text.slice(0, text.indexOf('$', 1) + 1)
    return text.slice(tag.length, -tag.length)
  }
  const quote = text.at(-1) ?? ''
  const inner = text.slice(text.indexOf(quote) + 1, -1).replaceAll(quote + quote, quote)
  return /^e'/i.test(text) ? inner.replaceAll(/\\(u[0-9a-f]{4}|x[0-9a-f]{1,2}|[0-7]{1,3}|.)/gis, escaped) : inner
}

const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function escaped(_: string, code: string): string {
  if (/^[ux]./i.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
  return /^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (letters[code] ?? code)
}
