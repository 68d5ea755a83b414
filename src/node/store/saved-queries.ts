// The record of a saved query: a statement with a name, and what it asks of.

import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { list, object, oneOf, optional, recordCodec, text } from '../../libraries/base/json/shape.ts'
import type { Parameter } from '../../libraries/model/parameters.ts'
import { savedQueryKey } from './layout.ts'
import type { ObjectStore } from './object-store.ts'

/** `queries/<name>`. Times are RFC 3339 UTC with milliseconds. */
export interface SavedQuery {
  readonly query: string
  /** What it is for, in a sentence. */
  readonly about?: string
  /** Values that count where an address gives none, by the statement's names. */
  readonly parameters: readonly Parameter[]
  /** Parameters for which an address has to give a value. */
  readonly required: readonly string[]
  /** What its names meant when it was saved: a dataset that takes such a name later is another one. */
  readonly datasets: readonly { readonly id: DatasetId; readonly alias: string }[]
  readonly savedAt: string
}

export const savedQueryCodec = recordCodec(
  'saved query',
  object({
    query: text(),
    about: optional(text()),
    parameters: list(
      object({ name: text(), type: oneOf('BIGINT', 'HUGEINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN', 'NULL'), text: text() }),
    ),
    required: list(text()),
    datasets: list(object({ id: text(), alias: text() })),
    savedAt: text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  }),
)

/** True for lower-case letters, digits and single inner hyphens, at most 100 characters. */
export function isQueryName(name: string): boolean {
  return name.length <= 100 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)
}

/** What is wrong with the record of a saved query under this name, or undefined. */
export async function savedQueryFault(store: ObjectStore, name: string): Promise<string | undefined> {
  if (!isQueryName(name)) return 'is no name of a query'
  const bytes = await store.get(savedQueryKey(name))
  try {
    if (bytes !== undefined) savedQueryCodec.decode(bytes)
    return undefined
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
}
