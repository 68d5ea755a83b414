// Who asks, as the roles of reading need to know it, and the same in the engine's words.

import type { Catalog } from '../catalog/catalog.ts'
import type { AnswerRoom, Asking } from '../engine/engine-job.ts'
import type { MayRead } from './pin.ts'

export interface Caller {
  /** Callers of one key take turns as one; those that share its first parts share the turn of those. */
  readonly key: readonly string[]
  readonly mayRead: MayRead
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** Where the bytes of the answer are counted. */
  readonly room: AnswerRoom
}

/** A dataset whose name is not known any more is read by nobody. */
export function askingOf(catalog: Catalog, { key, mayRead, signal, room }: Caller): Asking {
  const mayReadId = (dataset: string): boolean => {
    const name = catalog.heldName(dataset)
    return name !== undefined && mayRead(name)
  }
  return { caller: { key, mayRead: mayReadId }, signal, room }
}
