// Answers put together from members that are JSON text already.

import { utf8 } from '../lib/bytes.ts'

/** JSON text: whole, or in parts that follow one another, so that large ones are not copied. */
export type JsonText = Uint8Array | readonly Uint8Array[]

/** A JSON object, in parts; the caller orders the names. */
export function jsonMembers(list: readonly (readonly [name: string, json: JsonText])[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (const [index, [name, value]] of list.entries()) {
    parts.push(
      utf8(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`),
      ...(value instanceof Uint8Array ? [value] : value),
    )
  }
  return [utf8('{'), ...parts, utf8('}')]
}
