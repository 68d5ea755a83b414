// Records of a JavaScript program as NDJSON: bigints are whole numbers, dates are RFC 3339, what has `toJSON` is what that
// gives. What JSON cannot hold is refused with its place; JSON.stringify would make it null, or an object without members.

import { ProofstreamError } from './exchange.ts'

/** One line a record. Throws ProofstreamError `InvalidRecord`. */
export function recordLines(records: Iterable<object>): string {
  let lines = ''
  let index = 0
  for (const record of records) {
    const path = [`record ${index++}`]
    lines += `${textOf(record, path) ?? invalid('undefined', path)}\n`
  }
  return lines
}

/** JSON text, or undefined for a member to leave out. */
function textOf(value: unknown, path: readonly string[]): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return undefined
    case 'bigint':
      return String(value)
    case 'number':
      if (!Number.isFinite(value)) invalid(String(value), path)
      return Object.is(value, -0) ? '-0' : JSON.stringify(value)
    case 'function':
    case 'symbol':
      return invalid(`a ${typeof value}`, path)
    case 'string':
      return halfPair.test(value) ? invalid('a text with half of a surrogate pair', path) : JSON.stringify(value)
    case 'object':
      return value === null ? 'null' : objectText(value, path)
    default:
      return JSON.stringify(value)
  }
}

function objectText(value: object, path: readonly string[]): string | undefined {
  if (path.length > deepest) invalid('nested too deeply', path)
  if (value instanceof Date && Number.isNaN(value.getTime())) invalid('a date that is none', path)
  // A Buffer of Node.js would say of itself that it is an object with a list of numbers.
  const isBytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer
  if (!isBytes && 'toJSON' in value && typeof value.toJSON === 'function') {
    return textOf(value.toJSON(), [...path, 'toJSON()'])
  }
  if (Array.isArray(value)) return `[${Array.from(value, (item, at) => itemText(item, at, path)).join(',')}]`
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return textOf(value.valueOf(), path)
  }
  // Of others (a Map, a Set, bytes, a promise, an error) the members are not what they hold.
  const kind = Object.prototype.toString.call(value).slice(8, -1)
  if (kind !== 'Object') invalid(`of the kind ${kind}`, path)
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = textOf(member, [...path, name])
    return text === undefined ? [] : [`${textOf(name, path)}:${text}`]
  })
  return `{${members.join(',')}}`
}

/** A place in a list cannot be left out. */
function itemText(item: unknown, at: number, path: readonly string[]): string {
  const inside = [...path, String(at)]
  return textOf(item, inside) ?? invalid('undefined', inside)
}

const deepest = 100
const halfPair = /\p{Surrogate}/u

function invalid(what: string, path: readonly string[]): never {
  const message = `${path.slice(0, 5).join('.')} is ${what}, which is not a JSON value.`
  throw new ProofstreamError(0, { error: { kind: 'InvalidRecord' }, message })
}
