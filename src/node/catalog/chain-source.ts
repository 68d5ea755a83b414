// Where what this store holds can be had again: the node whose datasets are copied here. What fails its check is asked for
// there before it counts as damaged.

import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { PackableKey } from '../store/layout.ts'

/** Each is false where nobody has it any more. They throw NodeError `CopyBehind` where it cannot be had now. */
export interface ChainSource {
  /** Stores an object with a hash anew. */
  object(asked: PackableKey): Promise<boolean>
  /** Makes blocks, commits and packs of a dataset whole; its head stays. */
  chain(id: DatasetId): Promise<boolean>
  /** Writes the record of a name anew. */
  name(alias: string): Promise<boolean>
  /** Brings the dataset to the head that it has there. */
  catchUp(id: DatasetId): Promise<boolean>
}

/** What `work` gives; done once more where `mend` took away what it had met. Throws what `work` and `mend` throw. */
export async function mended<T>(work: () => Promise<T>, mend: (() => Promise<boolean>) | undefined): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (mend === undefined || !(error instanceof HaltError) || !(await mend())) throw error
    return await work()
  }
}
