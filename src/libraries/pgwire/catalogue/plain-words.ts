// What the engine's parser does not take of statements about the catalogue, or forgets: it does not tell which operator
// `OPERATOR(pg_catalog.~)` is, and no type of its own has a schema. Blanks stand in the place of what is left out, so places stay. Pure.

import { lexSql, type SqlToken } from '../../sql/lexer.ts'

/** The text without `OPERATOR(pg_catalog. )` around operators and `pg_catalog.` before types. */
export function withPlainWords(sql: string): string {
  if (!/pg_catalog/i.test(sql)) return sql
  const tokens = lexSql(sql)
  const left = tokens.flatMap((token, at) => leftOut(tokens, at, token))
  let written = ''
  let copied = 0
  for (const { start, end } of left) {
    written += sql.slice(copied, start) + ' '.repeat(end - start)
    copied = end
  }
  return written + sql.slice(copied)
}

type Span = Pick<SqlToken, 'start' | 'end'>

/** What is left out from a token on. */
function leftOut(tokens: readonly SqlToken[], at: number, token: SqlToken): Span[] {
  const [first, second, third, fourth, fifth] = tokens.slice(at + 1, at + 6)
  if (isWord(token, 'operator') && first?.text === '(' && isWord(second, 'pg_catalog') && third?.text === '.') {
    const isOperator = fourth?.kind === 'symbol' && fifth?.text === ')'
    return isOperator ? [spanOf(token, third), spanOf(fifth, fifth)] : []
  }
  const isType = token.text === '::' || isWord(token, 'as')
  if (!isType || first === undefined || second?.text !== '.' || !isWord(first, 'pg_catalog')) return []
  return [spanOf(first, second)]
}

function isWord(token: SqlToken | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text === word
}

function spanOf(first: Span, last: Span): Span {
  return { start: first.start, end: last.end }
}
