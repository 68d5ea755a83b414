// What a dataset remembers of keyed batches (protocol.md §2, Memory of ids): a bounded suffix of all that were
// committed, grouped by the checkpoint that wrote them. Mutable; deterministic; no clock.

import { firstIdGroup, type IdGroup, idsRemembered, type KnownId } from '../chain/checkpoint.ts'
import type { Hash } from '../model/events.ts'

/** Mutable: ids of ended blocks in `groups` (oldest first), those of the open block in `open`, all in `known`. */
export interface IdMemory {
  readonly known: Map<string, Hash>
  groups: IdGroup[]
  open: KnownId[]
  /** Ids in `groups`. */
  grouped: number
}

export function emptyIdMemory(): IdMemory {
  return { known: new Map(), groups: [], open: [], grouped: 0 }
}

/** The memory that `groups` (oldest first) leave at block time `timeMs`. */
export function restoreIdMemory(groups: readonly IdGroup[], timeMs: number): IdMemory {
  const memory = emptyIdMemory()
  memory.groups = groups.filter((group) => group.ids.length > 0)
  for (const group of groups) memory.grouped += group.ids.length
  // Forget first: an id may be in an old group that is forgotten and in a newer one that is not.
  forget(memory, timeMs)
  for (const group of memory.groups) for (const { id, bodyHash } of group.ids) memory.known.set(id, bodyHash)
  return memory
}

/** Remembers a keyed batch of the open block. */
export function rememberId(memory: IdMemory, id: string, bodyHash: Hash): void {
  memory.known.set(id, bodyHash)
  memory.open.push({ id, bodyHash })
}

/**
 * Ends the open block as checkpoint `number` with block time `timeMs`; returns the ids that the checkpoint holds:
 * its own, every 64th those of the 63 before it too, every 4,096th those of the 4,095 before it.
 */
export function endIdGroup(memory: IdMemory, number: number, timeMs: number): readonly IdGroup[] {
  if (memory.open.length > 0) {
    memory.groups.push({ number, timeMs, ids: memory.open })
    memory.grouped += memory.open.length
    memory.open = []
  }
  forget(memory, timeMs)
  const first = firstIdGroup(number)
  let at = memory.groups.length
  while (at > 0 && (memory.groups[at - 1]?.number ?? -1) >= first) at--
  return memory.groups.slice(at)
}

/** Forgets, oldest first, what is neither among the last 10,000 nor younger than 7 days, and all beyond 1,000,000. */
function forget(memory: IdMemory, timeMs: number): void {
  let whole = 0
  for (const [index, group] of memory.groups.entries()) {
    const excess = Math.min(group.ids.length, memory.grouped - idsRemembered(timeMs - group.timeMs))
    if (excess <= 0) break
    for (const { id } of group.ids.slice(0, excess)) memory.known.delete(id)
    memory.grouped -= excess
    if (excess < group.ids.length) {
      memory.groups[index] = { ...group, ids: group.ids.slice(excess) }
      break
    }
    whole = index + 1
  }
  if (whole > 0) memory.groups.splice(0, whole)
}
