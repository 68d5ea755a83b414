// What a witness keeps beside the heads that it has cosigned: what else a ledger has signed.

import { fromBase64 } from '../base/base64.ts'
import { checked, list, natural, object, optional, type RecordCodec, recordCodec, text } from '../base/json/shape.ts'

/** A text that is base64. */
export const base64 = checked(text(), (value) => (fromBase64(value) === undefined ? 'is not base64' : undefined))

/** A head that a ledger has signed, beside the one that this witness had cosigned then. Notes as they are, with their signatures. */
export const evidenceCodec = recordCodec(
  'evidence',
  object({
    /** Absent before the first. */
    cosigned: optional(text()),
    signed: text(),
    /** The entry below the signed head that is not what it says, in base64, and its inclusion proof. */
    entry: optional(object({ index: natural, about: text(), bytes: base64, path: list(base64) })),
    /** The request with which it came. */
    oldSize: natural,
    proof: list(base64),
  }),
)

export type Evidence = typeof evidenceCodec extends RecordCodec<infer T> ? T : never
