// A statement's text, before any parser of the engine sees it: places of parameters, and the first look: is it one query, and
// nothing else? (The engine's parser touches files for some kinds: IMPORT DATABASE opens the directory.) Pure.

import { positionAt } from '../base/json/parser.ts'
import { NodeError, type TextPosition } from '../base/errors.ts'
import { shortened } from '../base/shortened.ts'
import { foldAscii } from '../model/names.ts'
import type { Parameter } from '../model/parameters.ts'
import type { QuotedSql } from './offset-word.ts'
import { lexSql } from './lexer.ts'
import { names } from './functions.ts'
import { notAllowed } from './gate.ts'

/** Place in the text as sent of a byte offset in the quoted text. */
export function positionOfByte(sql: QuotedSql, byteOffset: number): TextPosition {
  return originalPosition(sql, byteOffset, (point) => (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4))
}

/** Place in the text as sent of an offset in code points in the quoted text. */
export function positionOfCodePoint(sql: QuotedSql, offset: number): TextPosition {
  return originalPosition(sql, offset, () => 1)
}

/** `sizeOf`: how much of the offset a code point takes. */
function originalPosition(sql: QuotedSql, offset: number, sizeOf: (codePoint: number) => number): TextPosition {
  let passed = 0
  let index = 0
  for (const character of sql.text) {
    if (passed >= offset) break
    passed += sizeOf(character.codePointAt(0) ?? 0)
    index += character.length
  }
  const before = sql.inserted.filter((at) => at < index).length
  return positionAt(sql.original, index - before)
}

const refusedWords = names(`
  alter analyze attach begin call checkpoint comment commit copy create deallocate delete detach do drop end execute
  explain export force grant import insert install load merge pragma prepare reindex release reset revoke rollback
  savepoint set start truncate update use vacuum
`)

/**
 * Throws NodeError `SqlSyntax` for an empty text, one with NUL or with letters right behind a number, `SqlValue` for a number beyond a double, and
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
    throw new NodeError(
      'SqlSyntax',
      'A comment is not closed, or holds over 100 others inside one another, or is one of over 1,000.',
      {
        position: positionAt(sql, comment.start),
      },
    )
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
  for (const [index, { kind, start, end }] of tokens.entries()) {
    const next = tokens[index + 1]
    if (kind === 'number' && next?.kind === 'word' && next.start === end) {
      throw lettersBehindNumber(sql.slice(start, end), sql.slice(end, next.end), positionAt(sql, start))
    }
    if (kind === 'number' && Number(sql.slice(start, end).replaceAll('_', '')) === Number.POSITIVE_INFINITY) {
      throw numberTooLarge(positionAt(sql, start))
    }
  }
}

/** The engine takes the letters for a name: `0x1F` is `0 AS x1F`, and `1__0` is `1 AS __0`. */
function lettersBehindNumber(number: string, letters: string, position: TextPosition): NodeError {
  const written = shortened(number + letters, 40)
  const value = /^0(?:x[0-9a-f]+|o[0-7]+|b[01]+)$/i.test(written) ? BigInt(written) : undefined
  return new NodeError('SqlSyntax', `${written} is no number: letters come right behind its digits.`, {
    hint:
      value === undefined
        ? 'Put a space behind the number, or the whole in double quotes where it is a name.'
        : `Numbers are decimal: write ${value}.`,
    position,
  })
}

/** The refusal of a number that only infinity could stand for: the engine's tree has no form for it. */
export function numberTooLarge(position?: TextPosition): NodeError {
  return new NodeError('SqlValue', 'A number of the statement is larger than a double holds.', {
    hint: "Numbers go to ±1.7976931348623157e308. Infinity is written 'inf'::DOUBLE.",
    ...(position && { position }),
  })
}

/** The parameters `$name`, `$1` and `?` of a text in order; their names in ASCII lower case. */
function* parametersIn(
  sql: string,
): Generator<{ readonly name: string; readonly start: number; readonly end: number }> {
  let last = 0
  for (const { kind, start, end, text } of lexSql(sql)) {
    if (kind !== 'parameter') continue
    // The engine numbers each `?` behind the highest number so far.
    const name = text === '' ? String(last + 1) : text
    if (/^\d+$/.test(name)) last = Math.max(last, Number(name))
    yield { name, start, end }
  }
}

/** Place of each parameter by name, the first of each. */
export function parameterPlaces(sql: string): ReadonlyMap<string, TextPosition> {
  const places = new Map<string, TextPosition>()
  for (const { name, start } of parametersIn(sql)) if (!places.has(name)) places.set(name, positionAt(sql, start))
  return places
}

/** The text with the type of each parameter written behind it, which finds the places of errors: NULL has none of its own. */
export function withTypes(sql: QuotedSql, parameters: readonly Parameter[]): QuotedSql {
  const types = new Map(parameters.map(({ name, type }) => [foldAscii(name), type === 'NULL' ? 'INTEGER' : type]))
  const inserted: number[] = []
  let text = ''
  let copied = 0
  let behind = 0
  const copyTo = (end: number): void => {
    for (let at = sql.inserted[behind]; at !== undefined && at < end; at = sql.inserted[++behind]) {
      inserted.push(at + text.length - copied)
    }
    text += sql.text.slice(copied, end)
    copied = end
  }
  for (const { name, end } of parametersIn(sql.text)) {
    copyTo(end)
    const type = `::${types.get(name) ?? 'VARCHAR'}`
    for (let at = 0; at < type.length; at++) inserted.push(text.length + at)
    text += type
  }
  copyTo(sql.text.length)
  return { original: sql.original, text, inserted }
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

/** After words that a table follows: a name of two parts, with a slash or a hyphen in it. */
const bareName =
  /\b(?:from|join|describe|summarize)\s+([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*)([/.])([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*)/gi
/** Text and comments, in which a name is no name. */
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g

/** What to write instead, where a name in `sql` lacks its quotes. */
export function unquotedNameHint(sql: string): string | undefined {
  const bare = sql.replace(quoted, (text) => ' '.repeat(text.length))
  for (const [, account = '', separator = '', dataset = ''] of bare.matchAll(bareName)) {
    if (separator === '/' || account.includes('-') || dataset.includes('-')) {
      return `Names of datasets with '/' or '-' go in double quotes: "${account}/${dataset}".`
    }
  }
  return undefined
}
