// Quotes for the bare word `offset` in a statement, where it can only be meant as a column. Pure.

import { names } from './functions.ts'
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
const beforeOperand = names(`
  and between by case distinct else escape except exclude glob groups having ilike in like not on or qualify range
  returning rows select similar then using when where
`)

/** Quotes every bare `offset` that can only be meant as a column. */
export function quoteOffsetWord(sql: string): QuotedSql {
  if (!/offset/i.test(sql)) return { original: sql, text: sql, inserted: [] }
  const inserted: number[] = []
  let text = ''
  let copied = 0
  for (const token of columnWords(lexSql(sql))) {
    text += `${sql.slice(copied, token.start)}"${sql.slice(token.start, token.end)}"`
    inserted.push(text.length - (token.end - token.start) - 2, text.length - 1)
    copied = token.end
  }
  return { original: sql, text: text + sql.slice(copied), inserted }
}

/** One level of brackets. */
interface Level {
  /** It is the list of `distinct on (…)`: behind it an operand begins. */
  readonly isDistinctOn: boolean
  /** Behind LIMIT no column can stand: what follows `10%` is the clause. */
  inLimit: boolean
}

/** Every `offset` that begins an operand; one pass, whatever the statement. */
function* columnWords(tokens: readonly SqlToken[]): Generator<SqlToken> {
  const levels: Level[] = [{ isDistinctOn: false, inLimit: false }]
  /** True when an operand may begin at the token: what stands before it does not end one. */
  let begins = false
  for (const [index, token] of tokens.entries()) {
    const level = levels.at(-1)
    if (token.kind === 'word' && token.text === 'offset' && begins && level?.inLimit !== true) yield token
    const before = [tokens[index - 2], tokens[index - 1]] as const
    let closed: Level | undefined
    if (token.kind === 'symbol' && token.text === '(') {
      const isDistinctOn = before[1]?.text === 'on' && before[0]?.text === 'distinct'
      levels.push({ isDistinctOn, inLimit: false })
    } else if (token.kind === 'symbol' && token.text === ')' && levels.length > 1) closed = levels.pop()
    else if (level !== undefined && token.text === 'limit' && token.kind === 'word') {
      level.inLimit ||= before[1]?.text !== '.' && before[1]?.text !== 'as'
    }
    begins = operandFollows(token, before, { begins, isDistinctOn: closed?.isDistinctOn === true })
  }
}

/** True when an operand may begin behind a token; `begins`: it may begin at the token itself. */
function operandFollows(
  token: SqlToken,
  [second, first]: readonly (SqlToken | undefined)[],
  { begins, isDistinctOn }: { begins: boolean; isDistinctOn: boolean },
): boolean {
  if (token.kind === 'word') {
    if (token.text === 'all') return first?.text === 'select'
    if (token.text === 'from') return first?.text === 'distinct' && isOrNot(second)
    return beforeOperand.has(token.text) && first?.text !== '.'
  }
  if (token.kind !== 'symbol') return false
  // `*` is a list of columns where an operand would begin, and multiplies where one has ended.
  if (token.text === '*') return !(begins || first?.text === '.' || first?.text === 'from')
  if (token.text === ')') return isDistinctOn
  return ![']', '}', ';', '.', '::'].includes(token.text)
}

function isOrNot(token: SqlToken | undefined): boolean {
  return token?.kind === 'word' && (token.text === 'is' || token.text === 'not')
}
