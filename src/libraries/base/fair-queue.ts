// A queue in which callers take turns: a caller with many items waits as long as one with few. A caller's key has one
// part, or several where callers share a turn (all anonymous ones do: among them, addresses take turns). Pure.

interface Branch<T> {
  readonly branches: Map<string, Branch<T>>
  /** Those with exactly this key, the oldest first. */
  readonly items: T[]
  /** Items here and below. */
  size: number
}

/** Why there is no room: the queue is full, or the caller has its share of it. */
export type NoRoom = 'full' | 'share'

export class FairQueue<T> {
  readonly #root = emptyBranch<T>()
  readonly #most: number
  readonly #sharePercent: number

  /** At most `most` items; of what others leave free, one caller may hold `sharePercent`, and always one item. */
  constructor(most: number, sharePercent: number) {
    this.#most = most
    this.#sharePercent = sharePercent
  }

  get size(): number {
    return this.#root.size
  }

  /** Why one more item of this caller has no room, or undefined. */
  noRoom(key: readonly string[]): NoRoom | undefined {
    if (this.#root.size >= this.#most) return 'full'
    let branch: Branch<T> | undefined = this.#root
    let room = this.#most
    for (const part of key) {
      const others: number = branch?.size ?? 0
      branch = branch?.branches.get(part)
      const held = branch?.size ?? 0
      room = ((room - (others - held)) * this.#sharePercent) / 100
      if (held > 0 && held + 1 > room) return 'share'
    }
    return undefined
  }

  push(key: readonly string[], item: T): void {
    let branch = this.#root
    branch.size++
    for (const part of key) {
      const next = branch.branches.get(part) ?? emptyBranch<T>()
      branch.branches.set(part, next)
      branch = next
      branch.size++
    }
    branch.items.push(item)
  }

  /** The oldest item of each caller; the caller whose turn is next comes first. */
  heads(): T[] {
    return [...itemsOf(this.#root, 1)]
  }

  /** Takes an item out because its turn has come: its caller goes to the end of the line. */
  take(key: readonly string[], item: T): void {
    this.remove(key, item)
    let branch = this.#root
    for (const part of key) {
      const next = branch.branches.get(part)
      if (next === undefined) return
      branch.branches.delete(part)
      branch.branches.set(part, next)
      branch = next
    }
  }

  /** Takes an item out that waits no longer; false when it is not there. */
  remove(key: readonly string[], item: T): boolean {
    return removeFrom(this.#root, key, item)
  }

  /** Empties the queue. */
  drain(): T[] {
    const all = [...itemsOf(this.#root, Number.POSITIVE_INFINITY)]
    this.#root.branches.clear()
    this.#root.items.length = 0
    this.#root.size = 0
    return all
  }
}

function emptyBranch<T>(): Branch<T> {
  return { branches: new Map(), items: [], size: 0 }
}

/** The oldest `most` items of each key. */
function* itemsOf<T>({ items, branches }: Branch<T>, most: number): Generator<T> {
  yield* items.slice(0, most)
  for (const branch of branches.values()) yield* itemsOf(branch, most)
}

function removeFrom<T>(branch: Branch<T>, [part, ...rest]: readonly string[], item: T): boolean {
  if (part === undefined) {
    const at = branch.items.indexOf(item)
    if (at < 0) return false
    branch.items.splice(at, 1)
  } else {
    const next = branch.branches.get(part)
    if (next === undefined || !removeFrom(next, rest, item)) return false
    if (next.size === 0) branch.branches.delete(part)
  }
  branch.size--
  return true
}
