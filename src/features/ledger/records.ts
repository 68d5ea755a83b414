// The stored records of a ledger: batches of entries, each with the tree before and after it; what follows from all of them
// up to one; and its identity. Canonical JSON; the first of each that is stored stands.

import { base64Text, fromBase64 } from '../../libraries/base/base64.ts'
import { checked, list, natural, object, optional, recordCodec, refuse, text } from '../../libraries/base/json/shape.ts'
import { base64 } from '../../libraries/ledger/evidence.ts'
import type { TreeHead } from '../../libraries/ledger/tree.ts'

/** A tree as records have it. */
export const treeShape = object({ size: natural, root: text(/^[A-Za-z0-9+/]{43}=$/) })
const hex = text(/^[0-9a-f]{64}$/)

/** At most so many entries are put at once: some 100 kB, hashed in a few milliseconds. */
export const mostBatchEntries = 512
/** Batches after which a state is stored. */
export const batchesPerState = 64

/** `ledger/batches/<n>`: entries as base64, and the tree before and after them, roots as base64. */
export const batchCodec = recordCodec(
  'ledger batch',
  checked(object({ from: treeShape, to: treeShape, entries: list(base64, { least: 1 }) }), ({ from, to, entries }) =>
    to.size === from.size + entries.length ? undefined : 'has another number of entries than it says',
  ),
)
export type BatchRecord = ReturnType<typeof batchCodec.decode>

/** `ledger-states/<ledger>/<n>`: what follows from the batches before the n-th. `next` is sorted by tags. */
export const stateCodec = recordCodec(
  'ledger state',
  object({
    tree: treeShape,
    /** The last statements, newest last: the SHA-256 of each and the index of its entry. */
    statements: list(object({ hash: hex, index: natural }), { least: 1 }),
    /** Of each dataset the next sequence to enter, and where the entries are that fill no group of places yet. */
    next: list(object({ tag: hex, sequence: natural, places: list(natural) })),
  }),
)
export type StateRecord = ReturnType<typeof stateCodec.decode>

/** So many statements of a ledger have proofs: a node makes one when its version or a key is another. */
export const mostStatements = 1_000

/** Blocks of a dataset whose places lie in one object. */
export const placesPerGroup = 64

/** `ledger-places/<ledger>/<tag>/<n>`: the indexes of the entries of a dataset's blocks from 64 n on. */
export const placesCodec = recordCodec(
  'ledger places',
  checked(list(natural), ({ length }) => (length === placesPerGroup ? undefined : 'are not 64')),
)

/** `ledger-left/<tag>/<sequence>`: entries of blocks that follow one another, as base64. */
export const leftCodec = recordCodec('entries that are left', list(base64, { least: 1 }))

/** `ledger/origin`: the name of the ledger, the key of its heads as a verifier key, and whose place it takes. */
export const originCodec = recordCodec(
  'ledger origin',
  object({
    origin: text(),
    key: text(),
    previous: optional(object({ origin: text(), size: natural, root: text(), seen: optional(text()), reason: text() })),
  }),
)
export type OriginRecord = ReturnType<typeof originCodec.decode>

/** Of a ledger's time stamps so many are told. */
export const mostStamps = 100

/** `ledger-heads/<ledger>/timestamps`: the sizes of the newest heads with a time stamp, and their times; smallest first. */
export const stampsCodec = recordCodec(
  'ledger time stamps',
  list(object({ size: natural, at: text(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) })),
)
export type StampRecord = ReturnType<typeof stampsCodec.decode>[number]

/** A tree as records have it. */
export function storedTree({ size, root }: TreeHead): BatchRecord['to'] {
  return { size, root: base64Text(root) }
}

/** The entries of a batch. */
export function entriesOf({ entries }: BatchRecord): Uint8Array[] {
  return entries.map((entry) => fromBase64(entry) ?? refuse('is not base64'))
}
