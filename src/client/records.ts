// Records of a JavaScript program as NDJSON: bigints are whole numbers, dates are RFC 3339. What JSON cannot hold is
// refused with its place; JSON.stringify would make it null.

import { ProofstreamError } from './exchange.ts'

/** One line a record. Throws ProofstreamError `InvalidRecord`. */
export function recordLines(records: Iterable<object>): string {
  let lines = ''
  let index = 0
  for (const record of records) lines += `${textOf(record, [`record ${index++}`]) ?? 'null'}\n`
  return lines
}

/** JSON text, or undefined for a member to leave out. */
function textOf(value: unknown, path: readonly string[]): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(`${value}`, path)
  if (typeof value === 'function' || typeof value === 'symbol') throw invalid(`a ${typeof value}`, path)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (path.length > deepest) throw invalid('nested too deeply', path)
  if ('toJSON' in value && typeof value.toJSON === 'function') return textOf(value.toJSON(), path)
  if (Array.isArray(value))
    return `[${value.map((item, at) => textOf(item, [...path, String(at)]) ?? 'null').join(',')}]`
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = textOf(member, [...path, name])
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join(',')}}`
}

const deepest = 100

function invalid(what: string, path: readonly string[]): ProofstreamError {
  const message = `${path.slice(0, 5).join('.')} is ${what}, which is no JSON value.`
  return new ProofstreamError(0, { error: { kind: 'InvalidRecord' }, message })
}
