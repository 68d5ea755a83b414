// The keys that a node signs with, present and former.

/** A key that has signed for a node or its installation. */
export interface Signer {
  /** did:key. */
  readonly did: string
  /** Absent while it may sign. */
  readonly retired?: Retired
}

/** Since when nobody signs with a key any more. `rotated`: another took its place. `leaked`: others may have it. */
export interface Retired {
  /** RFC 3339 UTC. */
  readonly at: string
  readonly why: 'rotated' | 'leaked'
}
