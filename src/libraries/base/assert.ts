// Assertions: programmer errors, never user errors. A failed one means a bug in Proofstream.

/** Thrown when code finds its own invariant broken. */
export class AssertionFailed extends Error {
  override readonly name: string = 'AssertionFailed'
}

/** Throws `AssertionFailed` unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message)
}

/** Returns `value`, or throws `AssertionFailed` when it is undefined. */
export function must<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new AssertionFailed(message)
  return value
}
