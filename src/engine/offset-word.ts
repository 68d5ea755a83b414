// `offset`, the first system column, is a reserved word of the engine. Where it stands bare at the start of an operand
// it means the column: here it is put in quotes, and positions in the quoted text are mapped back to the text as sent.

import { positionAt } from '../codec/text-position.ts'
import type { TextPosition } from '../model/errors.ts'
import { lexSql, type SqlToken } from './lexer.ts'

/** A statement ready for the engine. */
export interface QuotedSql {
  /** The text as sent. */
  readonly original: string
  readonly text: string
  /** UTF-16 indexes in `text` of the quotes that were put in, ascending. */
  readonly inserted: readonly number[]
}

/** Words after which an operand begins. */
const beforeOperand = new Set(
  (
    'and between by case distinct else escape except exclude glob groups having ilike in like not on or ' +
    'qualify range returning rows select similar then using when where'
  ).split(' '),
)

/** Quotes every bare `offset` that can only be meant as a column. */
export function quoteOffsetWord(sql: string): QuotedSql {
  if (!/offset/i.test(sql)) return { original: sql, text: sql, inserted: [] }
  const tokens = lexSql(sql)
  const inserted: number[] = []
  let text = ''
  let copied = 0
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word' || token.text !== 'offset' || !operandBegins(tokens, index)) continue
    text += `${sql.slice(copied, token.start)}"${sql.slice(token.start, token.end)}"`
    inserted.push(text.length - (token.end - token.start) - 2, text.length - 1)
    copied = token.end
  }
  return { original: sql, text: text + sql.slice(copied), inserted }
}

/** True when an operand may begin at token `index`: what stands before it does not end one. */
function operandBegins(tokens: readonly SqlToken[], index: number): boolean {
  const before = tokens[index - 1]
  if (before === undefined) return false
  const earlier = tokens[index - 2]
  if (before.kind === 'word') {
    if (before.text === 'all') return earlier?.text === 'select'
    if (before.text === 'from')
      return earlier?.text === 'distinct' && tokens[index - 3]?.kind === 'word' && isOrNot(tokens[index - 3])
    return beforeOperand.has(before.text) && earlier?.text !== '.'
  }
  if (before.kind !== 'symbol') return false
  if (before.text === '*') return !starIsAllColumns(tokens, index - 1)
  if (before.text === ')') return closesDistinctOn(tokens, index - 1)
  return ![']', '}', ';', '.', '::'].includes(before.text)
}

function isOrNot(token: SqlToken | undefined): boolean {
  return token?.text === 'is' || token?.text === 'not'
}

/** `*` is a list of columns where an operand would begin, and multiplies where one has ended. */
function starIsAllColumns(tokens: readonly SqlToken[], index: number): boolean {
  const before = tokens[index - 1]
  return before?.text === '.' || before?.text === 'from' || operandBegins(tokens, index)
}

/** True for the `)` of `distinct on (…)`. */
function closesDistinctOn(tokens: readonly SqlToken[], index: number): boolean {
  let depth = 0
  for (let i = index; i >= 0; i--) {
    const text = tokens[i]?.kind === 'symbol' ? tokens[i]?.text : ''
    if (text === ')') depth++
    else if (text === '(' && --depth === 0) return tokens[i - 1]?.text === 'on' && tokens[i - 2]?.text === 'distinct'
  }
  return false
}

/** Place in the text as sent of a byte offset in the quoted text. */
export function positionOfByte(sql: QuotedSql, byteOffset: number): TextPosition {
  let bytes = 0
  let index = 0
  for (const character of sql.text) {
    if (bytes >= byteOffset) break
    const point = character.codePointAt(0) ?? 0
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    index += character.length
  }
  return originalPosition(sql, index)
}

/** Place in the text as sent of an offset in code points in the quoted text. */
export function positionOfCodePoint(sql: QuotedSql, offset: number): TextPosition {
  let points = 0
  let index = 0
  for (const character of sql.text) {
    if (points >= offset) break
    points++
    index += character.length
  }
  return originalPosition(sql, index)
}

function originalPosition(sql: QuotedSql, index: number): TextPosition {
  const before = sql.inserted.filter((at) => at < index).length
  return positionAt(sql.original, index - before)
}
