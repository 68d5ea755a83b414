// Lets the event loop turn, so that long work in pieces does not keep others waiting.

/** Resolves after pending IO and timers have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
