// What a query ends with when its caller has gone, in the parent and in its process.

import { NodeError } from '../../../libraries/base/errors.ts'

export function cancelled(): NodeError {
  return new NodeError('QueryTimeout', 'The query was cancelled.')
}

/** Why a signal aborts whose work is over. One for all: each that the platform makes takes a stack along. */
export const over = new DOMException('The work is over.', 'AbortError')
