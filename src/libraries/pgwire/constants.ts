// Values as constants of a statement, and what a statement says of the types of its parameters. Pure.

import { maxParameters, type Parameter } from '../model/parameters.ts'
import { utf8 } from '../base/bytes.ts'
import { lexSql, type SqlToken } from '../sql/lexer.ts'
import { elementsOf, listText } from './arrays.ts'
import { arrayOids, type PgType, pgTypes, typeCalled } from './catalogue/types.ts'
import { PostgresFault } from './report.ts'
import { parameterOf } from './values.ts'

const castTo = /^\s*::\s*([a-z]\w*(?: (?:precision|varying|with(?:out)? time zone))?)\s*(?:\([\d, ]*\))?\s*(\[\s*\])?/i

/** The type of PostgreSQL to which a text is cast that goes on so. */
function castType(rest: string): PgType | undefined {
  const [, name = '', brackets] = castTo.exec(rest) ?? []
  return typeCalled(`${name.toLowerCase()}${brackets === undefined ? '' : '[]'}`)
}

const textArray = 1009
const [bytea, interval, numeric, numerics] = [17, 1186, 1700, 1231]
/** Arrays whose members are written with their type, and that of a member. */
const memberTypes = new Map([
  [1001, bytea],
  [1021, 700],
  [1022, 701],
  [numerics, numeric],
])
/** Values of these types are written into the statement: as text they would mean what stands beside them, 10.5 the integer 11. */
export const writtenOids: ReadonlySet<number> = new Set([...arrayOids, bytea, interval, numeric])

/**
 * The types of the parameters of a statement: as its client says, else as it says itself, `$1::date`, `= ANY ($2)`, else 0. Throws
 * PostgresFault 54023.
 */
export function typesOf(sql: string, given: readonly number[]): number[] {
  const types = [...given]
  const tokens = lexSql(sql)
  for (const [at, { kind, end, text }] of tokens.entries()) {
    const place = kind === 'parameter' ? Number(text) || 0 : 0
    if (place > maxParameters) throw new PostgresFault('54023', `more than ${maxParameters} parameters`)
    while (types.length < place) types.push(0)
    if (place > 0 && types[place - 1] === 0)
      types[place - 1] = castType(sql.slice(end, end + 60))?.oid ?? (membership(tokens, at) ? textArray : 0)
  }
  return types
}

/** Where the parameter is all that something is a member of, `= ANY ($1)` or `<> ALL ($1)`: the place of the operator, and IN or NOT IN. */
function membership(
  tokens: readonly SqlToken[],
  at: number,
): { readonly from: number; readonly word: string } | undefined {
  const [operator, quantifier, open] = tokens.slice(Math.max(0, at - 3), at)
  if (operator === undefined || open?.text !== '(' || tokens[at + 1]?.text !== ')') return undefined
  const written = `${operator.text} ${quantifier?.text ?? ''}`
  const word = /^= (?:any|some)$/.test(written) ? ' IN' : /^(?:<>|!=) all$/.test(written) ? ' NOT IN' : undefined
  return word === undefined ? undefined : { from: operator.start, word }
}

/** Arrays as constants, `'{a,b}'::text[]` and `= ANY ('{a,b}')`, as the engine reads lists. */
export function withLists(sql: string): string {
  if (!sql.includes("'{")) return sql
  let out = ''
  let done = 0
  const tokens = lexSql(sql)
  for (const [at, { kind, start, end }] of tokens.entries()) {
    const member = membership(tokens, at)
    const isList = member !== undefined || castType(sql.slice(end, end + 60))?.isArray === true
    if (kind !== 'string' || !sql.startsWith("'{", start) || !isList) continue
    const elements = elementsOf(sql.slice(start + 1, end - 1).replaceAll("''", "'"))
    if (elements === undefined) continue
    out += member === undefined ? sql.slice(done, start) : sql.slice(done, member.from).trimEnd()
    out += member === undefined ? quoted(listText(elements)) : `${member.word} (${membersOf(elements)}`
    done = end
  }
  return out + sql.slice(done)
}

/**
 * The statement with its parameters written in as constants: what anyone can ask again. `oids` are their types. Throws PostgresFault
 * 22P02 for an array that is none.
 */
export function withConstants(sql: string, values: readonly Parameter[], oids: readonly number[] = []): string {
  let out = ''
  let done = 0
  const tokens = lexSql(sql)
  for (const [at, { kind, start, end, text }] of tokens.entries()) {
    const value = kind === 'parameter' ? values.find(({ name }) => name === text) : undefined
    if (value === undefined) continue
    const oid = oids[Number(text) - 1] ?? 0
    const member = arrayOids.has(oid) && value.type !== 'NULL' ? membership(tokens, at) : undefined
    out += member === undefined ? sql.slice(done, start) : sql.slice(done, member.from).trimEnd()
    out +=
      member === undefined
        ? constantOf(value, oid)
        : `${member.word} (${membersOf(arrayOf(value.text, oid), memberTypes.get(oid))}`
    done = end
  }
  return out + sql.slice(done)
}

function constantOf({ type, text }: Parameter, oid: number): string {
  if (type === 'NULL') return 'NULL'
  const array = arrayOids.has(oid) ? pgTypes.find((one) => one.oid === oid) : undefined
  if (array !== undefined) {
    const items = arrayOf(text, oid)
    const decimal = oid === numerics ? decimalOf(items) : undefined
    return `CAST(${quoted(listText(items))} AS ${decimal === undefined ? array.shown : `${decimal}[]`})`
  }
  if (type === 'VARCHAR') return typedText(text, oid)
  return type === 'BOOLEAN' ? text : `CAST(${text} AS ${type})`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

function typedText(text: string, oid: number): string {
  const words: Readonly<Record<number, string | undefined>> = {
    [bytea]: 'BLOB',
    [interval]: 'INTERVAL',
    [numeric]: decimalOf([text]),
    700: 'FLOAT',
    701: 'DOUBLE',
  }
  const word = words[oid]
  return word === undefined ? quoted(text) : `CAST(${quoted(text)} AS ${word})`
}

const decimal = /^[+-]?0*(?!0)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,4}))?$/i

/** The type that keeps all digits of numbers; undefined where none does. */
function decimalOf(texts: readonly (string | null)[]): string | undefined {
  let [whole, scale] = [1, 0]
  for (const text of texts) {
    if (text === null) continue
    const [, digits, rest = '', power = '0'] = decimal.exec(text.trim()) ?? []
    if (digits === undefined) return undefined
    whole = Math.max(whole, digits.length + Number(power))
    scale = Math.max(scale, rest.length - Number(power))
  }
  return whole + scale > 38 ? undefined : `DECIMAL(${whole + scale},${scale})`
}

function membersOf(elements: readonly (string | null)[], oid = 0): string {
  const written = elements.map((one) => (one === null ? 'NULL' : typedText(one, oid)))
  return elements.length === 0 ? 'SELECT NULL WHERE false' : written.join(', ')
}

function arrayOf(text: string, oid: number): (string | null)[] {
  const elements = elementsOf(text)
  if (elements === undefined) throw new PostgresFault('22P02', `malformed array literal: "${text.slice(0, 100)}"`)
  const isHex = (one: string): boolean => memberTypes.get(oid) === bytea && /^\\x(?:[0-9a-f]{2})*$/i.test(one)
  return elements.map((one) => (one !== null && isHex(one) ? parameterOf(1, bytea, 0, utf8(one)).text : one))
}
