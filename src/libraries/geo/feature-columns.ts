// Columns that hold the parts of a feature which are no properties (docs/spec/http.md §6, GeoJSON), and what stands in
// `feature_extra`: foreign members as they came, and the names of the columns whose texts are JSON of another kind.

import { NodeError } from '../base/errors.ts'

export const featureColumns = { geometry: 'geometry', id: 'feature_id', extra: 'feature_extra' } as const

/** No feature has a foreign member of this name. */
const member = 'properties'

/** The member of `feature_extra` that names columns, as JSON text; it is the last. */
export function jsonTextsMember(columns: Iterable<string>): string {
  return `"${member}":${JSON.stringify([...columns])}`
}

/** What a text of `feature_extra` says. */
export interface FeatureExtra {
  /** The foreign members, between the braces of their object: '' for none. */
  readonly foreign: string
  /** Whether an `id` is among them. */
  readonly hasId: boolean
  /** Columns whose texts are the JSON text of an object, array, number or boolean. */
  readonly jsonTexts: ReadonlySet<unknown>
}

const nothing: FeatureExtra = { foreign: '', hasId: false, jsonTexts: new Set() }

/** Reads a text of the column `name`. Throws NodeError `SqlValue` for what are no foreign members. */
export function featureExtra(name: string, text: string): FeatureExtra {
  const members = objectOf(text)
  if (members === undefined) throw notFeature(`A value of the column '${name}' is not an object of JSON`, text)
  if (members === null || Object.keys(members).length === 0) return nothing
  const named = members[member]
  const columns = Array.isArray(named) ? named : []
  const end = named === undefined ? '}' : `${jsonTextsMember(columns)}}`
  const isOurs = named === undefined || text.endsWith(end)
  const own = ['type', 'geometry'].find((one) => Object.hasOwn(members, one)) ?? (isOurs ? undefined : member)
  if (own !== undefined) throw notFeature(`A value of the column '${name}' has the member '${own}'`, text)
  const foreign = text.slice(text.indexOf('{') + 1, text.lastIndexOf(end))
  return {
    foreign: named !== undefined && foreign.endsWith(',') ? foreign.slice(0, -1) : foreign,
    hasId: Object.hasOwn(members, 'id'),
    jsonTexts: new Set(columns),
  }
}

/** The object, or null, that a text is the JSON of. */
export function objectOf(text: string): Readonly<Record<string, unknown>> | null | undefined {
  const value = jsonOf(text)
  return typeof value === 'object' && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>> | null)
    : undefined
}

/** True for the text of any JSON value. */
export function isJson(text: string): boolean {
  return jsonOf(text) !== undefined
}

/** The JSON of a text; undefined where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A value of a statement from which no feature can be made. */
export function notFeature(what: string, text: string): NodeError {
  return new NodeError('SqlValue', `${what}: ${JSON.stringify(text.slice(0, 80))}.`, {
    hint: 'Leave such rows out, or ask for Csv or NdJson.',
  })
}
