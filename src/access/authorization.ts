// The Authorization header. Pure: what the header holds, not whom it lets in.

import { NodeError } from '../model/errors.ts'

/** The characters of a bearer token (RFC 6750, b64token); no token of ours is longer. */
const bearer = /^ *bearer +([A-Za-z0-9._~+/-]{1,512}=*) *$/i

/**
 * The token of `Authorization: Bearer <token>`; undefined without the header. The scheme in any case, spaces
 * tolerated. Throws NodeError `BadAuthorization` for another scheme, no token, or more than one.
 */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = bearer.exec(header)
  if (match === null) {
    throw new NodeError('BadAuthorization', 'The Authorization header is not of the form Bearer <token>.', {
      hint: 'Send Authorization: Bearer pst_…, or leave the header out.',
    })
  }
  return match[1]
}
