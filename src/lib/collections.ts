// A binary heap of items with a number each: the item with the smallest number comes first, equal ones in any order.

interface Node<T> {
  readonly key: number
  readonly item: T
}

export class Heap<T> {
  readonly #nodes: Node<T>[] = []

  get size(): number {
    return this.#nodes.length
  }

  /** The first item and its number, or undefined. */
  get first(): Node<T> | undefined {
    return this.#nodes[0]
  }

  add(key: number, item: T): void {
    const nodes = this.#nodes
    const node = { key, item }
    let at = nodes.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = nodes[parent]
      if (above === undefined || above.key <= key) break
      nodes[at] = above
      at = parent
    }
    nodes[at] = node
  }

  /** Takes the first item out. */
  take(): T | undefined {
    const nodes = this.#nodes
    const [top] = nodes
    const last = nodes.pop()
    if (last === undefined || nodes.length === 0) return top?.item
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const left = nodes[child]
      const right = nodes[child + 1]
      if (left === undefined) break
      let below = left
      if (right !== undefined && right.key < left.key) {
        below = right
        child++
      }
      if (below.key >= last.key) break
      nodes[at] = below
      at = child
    }
    nodes[at] = last
    return top?.item
  }
}
