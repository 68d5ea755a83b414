// What `fsck` finds in the ledgers of a store. Everything follows from the batches, so all of it is recomputed from these: tiles,
// places, states, and the tree of each head that is shown. Entries are held against the blocks of the store. Whose keys count is
// said elsewhere; a head is held against the key that the store names.

import { equalBytes, toHex } from '../../libraries/base/bytes.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { silentLogger } from '../../libraries/base/logger.ts'
import { judgeEntry } from '../../libraries/ledger/audit.ts'
import { type BlockEntry, parseEntry } from '../../libraries/ledger/entry.ts'
import { tileName } from '../../libraries/ledger/tiles.ts'
import type { TreeHead } from '../../libraries/ledger/tree.ts'
import { Catalog } from '../../node/catalog/catalog.ts'
import { BlockRecords } from '../../node/files/block-records.ts'
import { openLocalAnnouncements } from '../../node/log/announcements.ts'
import { runJob } from '../../node/machine/work/jobs.ts'
import type { WorkPool } from '../../node/machine/work/work-pool.ts'
import {
  ledgerBatchKey,
  ledgerFolder,
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
import { LedgerKeys, type Tagger } from './ledger-keys.ts'
import { batchCodec, type BatchRecord, entriesOf, originCodec, placesCodec, stateCodec } from './records.ts'

interface Checking {
  readonly store: ObjectStore
  readonly ledger: number
  readonly chains: OwnChains
  readonly add: AddProblem
}

/** The chains of the store whose datasets have a ledger key. */
class OwnChains {
  readonly #catalog: Catalog
  readonly #records: BlockRecords
  readonly #byTag = new Map<string, { readonly id: DatasetId; readonly key: Tagger }>()

  constructor(store: ObjectStore) {
    const announcements = openLocalAnnouncements(silentLogger)
    this.#catalog = new Catalog({ store, announcements, logger: silentLogger })
    const run: WorkPool['run'] = (kind, pieces, { settings }) => runJob(kind, pieces, settings)
    this.#records = new BlockRecords({ store, work: { run } })
  }

  add(id: DatasetId, key: Tagger): void {
    this.#byTag.set(key.tag, { id, key })
  }

  /** What is wrong with an entry: a sentence. What cannot be read here is damaged, as other checks say, or gone. */
  async faultOf(entry: BlockEntry): Promise<string | undefined> {
    const tag = toHex(entry.datasetTag)
    const known = this.#byTag.get(tag)
    const chain = known && (await readable(this.#catalog.byId(known.id)))
    // All names are looked over for one that is not there.
    if (chain === undefined) this.#byTag.delete(tag)
    const block = chain?.blocks.at(entry.sequence)
    if (known === undefined || chain === undefined || block === undefined) return undefined
    const secret = known.key.secretOf(entry.sequence)
    const verdict = await readable(judgeEntry(entry, this.#records.audited({ chain, block, secret })))
    const which = `block ${entry.sequence} of ${chain.name.alias}`
    if (verdict === 'another block') return `it is of another block than ${which}`
    return typeof verdict === 'object' ? `${verdict.about}: ${which}` : undefined
  }
}

async function readable<T>(reading: Promise<T>): Promise<T | undefined> {
  return await reading.catch((error: unknown) => {
    if (error instanceof HaltError || error instanceof DecodeError) return undefined
    throw error
  })
}

/** Checks the ledgers of a store, and the lengths of the secrets of datasets. Rejects for IO errors alone. */
export async function checkLedgers(store: ObjectStore, add: AddProblem): Promise<void> {
  const keys = new LedgerKeys(store)
  const chains = new OwnChains(store)
  for (const name of await store.list(ledgerKeysPrefix)) {
    const id: DatasetId = `did:odf:${name}`
    const key = await keys.stored(id).catch((error: unknown) => {
      if (!(error instanceof HaltError)) throw error
      add('Malformed', error.message)
    })
    if (key !== undefined) chains.add(id, key)
  }
  const newest = await newestLedger(store)
  for (let ledger = 1; ledger <= newest; ledger++) await checkLedger({ store, ledger, chains, add })
}

async function checkLedger(of: Checking): Promise<void> {
  const { store, ledger, chains, add } = of
  const heads = await signedHeads(of)
  const history = History.empty()
  for (const number of await listNumbers(store, ledgerObjectKey(ledger, 'batches'))) {
    const key = ledgerBatchKey(ledger, number)
    const start = history.head.size
    const taken = await takenIn(of, history, { key, number })
    if (taken === undefined) return
    await checkGrowth(of, taken.growth)
    for (const [at, bytes] of entriesOf(taken.batch).entries()) {
      const entry = parseEntry(bytes)
      const fault = entry.kind === 'block' ? await chains.faultOf(entry) : undefined
      if (fault !== undefined) add('RecordDisagrees', `entry ${start + at} of ${ledgerFolder(ledger)}: ${fault}`)
    }
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
): Promise<{ readonly batch: BatchRecord; readonly growth: Growth } | undefined> {
  if (number !== history.batches) {
    add('ObjectMissing', `the batch before ${key} is missing`)
    return undefined
  }
  try {
    const batch = batchCodec.decode((await store.get(key)) ?? new Uint8Array())
    return { batch, growth: history.takeIn(batch) }
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
