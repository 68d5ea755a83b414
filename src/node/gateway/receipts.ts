// Receipts, from what their ids carry and what became of the batch.

import { defined } from '../../libraries/base/collections.ts'
import type { GivenUp } from '../catalog/left-logs.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { CsvHeader } from '../../libraries/formats/format.ts'
import { timeText } from '../../libraries/base/clock.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import type { Fate } from './fate.ts'
import { decodeReceiptId, encodeReceiptId, type ReceiptNote } from './receipt-id.ts'

/** What the caller of an ingest holds, now and later (docs/spec/http.md §6). */
export interface Receipt {
  readonly receiptId: string
  readonly status: 'accepted' | 'committed' | 'rejected' | 'lost'
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
  /** Of a batch that no block took and none will: what was given up with its log, where the chain knows that. */
  readonly lost?: GivenUp
  readonly times: { readonly received: string; readonly accepted: string; readonly committed?: string }
  /** Why the batch was rejected when its turn came in the log. */
  readonly errors?: readonly { readonly kind: string; readonly message: string }[]
}

export class Receipts {
  readonly #secret: Uint8Array
  readonly #logName: string

  constructor(options: { secret: Uint8Array; logName: string }) {
    this.#secret = options.secret
    this.#logName = options.logName
  }

  /** What an id carries, or undefined when this installation did not make it. */
  open(id: string): ReceiptNote | undefined {
    return decodeReceiptId(id, this.#secret)
  }

  /** The receipt of a batch. */
  of(
    note: ReceiptNote,
    name: Pick<NameRecord, 'id' | 'alias'>,
    fate: Fate,
    { csvHeader }: { readonly csvHeader?: CsvHeader | undefined } = {},
  ): Receipt {
    const decided = fate.kind === 'decided' ? fate.decided : undefined
    const outcome = decided?.outcome.status
    const block = fate.kind === 'there' ? fate.block : decided?.block
    const status = note.rows === 0 ? 'committed' : statusOf(fate)
    return {
      receiptId: encodeReceiptId(note, this.#secret),
      status,
      dataset: { id: name.id, alias: name.alias },
      records: {
        received: note.rows,
        committed: outcome?.kind === 'committed' ? note.rows : 0,
        duplicates: fate.kind === 'there' ? note.rows : 0,
      },
      bodyHash: note.bodyHash,
      mediaType: note.mediaType,
      bytes: note.bytes,
      log: { name: this.#logName, partition: note.partition, position: note.position },
      ...(block === undefined ? {} : { block: { hash: block.hash, sequence: block.sequence } }),
      ...(outcome?.kind === 'committed' ? { offsets: { start: outcome.start, end: outcome.end } } : {}),
      ...defined({ idempotencyKey: note.key, csvHeader }),
      ...(fate.kind === 'lost' && fate.givenUp !== undefined ? { lost: fate.givenUp } : {}),
      times: {
        received: timeText(note.receivedMs),
        accepted: timeText(note.acceptedMs),
        ...(block !== undefined && status === 'committed' ? { committed: block.systemTime } : {}),
      },
      ...(outcome?.kind === 'rejected' ? { errors: [{ kind: outcome.error, message: outcome.message }] } : {}),
    }
  }
}

function statusOf(fate: Fate): Receipt['status'] {
  if (fate.kind === 'decided') {
    const { kind } = fate.decided.outcome.status
    return kind === 'changed' ? 'accepted' : kind
  }
  return fate.kind === 'there' ? 'committed' : fate.kind === 'lost' ? 'lost' : 'accepted'
}
