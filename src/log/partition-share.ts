// The port that spreads the partitions of a log over the builders of an installation. A hint: it saves builders from
// making the same blocks. Blocks stay right whatever it says, because one put-if-absent decides each commit.

export interface PartitionShare {
  /**
   * The partitions that this process should build, and again at each change; the newest word only. Asking joins the
   * builders, and when `signal` aborts the partitions are handed back before it returns. Never throws: while nobody
   * has been asked the word is "all", and when nobody can be asked any more the last one stands for a time.
   */
  assignments(signal: AbortSignal): AsyncIterable<readonly number[]>
}
