// The gate: walks the serialised syntax tree of a statement and lets through what it knows, nothing else. Engine
// settings alone do not make a caller's SQL safe (a SELECT can switch logging on, read granted files as raw bytes, print
// file paths). It also finds the names to pin and what makes a statement irreproducible. Pure.

import type { TextPosition } from '../model/errors.ts'
import { NodeError } from '../model/errors.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import { aggregateFunctions, scalarFunctions } from './allowed-functions.ts'
import type { Construct, TableName } from './engine-job.ts'
import {
  aggregateByName,
  allowedMacros,
  allowedTableFunctions,
  clockNames,
  isDenied,
  sessionNames,
  volatileFunctions,
} from './function-policy.ts'
import { asciiLower } from './lexer.ts'
import { similarNames } from './similar-names.ts'
import { child, list, location, present, text } from './tree.ts'

/** What the gate knows of a statement that it let through. */
export interface GateResult {
  readonly tables: readonly TableName[]
  readonly volatile: Construct | undefined
  /** Bare columns that the engine takes for a call when no column has their name. */
  readonly sessionNames: readonly Construct[]
  /** Every alias and column name that the statement itself makes, ASCII lower case. */
  readonly aliases: ReadonlySet<string>
}

/** Maps a byte offset in the statement to a place in the text as sent. */
export type Locate = (byteOffset: number) => TextPosition

/** CTE names that an unqualified reference may mean here, ASCII lower case. */
type Scope = ReadonlySet<string>

const maxDepth = 1000
const maxNodes = 400_000
const maxCtes = 100

const expressionClasses = new Set(
  (
    'BETWEEN CASE CAST COLLATE COLUMN_REF LAMBDA_REF COMPARISON CONJUNCTION CONSTANT DEFAULT FUNCTION LAMBDA ' +
    'OPERATOR POSITIONAL_REFERENCE STAR SUBQUERY WINDOW TYPE'
  ).split(' '),
)
/** Objects with a `type` that need no look of their own: their members are visited. */
const plainTypes = new Set(
  (
    'SELECT_NODE SET_OPERATION_NODE JOIN SUBQUERY EMPTY EXPRESSION_LIST PIVOT LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER ' +
    'ORDER_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING'
  ).split(' '),
)
/** Schemas that the engine brings along; no account has such a name. */
const engineSchemas = new Set(['information_schema', 'main', 'memory', 'pg_catalog', 'system', 'temp'])

/**
 * Judges one statement (the `node` of json_serialize_sql). Throws NodeError `QueryNotAllowed`,
 * `DatasetNotFound` (a name that can be no dataset's), `SqlUnknownName` (a function).
 */
export function gateStatement(node: JsonObject, locate: Locate): GateResult {
  const gate = new Gate(locate)
  gate.visit(node, new Set(), 0)
  return gate.result()
}

class Gate {
  readonly #locate: Locate
  readonly #tables = new Map<string, TableName>()
  readonly #sessionNames: Construct[] = []
  readonly #aliases = new Set<string>()
  #volatile: { construct: Construct; offset: number } | undefined
  #nodes = 0
  #ctes = 0
  /** Location of the closest ancestor that has one. */
  #near: number | undefined

  constructor(locate: Locate) {
    this.#locate = locate
  }

  result(): GateResult {
    return {
      tables: [...this.#tables.values()],
      volatile: this.#volatile?.construct,
      sessionNames: this.#sessionNames,
      aliases: this.#aliases,
    }
  }

  visit(value: JsonValue, scope: Scope, depth: number): void {
    if (value === null || typeof value !== 'object') return
    if (Array.isArray(value)) {
      for (const item of value) this.visit(item, scope, depth)
      return
    }
    if (!(value instanceof Map)) return
    if (depth > maxDepth) this.#deny('nesting over 1,000 levels')
    if (++this.#nodes > maxNodes) this.#deny('a statement of over 400,000 parts')
    const outer = this.#near
    this.#near = location(value) ?? outer
    this.#visitNode(value, scope, depth + 1)
    this.#near = outer
  }

  #visitNode(node: JsonObject, scope: Scope, depth: number): void {
    this.#noteAliases(node)
    if (node.has('class')) this.#visitExpression(node, scope, depth)
    else if (typeof node.get('type') === 'string') this.#visitTyped(node, scope, depth)
    else this.#visitMembers(node, scope, depth)
  }

  #visitMembers(node: JsonObject, scope: Scope, depth: number): void {
    for (const member of node.values()) this.visit(member, scope, depth)
  }

  #noteAliases(node: JsonObject): void {
    if (text(node, 'alias') !== '') this.#aliases.add(asciiLower(text(node, 'alias')))
    for (const name of [...list(node, 'column_name_alias'), ...list(node, 'aliases'), ...list(node, 'unpivot_names')]) {
      if (typeof name === 'string') this.#aliases.add(asciiLower(name))
    }
  }

  #visitTyped(node: JsonObject, scope: Scope, depth: number): void {
    const type = text(node, 'type')
    if (type === 'BASE_TABLE') return this.#visitTable(node, scope)
    if (type === 'TABLE_FUNCTION') return this.#visitTableFunction(node, scope, depth)
    if (type === 'RECURSIVE_CTE_NODE') return this.#visitRecursive(node, scope, depth)
    if (type === 'SHOW_REF') this.#deny(showConstruct(text(node, 'show_type')))
    if (!plainTypes.has(type) && !type.endsWith('_TYPE_INFO')) this.#deny(type)
    if (text(node, 'pivot_enum') !== '') this.#deny('PIVOT over an enum')
    if (text(node, 'ref_type') === 'POSITIONAL') this.#noteVolatile('POSITIONAL JOIN')
    if (present(node, 'sample')) this.#noteVolatile('a sample')
    const inner = this.#visitCtes(node, scope, depth)
    for (const [name, member] of node) if (name !== 'cte_map') this.visit(member, inner, depth)
  }

  /** Visits the bodies of a node's CTEs, each with those before it in scope; returns the scope of the node itself. */
  #visitCtes(node: JsonObject, scope: Scope, depth: number): Scope {
    const map = child(node, 'cte_map')
    if (map === undefined) return scope
    let inner = scope
    for (const entry of list(map, 'map')) {
      if (!(entry instanceof Map)) this.#deny('CTE_NODE')
      if (++this.#ctes > maxCtes) this.#deny(`more than ${maxCtes} common table expressions`)
      this.visit(entry.get('value') ?? null, inner, depth)
      inner = new Set([...inner, asciiLower(text(entry, 'key'))])
    }
    return inner
  }

  /** The anchor half does not see the CTE: there its name means the dataset. */
  #visitRecursive(node: JsonObject, scope: Scope, depth: number): void {
    const own = new Set([...scope, asciiLower(text(node, 'cte_name'))])
    const inner = this.#visitCtes(node, scope, depth)
    for (const [name, member] of node) {
      if (name === 'cte_map') continue
      const seesItself = name === 'right' || name === 'key_targets' || name === 'modifiers'
      this.visit(member, seesItself ? new Set([...own, ...inner]) : inner, depth)
    }
  }

  #visitTable(node: JsonObject, scope: Scope): void {
    const parts = [text(node, 'catalog_name'), text(node, 'schema_name'), text(node, 'table_name')].filter(Boolean)
    const name = parts.join('.')
    if (present(node, 'at_clause')) this.#deny('AT (time travel)', 'Pin a block with "datasets" in the request.')
    if (present(node, 'sample')) this.#noteVolatile('a sample')
    const first = parts[0] ?? ''
    if (parts.length === 1 && scope.has(asciiLower(first))) return
    const key = JSON.stringify(parts)
    if (this.#tables.has(key)) return
    const position = this.#position()
    if (parts.length > 2 || (parts.length === 2 && engineSchemas.has(asciiLower(first))) || name.includes('\0')) {
      throw new NodeError('DatasetNotFound', `No dataset '${name.slice(0, 200)}'.`, {
        hint: 'Write the name in double quotes: "account/dataset".',
        ...(position && { position }),
      })
    }
    this.#tables.set(key, { parts, text: name, ...(position && { position }) })
  }

  #visitTableFunction(node: JsonObject, scope: Scope, depth: number): void {
    const call = child(node, 'function')
    const name = call === undefined ? '' : text(call, 'function_name')
    if (call === undefined || text(call, 'class') !== 'FUNCTION') this.#deny('TABLE_FUNCTION')
    this.#near = location(call) ?? this.#near
    if (!allowedTableFunctions.has(asciiLower(name))) this.#deny(`the table function ${name}`)
    if (present(node, 'sample')) this.#noteVolatile('a sample')
    for (const [member, value] of node) {
      if (member === 'function') this.#visitMembers(call, scope, depth)
      else this.visit(value, scope, depth)
    }
  }

  #visitExpression(node: JsonObject, scope: Scope, depth: number): void {
    const kind = text(node, 'class')
    if (kind === 'PARAMETER') this.#deny('a parameter', 'Write the value into the statement.')
    if (!expressionClasses.has(kind)) this.#deny(kind === '' ? 'an expression without a class' : kind)
    if (kind === 'FUNCTION' || kind === 'WINDOW') this.#judgeFunction(node)
    if (kind === 'COLUMN_REF') this.#judgeColumn(node)
    this.#visitMembers(node, scope, depth)
  }

  #judgeFunction(node: JsonObject): void {
    const written = text(node, 'function_name')
    const name = asciiLower(written)
    const known = scalarFunctions.has(name) || aggregateFunctions.has(name) || allowedMacros.has(name)
    if (!known && name !== 'unnest') this.#judgeUnknown(name, written)
    const operands = list(node, 'children')
    if (aggregateByName.has(name)) this.#judgeAggregateName(operands[1], written)
    if (volatileFunctions.has(name) || (name === 'age' && operands.length === 1)) this.#noteVolatile(`${written}()`)
  }

  /** Refused by name, or not a function of this engine at all. */
  #judgeUnknown(name: string, written: string): never {
    if (name === '' || isDenied(name)) this.#deny(`the function ${written}`)
    const candidates = similarNames(name, [...scalarFunctions, ...aggregateFunctions, ...allowedMacros])
    throw new NodeError('SqlUnknownName', `There is no function '${written.slice(0, 200)}' that queries may call.`, {
      ...this.#positioned(),
      ...(candidates.length > 0 && { candidates }),
    })
  }

  /** `list_aggr(x, 'sum')` calls an aggregate by text: it must be written out, and be one that is allowed. */
  #judgeAggregateName(operand: JsonValue | undefined, written: string): void {
    const constant =
      operand instanceof Map && text(operand, 'class') === 'CONSTANT' ? child(operand, 'value') : undefined
    const name = constant === undefined ? '' : asciiLower(text(constant, 'value'))
    if (!aggregateFunctions.has(name)) this.#deny(`${written} with anything but the name of an aggregate`)
    if (volatileFunctions.has(name)) this.#noteVolatile(`${name}()`)
  }

  #judgeColumn(node: JsonObject): void {
    const names = list(node, 'column_names')
    const [only] = names
    if (names.length !== 1 || typeof only !== 'string') return
    const name = asciiLower(only)
    if (clockNames.has(name)) this.#noteVolatile(name)
    if (sessionNames.has(name) && !this.#sessionNames.some((known) => known.construct === name)) {
      this.#sessionNames.push({ construct: name, ...this.#positioned() })
    }
  }

  /** Keeps the first in reading order. */
  #noteVolatile(construct: string): void {
    const offset = this.#near ?? Number.MAX_SAFE_INTEGER
    if (this.#volatile !== undefined && this.#volatile.offset <= offset) return
    this.#volatile = { construct: { construct, ...this.#positioned() }, offset }
  }

  #position(): TextPosition | undefined {
    return this.#near === undefined ? undefined : this.#locate(this.#near)
  }

  #positioned(): { position?: TextPosition } {
    const position = this.#position()
    return position === undefined ? {} : { position }
  }

  #deny(construct: string, hint?: string): never {
    throw notAllowed({ construct, ...this.#positioned() }, hint)
  }
}

function showConstruct(showType: string): string {
  if (showType === 'SUMMARY') return 'SUMMARIZE'
  return showType === 'DESCRIBE' ? 'DESCRIBE' : 'SHOW'
}

/** The refusal that names a construct. */
export function notAllowed(found: Construct, hint?: string): NodeError {
  return new NodeError('QueryNotAllowed', `Queries may not use ${found.construct.slice(0, 200)}.`, {
    hint: hint ?? 'A query is one SELECT statement over datasets.',
    ...(found.position && { position: found.position }),
  })
}
