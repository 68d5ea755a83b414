// A problem as clients of Iceberg's catalogs read it: with the code and the type of theirs in the member `error`.
// Source: https://iceberg.apache.org/spec/#iceberg-rest-catalog-spec (IcebergErrorResponse)

import type { Told } from '../../node/http/context.ts'

/** By status. */
const types: Readonly<Record<number, string>> = {
  400: 'BadRequestException',
  401: 'NotAuthorizedException',
  403: 'ForbiddenException',
  404: 'NoSuchTableException',
  405: 'UnsupportedOperationException',
  429: 'TooManyRequestsException',
  503: 'ServiceUnavailableException',
}

export function icebergProblem(problem: Told): Told {
  const { status, body } = problem
  const error = { code: status, type: types[status] ?? 'RESTException', ...Object(body['error']) }
  return { ...problem, body: { ...body, error } }
}
