// Single values inside of structs, lists and maps as JSON text: numbers and times as leaf-text.ts has them, texts and bytes.

import { decodeUtf8, toHex } from '../../lib/bytes.ts'
import type { Column } from '../../model/schema.ts'
import { stringToken } from '../../outputs/value-text.ts'
import { damaged } from '../../parquet/refusals.ts'
import { fixedText, type LeafText } from '../leaf-text.ts'

/** The printer of the values of `column`, which has no nulls; booleans in it are a byte each. */
export function leafText(column: Column): LeafText {
  const { type, values, offsets } = column
  switch (type.kind) {
    case 'Bool':
      return (row) => (values[row] === 1 ? 'true' : 'false')
    case 'String':
      return (row) => stringToken(text(values.subarray(offsets?.[row], offsets?.[row + 1])), false)
    case 'Binary':
      return (row) => `"${toHex(values.subarray(offsets?.[row], offsets?.[row + 1]))}"`
    case 'Null':
      return () => 'null'
    default:
      return fixedText(column)
  }
}

function text(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (error) {
    if (error instanceof TypeError) return damaged('has text that is not UTF-8')
    throw error
  }
}
