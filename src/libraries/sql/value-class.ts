// What kind of value an expression gives, derived from the syntax tree and the columns' types, so that the class of a
// statement (stability.ts) is known without running it. Errs on one side only: what is not known is blurred. Pure.

import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'
import type { DataSchema, DataType } from '../model/schema.ts'
import {
  arithmeticFunctions,
  integerFunctions,
  joiningFunctions,
  names,
  numberFunctions,
  operandFunctions,
  otherFunctions,
} from './functions.ts'
import { child, functionName, holdsHere, isClass, list, objects, text } from './tree.ts'

/**
 * Ordered, so that the kind of several values is the highest of theirs. `integer`: integers of up to 128 bits with a sign,
 * truth values. `number`: decimals beside those; sums of both do not round. `other`: text, times, bytes and what is made of
 * them and of numbers. `blurred`: floats and spans of time (their sums depend on order; 0.0 equals -0.0 and a month 30 days,
 * and both print differently), UHUGEINT, which becomes a float where it is added or meets another integer, and all unknown.
 */
export const valueClass = { none: 0, integer: 1, number: 2, other: 3, blurred: 4 } as const
export type ValueClass = (typeof valueClass)[keyof typeof valueClass]

const { none, integer, number, other, blurred } = valueClass

function highest(classes: readonly ValueClass[]): ValueClass {
  return classes.reduce<ValueClass>((most, one) => (one > most ? one : most), none)
}

/** The kind of a column's values; `narrow` as `NamedValues` has it. */
function classOfType(type: DataType, narrow = false): ValueClass {
  const isWide = type.kind === 'Decimal' && (type.precision > narrowDigits || type.scale > narrowScale)
  if (narrow && isWide) return blurred
  if (narrow && type.kind === 'UInt64') return number
  switch (type.kind) {
    case 'Option':
      return classOfType(type.inner, narrow)
    case 'List':
      return highest([other, classOfType(type.itemType)])
    case 'Map':
      return highest([other, classOfType(type.keyType), classOfType(type.valueType)])
    case 'Struct':
      return highest([other, ...type.fields.map((field) => classOfType(field.type))])
    case 'Float16':
    case 'Float32':
    case 'Float64':
    case 'Duration':
      return blurred
    case 'String':
    case 'Binary':
    case 'Date':
    case 'Time':
    case 'Timestamp':
      return other
    case 'Decimal':
      return number
    default:
      return integer
  }
}

const integerTypes = names(`
  BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT INTEGER_LITERAL NULL
`)
const otherTypes = names(`
  BIT BLOB CHAR DATE STRING_LITERAL TIME TIMESTAMP TIMESTAMP_MS TIMESTAMP_NS TIMESTAMP_S UUID VARCHAR
`)

/** Digits of decimals of which 10^10 do not overflow 128 bits, beside integers and one another. */
const narrowDigits = 18
const narrowScale = 9
/** They make integers of 128 bits. */
const wideFunctions = names('factorial gcd lcm')

function classOfSqlType(type: JsonObject | undefined, narrow = false): ValueClass {
  const id = text(type, 'id')
  if (narrow && id === 'UBIGINT') return number
  if (narrow && id === 'HUGEINT') return blurred
  if (narrow && id === 'DECIMAL') {
    const most = { width: narrowDigits, scale: narrowScale }
    const isNarrow = Object.entries(most).every(([name, digits]) => {
      const value = child(type, 'type_info')?.get(name)
      return value instanceof JsonNumber && Number(value.token) <= digits
    })
    return isNarrow ? number : blurred
  }
  if (integerTypes.has(id)) return integer
  if (id === 'DECIMAL') return number
  return otherTypes.has(id) || id === 'TIMESTAMP WITH TIME ZONE' ? other : blurred
}

/** Rounds of looking after which names that still change are taken as blurred. */
const maxRounds = 16

/**
 * What the names in a statement stand for. A name is looked up in the whole statement at once, whatever its scope: it may
 * be a column of any dataset and every expression that any SELECT gives this name, so its class is the highest of theirs.
 */
export class NamedValues {
  readonly #classes = new Map<string, ValueClass>()
  readonly #expressions = new Map<string, JsonObject[]>()
  /** Expressions of inner queries whose columns have names that only the engine knows: any name may be theirs. */
  readonly #nameless: JsonObject[] = []
  #namelessClass: ValueClass = none
  /** `integer` is what 64 bits with a sign hold, `number` what can be added as it is in any order; wider values are blurred. */
  readonly #narrow: boolean

  constructor(statement: JsonObject, schemas: readonly DataSchema[], { narrow = false } = {}) {
    this.#narrow = narrow
    for (const { fields } of schemas)
      for (const { name, type } of fields) this.#note(foldAscii(name), classOfType(type, narrow))
    this.#collect(statement, false)
    this.#resolve()
  }

  /** True when the statement itself gives this name to something. */
  isGiven(name: string): boolean {
    return this.#expressions.has(foldAscii(name))
  }

  /** Class of every column there is: that of `*`. */
  everything(): ValueClass {
    return highest([this.#namelessClass, ...this.#classes.values()])
  }

  classOf(expression: JsonValue | undefined): ValueClass {
    if (!(expression instanceof Map)) return blurred
    const operands = list(expression, 'children')
    switch (text(expression, 'class')) {
      case 'COLUMN_REF':
        return this.#classOfColumn(list(expression, 'column_names'))
      case 'CONSTANT':
        return classOfSqlType(child(child(expression, 'value'), 'type'), this.#narrow)
      case 'CAST':
        return classOfSqlType(child(expression, 'cast_type'), this.#narrow)
      case 'BETWEEN':
      case 'COMPARISON':
      case 'CONJUNCTION':
        return integer
      case 'CASE': {
        const checks = objects(expression, 'case_checks').map((check) => check.get('then_expr'))
        return this.#highestOf([...checks, expression.get('else_expr')])
      }
      case 'OPERATOR':
        return this.#classOfOperator(text(expression, 'type'), operands)
      case 'FUNCTION':
      case 'WINDOW':
        return this.#classOfFunction(functionName(expression), operands)
      case 'SUBQUERY':
        return this.#classOfSubquery(expression)
      case 'STAR':
        return this.everything()
      default:
        return blurred
    }
  }

  #highestOf(expressions: readonly (JsonValue | undefined)[]): ValueClass {
    return highest(expressions.map((expression) => this.classOf(expression)))
  }

  /** `x`, `t.x`, `s.field`: any part may be the column. */
  #classOfColumn(parts: readonly JsonValue[]): ValueClass {
    const known = parts.flatMap((part) => {
      const held = typeof part === 'string' ? this.#classes.get(foldAscii(part)) : undefined
      return held === undefined ? [] : [held]
    })
    return known.length === 0 ? blurred : highest([this.#namelessClass, ...known])
  }

  #classOfOperator(type: string, operands: readonly JsonValue[]): ValueClass {
    if (type === 'OPERATOR_COALESCE' || type === 'OPERATOR_TRY') return this.#highestOf(operands)
    if (type === 'ARRAY_CONSTRUCTOR') return highest([other, this.#highestOf(operands)])
    if (/^(?:ARRAY_EXTRACT|ARRAY_SLICE|STRUCT_EXTRACT)$/.test(type)) return highest([other, this.classOf(operands[0])])
    return /^(?:OPERATOR_(?:NOT|IS_NULL|IS_NOT_NULL)|COMPARE_(?:NOT_)?IN)$/.test(type) ? integer : blurred
  }

  #classOfFunction(name: string, operands: readonly JsonValue[]): ValueClass {
    if (this.#narrow && wideFunctions.has(name)) return blurred
    if (numberFunctions.has(name)) return integer
    if (otherFunctions.has(name)) return other
    if (name === 'date_part' || name === 'datepart') return isFloatPart(operands[0]) ? blurred : integer
    const given = this.#highestOf(operands)
    // The several smallest, or greatest, are a list.
    const isList = joiningFunctions.has(name) || (/^(?:max|min)$/.test(name) && operands.length > 1)
    if (isList) return highest([other, given])
    if (operandFunctions.has(name)) return given
    if (integerFunctions.has(name)) return given <= integer ? integer : blurred
    const most = this.#narrow && !name.startsWith('sum') ? integer : number
    if (!arithmeticFunctions.has(name) || given > most) return blurred
    return this.#narrow && name.startsWith('sum') ? number : given
  }

  #classOfSubquery(expression: JsonObject): ValueClass {
    if (text(expression, 'subquery_type') !== 'SCALAR') return integer
    const node = child(child(expression, 'subquery'), 'node')
    return text(node, 'type') === 'SELECT_NODE' ? this.#highestOf(list(node, 'select_list')) : blurred
  }

  #note(name: string, value: ValueClass): void {
    this.#classes.set(name, highest([this.#classes.get(name) ?? none, value]))
  }

  #give(name: string, expression: JsonObject): void {
    const key = foldAscii(name)
    const held = this.#expressions.get(key)
    if (held === undefined) this.#expressions.set(key, [expression])
    else held.push(expression)
    this.#note(key, none)
  }

  /** Walks the statement; `isTable`: other parts of it can name the columns of this query. */
  #collect(value: JsonValue, isTable: boolean): void {
    if (Array.isArray(value)) for (const item of value) this.#collect(item, isTable)
    if (!(value instanceof Map)) return
    const type = value.get('type')
    if (type === 'SELECT_NODE') for (const item of objects(value, 'select_list')) this.#collectItem(item, isTable)
    if (type === 'SET_OPERATION_NODE' && isTable) this.#collectLeaves(value)
    this.#collectAliases(value)
    const isExpression = value.has('class')
    const isWrapper = typeof type !== 'string' || type === 'SET_OPERATION_NODE'
    for (const [name, member] of value) {
      const isInner = name === 'cte_map' || type === 'SUBQUERY' || (isWrapper && isTable)
      this.#collect(member, !isExpression && isInner)
    }
  }

  #collectItem(item: JsonObject, isTable: boolean): void {
    const alias = text(item, 'alias')
    const path = list(item, 'column_names')
    const last = path.at(-1)
    if (isClass(item, 'STAR') && alias === '') this.#collectStar(item)
    else if (holdsHere(item, (node) => isClass(node, 'STAR'))) this.#nameless.push(item)
    else if (alias !== '') this.#give(alias, item)
    else if (!isClass(item, 'COLUMN_REF')) this.#nameless.push(...(isTable ? [item] : []))
    else if (path.length > 1 && typeof last === 'string') this.#give(last, item)
  }

  #collectStar(star: JsonObject): void {
    this.#nameless.push(...objects(star, 'replace_list').flatMap((entry) => child(entry, 'value') ?? []))
    for (const entry of objects(star, 'rename_list')) this.#note(foldAscii(text(entry, 'value')), blurred)
  }

  /** Columns of a set operation have the names of its first query and the values of all. */
  #collectLeaves(node: JsonObject): void {
    for (const leaf of [child(node, 'left'), child(node, 'right'), ...objects(node, 'children')]) {
      this.#nameless.push(...objects(leaf, 'select_list'))
    }
  }

  /** `t(x, y)`: names for columns that had others. */
  #collectAliases(node: JsonObject): void {
    const given = [...list(node, 'column_name_alias'), ...list(node, 'aliases')]
    const values = valuesOf(node)
    const makesNumbers = this.#collectSource(node)
    for (const name of given) {
      if (typeof name !== 'string') continue
      if (values === undefined) this.#note(foldAscii(name), makesNumbers ? integer : blurred)
      else for (const value of values) this.#give(name, value)
    }
  }

  /** Columns of VALUES and of table functions; true for those that count. */
  #collectSource(node: JsonObject): boolean {
    const rows = text(node, 'type') === 'EXPRESSION_LIST' ? list(node, 'values').flat() : []
    const call = text(node, 'type') === 'TABLE_FUNCTION' ? child(node, 'function') : undefined
    const name = functionName(call)
    const given = list(call, 'children')
    const counts = (name === 'range' || name === 'generate_series') && this.#highestOf(given) <= number
    if (counts) this.#note(name, integer)
    const values = counts ? rows : [...rows, ...given]
    this.#nameless.push(...values.filter((value) => value instanceof Map))
    return counts
  }

  /** Classes of names that stand for expressions over names, until none changes any more. */
  #resolve(): void {
    for (let round = 0; round < maxRounds; round++) {
      let changed = false
      const namelessClass = this.#highestOf(this.#nameless)
      changed ||= namelessClass !== this.#namelessClass
      this.#namelessClass = namelessClass
      for (const [name, expressions] of this.#expressions) {
        const held = this.#classes.get(name)
        this.#note(name, this.#highestOf(expressions))
        changed ||= held !== this.#classes.get(name)
      }
      if (!changed) return
    }
    this.#namelessClass = blurred
  }
}

/** Expressions of `(VALUES …) t(a, b)`, or undefined where the node has another content. */
function valuesOf(node: JsonObject): JsonObject[] | undefined {
  const inner = child(child(node, 'subquery') ?? child(node, 'query') ?? node, 'node')
  const from = child(inner, 'from_table')
  if (text(from, 'type') !== 'EXPRESSION_LIST') return undefined
  return list(from, 'values')
    .flat()
    .filter((value) => value instanceof Map)
}

/** `epoch` and `julian` are doubles; a part that is not written out may be one. */
function isFloatPart(operand: JsonValue | undefined): boolean {
  const constant = operand instanceof Map ? child(operand, 'value') : undefined
  return ['', 'epoch', 'julian'].includes(foldAscii(text(constant, 'value')))
}
