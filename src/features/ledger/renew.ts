// The way out for a ledger that cannot go on, because entries or its key are lost: another with a new key, which says whose place
// it takes and why. The old one stays where it was. No node may be running.

import { base64Text } from '../../libraries/base/base64.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { emptyRoot } from '../../libraries/ledger/tree.ts'
import { type Settings, settingsOf } from '../../node/options.ts'
import { readText } from '../../node/machine/disk/files.ts'
import { dataPaths, ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { putOnce } from '../../node/store/records.ts'
import { ensureLedgerKey, ledgerVerifierKey } from './identity.ts'
import { ledgerKeyFile, ledgerRecord, newestLedger, originsUpTo } from './ledgers.ts'
import { ledgerOptions, originForm } from './options.ts'
import { largestSeen, shownOf } from './put-back.ts'
import { originCodec, type OriginRecord } from './records.ts'

export interface Renewal extends OriginRecord {
  /** Number of the new ledger in its store. */
  readonly ledger: number
  readonly keyFile: string
}

export interface RenewOptions {
  /** Default: that of the first ledger, and the number. */
  readonly origin: string | undefined
  readonly reason: string
}

const startNode = { hint: 'Start the node: it keeps that ledger.' }

/** Where the key of the first ledger is, as the options of a node say. */
interface Place {
  readonly settings: Settings
  readonly dataDir: string
}

/** Begins the next ledger of a store. Durable when it resolves. Throws NodeErrors `ObjectNotFound`, `InvalidParameter`. */
export async function renewLedger(
  store: ObjectStore,
  { settings, dataDir }: Place,
  { origin, reason }: RenewOptions,
): Promise<Renewal> {
  const firstKeyFile = settingsOf(settings, ledgerOptions)?.keyFile ?? dataPaths(dataDir).ledgerKey
  const newest = await newestLedger(store)
  const old = await ledgerRecord(store, newest)
  if (old === undefined) {
    throw new NodeError('ObjectNotFound', 'This store has no ledger that could be renewed.', {
      hint: 'proofstream serve begins one.',
    })
  }
  const ledger = newest + 1
  const known = await originsUpTo(store, newest)
  const name = origin ?? `${known[0] ?? old.origin}/${ledger}`
  if (!originForm.test(name) || known.includes(name)) {
    const fault = known.includes(name) ? 'is that of a former ledger' : 'is no name such as data.example.org/ledger'
    throw new NodeError('InvalidParameter', `The origin '${name}' ${fault}.`, { hint: 'Name another.' })
  }
  const head = await shownOf(store, newest, old)
  const seen = await largestSeen(store, newest, old)
  const isUnused = old.previous !== undefined && head === undefined && seen === undefined
  if (isUnused && (await readText(ledgerKeyFile(firstKeyFile, newest))) !== undefined) {
    throw new NodeError('InvalidParameter', `The renewed ledger '${old.origin}' has shown no head yet.`, startNode)
  }
  const previous = {
    origin: old.origin,
    size: head?.head.size ?? 0,
    root: base64Text(head?.head.root ?? emptyRoot),
    ...defined({ seen: seen && decodeUtf8(seen.note) }),
    reason,
  }
  const keyFile = ledgerKeyFile(firstKeyFile, ledger)
  const value = { origin: name, key: ledgerVerifierKey(name, await ensureLedgerKey(keyFile)), previous }
  const put = await putOnce(store, ledgerObjectKey(ledger, 'origin'), { codec: originCodec, value })
  if (put.outcome === 'won') return { ...value, ledger, keyFile }
  throw new NodeError('InvalidParameter', 'Another renewal was first.', startNode)
}
