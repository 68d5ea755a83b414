// Reads the short text of a column type: `Float64`, `Decimal(18,4)`, `Timestamp(Microsecond)`, `List(String?)?`.
// `typeText` in model/schema.ts writes it. A trailing `?` means optional.

import { NodeError } from '../model/errors.ts'
import type { DataType, TimeUnit } from '../model/schema.ts'

const bareKinds = [
  ...(['String', 'Bool', 'Int8', 'Int16', 'Int32', 'Int64', 'UInt8', 'UInt16', 'UInt32', 'UInt64'] as const),
  ...(['Float16', 'Float32', 'Float64', 'Date', 'Null'] as const),
]
const timeUnits: readonly TimeUnit[] = ['Second', 'Millisecond', 'Microsecond', 'Nanosecond']
const spellings = [...bareKinds, 'Timestamp', 'Timestamp(Microsecond)', 'Decimal(18,4)', 'Binary', 'List(String)']

/**
 * The type that `source` spells; spaces around parts are ignored. `at` names it in errors. A Timestamp is UTC, in
 * milliseconds unless told otherwise. Throws NodeError `InvalidRequest` with the spellings there are.
 */
export function parseTypeText(source: string, at: string): DataType {
  const type = source.length <= 200 ? parse(source.trim(), 0) : undefined
  if (type !== undefined) return type
  const shown = JSON.stringify(source.length <= 80 ? source : `${source.slice(0, 80)}…`)
  throw new NodeError('InvalidRequest', `${at} is ${shown}, which is not a type.`, {
    hint: `Types are ${spellings.join(', ')}; a trailing ? makes a column optional.`,
    candidates: spellings.filter(
      (spelling) => spelling.toLowerCase() === source.trim().replace(/\?$/, '').toLowerCase(),
    ),
  })
}

function parse(source: string, depth: number): DataType | undefined {
  if (depth > 8) return undefined
  if (source.endsWith('?')) {
    const inner = parse(source.slice(0, -1).trimEnd(), depth + 1)
    return inner === undefined || inner.kind === 'Option' ? undefined : { kind: 'Option', inner }
  }
  const bare = bareKinds.find((kind) => kind === source)
  if (bare !== undefined) return { kind: bare }
  const match = /^([A-Za-z0-9]+)\s*(?:\((.*)\))?$/s.exec(source)
  if (match === null) return undefined
  const [, kind = '', content] = match
  return parseWithArgument(kind, content?.trim(), depth)
}

function parseWithArgument(kind: string, argument: string | undefined, depth: number): DataType | undefined {
  switch (kind) {
    case 'Timestamp': {
      const unit = unitOf(argument)
      return unit && { kind, unit, timezone: 'UTC' }
    }
    case 'Time':
    case 'Duration': {
      const unit = unitOf(argument)
      return unit && { kind, unit }
    }
    case 'Decimal': {
      const digits = /^(\d{1,3})\s*,\s*(-?\d{1,3})$/.exec(argument ?? '')
      return digits === null ? undefined : { kind, precision: Number(digits[1]), scale: Number(digits[2]) }
    }
    case 'Binary': {
      if (argument === undefined) return { kind }
      return /^\d{1,9}$/.test(argument) ? { kind, fixedLength: Number(argument) } : undefined
    }
    case 'List': {
      const itemType = parse(argument ?? '', depth + 1)
      return itemType && { kind, itemType }
    }
    default:
      return undefined
  }
}

function unitOf(argument: string | undefined): TimeUnit | undefined {
  return argument === undefined ? 'Millisecond' : timeUnits.find((unit) => unit === argument)
}
