// The receipt: what the caller of an ingest holds, now and later (docs/spec/http.md §6).

import type { DatasetId, Hash } from './events.ts'

export interface Receipt {
  readonly receiptId: string
  readonly status: 'accepted' | 'committed' | 'rejected'
  readonly dataset: { readonly id: DatasetId; readonly alias: string }
  readonly records: { readonly received: number; readonly committed: number; readonly duplicates: number }
  readonly bodyHash: Hash
  readonly mediaType: string
  readonly bytes: number
  readonly log: { readonly name: string; readonly partition: number; readonly position: number }
  readonly block?: { readonly hash: Hash; readonly sequence: number }
  readonly offsets?: { readonly start: number; readonly end: number }
  readonly idempotencyKey?: string
  readonly csvHeader?: 'present' | 'absent'
  readonly times: { readonly received: string; readonly accepted: string; readonly committed?: string }
  /** Why the batch was rejected when its turn came in the log. */
  readonly errors?: readonly { readonly kind: string; readonly message: string }[]
}
