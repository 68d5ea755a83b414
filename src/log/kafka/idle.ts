// kafkajs 2.2.4 re-arms a timer of one millisecond for ever on each connection that has served a request: 7 % of a
// core when idle, and a warning of Node.js about negative time-outs. The timer is only of use while requests wait.
// This is the one place that touches the inside of the library; where that looks different, nothing is changed.

import { createRequire } from 'node:module'
import type { Logger } from '../../lib/logger.ts'

const marker = Symbol('proofstream')

interface RequestQueue {
  readonly pending?: unknown
  scheduleCheckPendingRequests?: (this: RequestQueue) => void
  [marker]?: true
}

/** Stops the idle timers of all connections of the process. Done once. */
export function calmIdleConnections(logger: Logger): void {
  const queue = requestQueue()
  const schedule = queue?.scheduleCheckPendingRequests
  if (queue === undefined || schedule === undefined) {
    logger.debug({}, 'kafkajs is not the version whose idle timers are known')
    return
  }
  if (queue[marker] === true) return
  queue[marker] = true
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (!Array.isArray(this.pending) || this.pending.length > 0) schedule.call(this)
  }
}

function requestQueue(): RequestQueue | undefined {
  try {
    const found: unknown = createRequire(import.meta.url)('kafkajs/src/network/requestQueue')
    if (typeof found !== 'function') return undefined
    const prototype: unknown = found.prototype
    // `as`: every member is optional and looked at before it is used.
    return typeof prototype === 'object' && prototype !== null ? (prototype as RequestQueue) : undefined
  } catch {
    return undefined
  }
}
