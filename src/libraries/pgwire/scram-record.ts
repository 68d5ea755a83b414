// What a server keeps of a password for SCRAM-SHA-256, as a record has it.

import { base64Text } from '../base/base64.ts'
import { randomBytes } from '../base/ids/native-crypto.ts'
import { integer, object, text } from '../base/json/shape.ts'
import { verifierOf } from './scram.ts'

const saltBytes = 16
/** As RFC 7677 asks for: tokens have 190 random bits, and need no slower hash. */
const iterations = 4096

/** Salt and keys in base64. */
export interface ScramRecord {
  readonly salt: string
  readonly iterations: number
  readonly storedKey: string
  readonly serverKey: string
}

const base64 = text(/^[0-9A-Za-z+/]{22,43}={1,2}$/)

export const scramRecord = object({
  salt: base64,
  iterations: integer(iterations),
  storedKey: base64,
  serverKey: base64,
})

/** Of a password of ASCII. Throws NodeError `InvalidRequest`. */
export function scramRecordOf(password: string): ScramRecord {
  const salt = randomBytes(saltBytes)
  const { storedKey, serverKey } = verifierOf(password, salt, iterations)
  return { salt: base64Text(salt), iterations, storedKey: base64Text(storedKey), serverKey: base64Text(serverKey) }
}
