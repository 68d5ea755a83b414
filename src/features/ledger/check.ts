// What `fsck` finds in the ledgers of a store. Everything follows from the batches, so all of it is recomputed from these: tiles,
// places, states, and the tree of each head that is shown. Whose keys count is said elsewhere; a head is held against the
// key that the store names.

import { equalBytes, toHex } from '../../libraries/base/bytes.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { tileName } from '../../libraries/ledger/tiles.ts'
import type { TreeHead } from '../../libraries/ledger/tree.ts'
import {
  ledgerBatchKey,
  ledgerKeysPrefix,
  ledgerMetKey,
  ledgerObjectKey,
  ledgerPlacesKey,
  ledgerStateKey,
} from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers } from '../../node/store/records.ts'
import { type AddProblem, sound } from '../../node/upkeep/report.ts'
import { type Growth, History } from './history.ts'
import { newestLedger } from './identity.ts'
import { policyOf } from './policy-file.ts'
import { readHead } from './stored-ledger.ts'
import { batchCodec, originCodec, placesCodec, stateCodec } from './records.ts'

const ledgerKeyBytes = 32

interface Checking {
  readonly store: ObjectStore
  readonly ledger: number
  readonly add: AddProblem
}

/** Checks the ledgers of a store, and the lengths of the secrets of datasets. Rejects for IO errors alone. */
export async function checkLedgers(store: ObjectStore, add: AddProblem): Promise<void> {
  const newest = await newestLedger(store)
  for (let ledger = 1; ledger <= newest; ledger++) await checkLedger({ store, ledger, add })
  for (const name of await store.list(ledgerKeysPrefix)) {
    const key = `${ledgerKeysPrefix}/${name}`
    const bytes = await store.get(key)
    if (bytes !== undefined && bytes.length !== ledgerKeyBytes)
      add('Malformed', `${key} has not ${ledgerKeyBytes} bytes`)
  }
}

async function checkLedger(of: Checking): Promise<void> {
  const { store, ledger, add } = of
  const heads = await signedHeads(of)
  const history = History.empty()
  for (const number of await listNumbers(store, ledgerObjectKey(ledger, 'batches'))) {
    const key = ledgerBatchKey(ledger, number)
    const growth = await takenIn(of, history, { key, number })
    if (growth === undefined) return
    await checkGrowth(of, growth)
    await checkSame(of, ledgerStateKey(ledger, history.batches), () => stateCodec.encode(history.state()))
    for (const [name, head] of heads) {
      const { size, root } = history.head
      if (head.size === size && equalBytes(head.root, root)) heads.delete(name)
    }
  }
  for (const [name] of heads) add('RecordDisagrees', `${name} is of a tree that does not follow from the batches`)
  const statements = ledgerObjectKey(ledger, 'statements')
  for (const name of await store.list(statements)) {
    const bytes = await store.get(`${statements}/${name}`)
    if (bytes !== undefined && toHex(sha256(bytes)) !== name)
      add('HashMismatch', `${statements}/${name} has another hash than its name`)
  }
}

/** The heads that are shown of the ledger, by their keys. */
async function signedHeads({ store, ledger, add }: Checking): Promise<Map<string, TreeHead>> {
  const place = ledgerObjectKey(ledger, 'origin')
  const heads = new Map<string, TreeHead>()
  const bytes = await store.get(place)
  const record = bytes && (await sound(place, () => originCodec.decode(bytes), add))
  const policy = record && (await sound(place, () => policyOf(record.key), add))
  if (policy === undefined) return heads
  if (policy.logs.some(({ key }) => key.name !== record?.origin))
    add('RecordDisagrees', `${place} has the key of another ledger than it names`)
  for (const key of [ledgerObjectKey(ledger, 'checkpoint'), ledgerMetKey(ledger)]) {
    const note = await store.get(key)
    const head = readHead(policy, note)
    if (head !== undefined) heads.set(key, head.head)
    else if (note !== undefined)
      add('RecordDisagrees', `${key} is no head that the key of ${record?.origin} has signed`)
  }
  return heads
}

/** Undefined where the batch does not follow from those before it: neither does anything after it. */
async function takenIn(
  { store, add }: Checking,
  history: History,
  { key, number }: { readonly key: string; readonly number: number },
): Promise<Growth | undefined> {
  if (number !== history.batches) {
    add('ObjectMissing', `the batch before ${key} is missing`)
    return undefined
  }
  try {
    return history.takeIn(batchCodec.decode((await store.get(key)) ?? new Uint8Array()))
  } catch (error) {
    if (!(error instanceof DecodeError) && !(error instanceof HaltError)) throw error
    add('ChainBroken', `${key}: ${error.message}`)
    return undefined
  }
}

async function checkGrowth(of: Checking, { tiles, places }: Growth): Promise<void> {
  for (const { tile, bytes } of tiles) await checkSame(of, ledgerObjectKey(of.ledger, tileName(tile)), () => bytes)
  for (const { tag, group, indexes } of places)
    await checkSame(of, ledgerPlacesKey(of.ledger, tag, group), () => placesCodec.encode([...indexes]))
}

/** What follows from the batches, and is there, is the same. A keeper writes what is missing, and takes partial tiles away. */
async function checkSame({ store, add }: Checking, key: string, expected: () => Uint8Array): Promise<void> {
  const bytes = await store.get(key)
  if (bytes !== undefined && !equalBytes(bytes, expected()))
    add('RecordDisagrees', `${key} does not follow from the batches of its ledger`)
}
