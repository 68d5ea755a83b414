// The `traceparent` of W3C Trace Context: which trace a request belongs to. Read from requests, carried in messages of
// the log, told in log lines; never part of what is hashed. Pure.

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * The header as this node passes it on: version 00 with the flags that version knows (bit 0, sampled). Undefined for one
 * that is missing or malformed, which counts as none (Trace Context §2.2, §4.3).
 */
export function readTraceParent(header: string | undefined): string | undefined {
  const [, version, traceId = '', parentId = '', flags = '', more] = form.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined
  return `00-${traceId}-${parentId}-${version === '00' ? flags : `0${Number.parseInt(flags, 16) & 1}`}`
}

/** True when the caller may have recorded the trace (flag `sampled`). */
export function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1
}
