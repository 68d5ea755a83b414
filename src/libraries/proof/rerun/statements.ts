// Which statements the portable engine is asked to run, and which of them nothing but rows can decide: judged by their words,
// for there is no parser of ours where it runs.

import { foldAscii } from '../../model/names.ts'
import type { SqlToken } from '../../sql/lexer.ts'
import {
  aggregateFunctions,
  allowedMacros,
  allowedTableFunctions,
  clockNames,
  machineDependentFunctions,
  names,
  scalarFunctions,
  sessionNames,
  volatileFunctions,
} from '../../sql/functions.ts'

const byChance = new Set([...volatileFunctions, ...clockNames, ...sessionNames, 'sample', 'tablesample'])

/** What nodes let a statement call, and the words that stand before a parenthesis otherwise. */
const callable = new Set([
  ...scalarFunctions,
  ...aggregateFunctions,
  ...allowedMacros,
  ...allowedTableFunctions,
  ...names(`
    all and any array as between by case cast char coalesce columns cube dec decimal distinct else escape except exclude
    exists extract filter from group grouping grouping_id having if ifnull ilike in intersect interval is join lateral like
    limit map materialized not numeric offset on or order over partition range recursive rename replace rollup row select
    sets similar some struct then timestamp try try_cast union using values varchar when where with within
  `),
])
const isCatalog = /^"?(?:information_schema|system|temp)"?$|^"?(?:duckdb|pragma|sqlite|pg)_/i

/** Why a text cannot be run as it stands inside another one, would not run alike twice, or reads what is no dataset. */
export function faultOf(tokens: readonly SqlToken[], sql: string): string | undefined {
  let depth = 0
  for (const [at, { kind, text, start, end }] of tokens.entries()) {
    if (kind === 'unfair comment' || kind === 'parameter') return 'Its text cannot be run here.'
    if (kind === 'word' && byChance.has(text)) return `'${text}' gives another answer each time, or on each machine.`
    if (machineDependentFunctions.has(text)) return `The last digits of '${text}' depend on the machine.`
    if (kind === 'word' || kind === 'name') {
      const isCall = tokens[at + 1]?.text === '('
      const word = sql.slice(start, end)
      if (isCatalog.test(word) || (isCall && !callable.has(text))) return `'${word}' is not run here.`
    }
    if (kind !== 'symbol') continue
    if (text === ';') return 'It is more than one statement.'
    depth += text === '(' ? 1 : text === ')' ? -1 : 0
    if (depth < 0) return 'Its parentheses do not match.'
  }
  if (depth !== 0) return 'Its parentheses do not match.'
  return hasOtherPartitions(tokens, sql)
    ? 'It has windows with other partitions, which this engine may compute over the same ones.'
    : undefined
}

/** Whether two windows have other keys in their texts: the engine takes some for the same (docs/decisions/query-engine.md). */
function hasOtherPartitions(tokens: readonly SqlToken[], sql: string): boolean {
  const keys = tokens.flatMap(({ kind, text, start }, at) => {
    if (kind !== 'word' || text !== 'partition') return []
    let depth = 0
    const end = tokens.find((token, place) => {
      if (place <= at) return false
      if (token.kind === 'symbol') depth += token.text === '(' ? 1 : token.text === ')' ? -1 : 0
      return depth < 0 || (depth === 0 && token.kind === 'word' && /^(?:order|rows|range|groups)$/.test(token.text))
    })
    return [sql.slice(start, end?.start).trim()]
  })
  return new Set(keys).size > 1
}

/** Functions and words that stand before a parenthesis in statements whose rows alone decide the answer. */
const exactCalls = names(`
  count sum min max abs length lower upper coalesce nullif cast in values and or not on using by from where as with select
  when then else having exists is between join ,
`)
const orderWords = names(`
  limit fetch over qualify pivot unpivot recursive positional asof lateral first last natural zone timestamp timestamptz
`)

/**
 * Whether nothing but the rows can decide the answer: by a short list, so that no other statement is ever accused. `times`:
 * names of columns with times, which only an extension compares with texts.
 */
export function isExact(tokens: readonly SqlToken[], sql: string, times: ReadonlySet<string>): boolean {
  const isSet = tokens.some(({ kind, text }) => kind === 'word' && /^(?:union|intersect|except)$/.test(text))
  return tokens.every(({ kind, text, start, end }, at) => {
    const next = tokens[at + 1]?.text
    if (kind === 'symbol') return !/^[[{]/.test(text) && !(isSet && text === '*')
    if (kind === 'name') return next !== '(' && !times.has(foldAscii(sql.slice(start + 1, end - 1)))
    if (kind !== 'word') return true
    return !orderWords.has(text) && !times.has(text) && (next !== '(' || exactCalls.has(text))
  })
}
