// Filters of OGC API Features, Part 3: CQL2 text → a condition in SQL over the columns of one dataset. Pure. What is taken:
// comparisons, LIKE, BETWEEN, IN, IS NULL, AND, OR, NOT, S_INTERSECTS with a box, T_ comparisons are written as plain ones.
// Source: OGC 21-065r2, Common Query Language (CQL2), Annex B (text encoding).

import { NodeError } from '../model/errors.ts'
import { foldAscii } from '../model/names.ts'
import { type Field, innerType } from '../model/schema.ts'

/** Deepest nesting of parentheses and NOT. */
const mostDepth = 64

/** A token: `at` is its place in the text, in UTF-16 units. */
interface Token {
  readonly kind: 'word' | 'name' | 'number' | 'text' | 'symbol' | 'end'
  readonly text: string
  readonly at: number
}

const tokenPattern =
  /\s+|([A-Za-z_][\w.]*)|"((?:[^"]|"")+)"|([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|'((?:[^']|'')*)'|(<>|<=|>=|[=<>(),])/uy

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
    else if (string !== undefined) tokens.push({ kind: 'text', text: string.replaceAll("''", "'"), at })
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
    ...(candidates === undefined ? {} : { candidates }),
  })
}

/** A rectangle in degrees; west is greater than east where it crosses the antimeridian. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
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

/** `name` as an identifier in SQL. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** `text` as a literal in SQL. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
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
    const { kind, text } = this.#next
    if (kind === 'symbol' && ['=', '<>', '<', '>', '<=', '>='].includes(text)) {
      this.#at += 1
      return `(${left} ${text} ${this.#value()})`
    }
    // A column of booleans is a condition by itself.
    if (/^".*"$/.test(left)) return `(${left})`
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
      if (this.#isCall('timestamp')) return `CAST(${this.#instant()} AS TIMESTAMPTZ)`
      if (this.#isCall('date')) return `CAST(${this.#instant()} AS DATE)`
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

  /** `TIMESTAMP('…')`, `DATE('…')`: the text. */
  #instant(): string {
    this.#at += 2
    const text = this.#textLiteral()
    this.#needSymbol(')')
    return text
  }

  /** `S_INTERSECTS(geometry, BBOX(w, s, e, n))`. */
  #intersects(): string {
    this.#at += 2
    const { kind, text, at } = this.#next
    const isGeometry = (kind === 'word' || kind === 'name') && foldAscii(text) === foldAscii(this.#target.geometry)
    if (!isGeometry) throw fault(this.#text, at, `S_INTERSECTS looks at the column ${this.#target.geometry}.`)
    this.#at += 1
    this.#needSymbol(',')
    if (!this.#isCall('bbox')) throw this.#unexpected('BBOX(west, south, east, north)')
    this.#at += 2
    const numbers = [this.#number()]
    while (this.#takeSymbol(',')) numbers.push(this.#number())
    this.#needSymbol(')')
    this.#needSymbol(')')
    const box = boxOf(numbers)
    if (box === undefined)
      throw fault(this.#text, at, 'BBOX has 4 numbers, or 6 with heights: west, south, east, north.')
    return this.#target.intersects(box)
  }

  #number(): number {
    const { kind, text } = this.#next
    if (kind !== 'number') throw this.#unexpected('a number')
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

/** A box of 4 numbers, or of 6 whose heights are left out; undefined for anything else, and for latitudes that are none. */
export function boxOf(numbers: readonly number[]): Box | undefined {
  if (!numbers.every(Number.isFinite)) return undefined
  const [west, south, east, north] = numbers.length === 6 ? [numbers[0], numbers[1], numbers[3], numbers[4]] : numbers
  if (west === undefined || south === undefined || east === undefined || north === undefined) return undefined
  if (numbers.length !== 4 && numbers.length !== 6) return undefined
  return south > north ? undefined : { west, south, east, north }
}
