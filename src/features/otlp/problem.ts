// A problem as clients of OpenTelemetry read it: the members of a `Status` beside those of a problem, in JSON also where the
// request was protobuf, because clients show its text and read nothing in it. Whatever is to be repeated is 503: they repeat
// 429, 502, 503 and 504 alone. Source: https://opentelemetry.io/docs/specs/otlp/#failures-1, https://grpc.io/docs/guides/status-codes/

import type { Told } from '../../node/http/context.ts'

const codes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  409: 6,
  413: 3,
  415: 3,
  422: 3,
  429: 8,
  503: 14,
}
const internal = 13
const repeated: ReadonlySet<number> = new Set([408, 507])

export function otlpProblem(problem: Told): Told {
  const isRepeated = problem.body['retryable'] === true || repeated.has(problem.status)
  const status = isRepeated && problem.status !== 429 ? 503 : problem.status
  const body = { ...problem.body, status, code: codes[status] ?? internal }
  return { ...problem, status, body }
}
