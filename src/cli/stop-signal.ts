// The end of what runs until it is stopped: nodes, witnesses.

import { exitCodes, note } from './failure.ts'

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function stopSignal(): Promise<void> {
  let asked = false
  return new Promise((stop) => {
    const onSignal = (): void => {
      if (asked) process.exit(exitCodes.interrupted)
      asked = true
      if (process.stderr.isTTY) note('\nStopping: finishing what is in flight. Press again to stop at once.')
      stop()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
