// Receipts from what their ids carry and what the chain says of them.

import type { DecidedOutcome } from '../catalog/outcomes.ts'
import type { NameRecord } from '../chain/records.ts'
import type { CsvHeader } from '../formats/format.ts'
import { timeText } from '../lib/clock.ts'
import type { Receipt } from '../model/receipt.ts'
import { decodeReceiptId, encodeReceiptId, type ReceiptNote } from './receipt-id.ts'

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

  /** The receipt of a batch; `decided` undefined while its outcome is not known. */
  of(
    note: ReceiptNote,
    name: Pick<NameRecord, 'id' | 'alias'>,
    decided: DecidedOutcome | 'void' | undefined,
    extra: { readonly csvHeader?: CsvHeader | undefined } = {},
  ): Receipt {
    const known = decided === undefined || decided === 'void' ? undefined : decided
    const status = known?.outcome.status
    const committed = status?.kind === 'committed' || note.rows === 0
    return {
      receiptId: encodeReceiptId(note, this.#secret),
      status: committed ? 'committed' : status?.kind === 'rejected' ? 'rejected' : 'accepted',
      dataset: { id: name.id, alias: name.alias },
      records: { received: note.rows, committed: committed ? note.rows : 0, duplicates: 0 },
      bodyHash: note.bodyHash,
      mediaType: note.mediaType,
      bytes: note.bytes,
      log: { name: this.#logName, partition: note.partition, position: note.position },
      ...(known === undefined ? {} : { block: { hash: known.block.hash, sequence: known.block.sequence } }),
      ...(status?.kind === 'committed' ? { offsets: { start: status.start, end: status.end } } : {}),
      ...(note.key === undefined ? {} : { idempotencyKey: note.key }),
      ...(extra.csvHeader === undefined ? {} : { csvHeader: extra.csvHeader }),
      times: {
        received: timeText(note.receivedMs),
        accepted: timeText(note.acceptedMs),
        ...(known !== undefined && committed ? { committed: known.block.systemTime } : {}),
      },
      ...(status?.kind === 'rejected' ? { errors: [{ kind: status.error, message: status.message }] } : {}),
    }
  }
}
