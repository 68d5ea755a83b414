// The one place that chooses files for a view: a dataset's slices at its block, in chain order.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { EngineFiles } from '../engine/engine-job.ts'
import { must } from '../lib/assert.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** The slices of `view`, or those of them with the numbers `[from, to)`. */
export function viewFiles(
  store: ObjectStore,
  { id, slices }: DatasetView,
  { from, to }: { from: number; to: number } = { from: 0, to: slices.length },
): EngineFiles {
  const path = (number: number): string => {
    const slice = must(slices.at(number), 'a view has the slices of its chain up to its block')
    return must(store.localPath(dataKey(id, slice.hash)), 'slices lie on the local disk')
  }
  return { list: id, from, to, path }
}
