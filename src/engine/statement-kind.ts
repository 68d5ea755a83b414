// The first look at a statement's text, before any parser of the engine sees it: what kind of statement is it, and is
// it one alone. (The engine's parser touches files for some kinds: IMPORT DATABASE opens the directory.) Pure.

import { positionAt } from '../json/parser.ts'
import { NodeError, type TextPosition } from '../model/errors.ts'
import { notAllowed } from './gate.ts'
import { lexSql } from './lexer.ts'

const refusedWords = new Set(
  (
    'alter analyze attach begin call checkpoint comment commit copy create deallocate delete describe desc detach do ' +
    'drop end execute explain export force grant import insert install load merge pragma prepare reindex release reset ' +
    'revoke rollback savepoint set show start summarize truncate update use vacuum'
  ).split(' '),
)

/**
 * Throws NodeError `SqlSyntax` for an empty text or one with NUL, `SqlValue` for a number beyond a double, and
 * `QueryNotAllowed` for anything that cannot be one query.
 */
export function checkStatementKind(sql: string): void {
  const nul = sql.indexOf('\0')
  // The engine takes a text to end there in some of its calls and not in others.
  if (nul >= 0)
    throw new NodeError('SqlSyntax', 'The statement holds a NUL character.', { position: positionAt(sql, nul) })
  const tokens = lexSql(sql)
  const comment = tokens.find((token) => token.kind === 'unfair comment')
  if (comment !== undefined) {
    throw new NodeError('SqlSyntax', 'A comment is not closed, or holds over 100 others inside one another.', {
      position: positionAt(sql, comment.start),
    })
  }
  const starts = tokens.filter((token, index) => token.text !== ';' && (index === 0 || tokens[index - 1]?.text === ';'))
  const [first, second] = starts
  if (first === undefined) throw new NodeError('SqlSyntax', 'The statement is empty.', { position: positionAt(sql, 0) })
  for (const start of starts) {
    if (start.kind === 'word' && refusedWords.has(start.text)) {
      throw notAllowed({ construct: start.text.toUpperCase(), position: positionAt(sql, start.start) })
    }
  }
  if (second !== undefined) {
    throw notAllowed({ construct: 'more than one statement', position: positionAt(sql, second.start) })
  }
  for (const { kind, start, end } of tokens) {
    if (kind === 'number' && Number(sql.slice(start, end).replaceAll('_', '')) === Number.POSITIVE_INFINITY) {
      throw numberTooLarge(positionAt(sql, start))
    }
  }
}

/** The refusal of a number that only infinity could stand for: the engine's tree has no form for it. */
export function numberTooLarge(position?: TextPosition): NodeError {
  return new NodeError('SqlValue', 'A number of the statement is larger than a double holds.', {
    hint: "Numbers go to ±1.7976931348623157e308. Infinity is written 'inf'::DOUBLE.",
    ...(position && { position }),
  })
}

/** Place of the first USING SAMPLE or TABLESAMPLE in a text. */
export function sampleClause(sql: string): TextPosition | undefined {
  const tokens = lexSql(sql)
  const found = tokens.find(
    (token, index) =>
      token.kind === 'word' &&
      (token.text === 'tablesample' || (token.text === 'using' && tokens[index + 1]?.text === 'sample')),
  )
  return found === undefined ? undefined : positionAt(sql, found.start)
}
