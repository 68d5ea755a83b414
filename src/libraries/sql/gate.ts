// The gate: walks the serialised syntax tree of a statement and lets through what it knows, nothing else. Engine
// settings alone do not make a caller's SQL safe (a SELECT can switch logging on, read granted files as raw bytes, print
// file paths). It also finds the names to pin and what makes a statement irreproducible. Pure.

import { similarNames } from '../base/compare.ts'
import { NodeError, type TextPosition } from '../base/errors.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import { foldAscii } from '../model/names.ts'
import { faultOf } from './faults.ts'
import {
  aggregateByName,
  aggregateFunctions,
  allowedMacros,
  allowedTableFunctions,
  clockNames,
  deniedTypes,
  isDenied,
  machineDependentFunctions,
  scalarFunctions,
  sessionNames,
  spatialFunctions,
  volatileFunctions,
} from './functions.ts'
import { commonListings, type Construct, type ListingNames, listingSchema, type TableName } from './statement.ts'
import { isPlainStructure, jsonDepth, recursiveJsonFunctions, structuredJsonFunctions } from './printable.ts'
import { families, permits, type Rule, shapes } from './tree-grammar.ts'
import { child, functionName, isClass, list, location, present, tableParts, text } from './tree.ts'
import { missingKeys } from './windows.ts'

/** What the gate knows of a statement that it let through. */
export interface GateResult {
  readonly tables: readonly TableName[]
  readonly volatile: Construct | undefined
  /** The first call of a function whose last digits depend on the machine. */
  readonly machineDependent: Construct | undefined
  /** Bare columns that the engine takes for a call when no column has their name. */
  readonly sessionNames: readonly Construct[]
  /** Every alias and column name that the statement itself makes, ASCII lower case. */
  readonly aliases: ReadonlySet<string>
  /** What is answered from the catalog: DESCRIBE, SUMMARIZE, information_schema. */
  readonly catalogue: Construct | undefined
  /** Relations of the catalog, each once, with those that its functions read. */
  readonly listings: readonly string[]
  /** Functions that ask the catalog, each once. */
  readonly functions: readonly string[]
  /** What it might have asked. */
  readonly names: ListingNames
  /** Names of parameters, ASCII lower case, each once. */
  readonly parameters: readonly string[]
}

/** Maps a byte offset in the statement to a place in the text as sent, where the two have to do with one another. */
type Locate = (byteOffset: number) => TextPosition | undefined

/** CTE names that an unqualified reference may mean here, ASCII lower case. */
type Scope = ReadonlySet<string>

/** A construct and its byte offset, where there is one. */
interface Sighting {
  readonly construct: string
  readonly offset: number | undefined
}

/** Where a member stands: its name, its node's kind, and what is in scope there. */
interface Place {
  readonly kind: string
  readonly name: string
  readonly scope: Scope
  readonly depth: number
}

/** How the gate calls every form of sampling. */
export const sampleConstruct = 'a sample'

const maxDepth = 1000
const maxNodes = 400_000
const maxCtes = 100
const maxTables = 1000
const maxMissingKeys = 10_000

/** Schemas of the engine itself; no account has such a name. */
const engineSchemas = new Set([listingSchema, 'information_schema', 'main', 'memory', 'pg_catalog', 'system', 'temp'])

/**
 * Judges one statement (the `node` of json_serialize_sql). Throws NodeError `QueryNotAllowed`,
 * `DatasetNotFound` (a name that can be no dataset's), `SqlUnknownName` (a function).
 */
export function gateStatement(
  node: JsonObject,
  locate: Locate = () => undefined,
  names: ListingNames = commonListings,
): GateResult {
  const gate = new Gate(locate, names)
  gate.visit('query', node, new Set(), 0)
  demandFewKeys(node)
  return gate.result()
}

/** Bounds what keeping the windows of a statement apart adds to it (windows.ts). */
function demandFewKeys(top: JsonObject): void {
  const added = [...missingKeys(top).values()].reduce((sum, count) => sum + count, 0)
  const construct = 'so many windows with different keys in one SELECT'
  if (added > maxMissingKeys) throw notAllowed({ construct }, 'Split it with WITH.')
}

class Gate {
  readonly #locate: Locate
  readonly #tables = new Map<string, TableName>()
  readonly #sessionNames: Construct[] = []
  readonly #aliases = new Set<string>()
  readonly #parameters = new Set<string>()
  readonly #listings = new Set<string>()
  readonly #functions = new Set<string>()
  readonly #names: ListingNames
  #catalogue: Sighting | undefined
  #volatile: Sighting | undefined
  #machineDependent: Sighting | undefined
  #nodes = 0
  #ctes = 0
  /** Location of the closest ancestor that has one. */
  #near: number | undefined

  constructor(locate: Locate, names: ListingNames) {
    this.#locate = locate
    this.#names = names
  }

  result(): GateResult {
    return {
      tables: [...this.#tables.values()],
      volatile: this.#constructOf(this.#volatile),
      machineDependent: this.#constructOf(this.#machineDependent),
      sessionNames: this.#sessionNames,
      aliases: this.#aliases,
      catalogue: this.#constructOf(this.#catalogue),
      listings: [...this.#listings],
      functions: [...this.#functions],
      names: this.#names,
      parameters: [...this.#parameters],
    }
  }

  /** Checks a node against a shape of the grammar, or a family of shapes, and all that it holds. */
  visit(of: string, value: JsonValue, scope: Scope, depth: number): void {
    if (!(value instanceof Map)) this.#deny(`a value in place of ${of}`)
    if (depth > maxDepth) this.#deny('nesting over 1,000 levels')
    if (++this.#nodes > maxNodes) this.#deny('a statement of over 400,000 parts')
    const outer = this.#near
    this.#near = location(value) ?? outer
    const tag = families.get(of)
    const kind = tag === undefined ? of : `${of} ${text(value, tag)}`
    const shape = shapes.get(kind) ?? this.#deny(kind)
    this.#noteAliases(value)
    this.#judge(kind, value, scope)
    const scopes = tag === 'type' && of === 'query' ? this.#queryScopes(value, scope, depth + 1) : undefined
    for (const [name, member] of value) {
      const rule = shape.get(name) ?? this.#deny(`${name.toUpperCase()} in ${kind}`)
      if (scopes !== undefined && name === 'cte_map') continue
      this.#check(rule, member, { kind, name, scope: scopes?.(name) ?? scope, depth: depth + 1 })
    }
    this.#near = outer
  }

  /** One member of a node against its rule. */
  #check(rule: Rule, value: JsonValue, at: Place): void {
    if (rule.is === 'node') {
      if (value !== null || !rule.orNull) this.visit(rule.of, value, at.scope, at.depth)
      return
    }
    if (rule.is === 'list') {
      if (!Array.isArray(value)) this.#denyMember(value, at)
      for (const item of value) this.#check(rule.of, item, at)
      return
    }
    if (!permits(rule, value)) this.#denyMember(value, at, rule.is === 'one' ? rule.construct : undefined)
  }

  /** Looks at what the grammar cannot say: names of tables, functions and columns, and what has no proof. */
  #judge(kind: string, node: JsonObject, scope: Scope): void {
    if (kind === 'table BASE_TABLE') this.#judgeTable(node, scope)
    else if (kind === 'table SHOW_REF') this.#judgeShow(node)
    else if (kind === 'table call') this.#judgeTableFunction(node)
    else if (kind === 'expression FUNCTION' || kind === 'expression WINDOW') this.#judgeFunction(node)
    else if (kind === 'expression COLUMN_REF') this.#judgeColumn(node)
    else if (kind === 'expression PARAMETER') this.#parameters.add(foldAscii(text(node, 'identifier')))
    else if (kind === 'type info UNBOUND_TYPE_INFO') this.#judgeType(node)
    else if (kind === 'sample') this.#noteVolatile(sampleConstruct)
    else if (kind === 'table JOIN' && text(node, 'ref_type') === 'POSITIONAL') this.#noteVolatile('POSITIONAL JOIN')
    const fault = faultOf(node)
    if (fault !== undefined) this.#deny(fault.construct, fault.hint)
  }

  #noteAliases(node: JsonObject): void {
    const listed = ['column_name_alias', 'aliases', 'unpivot_names'].flatMap((name) => list(node, name))
    for (const name of [text(node, 'alias'), ...listed]) {
      if (typeof name === 'string' && name !== '') this.#aliases.add(foldAscii(name))
    }
  }

  /**
   * Visits the bodies of a query's CTEs, each with those before it in scope; returns the scope of each other member.
   * The anchor half of a recursive CTE does not see the CTE: there its name means the dataset.
   */
  #queryScopes(node: JsonObject, scope: Scope, depth: number): (member: string) => Scope {
    let inner = scope
    const map = node.get('cte_map') ?? new Map()
    for (const [name, entries] of map instanceof Map ? map : this.#deny('CTE_MAP')) {
      if (name !== 'map' || !Array.isArray(entries)) this.#deny(`${name.toUpperCase()} in cte map`)
      for (const entry of entries) {
        if (++this.#ctes > maxCtes) this.#deny(`more than ${maxCtes} common table expressions`)
        this.visit('cte entry', entry, inner, depth + 1)
        if (entry instanceof Map) inner = new Set([...inner, foldAscii(text(entry, 'key'))])
      }
    }
    if (text(node, 'type') !== 'RECURSIVE_CTE_NODE') return () => inner
    const own = new Set([...inner, foldAscii(text(node, 'cte_name'))])
    return (member) => (['right', 'key_targets', 'modifiers'].includes(member) ? own : inner)
  }

  #judgeTable(node: JsonObject, scope: Scope): void {
    const parts = tableParts(node)
    const name = parts.join('.')
    if (present(node, 'at_clause')) this.#deny('AT (time travel)', 'Pin a block with "datasets" in the request.')
    const first = parts[0] ?? ''
    if (parts.length === 1 && scope.has(foldAscii(first))) return
    if (this.#isListing(parts)) return
    const key = JSON.stringify(parts)
    if (this.#tables.has(key)) return
    if (this.#tables.size >= maxTables) this.#deny('more than 1,000 names of datasets')
    const place = this.#place()
    if (parts.length > 2 || (parts.length === 2 && engineSchemas.has(foldAscii(first))) || name.includes('\0')) {
      throw new NodeError('DatasetNotFound', `No dataset '${name.slice(0, 200)}'.`, {
        hint: 'Write the name in double quotes: "account/dataset".',
        ...place,
      })
    }
    this.#tables.set(key, { parts, text: name, ...place })
  }

  /** Notes `information_schema.tables` and its like. */
  #isListing([schema = '', name = '', ...more]: readonly string[]): boolean {
    const listing = foldAscii(name)
    if (!this.#names.relations.has(listing) || more.length > 0 || foldAscii(schema) !== this.#names.schema) return false
    this.#listings.add(listing)
    this.#noteCatalogue(listing.startsWith('pg_') ? listing : `information_schema.${listing}`)
    return true
  }

  /** Notes a function that asks the catalog. */
  #isAsking(node: JsonObject, name: string): boolean {
    const reads = text(node, 'schema') === listingSchema ? this.#names.functions.get(name) : undefined
    if (reads === undefined) return false
    for (const relation of reads) this.#listings.add(relation)
    this.#functions.add(name)
    this.#noteCatalogue(`${name}()`)
    return true
  }

  #noteCatalogue(construct: string): void {
    this.#catalogue = earlier(this.#catalogue, { construct, offset: this.#near })
  }

  #judgeShow(node: JsonObject): void {
    const type = text(node, 'show_type')
    if (type !== 'DESCRIBE' && type !== 'SUMMARY') this.#denyShow()
    if (!present(node, 'query')) this.#denyShow()
    this.#noteCatalogue(type === 'SUMMARY' ? 'SUMMARIZE' : type)
  }

  #denyShow(): never {
    this.#deny(
      'SHOW',
      'SHOW TABLES by itself, DESCRIBE and SUMMARIZE with a name or a SELECT, information_schema.tables and columns are answered.',
    )
  }

  #judgeTableFunction(call: JsonObject): void {
    if (!allowedTableFunctions.has(functionName(call))) {
      this.#deny(`the table function ${text(call, 'function_name')}`)
    }
  }

  #judgeFunction(node: JsonObject): void {
    const written = text(node, 'function_name')
    const name = functionName(node)
    if (this.#isAsking(node, name)) return
    const known = scalarFunctions.has(name) || aggregateFunctions.has(name) || allowedMacros.has(name)
    if (!known && name !== 'unnest') this.#judgeUnknown(name, written)
    const operands = list(node, 'children')
    if (recursiveJsonFunctions.has(name) || structuredJsonFunctions.has(name)) this.#judgeJson(node, name)
    if (aggregateByName.has(name)) this.#judgeAggregateName(operands[1], written)
    if (volatileFunctions.has(name) || (name === 'age' && operands.length === 1)) this.#noteVolatile(`${written}()`)
    if (machineDependentFunctions.has(name)) this.#noteMachineDependent(written)
  }

  /** Refused by name, or not a function of this engine at all. */
  #judgeUnknown(name: string, written: string): never {
    if (name === '' || isDenied(name)) this.#deny(`the function ${written}`)
    const isSpatial = name.startsWith('st_')
    const ours = [...spatialFunctions, 'st_astext'].sort()
    const candidates = isSpatial
      ? ours
      : similarNames(name, [...scalarFunctions, ...aggregateFunctions, ...allowedMacros])
    throw new NodeError('SqlUnknownName', `There is no function '${written.slice(0, 200)}' that queries may call.`, {
      ...(isSpatial && {
        hint: `Over GeoJSON text there are ${ours.join(', ')}. For boxes and filters use /ogc/collections/{account}:{dataset}/items?bbox=… .`,
      }),
      ...this.#place(),
      ...(candidates.length > 0 && { candidates }),
    })
  }

  /** `list_aggr(x, 'sum')` calls an aggregate by text: it must be written out, and be one that is allowed. */
  #judgeAggregateName(operand: JsonValue | undefined, written: string): void {
    const name = isClass(operand, 'CONSTANT') ? foldAscii(text(child(operand, 'value'), 'value')) : ''
    if (!aggregateFunctions.has(name)) this.#deny(`${written} with anything but the name of an aggregate`)
    if (volatileFunctions.has(name)) this.#noteVolatile(`${name}()`)
    if (machineDependentFunctions.has(name)) this.#noteMachineDependent(name)
  }

  #judgeType(node: JsonObject): void {
    const name = text(node, 'name')
    if (deniedTypes.has(foldAscii(name))) this.#deny(`the type ${name}`)
  }

  /** Functions whose arguments printable.ts must see: never as a method of a column, structures written out. */
  #judgeJson(node: JsonObject, name: string): void {
    const isMethod = text(node, 'catalog') !== '' || !['', 'main'].includes(foldAscii(text(node, 'schema')))
    if (isMethod) this.#deny(`${name} as a method`, `Write ${name}(…).`)
    if (structuredJsonFunctions.has(name) && !isPlainStructure(list(node, 'children')[1])) {
      this.#deny(
        `${name} with anything but a structure of at most ${jsonDepth} levels`,
        'Write the structure out as a text constant.',
      )
    }
  }

  #noteMachineDependent(written: string): void {
    const construct = /^\w/.test(written) ? `${written}()` : `the operator ${written}`
    this.#machineDependent = earlier(this.#machineDependent, { construct, offset: this.#near })
  }

  #judgeColumn(node: JsonObject): void {
    const names = list(node, 'column_names')
    const [only] = names
    if (names.length !== 1 || typeof only !== 'string') return
    const name = foldAscii(only)
    if (clockNames.has(name)) this.#noteVolatile(name)
    if (sessionNames.has(name) && !this.#sessionNames.some((known) => known.construct === name)) {
      this.#sessionNames.push({ construct: name, ...this.#place() })
    }
  }

  #noteVolatile(construct: string): void {
    this.#volatile = earlier(this.#volatile, { construct, offset: this.#near })
  }

  #constructOf(found: Sighting | undefined): Construct | undefined {
    return found && { construct: found.construct, ...this.#place(found.offset) }
  }

  /** The position of the closest node with a location, as the details of an error have it. */
  #place(offset = this.#near): { readonly position?: TextPosition } {
    const position = offset === undefined ? undefined : this.#locate(offset)
    return position === undefined ? {} : { position }
  }

  #denyMember(value: JsonValue, at: Place, construct?: string): never {
    const held = typeof value === 'string' && value !== '' ? value.slice(0, 100) : at.name.toUpperCase()
    this.#deny(construct ?? (at.kind === 'type' ? `the type ${held}` : `${held} in ${at.kind}`))
  }

  #deny(construct: string, hint?: string): never {
    throw notAllowed({ construct, ...this.#place() }, hint)
  }
}

/** The first in reading order; what has no place comes last. */
function earlier(known: Sighting | undefined, found: Sighting): Sighting {
  const end = Number.MAX_SAFE_INTEGER
  return known !== undefined && (known.offset ?? end) <= (found.offset ?? end) ? known : found
}

/** The refusal that names a construct. */
export function notAllowed(found: Construct, hint?: string): NodeError {
  return new NodeError('QueryNotAllowed', `Queries may not use ${found.construct.slice(0, 200)}.`, {
    hint: hint ?? 'A query is one SELECT statement over datasets.',
    ...(found.position && { position: found.position }),
  })
}

/** The refusal of a proof of what is answered from the catalog. */
export function notProvable({ construct, position }: Construct): NodeError {
  const why = `${construct} is answered from the catalog of this node, so there can be no proof.`
  return new NodeError('NotReproducible', why, { hint: 'Ask without a proof.', ...(position && { position }) })
}
