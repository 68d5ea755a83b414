// The ledgers that a store has had, and the identity of each: a name and a key, put by the first keeper and held from then on. The
// newest is the one that is kept; the others stay readable where they were.

import { toHex } from '../../libraries/base/bytes.ts'
import { decoded, DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { isLoopback } from '../../libraries/base/loopback.ts'
import { signatureTypes, verifierKey, verifierKeyText } from '../../libraries/ledger/verifier-key.ts'
import { generateNodeKey, type NodeKey, nodeKeyFromJson, nodeKeyToJson } from '../../libraries/proof/sign.ts'
import { createPrivate, readText } from '../../node/machine/disk/files.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { putOnce } from '../../node/store/records.ts'
import { originForm } from './options.ts'
import { originCodec, type OriginRecord } from './records.ts'

/** The key that signs heads, in the form of a node key; made where there is none. Throws NodeError `InvalidParameter`. */
export async function ensureLedgerKey(path: string): Promise<NodeKey> {
  if ((await readText(path)) === undefined) await createPrivate(path, nodeKeyToJson(generateNodeKey()))
  try {
    return nodeKeyFromJson((await readText(path)) ?? '')
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new NodeError('InvalidParameter', `${path} holds no ledger key (${error.message}).`, {
      hint: 'Put the file back from a backup: a ledger has one key for life.',
      cause: error,
    })
  }
}

/** The key of heads as their readers know it. */
export function ledgerVerifierKey(origin: string, { publicKey }: Pick<NodeKey, 'publicKey'>): string {
  return verifierKeyText(verifierKey(origin, signatureTypes.ed25519, publicKey))
}

/**
 * The name of a ledger that nobody has named: where the node is reached, else by its key, which nobody can take for a host. A
 * name of loopback is that of every machine, so it names none.
 */
export function defaultOrigin([host = '']: readonly string[], { publicKey }: Pick<NodeKey, 'publicKey'>): string {
  const named = `${host}/ledger`
  return originForm.test(named) && !isLoopback(host)
    ? named
    : `ledger-${toHex(sha256(publicKey)).slice(0, 16)}.invalid/ledger`
}

/** Whether it has the name that `defaultOrigin` makes of a key. */
export function isUnnamed(origin: string): boolean {
  return origin.endsWith('.invalid/ledger')
}

/** Undefined where the ledger of the store has this name and key, by now or already; else why nothing is to be signed. */
export async function claimOrigin(
  store: ObjectStore,
  ledger: number,
  own: { readonly origin: string; readonly key: string },
): Promise<string | undefined> {
  const place = ledgerObjectKey(ledger, 'origin')
  const claim = await putOnce(store, place, { codec: originCodec, value: own }).catch((error: unknown) => {
    if (error instanceof DecodeError) return `${place} is damaged: ${error.message}`
    throw error
  })
  if (typeof claim === 'string') return claim
  if (claim.outcome === 'won') return undefined
  const { origin, key } = claim.inForce
  if (origin === own.origin && key === own.key) return undefined
  if (origin !== own.origin) return `the ledger of this store is ${origin}, not ${own.origin}`
  return `the ledger of this store has another key: ${key}. All builders need the same --ledger-key`
}

type Reading = Pick<ObjectStore, 'get'>

/** Number of the newest ledger of a store, from 1; 0 where it has none. */
export async function newestLedger({ get }: Reading): Promise<number> {
  let ledger = 0
  while ((await get(ledgerObjectKey(ledger + 1, 'origin'))) !== undefined) ledger++
  return ledger
}

/** Who a ledger is; undefined where there is none, or no whole record of it. */
export async function ledgerRecord({ get }: Reading, ledger: number): Promise<OriginRecord | undefined> {
  const bytes = await get(ledgerObjectKey(ledger, 'origin'))
  return bytes && decoded(() => originCodec.decode(bytes))
}

/** File of the key of the n-th ledger, beside that of the first. */
export function ledgerKeyFile(first: string, ledger: number): string {
  return ledger <= 1 ? first : first.replace(/(\.json)?$/, (end) => `-${ledger}${end}`)
}

/** Origins of the ledgers up to the newest, oldest first. */
export async function originsUpTo(reading: Reading, newest: number): Promise<readonly string[]> {
  const origins: string[] = []
  for (let ledger = 1; ledger <= newest; ledger++) {
    const record = await ledgerRecord(reading, ledger)
    if (record !== undefined) origins.push(record.origin)
  }
  return origins
}
