// What a signal that asks the program to end does: it ends at once, after those who have something to tell have told it;
// where a command can stop in good order, the first signal asks it to, and the second one ends it.

import { exitCodes } from './failure.ts'

const leaving = new Set<() => void>()
let stop: (() => void) | undefined

/** The answer to SIGINT of every command that does not answer it otherwise. */
export function onSignal(): void {
  const first = stop
  stop = undefined
  if (first !== undefined) return first()
  for (const tell of [...leaving].reverse()) tell()
  process.exit(exitCodes.interrupted)
}

/** `tell` is called before a signal ends the program, those that came last first, until what this returns is called. */
export function beforeSignalEnds(tell: () => void): () => void {
  leaving.add(tell)
  return () => leaving.delete(tell)
}

/** The first SIGINT or SIGTERM aborts the signal that this returns, until `over` is called. */
export function stopInOrder(): { readonly signal: AbortSignal; readonly over: () => void } {
  const asked = new AbortController()
  stop = () => asked.abort()
  process.on('SIGTERM', onSignal)
  const over = (): void => {
    stop = undefined
    process.off('SIGTERM', onSignal)
  }
  return { signal: asked.signal, over }
}
