// Reads a slice back before it is committed: nothing later in an ODF network checks row count, columns and logical
// hash of a file, so what is wrong with it would stay wrong for ever.

import { createLogicalHash } from '../arrow/logical-hash.ts'
import { concatBytes, utf8 } from '../lib/bytes.ts'
import { nextTurn } from '../lib/clock.ts'
import { DecodeError } from '../model/errors.ts'
import { type DataSchema, sameType } from '../model/schema.ts'
import { openSlice, type SliceContent } from '../parquet/read-slice.ts'
import type { BuiltSlice, Compressor } from './built-slice.ts'

const what = 'slice to commit'
const magic = utf8('PAR1')
/** Footer, its length and the closing magic. */
export const footerParts = 3
/** Up to this size the rows are read back and hashed again; above it the footer alone is. */
const rehashedRows = 4096

/** Throws DecodeError when the file does not hold what the block will say of it. */
export async function checkSlice(
  slice: BuiltSlice & { readonly chunks: readonly Uint8Array[] },
  schema: DataSchema,
  compressor: Compressor,
): Promise<void> {
  const decompress = (bytes: Uint8Array, length: number): Uint8Array => compressor.decompress(bytes, length)
  await nextTurn()
  if (slice.rows > rehashedRows) return checkFooter(slice.chunks.slice(-footerParts), slice, schema)
  const content = openSlice(concatBytes(slice.chunks), { decompress })
  checkContent(content, slice, schema)
  const hash = createLogicalHash(schema.fields)
  for await (const batch of content.batches) {
    await nextTurn()
    hash.update(batch)
  }
  await nextTurn()
  if (hash.digest() !== slice.logicalHash) throw new DecodeError(what, 'has other rows than those that were hashed')
}

/** The same for rows and columns alone, by the last parts of the file. */
export function checkFooter(footer: readonly Uint8Array[], slice: BuiltSlice, schema: DataSchema): void {
  checkContent(openSlice(concatBytes([magic, ...footer])), slice, schema)
}

function checkContent(content: SliceContent, slice: BuiltSlice, schema: DataSchema): void {
  if (content.rows !== slice.rows) throw new DecodeError(what, `has ${content.rows} rows, expected ${slice.rows}`)
  const isSame =
    content.fields.length === schema.fields.length &&
    content.fields.every((field, index) => {
      const expected = schema.fields[index]
      return expected !== undefined && field.name === expected.name && sameType(field.type, expected.type)
    })
  if (!isSame) throw new DecodeError(what, 'has other columns than the schema')
}
