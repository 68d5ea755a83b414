// The one place that chooses files for a view: a dataset's slices at its block, in chain order.

import { must } from '../lib/assert.ts'
import type { SliceRef } from '../catalog/dataset-chain.ts'
import type { DatasetView } from '../catalog/view.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Paths of the slices of `view`, or of `slices` of it. */
export function viewFiles(store: ObjectStore, view: DatasetView, slices: readonly SliceRef[] = view.slices): string[] {
  return slices.map((slice) => must(store.localPath(dataKey(view.id, slice.hash)), 'slices lie on the local disk'))
}
