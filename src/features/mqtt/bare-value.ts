// Payloads that are a value and no record: sensors send `21.5` or `ON`. They become records with the member `value`, their
// tokens as they came. Pure.

import { Buffer, isUtf8 } from 'node:buffer'
import { utf8 } from '../../libraries/base/bytes.ts'

/** A longer one is no word of a device. */
const wordBytes = 256
const token =
  /^(?:true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|"(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")$/u
/** What no number, list or object begins with, that was cut or misspelt. */
const word = /^[\p{L}\p{N}+\-_.:/%°]+$/u

/** `{"value": …}` of a bare number, word, boolean or JSON text; any other payload as it is. */
export function recordOf(payload: Uint8Array): Uint8Array {
  const [first] = payload
  if (first === undefined || first === 0x7b || first === 0x5b || payload.length > wordBytes || !isUtf8(payload))
    return payload
  const text = Buffer.from(payload).toString('utf8').trim()
  if (token.test(text)) return utf8(`{"value":${text}}`)
  return text !== 'null' && word.test(text) ? utf8(`{"value":${JSON.stringify(text)}}`) : payload
}
