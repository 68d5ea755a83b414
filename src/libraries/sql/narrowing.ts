// What a statement says of the rows that it can need, read from its tree, so that slices without such rows need not be
// opened (node/files/choose-files.ts chooses them). Nothing is said of a statement that reads more than one dataset once, or whose
// answer or failure could hang on a row that is left out: what such rows meet cannot fail. Pure.
// Rules: docs/decisions/query-engine.md#files-that-a-statement-reads.

import { ownValue } from '../base/collections.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'
import {
  aggregateFunctions,
  allowedMacros,
  countingAggregates,
  rowSetMacros,
  scalarFunctions,
  sortingAggregates,
} from './functions.ts'
import type { Given, Narrowing } from './statement.ts'
import { keepsOffsetOrder } from './rewriter.ts'
import { isGrouped } from './selects.ts'
import { child, functionName, holds, isClass, isWholeStar, list, objects, present, text } from './tree.ts'

type Comparison = Narrowing['conditions'][number]

/**
 * What the statement with this top node says of its rows; undefined where every row may matter. `aliases` are the names
 * that it makes itself, in ASCII lower case.
 */
export function narrowingOf(node: JsonObject, aliases: ReadonlySet<string>): Narrowing | undefined {
  const look = onlyLook(node, aliases)
  if (look === undefined) return undefined
  const where = child(node, 'where_clause')
  const first = firstRows(node, look)
  if (where === undefined) return first && { conditions: [], areAll: true, compared: [], first, inProofs: true }
  const conditions = look.conjuncts(where)
  const { areAll, compared } = look
  // The first of those that meet more than these are looked for from the end alone.
  const reached = areAll || first?.descending === true ? first : undefined
  if (conditions === undefined || (conditions.length === 0 && reached === undefined)) return undefined
  return { conditions, areAll, compared, first: reached, inProofs: isExactAnyway(node) }
}

/**
 * The columns that the statement with this top node reads of its one dataset, in ASCII lower case; undefined where it reads
 * more than one, or more than columns that are named (stars, columns by their places).
 */
export function columnsOf(node: JsonObject, aliases: ReadonlySet<string>): readonly string[] | undefined {
  const look = onlyLook(node, aliases)
  if (look === undefined) return undefined
  const columns = new Set<string | undefined>()
  const readsUnnamed = holds(node, (inner) => {
    if (isClass(inner, 'COLUMN_REF')) columns.add(look.columnOf(inner))
    return text(inner, 'class') !== '' && !namedClasses.has(text(inner, 'class'))
  })
  const named = [...columns].filter((column) => column !== undefined)
  return readsUnnamed || named.length < columns.size ? undefined : named
}

/** Expressions that read no column but those that are named in them. */
const namedClasses = new Set(
  'BETWEEN CASE CAST COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION OPERATOR PARAMETER'.split(' '),
)

/** The look of a statement at one dataset: what is left out of that is seen nowhere else. Undefined for any other statement. */
function onlyLook(node: JsonObject, aliases: ReadonlySet<string>): Look | undefined {
  const from = child(node, 'from_table')
  if (text(node, 'type') !== 'SELECT_NODE' || from === undefined || !isPlainTable(from)) return undefined
  if (list(child(node, 'cte_map'), 'map').length > 0 || present(node, 'sample')) return undefined
  if ([...node].some(([name, member]) => name !== 'from_table' && holds(member, looksElsewhere))) return undefined
  return new Look(from, aliases)
}

/** A dataset under its columns' own names. */
function isPlainTable(from: JsonObject): boolean {
  return text(from, 'type') === 'BASE_TABLE' && list(from, 'column_name_alias').length === 0 && !present(from, 'sample')
}

function looksElsewhere(node: JsonObject): boolean {
  return isClass(node, 'SUBQUERY') || text(node, 'type') === 'SELECT_NODE' || text(node, 'type') === 'BASE_TABLE'
}

/** Rows alone decide the answer, whatever the columns' types are: a part of what stability.ts calls exact. */
function isExactAnyway(node: JsonObject): boolean {
  const blurs = (inner: JsonObject): boolean => {
    if (isClass(inner, 'WINDOW') || present(inner, 'sample') || list(inner, 'distinct_on_targets').length > 0)
      return true
    if (!isClass(inner, 'FUNCTION')) return false
    const name = functionName(inner)
    if (countingAggregates.has(name) || sortingAggregates.has(name)) return false
    return (
      aggregateFunctions.has(name) || rowSetMacros.has(name) || !(scalarFunctions.has(name) || allowedMacros.has(name))
    )
  }
  return list(node, 'group_expressions').length === 0 && list(node, 'group_sets').length === 0 && !holds(node, blurs)
}

/** `SELECT columns … ORDER BY column LIMIT n`, or the same without an order, which is that of offsets. */
function firstRows(node: JsonObject, look: Look): Narrowing['first'] {
  if (isGrouped(node) || present(node, 'qualify')) return undefined
  if (!list(node, 'select_list').every(isPlainItem)) return undefined
  const [order, limit, ...more] = modifiersOf(node)
  if (more.length > 0 || (order === undefined && !keepsOffsetOrder(node))) return undefined
  const window = limit === undefined ? {} : { skip: givenOf(limit.get('offset')), limit: givenOf(limit.get('limit')) }
  const isKnown = (['offset', 'limit'] as const).every((name) => {
    return limit === undefined || !present(limit, name) || givenOf(limit.get(name)) !== undefined
  })
  if (!isKnown) return undefined
  if (order === undefined) return { column: undefined, descending: false, ...window }
  const [key, ...ties] = objects(order, 'orders')
  if (!ties.every((tie) => isPlainItem(tie.get('expression') ?? null))) return undefined
  const column = look.columnOf(key?.get('expression'))
  const direction = text(key, 'type')
  if (column === undefined || !/^(?:ORDER_DEFAULT|ASCENDING|DESCENDING)$/.test(direction)) return undefined
  return { column, descending: direction === 'DESCENDING', ...window }
}

/** ORDER BY and LIMIT where a statement has them, and what else it has. */
function modifiersOf(node: JsonObject): [JsonObject | undefined, JsonObject | undefined, ...JsonObject[]] {
  const modifiers = objects(node, 'modifiers')
  const order = modifiers.find((modifier) => text(modifier, 'type') === 'ORDER_MODIFIER')
  const limit = modifiers.find((modifier) => text(modifier, 'type') === 'LIMIT_MODIFIER')
  return [order, limit, ...modifiers.filter((modifier) => modifier !== order && modifier !== limit)]
}

/** A column as it is, as text, or its first characters, or all of them: what cannot fail, whatever the row. */
function isPlainItem(item: JsonValue): boolean {
  if (isClass(item, 'STAR')) return isWholeStar(item) && item.get('columns') !== true
  if (isClass(item, 'CAST'))
    return text(child(item, 'cast_type'), 'id') === 'VARCHAR' && isPlainItem(item.get('child') ?? null)
  if (!isClass(item, 'FUNCTION')) return isClass(item, 'COLUMN_REF') || isClass(item, 'CONSTANT')
  const [inner = null, count] = list(item, 'children')
  return functionName(item) === 'left' && isPlainItem(inner) && /^\d{1,9}$/.test(givenOf(count)?.text ?? '')
}

const comparisons: Readonly<Record<string, Comparison['is'] | undefined>> = {
  COMPARE_EQUAL: '=',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
}
const turned = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

/** A look at the conditions over the columns of one dataset. */
class Look {
  /** Every comparison of a column with a constant. */
  readonly compared: { readonly column: string; readonly value: Given }[] = []
  /** False where a row must meet more than the comparisons that `conjuncts` found. */
  areAll = true
  readonly #own: string
  readonly #aliases: ReadonlySet<string>

  constructor(from: JsonObject, aliases: ReadonlySet<string>) {
    this.#own = foldAscii(text(from, 'alias') || text(from, 'table_name'))
    this.#aliases = aliases
  }

  /** The name of a column of the dataset, in ASCII lower case, where an expression is one and nothing else has the name. */
  columnOf(expression: JsonValue | undefined): string | undefined {
    if (!isClass(expression, 'COLUMN_REF')) return undefined
    const [name, qualifier, more] = list(expression, 'column_names').toReversed()
    if (typeof name !== 'string' || more !== undefined) return undefined
    if (qualifier !== undefined && (typeof qualifier !== 'string' || foldAscii(qualifier) !== this.#own))
      return undefined
    const folded = foldAscii(name)
    return this.#aliases.has(folded) || folded === this.#own ? undefined : folded
  }

  /** What each row that passes meets; undefined where a part of the condition is not known, which might fail. */
  conjuncts(condition: JsonObject): Comparison[] | undefined {
    if (text(condition, 'type') === 'CONJUNCTION_AND') {
      const parts = objects(condition, 'children').map((part) => this.conjuncts(part))
      return parts.every((part) => part !== undefined) ? parts.flat() : undefined
    }
    const found = this.#comparisons(condition)
    if (found !== undefined) return found
    this.areAll = false
    return this.#isTame(condition) ? [] : undefined
  }

  /** `column < constant` in either order, or BETWEEN. */
  #comparisons(condition: JsonObject): Comparison[] | undefined {
    const type = text(condition, 'type')
    if (type === 'COMPARE_BETWEEN') {
      const column = this.columnOf(condition.get('input'))
      const [least, most] = [this.#note(column, condition.get('lower')), this.#note(column, condition.get('upper'))]
      if (column === undefined || least === undefined || most === undefined) return undefined
      return [
        { column, is: '>=', value: least },
        { column, is: '<=', value: most },
      ]
    }
    const is = isClass(condition, 'COMPARISON') ? ownValue(comparisons, type) : undefined
    if (is === undefined) return undefined
    const [left, right] = [condition.get('left'), condition.get('right')]
    const column = this.columnOf(left) ?? this.columnOf(right)
    const isTurned = this.columnOf(left) === undefined
    const value = this.#note(column, isTurned ? left : right)
    return column === undefined || value === undefined ? undefined : [{ column, is: isTurned ? turned[is] : is, value }]
  }

  /** True for a condition that cannot fail, whatever the row, as far as columns have the types of what they are held against. */
  #isTame(condition: JsonValue): boolean {
    if (!(condition instanceof Map)) return false
    const type = text(condition, 'type')
    const sides = isClass(condition, 'COMPARISON') ? [condition.get('left'), condition.get('right')] : []
    if (sides.length > 0 && sides.every((side) => givenOf(side)?.kind === 'number')) return true
    const children = list(condition, 'children')
    if (type === 'CONJUNCTION_AND' || type === 'CONJUNCTION_OR' || type === 'OPERATOR_NOT') {
      return children.every((part) => this.#isTame(part))
    }
    if (type === 'OPERATOR_IS_NULL' || type === 'OPERATOR_IS_NOT_NULL') {
      return children.every((part) => this.columnOf(part) !== undefined)
    }
    if (type === 'COMPARE_IN' || type === 'COMPARE_NOT_IN') {
      const [operand, ...values] = children
      const column = this.columnOf(operand)
      return column !== undefined && values.every((value) => this.#note(column, value) !== undefined)
    }
    if (type !== 'COMPARE_NOTEQUAL') return this.#comparisons(condition) !== undefined
    const [left, right] = sides
    const column = this.columnOf(left) ?? this.columnOf(right)
    return this.#note(column, this.columnOf(left) === undefined ? left : right) !== undefined
  }

  /** The constant that a column is held against. */
  #note(column: string | undefined, constant: JsonValue | undefined): Given | undefined {
    const value = column === undefined ? undefined : givenOf(constant)
    if (column !== undefined && value !== undefined) this.compared.push({ column, value })
    return value
  }
}

/** Wider ones could leave no digits for the column that is held against them. */
const widestDecimal = 15

/** A constant whose value is known here, or a parameter. */
function givenOf(expression: JsonValue | undefined): Given | undefined {
  if (isClass(expression, 'PARAMETER')) return { kind: 'parameter', text: foldAscii(text(expression, 'identifier')) }
  if (isClass(expression, 'CAST') && expression.get('try_cast') !== true) {
    const kind = ownValue(castKinds, text(child(expression, 'cast_type'), 'id'))
    const inner = givenOf(expression.get('child'))
    if (kind === undefined || inner?.kind !== 'text' || (kind === 'boolean' && !/^[tf]$/.test(inner.text)))
      return undefined
    return { kind, text: inner.text }
  }
  if (!isClass(expression, 'CONSTANT')) return undefined
  const constant = child(expression, 'value')
  const value = constant?.get('value')
  const type = child(constant, 'type')
  if (constant?.get('is_null') === true) return undefined
  const id = text(type, 'id')
  if (id === 'VARCHAR' && typeof value === 'string') return { kind: 'text', text: value }
  if (id === 'BOOLEAN' && typeof value === 'boolean') return { kind: 'boolean', text: String(value) }
  if (!(value instanceof JsonNumber)) return undefined
  if (/^(?:TINY|SMALL|BIG)?INT(?:EGER)?$/.test(id)) return { kind: 'number', text: value.token }
  const width = child(type, 'type_info')?.get('width')
  const isNarrow = width instanceof JsonNumber && Number(width.token) <= widestDecimal
  // Its digits are of no use here: no column that rows are chosen by has such values.
  return id === 'DOUBLE' || (id === 'DECIMAL' && isNarrow) ? { kind: 'number', text: '' } : undefined
}

/** Of a text. TRUE and FALSE are such casts for the engine. */
const castKinds: Readonly<Record<string, Given['kind'] | undefined>> = {
  BOOLEAN: 'boolean',
  DATE: 'day',
  TIMESTAMP: 'time',
  'TIMESTAMP WITH TIME ZONE': 'time',
}
