// Links to the SQL page that run at once: those that this process wrote, with a statement of its own. Their mark shows it; a link
// that data or another site brought has none for its statement.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const key = randomBytes(32)

function markOf(statement: string): Buffer {
  return createHmac('sha256', key).update(statement).digest().subarray(0, 16)
}

/** The address of the SQL page with a statement that the node made. */
export function ownQuestion(statement: string): string {
  return `/query?query=${encodeURIComponent(statement)}&run=${markOf(statement).toString('base64url')}`
}

/** `mark`: the parameter `run` of the address. */
export function isOwnQuestion(statement: string, mark: string): boolean {
  const given = Buffer.from(mark, 'base64url')
  const own = markOf(statement)
  return given.length === own.length && timingSafeEqual(given, own)
}
