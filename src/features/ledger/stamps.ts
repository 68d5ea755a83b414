// Which heads of a ledger have a time stamp, out of the store. All are found by their names; the newest are told with their times.

import { timeText } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { parseNote } from '../../libraries/ledger/note.ts'
import { ledgerObjectKey, ledgerStampKey, ledgerStampsKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { mostStamps, type StampRecord, stampsCodec } from './records.ts'

export interface StampsOf {
  readonly store: ObjectStore
  readonly ledger: number
}

/** The newest, smallest size first; none where the record is damaged, which the next time stamp writes anew. */
export async function newestStamps({ get }: Pick<ObjectStore, 'get'>, ledger: number): Promise<readonly StampRecord[]> {
  const bytes = await get(ledgerStampsKey(ledger))
  return bytes === undefined ? [] : (readStamped(() => stampsCodec.decode(bytes)) ?? [])
}

/** Writes that record anew, from what is stored. */
export async function noteStamps(of: StampsOf): Promise<void> {
  const { store, ledger } = of
  const known = new Map((await newestStamps(store, ledger)).map((stamp) => [stamp.size, stamp]))
  const stamps: StampRecord[] = []
  for (const size of (await stampedSizes(of)).slice(-mostStamps)) {
    const stamp = known.get(size) ?? (await readStamp(of, size))
    if (stamp !== undefined) stamps.push(stamp)
  }
  await store.replace(ledgerStampsKey(ledger), stampsCodec.encode(stamps))
}

/** Sizes of all heads with a time stamp, smallest first. */
export async function stampedSizes({ store, ledger }: StampsOf): Promise<readonly number[]> {
  const names = await store.list(ledgerObjectKey(ledger, 'timestamps'))
  const sizes = names.flatMap((name) => /^([1-9]\d{0,15})\.tsr$/.exec(name)?.[1] ?? [])
  return sizes.map(Number).sort((a, b) => a - b)
}

async function readStamp({ store, ledger }: StampsOf, size: number): Promise<StampRecord | undefined> {
  const [head, response] = await Promise.all([
    store.get(ledgerStampKey(ledger, size, 'head')),
    store.get(ledgerStampKey(ledger, size, 'tsr')),
  ])
  if (head === undefined || response === undefined) return undefined
  const { openTimestamp } = await import('../../libraries/ledger/timestamp-token.ts')
  return readStamped(() => ({ size, at: timeText(openTimestamp(response, parseNote(head).text).atMs) }))
}

function readStamped<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}
