// Which errors come back with the same work, whoever does it and whenever: those of the code and of the bytes, not those
// of the log or the store.

import { AssertionFailed } from '../lib/assert.ts'
import { DecodeError } from '../model/errors.ts'

/** True for errors that come back with the same plan or message. */
export function isFault(error: unknown): boolean {
  return (
    error instanceof DecodeError ||
    error instanceof AssertionFailed ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError
  )
}
