// Waiting for a fact: it is asked for again until it holds. How long that takes says how busy the machine is and nothing
// else, so that the patience is long; it ends before the runner's own limit, to name what did not come.

import { setTimeout } from 'node:timers/promises'

/** How long a test waits for a fact before it fails. */
export const patienceMs = 300_000

/** What `ask` gives once that is neither false nor null nor undefined. `what` names it where it never comes. */
export async function until<T>(
  what: string | (() => string | Promise<string>),
  ask: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined>> {
  const endMs = performance.now() + patienceMs
  for (let pauseMs = 1; ; pauseMs = Math.min(50, pauseMs * 1.5)) {
    const said = await ask()
    if (said !== undefined && said !== null && said !== false) return said as Exclude<T, false | null | undefined>
    if (performance.now() > endMs) throw new Error(`it did not come: ${typeof what === 'string' ? what : await what()}`)
    await setTimeout(pauseMs)
  }
}
