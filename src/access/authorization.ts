// The Authorization header. Pure: what the header holds, not whom it lets in.

import { decodeUtf8 } from '../lib/bytes.ts'
import { NodeError } from '../model/errors.ts'

/** The characters of a bearer token (RFC 6750, b64token); no token of ours is longer. */
const tokenPattern = /^[A-Za-z0-9._~+/-]{1,512}=*$/
const form = /^ *([a-z]+) +(\S+) *$/i

/**
 * The token of `Authorization`: `Bearer <token>`, `Token <token>`, or `Basic` with the token as password and any user name,
 * for clients that know only credentials in URLs. Undefined without the header. The scheme in any case, spaces tolerated.
 * Throws NodeError `BadAuthorization` for another scheme, no token, or more than one.
 */
export function tokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const [, scheme = '', credentials = ''] = form.exec(header) ?? []
  const token = tokenIn(scheme.toLowerCase(), credentials)
  if (token !== undefined && tokenPattern.test(token)) return token
  throw new NodeError('BadAuthorization', 'The Authorization header is not of the form Bearer <token>.', {
    hint: 'Send Authorization: Bearer pst_…, or leave the header out. Basic takes the token as password.',
  })
}

function tokenIn(scheme: string, credentials: string): string | undefined {
  if (scheme === 'bearer' || scheme === 'token') return credentials
  return scheme === 'basic' ? passwordOf(credentials) : undefined
}

/** What stands behind the first colon (RFC 7617); undefined for what is no base64 of such a text. */
function passwordOf(credentials: string): string | undefined {
  if (!/^[A-Za-z0-9+/]{1,2048}={0,2}$/.test(credentials)) return undefined
  try {
    const text = decodeUtf8(Buffer.from(credentials, 'base64'))
    const colon = text.indexOf(':')
    return colon < 0 ? undefined : text.slice(colon + 1)
  } catch {
    return undefined
  }
}
