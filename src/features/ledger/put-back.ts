// A store that was put back to an older copy, or a key that has signed elsewhere: somebody holds a head that the ledger's own key
// has signed and that its tree cannot have. What shows it is kept in the store, and speaks again at each start; `doctor` says it,
// and what else the store lacks. The way out, where entries or the key are lost, is another ledger with a new key, which says whose
// place it takes and why.

import { base64Text, fromBase64 } from '../../libraries/base/base64.ts'
import { decodeUtf8, equalBytes, toHex, utf8 } from '../../libraries/base/bytes.ts'
import { type Clock, systemClock, timeText } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { object, recordCodec, text } from '../../libraries/base/json/shape.ts'
import { headText } from '../../libraries/ledger/head.ts'
import { emptyRoot, type TreeHead } from '../../libraries/ledger/tree.ts'
import { parseVerifierKey, type VerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import { isEntered } from '../../libraries/odf/chain/records.ts'
import { readText } from '../../node/machine/disk/files.ts'
import { type Settings, settingsOf } from '../../node/options.ts'
import { readHint } from '../../node/store/heads.ts'
import { dataPaths, ledgerEvidenceKey, ledgerEvidenceOf, ledgerObjectKey } from '../../node/store/layout.ts'
import { loadBlock } from '../../node/store/load-block.ts'
import { listNames, readName } from '../../node/store/names.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { putOnce } from '../../node/store/records.ts'
import { fail, type Finding, warn } from '../../node/upkeep/finding.ts'
import { ownHead, type ShownHead } from './asked-witness.ts'
import type { History } from './history.ts'
import {
  ensureLedgerKey,
  ledgerKeyFile,
  ledgerRecord,
  ledgerVerifierKey,
  newestLedger,
  originsUpTo,
} from './identity.ts'
import { LedgerKeys } from './ledger-keys.ts'
import { ledgerOptions, originForm } from './options.ts'
import { Places, storedTiles } from './stored-ledger.ts'
import type { Seen } from './publisher.ts'
import { originCodec, type OriginRecord, storedTree, treeShape } from './records.ts'

/** `ledger-evidence/<ledger>/<hash>`: a head that somebody holds, and the tree of the store that cannot become it. */
export const evidenceCodec = recordCodec(
  'ledger evidence',
  object({
    /** Name of the witness in the policy. */
    by: text(),
    /** RFC 3339 UTC. */
    at: text(),
    /** The signed note, as base64. */
    note: text(),
    have: treeShape,
  }),
)

export interface RegressionDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly ledger: number
  /** The key that signs heads. */
  readonly key: VerifierKey
}

export class Regression {
  readonly #deps: RegressionDeps
  #seen: Seen[] = []
  #isGathered = false

  constructor(deps: RegressionDeps) {
    this.#deps = deps
  }

  /** Heads that others have shown, to be judged when the batches that the store has by now are taken in. */
  add(seen: readonly Seen[]): void {
    this.#seen.push(...seen)
  }

  /** Once: the head that the store shows, and what was kept as evidence before. */
  async gather(): Promise<void> {
    if (this.#isGathered) return
    const { store, ledger, key } = this.#deps
    const own = await shownOf(store, ledger, key)
    const kept = await keptHeads(store, ledger, key)
    this.#seen.push(...(own === undefined ? [] : [{ ...own, by: 'the store' }]), ...kept)
    this.#isGathered = true
  }

  /** Throws HaltError `LedgerRegressed` where the tree with this head cannot become or have been what was shown. */
  async judge(have: TreeHead): Promise<void> {
    for (let seen = this.#seen[0]; seen !== undefined; seen = this.#seen[0]) {
      if (!(await this.#fits(seen.head, have))) {
        await this.#keep(seen, have)
        const { by, head } = seen
        const what = `${by} has a head of ${head.size} entries with the signature of this ledger`
        throw new HaltError('LedgerRegressed', `${what}; the store has ${have.size} entries that do not lead to it`)
      }
      this.#seen.shift()
    }
  }

  async #fits(shown: TreeHead, have: TreeHead): Promise<boolean> {
    if (shown.size > have.size) return false
    if (shown.size === have.size) return equalBytes(have.root, shown.root)
    const { store, ledger } = this.#deps
    const root = shown.size === 0 ? emptyRoot : await storedTiles(store, ledger).root(shown.size, have.size)
    return equalBytes(root, shown.root)
  }

  async #keep({ by, head, note }: Seen, have: TreeHead): Promise<void> {
    const { store, clock, ledger } = this.#deps
    const record = { by, at: timeText(clock.nowMs()), note: base64Text(note), have: storedTree(have) }
    await store.put(ledgerEvidenceKey(ledger, toHex(sha256(utf8(headText(head))))), evidenceCodec.encode(record))
  }
}

/** A block is an entry by then, whatever the delay is that is usual. */
const patienceMs = 600_000
/** Datasets that `doctor` looks at. */
const mostLooked = 1_000

/** The head that the store shows. */
async function shownOf(store: ObjectStore, ledger: number, key: VerifierKey): Promise<ShownHead | undefined> {
  const bytes = await store.get(ledgerObjectKey(ledger, 'checkpoint'))
  return bytes && ownHead(bytes, key)
}

/** The heads that others have shown and that the ledger could not have. */
async function keptHeads(store: ObjectStore, ledger: number, key: VerifierKey): Promise<Seen[]> {
  const heads: Seen[] = []
  for (const name of await store.list(ledgerEvidenceOf(ledger))) {
    const bytes = await store.get(ledgerEvidenceKey(ledger, name))
    const { by, note } = bytes === undefined ? { by: '', note: '' } : evidenceCodec.decode(bytes)
    const shown = ownHead(fromBase64(note) ?? new Uint8Array(), key)
    if (shown !== undefined) heads.push({ ...shown, by })
  }
  return heads
}

/** The head that the store shows, and the largest that others have shown. */
async function headsOf(store: ObjectStore, ledger: number, record: OriginRecord) {
  const key = parseVerifierKey(record.key)
  const seen = (await keptHeads(store, ledger, key)).sort((a, b) => b.head.size - a.head.size)[0]
  return { seen, shown: await shownOf(store, ledger, key) }
}

/** What `doctor` says of the newest ledger of a store. */
export async function inspectLedger(store: ObjectStore): Promise<readonly Finding[]> {
  const ledger = await newestLedger(store)
  const record = await ledgerRecord(store, ledger)
  if (record === undefined) return []
  const { seen, shown } = await headsOf(store, ledger, record)
  const size = shown?.head.size ?? 0
  if (seen === undefined || seen.head.size <= size) return await lagOf(store, ledger, size)
  const others = `A witness holds a head of ${seen.head.size} entries of ${record.origin}`
  const found = `${others}, and this store shows ${size}: the ledger halts (LedgerRegressed), all else goes on.`
  return [fail('ledger', found, 'docs/halts.md says what ends the halt.')]
}

/** What is not in the ledger yet: entries that no head has that is shown, and datasets with a block that waits for minutes. */
async function lagOf(store: ObjectStore, ledger: number, shown: number): Promise<Finding[]> {
  const history = await new Places(store, ledger).history()
  const findings: Finding[] = []
  if (shown < history.head.size) {
    const found = `The head of the ledger that is shown has ${shown} of ${history.head.size} entries.`
    findings.push(warn('ledger', found, 'Where that stays so, GET /ledger and the log of the builder say why.'))
  }
  const waiting: string[] = []
  // What cannot be read is damaged, as other findings say.
  for (const alias of (await listNames(store)).slice(0, mostLooked))
    if (await isWaiting(store, history, alias).catch(() => false)) waiting.push(alias)
  if (waiting.length === 0) return findings
  const found = `The ledger lacks blocks of ${waiting.length} datasets that are minutes old: ${waiting.slice(0, 5).join(', ')}.`
  return [
    ...findings,
    fail('ledger', found, 'The log of the builder says why; proofstream fsck finds what is damaged.'),
  ]
}

/** True where the last block of a dataset is no entry for minutes. */
async function isWaiting(store: ObjectStore, history: History, alias: string): Promise<boolean> {
  const name = await readName(store, alias)
  const head = name && isEntered(name) ? await readHint(store, name.id) : undefined
  if (name === undefined || head === undefined) return false
  const key = await new LedgerKeys(store).stored(name.id)
  if (key !== undefined && head.sequence < history.nextOf(key.tag)) return false
  const { systemTime } = await loadBlock(store, name, head.hash)
  return systemClock.nowMs() - instantMs(systemTime) > patienceMs
}

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
  const { seen, shown: head } = await headsOf(store, newest, old)
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
