// How many rows a statement asks for itself: the number of its last `LIMIT`. And how many it gets where nobody says. Pure.

import { foldAscii } from '../model/names.ts'
import type { Parameter } from '../model/parameters.ts'
import { lexSql } from './lexer.ts'

/** Rows of an answer where neither caller nor statement says more. */
export const usualRows = 100

/** Rows at most of the answer to `sql` where its caller does not say. */
export function usualLimit(sql: string, mostRows: number, parameters: readonly Parameter[] = []): number {
  return Math.min(Math.max(usualRows, ownLimit(sql, parameters) ?? 0), mostRows)
}

/**
 * The number of `LIMIT n` at the end of `sql`, with or without `OFFSET m`, written out or the value of a parameter; undefined
 * where there is none, or no number.
 */
export function ownLimit(sql: string, parameters: readonly Parameter[] = []): number | undefined {
  if (!/limit/i.test(sql)) return undefined
  const tokens = lexSql(sql)
  while (tokens.at(-1)?.text === ';') tokens.pop()
  const numberAt = (at: number): number | undefined => {
    const { kind, start, end, text: name } = tokens.at(at) ?? {}
    const value = parameters.find((one) => kind === 'parameter' && foldAscii(one.name) === name)?.text
    const text = kind === 'number' ? sql.slice(start, end) : (value ?? '')
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined
  }
  const isAt = (word: string, at: number): boolean => tokens.at(at)?.kind === 'word' && tokens.at(at)?.text === word
  if (isAt('limit', -2)) return numberAt(-1)
  return isAt('offset', -2) && isAt('limit', -4) && numberAt(-1) !== undefined ? numberAt(-3) : undefined
}
