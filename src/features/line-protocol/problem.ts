// A problem as clients of InfluxDB read it: `code` and `message` of its second interface, `error` as a text of its first,
// and the members of a problem beside them.
// Source: https://docs.influxdata.com/influxdb/v2/api/ (POST /api/v2/write), https://docs.influxdata.com/influxdb/v1/tools/api/

import type { Told } from '../../node/http/context.ts'

const codes: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  409: 'conflict',
  413: 'request too large',
  422: 'unprocessable entity',
  429: 'too many requests',
  503: 'unavailable',
}

/** Lines that cannot be told apart are 400 there, and those that do not fit 422. */
export function influxProblem(problem: Told): Told {
  const [first] = Array.isArray(problem.body['errors']) ? problem.body['errors'] : []
  const { kind, line } = Object(first) as { kind?: unknown; line?: unknown } // a RecordError, or nothing
  const isMalformed = kind === 'MalformedRecord' || kind === 'InvalidUtf8'
  const status = problem.status === 422 && isMalformed ? 400 : problem.status
  const { message } = problem.body
  const body = { ...problem.body, status, code: codes[status] ?? 'internal error', message, error: message, line }
  return { ...problem, status, mediaType: 'application/json; charset=utf-8', body }
}
