// The port that spreads the partitions of a log over the builders of an installation. A hint: it saves builders from
// making the same blocks. Blocks stay right whatever it says, because one put-if-absent decides each commit.

export interface PartitionShare {
  /**
   * The partitions that this process should build, once that is known and at each change; the newest word only.
   * Asking joins the builders, and when `signal` aborts the partitions are handed back before it returns.
   * Never throws: while nobody can be asked, the last word stands, and after a time it is "all".
   */
  assignments(signal: AbortSignal): AsyncIterable<readonly number[]>
}
