// Filters of OGC API Features, Part 3: CQL2 text, and a parameter of the name of a column, → a condition in SQL over the
// columns of one dataset. Pure. Taken of CQL2: comparisons, LIKE, BETWEEN, IN, IS NULL, AND, OR, NOT, and S_INTERSECTS with a
// point or a box. Comparisons in time are written as plain ones.
// Source: OGC 21-065r2, Common Query Language (CQL2), Annex B (text encoding).

import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { parseRfc3339Ms } from '../../libraries/model/instant.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type DataType, type Field, innerType } from '../../libraries/model/schema.ts'
import { sqlName, sqlText } from '../../libraries/sql/types.ts'
import { type Box, boxOf } from '../../node/answers/conditions.ts'

/** Deepest nesting of parentheses and NOT. */
const mostDepth = 64

/** A token: `at` is its place in the text, in UTF-16 units. */
interface Token {
  readonly kind: 'word' | 'name' | 'number' | 'text' | 'symbol' | 'end'
  readonly text: string
  readonly at: number
}

// A quote within a text is written twice, or after a backslash; a backslash before anything else is itself.
const tokenPattern =
  /\s+|([\p{ID_Start}_:][\p{ID_Continue}.:]*)|"((?:[^"]|"")+)"|([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|'((?:[^'\\]|''|\\'|\\)*)'|(<>|<=|>=|[=<>(),])/uy

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < text.length) {
    const at = tokenPattern.lastIndex
    const match = tokenPattern.exec(text)
    if (match === null) throw fault(text, at, 'Nothing of CQL2 begins here.')
    const [, word, name, number, string, symbol] = match
    if (word !== undefined) tokens.push({ kind: 'word', text: word, at })
    else if (name !== undefined) tokens.push({ kind: 'name', text: name.replaceAll('""', '"'), at })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, at })
    else if (string !== undefined) tokens.push({ kind: 'text', text: string.replace(/''|\\'/g, "'"), at })
    else if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol, at })
  }
  return [...tokens, { kind: 'end', text: '', at: text.length }]
}

function fault(text: string, at: number, why: string, candidates?: readonly string[]): NodeError {
  const before = text.slice(Math.max(0, at - 20), at)
  const place =
    at >= text.length ? 'at its end' : `at '${text.slice(at, at + 30)}'${before === '' ? '' : ` after '${before}'`}`
  return new NodeError('InvalidParameter', `filter, ${place}: ${why}`, {
    hint: "Write CQL2 text, such as: speed >= 10 AND name LIKE 'A%' AND S_INTERSECTS(geometry, BBOX(5, 58, 12, 64)).",
    ...defined({ candidates }),
  })
}

export interface FilterTarget {
  /** Columns that a filter may name. */
  readonly fields: readonly Field[]
  /** Name of the geometry column. */
  readonly geometry: string
  /** The condition that a feature's geometry meets a box. */
  readonly intersects: (box: Box) => string
}

/** The SQL condition of a CQL2 text. Throws NodeError `InvalidParameter` with the place. */
export function sqlOfCql2(text: string, target: FilterTarget): string {
  return new Cql2Parser(text, target).parse()
}

/** An RFC 3339 time, or undefined. */
function sqlTime(text: string): string | undefined {
  return parseRfc3339Ms(text) === undefined ? undefined : `CAST(${sqlText(text.toUpperCase())} AS TIMESTAMPTZ)`
}

/** A full date of RFC 3339, or undefined. */
function sqlDate(text: string): string | undefined {
  return parseRfc3339Ms(`${text}T00:00:00Z`) === undefined ? undefined : `CAST(${sqlText(text)} AS DATE)`
}

/** The condition that a column has the value that `text` means for its type. Throws NodeError `InvalidParameter`. */
export function sqlOfEquality({ name, type }: Field, text: string): string {
  const literal = literalOf(innerType(type), text)
  if (literal !== undefined) return `${sqlName(name)} = ${literal}`
  throw new NodeError(
    'InvalidParameter',
    `The parameter '${name}' is '${text.slice(0, 100)}', which is no ${innerType(type).kind}.`,
    {
      hint: 'GET …/queryables lists the types of the properties.',
    },
  )
}

function literalOf({ kind }: DataType, text: string): string | undefined {
  if (kind === 'String') return sqlText(text)
  if (kind === 'Timestamp') return sqlTime(text)
  if (kind === 'Date') return sqlDate(text)
  if (kind === 'Bool') return /^(?:true|false)$/.test(text) ? text : undefined
  if (/^U?Int\d/.test(kind)) return /^-?\d{1,20}$/.test(text) ? text : undefined
  const isNumber = kind.startsWith('Float') || kind === 'Decimal'
  return isNumber && /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? text : undefined
}

function isComparison(token: Token | undefined): boolean {
  return token?.kind === 'symbol' && ['=', '<>', '<', '>', '<=', '>='].includes(token.text)
}

class Cql2Parser {
  readonly #text: string
  readonly #target: FilterTarget
  readonly #tokens: readonly Token[]
  readonly #columns: ReadonlyMap<string, Field>
  #at = 0
  #depth = 0

  constructor(text: string, target: FilterTarget) {
    this.#text = text
    this.#target = target
    this.#tokens = tokensOf(text)
    this.#columns = new Map(target.fields.map((field) => [foldAscii(field.name), field]))
  }

  parse(): string {
    const sql = this.#or()
    if (this.#next.kind !== 'end') throw this.#unexpected('AND, OR or the end')
    return sql
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', at: this.#text.length }
  }

  #or(): string {
    const parts = [this.#and()]
    while (this.#takeWord('or')) parts.push(this.#and())
    return parts.length === 1 ? parts.join('') : `(${parts.join(' OR ')})`
  }

  #and(): string {
    const parts = [this.#not()]
    while (this.#takeWord('and')) parts.push(this.#not())
    return parts.length === 1 ? parts.join('') : `(${parts.join(' AND ')})`
  }

  #not(): string {
    if (++this.#depth > mostDepth) throw fault(this.#text, this.#next.at, `It nests more than ${mostDepth} deep.`)
    const sql = this.#takeWord('not') ? `(NOT ${this.#not()})` : this.#primary()
    this.#depth -= 1
    return sql
  }

  #primary(): string {
    if (this.#takeSymbol('(')) {
      const sql = this.#or()
      this.#needSymbol(')')
      return `(${sql})`
    }
    if (this.#isCall('s_intersects')) return this.#intersects()
    for (const word of ['true', 'false']) {
      if (isComparison(this.#tokens[this.#at + 1]) || !this.#takeWord(word)) continue
      return word
    }
    return this.#predicate()
  }

  /** A comparison of a value with others. */
  #predicate(): string {
    const left = this.#value()
    if (this.#takeWord('is')) {
      const negated = this.#takeWord('not')
      if (!this.#takeWord('null')) throw this.#unexpected('NULL')
      return `(${left} IS ${negated ? 'NOT ' : ''}NULL)`
    }
    const not = this.#takeWord('not') ? 'NOT ' : ''
    if (this.#takeWord('like')) return `(${left} ${not}LIKE ${this.#textLiteral()} ESCAPE '\\')`
    if (this.#takeWord('between')) {
      const least = this.#value()
      if (!this.#takeWord('and')) throw this.#unexpected('AND')
      return `(${left} ${not}BETWEEN ${least} AND ${this.#value()})`
    }
    if (this.#takeWord('in')) {
      this.#needSymbol('(')
      const values = [this.#value()]
      while (this.#takeSymbol(',')) values.push(this.#value())
      this.#needSymbol(')')
      return `(${left} ${not}IN (${values.join(', ')}))`
    }
    if (not !== '') throw this.#unexpected('LIKE, BETWEEN or IN')
    if (isComparison(this.#next)) {
      const { text } = this.#next
      this.#at += 1
      return `(${left} ${text} ${this.#value()})`
    }
    // A column of booleans is a condition by itself.
    const isBoolean = this.#target.fields.some(
      ({ name, type }) => sqlName(name) === left && innerType(type).kind === 'Bool',
    )
    if (isBoolean) return `(${left})`
    throw this.#unexpected('a comparison')
  }

  #value(): string {
    const token = this.#next
    if (token.kind === 'number') {
      this.#at += 1
      return token.text
    }
    if (token.kind === 'text') return this.#textLiteral()
    if (token.kind === 'word') {
      const word = foldAscii(token.text)
      if (word === 'true' || word === 'false') {
        this.#at += 1
        return word
      }
      if (this.#isCall('timestamp')) return this.#moment('a time such as 2026-01-01T12:00:00Z', sqlTime)
      if (this.#isCall('date')) return this.#moment('a date such as 2026-01-01', sqlDate)
      if (this.#tokens[this.#at + 1]?.text === '(')
        throw fault(this.#text, token.at, `The function ${token.text} is not known here.`)
    }
    return this.#column()
  }

  #column(): string {
    const { kind, text, at } = this.#next
    if (kind !== 'word' && kind !== 'name') throw this.#unexpected('a column or a value')
    const field = this.#columns.get(foldAscii(text))
    if (field === undefined) {
      const candidates = this.#target.fields.map(({ name }) => name).slice(0, 100)
      throw fault(this.#text, at, `There is no column '${text.slice(0, 100)}'.`, candidates)
    }
    if (innerType(field.type).kind === 'List') throw fault(this.#text, at, `The column '${text}' holds lists.`)
    this.#at += 1
    return sqlName(field.name)
  }

  #textLiteral(): string {
    const { kind, text } = this.#next
    if (kind !== 'text') throw this.#unexpected('a text in single quotes')
    this.#at += 1
    return sqlText(text)
  }

  /** `TIMESTAMP('…')`, `DATE('…')`. */
  #moment(expected: string, sql: (text: string) => string | undefined): string {
    this.#at += 2
    const literal = sql(this.#next.kind === 'text' ? this.#next.text : '')
    if (literal === undefined) throw this.#unexpected(`${expected}, in single quotes`)
    this.#at += 1
    this.#needSymbol(')')
    return literal
  }

  /** `S_INTERSECTS(geometry, BBOX(w, s, e, n))`, or `POINT(x y)`; the geometry may come second. */
  #intersects(): string {
    this.#at += 2
    const first = this.#place()
    this.#needSymbol(',')
    const at = this.#next.at
    const second = this.#place()
    this.#needSymbol(')')
    const box = first ?? second
    if (box === undefined || (first !== undefined && second !== undefined))
      throw fault(this.#text, at, `S_INTERSECTS compares the column ${this.#target.geometry} with a BBOX or a POINT.`)
    return this.#target.intersects(box)
  }

  /** A box, or a point as one; undefined for the column of geometries. */
  #place(): Box | undefined {
    const { kind, text, at } = this.#next
    if (this.#isCall('point')) {
      this.#at += 2
      const [x, y] = [this.#number(), this.#number()]
      this.#needSymbol(')')
      return { west: x, south: y, east: x, north: y }
    }
    if (this.#isCall('bbox')) {
      this.#at += 2
      const numbers = [this.#number()]
      while (this.#takeSymbol(',')) numbers.push(this.#number())
      this.#needSymbol(')')
      const box = boxOf(numbers)
      if (box !== undefined) return box
      throw fault(this.#text, at, 'BBOX has 4 numbers, or 6 with heights: west, south, east, north.')
    }
    const isGeometry = (kind === 'word' || kind === 'name') && foldAscii(text) === foldAscii(this.#target.geometry)
    if (!isGeometry) throw this.#unexpected(`the column ${this.#target.geometry}, BBOX(…) or POINT(x y)`)
    this.#at += 1
    return undefined
  }

  #number(): number {
    const { kind, text } = this.#next
    if (kind !== 'number') throw this.#unexpected('a number')
    if (!Number.isFinite(Number(text))) throw this.#unexpected('a number that a double can hold')
    this.#at += 1
    return Number(text)
  }

  #isCall(name: string): boolean {
    return this.#next.kind === 'word' && foldAscii(this.#next.text) === name && this.#tokens[this.#at + 1]?.text === '('
  }

  #takeWord(word: string): boolean {
    const { kind, text } = this.#next
    if (kind !== 'word' || foldAscii(text) !== word) return false
    this.#at += 1
    return true
  }

  #takeSymbol(symbol: string): boolean {
    const { kind, text } = this.#next
    if (kind !== 'symbol' || text !== symbol) return false
    this.#at += 1
    return true
  }

  #needSymbol(symbol: string): void {
    if (!this.#takeSymbol(symbol)) throw this.#unexpected(`'${symbol}'`)
  }

  #unexpected(expected: string): NodeError {
    return fault(this.#text, this.#next.at, `Expected ${expected}.`)
  }
}
