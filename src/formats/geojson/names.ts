// Which column the parts of a GeoJSON feature go to (contract.md §6, GeoJSON): properties by name, the geometry, the
// id, and what else a feature has.

import { foldAscii } from '../../model/names.ts'
import type { Vocabulary } from '../../model/schema.ts'
import { propertyPrefix, systemNames, type TablePlan, unknownName } from '../column-plan.ts'

/** Columns of the parts of a feature that are no properties. */
export const featureColumns = { geometry: 'geometry', id: 'feature_id', extra: 'feature_extra' } as const

/** Members that make an object another kind of GeoJSON. Source: RFC 7946 §7.1. */
export const foreignToFeatures: ReadonlySet<string> = new Set(['coordinates', 'geometries', 'features'])

/** Folded names of properties whose columns have the prefix `property_`. */
export function prefixedNames(vocabulary: Vocabulary): ReadonlySet<string> {
  const names = new Set([...Object.values(featureColumns), ...systemNames(vocabulary)].map(foldAscii))
  names.delete(foldAscii(vocabulary.eventTimeColumn))
  return names
}

/** The columns of a dataset as features fill them. */
export interface FeaturePlan {
  /** The keys of `byName` are names of properties. */
  readonly table: TablePlan
  /** Indexes of columns, `unknownName` where the dataset has no such column. */
  readonly geometry: number
  readonly id: number
  readonly extra: number
}

const cache = new WeakMap<TablePlan, FeaturePlan>()

/** The plan for features of a dataset that `table` describes; made once per table. */
export function featurePlan(table: TablePlan, vocabulary: Vocabulary): FeaturePlan {
  const cached = cache.get(table)
  if (cached !== undefined) return cached
  const prefixed = prefixedNames(vocabulary)
  const byName = new Map<string, number>()
  for (const [name, column] of table.byName) if (column >= 0 && !prefixed.has(name)) byName.set(name, column)
  for (const name of prefixed) byName.set(name, byName.get(propertyPrefix + name) ?? unknownName)
  const indexOf = (name: string): number => {
    const column = table.byName.get(name) ?? unknownName
    // The event-time column is filled by a property alone.
    return column > 0 ? column : unknownName
  }
  const plan: FeaturePlan = {
    table: { ...table, byName, prefixed, keyBytes: [], keyColumns: [] },
    geometry: indexOf(featureColumns.geometry),
    id: indexOf(featureColumns.id),
    extra: indexOf(featureColumns.extra),
  }
  cache.set(table, plan)
  return plan
}
