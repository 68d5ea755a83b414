// What the engine's parser does not take of statements about the catalogue, or does not tell: which operator
// `OPERATOR(pg_catalog.~)` is, types with a schema, a SELECT of no columns, whether a name is quoted. What is written
// instead has the same length, so places stay. Pure.

import { lexSql, type SqlToken } from '../../sql/lexer.ts'
import { functionReads } from './functions.ts'

const words = [
  'pg_\\w+',
  'information_schema',
  'reg(?:class|type|proc|procedure|namespace|role)',
  'session_user',
  'user',
]
const asking = new RegExp(`\\b(?:${[...words, ...functionReads.keys()].join('|')})\\b`, 'i')

/** False for a text that says nothing of the catalogue. */
export function mayAsk(sql: string): boolean {
  return asking.test(sql)
}

/**
 * The text without `OPERATOR(pg_catalog. )` around operators and `pg_catalog.` before types, and its names without
 * case.
 */
export function withPlainWords(sql: string): string {
  const tokens = lexSql(sql)
  let written = ''
  for (let at = 0; at < tokens.length;) {
    const { text, length } = plainTokens(tokens, at)
    const first = tokens[at]
    const last = tokens[at + length - 1]
    if (first === undefined || last === undefined) break
    const instead = text ?? sql.slice(first.start, last.end)
    written += sql.slice(written.length, first.start) + instead.padEnd(last.end - first.start)
    at += length
  }
  return written + sql.slice(written.length)
}

/** How many tokens from one on are written as one text; undefined where they stay. */
function plainTokens(
  tokens: readonly SqlToken[],
  at: number,
): { readonly text: string | undefined; readonly length: number } {
  const [token, first, second, third, fourth, fifth] = tokens.slice(at, at + 6)
  const isOperator = isWord(token, 'operator') && first?.text === '(' && isWord(second, 'pg_catalog')
  if (isOperator && third?.text === '.' && fourth?.kind === 'symbol' && fifth?.text === ')') {
    return { text: fourth.text, length: 6 }
  }
  const before = tokens[at - 1]
  const isType = before?.text === '::' || isWord(before, 'as')
  if (isType && isWord(token, 'pg_catalog') && first?.text === '.') return { text: '', length: 2 }
  // A SELECT of no columns.
  if (isWord(token, 'select') && isWord(first, 'from')) return { text: '', length: 1 }
  // A table's name that the engine's parser does not take.
  const isTable = first?.text === '.' || isWord(before, 'as') || before?.text.startsWith('pg_') === true
  if (isWord(token, 'at') && isTable && !isWord(first, 'time')) return { text: 'a_', length: 1 }
  return { text: token?.kind === 'word' ? token.text : undefined, length: 1 }
}

function isWord(token: SqlToken | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text === word
}
