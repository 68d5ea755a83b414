// Messages that were read lately, so that building a block does not ask the broker for its rows again.

interface Chunk {
  readonly partition: number
  readonly positions: readonly number[]
  readonly bytes: number
}

export class MessageCache {
  readonly #mostBytes: number
  readonly #partitions = new Map<number, Map<number, Uint8Array>>()
  readonly #chunks: Chunk[] = []
  #bytes = 0

  /** Keeps about `mostBytes`. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  get(partition: number, position: number): Uint8Array | undefined {
    return this.#partitions.get(partition)?.get(position)
  }

  /** Keeps entries, and lets go of those that have been here longest. */
  add(partition: number, entries: readonly { readonly position: number; readonly bytes: Uint8Array }[]): void {
    let held = this.#partitions.get(partition)
    if (held === undefined) {
      held = new Map()
      this.#partitions.set(partition, held)
    }
    const positions: number[] = []
    let bytes = 0
    for (const entry of entries) {
      if (held.has(entry.position)) continue
      held.set(entry.position, entry.bytes)
      positions.push(entry.position)
      bytes += entry.bytes.length + entryBytes
    }
    if (positions.length > 0) this.#chunks.push({ partition, positions, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#mostBytes) this.#dropOldest()
  }

  #dropOldest(): void {
    const oldest = this.#chunks.shift()
    if (oldest === undefined) return
    this.#bytes -= oldest.bytes
    const held = this.#partitions.get(oldest.partition)
    for (const position of oldest.positions) held?.delete(position)
  }
}

/** What an entry costs beside its bytes. */
const entryBytes = 100
