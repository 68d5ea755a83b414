// The class of a statement: `exact`, its rows alone decide the answer, or `pinned`, the way in which rows lie in blocks or the
// version of the engine may show. Both are reproducible on the blocks and the engine that a proof names. Told from the tree,
// the columns' types and how many rows are wanted, so that anyone can derive it; what is not known here is pinned. Pure.

import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'
import { type DataSchema, defaultVocabulary, systemFields } from '../model/schema.ts'
import { choosesRows } from './optimizers.ts'
import {
  addingAggregates,
  aggregateByName,
  aggregateFunctions,
  allowedMacros,
  countingAggregates,
  extremeAggregates,
  listAggregates,
  machineDependentFunctions,
  names,
  orderedAggregates,
  peerFunctions,
  pinnedMacros,
  rowFunctions,
  rowMakers,
  scalarFunctions,
  sortingAggregates,
  versionFunctions,
  volatileFunctions,
} from './functions.ts'
import type { Stability } from './statement.ts'
import { keepsOffsetOrder } from './rewriter.ts'
import {
  hasDistinct,
  hasDistinctOn,
  hasLimit,
  hasModifier,
  holdsFunction,
  isGrouped,
  isMade,
  groupKeys,
  isShown,
  itemAt,
  keyOf,
  orderEntries,
  ordersByHidden,
  type RowWindow,
  sortedRows,
} from './selects.ts'
import {
  child,
  columnRef,
  functionName,
  holds,
  isClass,
  isWholeStar,
  list,
  objects,
  present,
  tableParts,
  text,
} from './tree.ts'
import { NamedValues, valueClass } from './value-class.ts'

/** A dataset as the statement names it. */
export interface NamedSchema {
  readonly parts: readonly string[]
  /** Undefined: the four system columns. */
  readonly schema: DataSchema | undefined
}

/** A sort that keeps more of the first rows than these may give back -0.0 as 0.0: the engine sorts by other means then. */
const fewRows = 5000

/**
 * The class of the statement with this top node, as it is run for a proof: with a total order of its rows. Exact is what no
 * order in which an engine meets the rows changes, and no version of it. So min and max of floats, and what is grouped by
 * floats, are pinned as their sums are: which of 0.0 and -0.0 comes out is the engine's choice.
 */
export function stabilityOf(node: JsonObject, tables: readonly NamedSchema[], rows: RowWindow): Stability {
  const judge = new Judge(node, tables, { keepsOrder: false })
  if (judge.isOfVersion(node)) return 'pinned'
  // Without a dataset there are no blocks.
  const sorted = choosesRows(node) ? Infinity : sortedRows(node, rows)
  return tables.length === 0 || judge.isExact(node, sorted) ? 'exact' : 'pinned'
}

/**
 * True where the way in which rows lie in blocks shows in no answer of this engine, which meets a dataset in the order of
 * offsets: other files of the same rows may stand in their place.
 */
export function isBlockFree(node: JsonObject, tables: readonly NamedSchema[], rows: RowWindow): boolean {
  return tables.length === 0 || new Judge(node, tables, { keepsOrder: true }).isExact(node, sortedRows(node, rows))
}

/** True where it `mayRace` and the answer shows in which order the parts came. */
export function showsRace(node: JsonObject, tables: readonly NamedSchema[]): boolean {
  return mayRace(node) && tables.length > 0 && !new Judge(node, tables, { keepsOrder: true }).isExact(node)
}

/** True for what is exact in whatever order the engine meets the rows of a dataset, as it does with several threads. */
export function isOrderFree(node: JsonObject, tables: readonly NamedSchema[]): boolean {
  return tables.length === 0 || new Judge(node, tables, { keepsOrder: false, narrow: true }).isExact(node)
}

/**
 * True where one order of the rows takes little beside finding them: they come in that of offsets, are ordered in any case,
 * or are made of many.
 */
export function takesOrder(node: JsonObject): boolean {
  return isMade(node) || keepsOffsetOrder(node) || hasModifier(node, (one) => text(one, 'type') === 'ORDER_MODIFIER')
}

/**
 * The offset as the last tie-breaker of a statement whose rows may be equal and print differently; undefined where no choice
 * is left, or where the offset of a row decides none.
 */
export function lastTieOf(node: JsonObject, tables: readonly NamedSchema[]): JsonObject | undefined {
  return tables.length === 0 ? undefined : new Judge(node, tables, { keepsOrder: true }).lastTie(node)
}

/**
 * True where rows may come in another order each time. The engine begins a part of a UNION when it is ready: with one thread
 * too, parts that wait for a join, a subquery, a CTE or groups are ready in either order.
 */
export function mayRace(node: JsonObject): boolean {
  return holds(node, (one) => text(one, 'setop_type').startsWith('UNION'))
}

/** Objects with a `type` and no `class` that may stand in an exact statement. */
const knownTypes = names(`
  SELECT_NODE SET_OPERATION_NODE BASE_TABLE TABLE_FUNCTION JOIN SUBQUERY EMPTY EXPRESSION_LIST LIMIT_MODIFIER
  LIMIT_PERCENT_MODIFIER ORDER_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING
`)
const knownClasses = names(`
  BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA LAMBDA_REF OPERATOR PARAMETER
  POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW
`)
const knownJoins = names('REGULAR NATURAL CROSS DEPENDENT')
/** Ends of a window's frame that take in peers as a whole. */
const peerBounds =
  /^(?:UNBOUNDED_(?:PRECEDING|FOLLOWING)|(?:CURRENT_ROW|EXPR_PRECEDING|EXPR_FOLLOWING)_(?:RANGE|GROUPS))$/

/** The SELECT around an expression. */
interface Around {
  readonly from: JsonObject | undefined
  /**
   * It reads one dataset and nothing else: its rows come in the order of offsets, however they lie in blocks, so that of
   * equal values that print differently the first is the same one. Behind a join they come in any order.
   */
  readonly inOrder: boolean
}

class Judge {
  readonly #names: NamedValues
  /** What is added may overflow in one order of its rows, and not in another. */
  readonly #sums: NamedValues
  readonly #keepsOrder: boolean
  readonly #ctes = new Set<string>()
  /** Parts of a name, as JSON → schema. */
  readonly #schemas: ReadonlyMap<string, DataSchema>

  /** `keepsOrder`: a dataset is met in the order of offsets. `narrow`: a sum must overflow in every order or in none. */
  constructor(
    statement: JsonObject,
    tables: readonly NamedSchema[],
    { keepsOrder, narrow = false }: { readonly keepsOrder: boolean; readonly narrow?: boolean },
  ) {
    this.#keepsOrder = keepsOrder
    const schemas = tables.map(
      ({ parts, schema }) => [JSON.stringify(parts), schema ?? { fields: systemFields(defaultVocabulary) }] as const,
    )
    this.#schemas = new Map(schemas)
    this.#names = new NamedValues(statement, [...this.#schemas.values()])
    this.#sums = narrow ? new NamedValues(statement, [...this.#schemas.values()], { narrow }) : this.#names
    holds(statement, (node) => {
      for (const entry of objects(child(node, 'cte_map'), 'map')) this.#ctes.add(foldAscii(text(entry, 'key')))
      return false
    })
  }

  /** `sorted`: so many of the first rows are kept where they are sorted. */
  isExact(top: JsonObject, sorted = 0): boolean {
    if (!this.#isKnown(top, true, { from: undefined, inOrder: false })) return false
    // What keeps the order of offsets is given no other.
    if (keepsOffsetOrder(top)) return true
    // mutant: a sort gives back each zero as it is
    return this.#hasOneOrder(top) && (sorted <= fewRows || this.#isSharp(top))
  }

  /** True where what the statement means leaves its values to the version of the engine, or to the machine. */
  isOfVersion(top: JsonObject): boolean {
    return holds(top, (node) => {
      if (isClass(node, 'COLLATE')) return true
      const [name, operands] = [functionName(node), list(node, 'children')]
      const second = aggregateByName.has(name)
        ? child(operands[1] instanceof Map ? operands[1] : undefined, 'value')
        : undefined
      const called = second === undefined ? name : foldAscii(text(second, 'value'))
      if (versionFunctions.has(called) || machineDependentFunctions.has(called)) return true
      return (listAggregates.has(name) || aggregateByName.has(name)) && !this.#isSharpValue(operands[0])
    })
  }

  /** Judges a node and all below it. */
  #isKnown(value: JsonValue, isTop: boolean, outside: Around): boolean {
    if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return true
    if (Array.isArray(value)) return value.every((item) => this.#isKnown(item, isTop, outside))
    const type = value.get('type')
    let around = outside
    const listed = sortedOperands(value)
    if (listed !== undefined) {
      return listed.every((one) => this.#isSharpValue(one)) && this.#isKnown(listed, false, outside)
    }
    if (value.has('class')) {
      if (!this.#isKnownExpression(value, outside)) return false
    } else if (typeof type === 'string' && !type.endsWith('_TYPE_INFO')) {
      if (!knownTypes.has(type) || !this.#isKnownNode(value, type, isTop)) return false
      if (type === 'SELECT_NODE') around = this.#around(value)
    }
    // What a table function is given is its own matter; its call is no expression of the SELECT.
    const call = type === 'TABLE_FUNCTION' ? child(value, 'function') : undefined
    return [...value.values()].every((member) =>
      member === call && call !== undefined
        ? this.#isKnown(call.get('children') ?? null, false, around)
        : this.#isKnown(member, false, around),
    )
  }

  #isKnownNode(node: JsonObject, type: string, isTop: boolean): boolean {
    if (present(node, 'sample')) return false
    if (type === 'JOIN') return knownJoins.has(text(node, 'ref_type'))
    if (type === 'SET_OPERATION_NODE') {
      const keepsAll = text(node, 'setop_type').startsWith('UNION') && node.get('setop_all') === true
      return (keepsAll || this.#isSharp(node)) && (isTop || !hasLimit(node)) && !hasDistinctOn(node)
    }
    if (type !== 'SELECT_NODE') return true
    const { inOrder } = this.#around(node)
    if (hasDistinctOn(node) || (!isTop && !this.#keepsOrder && this.#sortsBlurred(node))) return false
    if (hasDistinct(node) && !inOrder && (!this.#isSharp(node) || ordersByHidden(node))) return false
    if (!inOrder && !groupKeys(node).every((key) => this.#isSharpValue(key))) return false
    if (isTop || !hasLimit(node)) return true
    const isPlain = !hasDistinct(node) && !list(node, 'select_list').some(makesRows)
    return isPlain && this.#ordersByOffset(orderEntries(node), child(node, 'from_table'))
  }

  #isKnownExpression(node: JsonObject, around: Around): boolean {
    const kind = text(node, 'class')
    if (kind === 'WINDOW') return this.#isKnownWindow(node, around)
    if (kind !== 'FUNCTION') return knownClasses.has(kind)
    const name = functionName(node)
    if (node.get('export_state') === true || volatileFunctions.has(name) || pinnedMacros.has(name)) return false
    if (!aggregateFunctions.has(name)) {
      return scalarFunctions.has(name) || allowedMacros.has(name) || rowMakers.has(name)
    }
    const orders = list(child(node, 'order_bys'), 'orders')
    return this.#isExactAggregate(name, list(node, 'children'), { orders, ...around })
  }

  #isExactAggregate(
    name: string,
    operands: readonly JsonValue[],
    { orders, from, inOrder }: Around & { readonly orders: readonly JsonValue[] },
  ): boolean {
    if (countingAggregates.has(name)) return true
    const classes = operands.map((operand) => this.#names.classOf(operand))
    // mutant: sums of floats are exact
    if (addingAggregates.has(name)) return operands.every((operand) => this.#sums.classOf(operand) <= valueClass.number)
    if (sortingAggregates.has(name)) return inOrder || classes.every((one) => one < valueClass.blurred)
    if (extremeAggregates.has(name)) return operands.length === 2 && this.#isOffset(operands[1], from)
    if (!orderedAggregates.has(name)) return false
    if (this.#ordersByOffset(orders, from)) return true
    const ordered = new Set(orders.map((order) => (order instanceof Map ? keyOf(order.get('expression')) : '')))
    const isSettled = (operand: JsonValue): boolean => ordered.has(keyOf(operand)) && this.#isSharpValue(operand)
    return operands.every((operand) => isClass(operand, 'CONSTANT') || isSettled(operand))
  }

  #isKnownWindow(node: JsonObject, around: Around): boolean {
    const name = functionName(node)
    if (peerFunctions.has(name)) return true
    const orders = list(node, 'orders')
    const isTotal = this.#ordersByOffset(orders, around.from)
    if (rowFunctions.has(name)) return isTotal
    const frame = [text(node, 'start'), text(node, 'end')]
    const takesPeers = frame.every((bound) => peerBounds.test(bound)) && text(node, 'exclude_clause') === 'NO_OTHER'
    if (!isTotal && !takesPeers) return false
    return this.#isExactAggregate(name, list(node, 'children'), { ...around, orders: list(node, 'arg_orders') })
  }

  /** True when a total order of the output rows leaves no choice: no two of them are equal and print differently. */
  #hasOneOrder(node: JsonObject): boolean {
    if (this.#isSharp(node)) return true
    if (text(node, 'type') !== 'SELECT_NODE') return false
    const items = list(node, 'select_list')
    const from = child(node, 'from_table')
    if (items.some(makesRows)) return false
    const keys = groupKeys(node)
    if (isGrouped(node)) return list(node, 'group_sets').length <= 1 && keys.every((key) => isShown(key, items))
    if (from === undefined || text(from, 'type') === 'EMPTY') return true
    if (this.#ordersByOffset(orderEntries(node), from) || items.some((item) => this.#showsOffset(item, from)))
      return true
    return hasDistinct(node) ? this.#around(node).inOrder : this.#offsetIn(from) !== undefined
  }

  /** See `lastTieOf`. */
  lastTie(node: JsonObject): JsonObject | undefined {
    if (text(node, 'type') !== 'SELECT_NODE' || keepsOffsetOrder(node) || this.#isSharp(node)) return undefined
    if (isGrouped(node) || hasDistinct(node) || list(node, 'select_list').some(makesRows)) return undefined
    const from = child(node, 'from_table')
    return from === undefined ? undefined : this.#offsetIn(from)
  }

  /** The offset of the one dataset of a FROM clause, under a name that nothing else has. */
  #offsetIn(from: JsonObject): JsonObject | undefined {
    const [offset] = this.#schemaOf(from)?.fields ?? []
    if (offset === undefined || this.#offsetOf(from) === undefined) return undefined
    return columnRef([ownName(from), offset.name])
  }

  #around(select: JsonObject): Around {
    const from = child(select, 'from_table')
    const isOne = from !== undefined && this.#schemaOf(from) !== undefined
    return { from, inOrder: this.#keepsOrder && isOne && ![...select.values()].some(looksAround) }
  }

  /** True where it is sorted by values that the engine may give back as others: 0.0 for -0.0. */
  #sortsBlurred(node: JsonObject): boolean {
    const items = list(node, 'select_list')
    const keys = orderEntries(node).map((order) => (order instanceof Map ? (order.get('expression') ?? null) : null))
    return keys.some((key) => !this.#isSharpValue(itemAt(key, items) ?? key))
  }

  /** True when equal rows of the node print alike. */
  #isSharp(node: JsonObject): boolean {
    if (text(node, 'type') === 'SELECT_NODE') return list(node, 'select_list').every((item) => this.#isSharpValue(item))
    const sides = [node.get('left'), node.get('right'), ...list(node, 'children')].filter((side) => side instanceof Map)
    return sides.length > 0 && sides.every((side) => this.#isSharp(side))
  }

  #isSharpValue(expression: JsonValue | undefined): boolean {
    return this.#names.classOf(expression) < valueClass.blurred
  }

  #ordersByOffset(orders: readonly JsonValue[], from: JsonObject | undefined): boolean {
    return orders.some((order) => order instanceof Map && this.#isOffset(order.get('expression'), from))
  }

  /** The offset of the one dataset that the SELECT reads: no two of its rows have the same. */
  #isOffset(expression: JsonValue | undefined, from: JsonObject | undefined): boolean {
    if (!isClass(expression, 'COLUMN_REF') || from === undefined) return false
    const [name, qualifier] = list(expression, 'column_names').toReversed()
    const own = foldAscii(ownName(from))
    const isOwn = qualifier === undefined || (typeof qualifier === 'string' && foldAscii(qualifier) === own)
    return isOwn && typeof name === 'string' && foldAscii(name) === this.#offsetOf(from)
  }

  /** Name of the offset's column, the first of a dataset; undefined where the FROM clause is anything but one dataset. */
  #offsetOf(from: JsonObject): string | undefined {
    const name = foldAscii(this.#schemaOf(from)?.fields[0]?.name ?? '')
    const isHidden = list(from, 'column_name_alias').length > 0 || this.#names.isGiven(name)
    return name === '' || isHidden ? undefined : name
  }

  /** Of the one dataset that a FROM clause names. */
  #schemaOf(from: JsonObject): DataSchema | undefined {
    if (text(from, 'type') !== 'BASE_TABLE') return undefined
    const parts = tableParts(from)
    if (parts.length === 1 && this.#ctes.has(foldAscii(parts[0] ?? ''))) return undefined
    return this.#schemas.get(JSON.stringify(parts))
  }

  #showsOffset(item: JsonValue, from: JsonObject): boolean {
    if (!(item instanceof Map)) return false
    if (!isClass(item, 'STAR')) return this.#isOffset(item, from)
    return isWholeStar(item) && this.#offsetOf(from) !== undefined
  }
}

/** What a statement may call the dataset of a FROM clause. */
function ownName(from: JsonObject): string {
  return text(from, 'alias') === '' ? text(from, 'table_name') : text(from, 'alias')
}

function makesRows(value: JsonValue): boolean {
  return holdsFunction(value, (name) => rowMakers.has(name))
}

/** Operands of a list that is sorted as a whole: the engine's parser makes `list_sort(list(x), …)` of `list(x ORDER BY x)`. */
function sortedOperands(node: JsonObject): JsonValue[] | undefined {
  if (!/^(?:list|array)(?:_reverse)?_sort$/.test(functionName(node))) return undefined
  const [inner, ...places] = list(node, 'children')
  if (!(inner instanceof Map) || !/^(?:list|array_agg)$/.test(functionName(inner))) return undefined
  const isPlain = !present(inner, 'filter') && places.every((place) => isClass(place, 'CONSTANT'))
  return isPlain ? list(inner, 'children') : undefined
}

/** True when an expression of the SELECT sees other rows than its own, but for aggregates; rows then lose their order. */
function looksAround(value: JsonValue): boolean {
  return holds(value, (node) => isClass(node, 'WINDOW') || isClass(node, 'SUBQUERY'))
}
