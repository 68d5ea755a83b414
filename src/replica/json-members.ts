// Answers put together from members that are JSON text already.

import { concatBytes, utf8 } from '../lib/bytes.ts'

/** A JSON object; the caller orders the names. */
export function jsonMembers(list: readonly (readonly [name: string, json: Uint8Array])[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const [index, [name, value]] of list.entries()) {
    parts.push(utf8(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`), value)
  }
  return concatBytes([utf8('{'), ...parts, utf8('}')])
}
