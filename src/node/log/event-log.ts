// The port of the event log. Adapters: file, kafka, and one in memory for tests; one contract suite runs against each.
// A log is a set of partitions; a partition is one total order of messages numbered from 0 without gaps.

/** One stored message. `position` is its number in the partition. */
export interface LogEntry {
  readonly position: number
  readonly bytes: Uint8Array
}

export interface EventLog {
  /** Adapter: `file`, `kafka`. */
  readonly kind: string
  /** Identity of this log: random for the file log, made once. A replaced log has another one. */
  readonly id: string
  readonly partitions: number

  /**
   * Appends `messages` in order, contiguously, and resolves with the position of the first.
   * Durable when it resolves: fsync (file) or acks from every in-sync replica (Kafka). Calls made while an append is
   * being made durable share the next one (group commit).
   * Throws NodeError `StorageFull` (nothing stored), `OutcomeUnknown` (the write or fsync failed: it may or may not
   * be stored; this process accepts no more), `LogUnavailable` (after that, or closed; nothing stored), `Saturated` (too
   * much waits to be written; nothing stored). The log keeps `messages`: they must not be changed afterwards.
   * `useReserve` lets cuts use the space that is kept back from rows. `ahead` lets a writer's messages go before those
   * of other writers that wait; a writer gives it always or never, so that its own stay in order.
   */
  append(
    partition: number,
    messages: readonly Uint8Array[],
    options?: { readonly useReserve?: boolean; readonly ahead?: boolean },
  ): Promise<number>

  /**
   * Entries from `from` on, ascending, durable ones only; batches of bounded size. At the end it waits for more
   * until `signal` aborts, then returns. With `follow: false` it returns at the durable end seen when called.
   * Throws HaltError `LogTruncated` when `from` is below the first position kept, `LogRegressed` when above the end.
   */
  read(
    partition: number,
    from: number,
    options: { readonly signal?: AbortSignal; readonly follow?: boolean },
  ): AsyncIterable<readonly LogEntry[]>

  /** One durable message by position, or undefined when it is no longer or not yet there. */
  get(partition: number, position: number): Promise<Uint8Array | undefined>

  /** First position kept and the durable end (position of the next message). */
  range(partition: number): Promise<{ readonly start: number; readonly end: number }>

  /** Allows messages below `floor`, the low-water mark, to be deleted (the one at floor-1 is kept). A hint: nothing need happen. Durable: not needed. */
  release(partition: number, floor: number): Promise<void>

  /** Waits for appends in flight, then refuses more. Idempotent. */
  close(): Promise<void>
}
