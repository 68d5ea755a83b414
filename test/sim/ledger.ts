// The ledger of one simulated world: keepers in the processes that build, all with one key and origin, and a record of every
// head that any of them signs or shows, with what it rests on and was not durable by then.

import { BlockRecords } from '../../src/node/files/block-records.ts'
import { Keeper } from '../../src/features/ledger/keeper.ts'
import { LedgerKeys } from '../../src/features/ledger/ledger-keys.ts'
import { policyOf } from '../../src/features/ledger/policy-file.ts'
import { LeftEntries } from '../../src/features/ledger/left-entries.ts'
import { Places } from '../../src/features/ledger/stored-ledger.ts'
import { batchCodec, type BatchRecord, stateCodec } from '../../src/features/ledger/records.ts'
import { SetAside, WaitingDatasets } from '../../src/features/ledger/waiting.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { base64Text } from '../../src/libraries/base/base64.ts'
import { decodeUtf8, toHex } from '../../src/libraries/base/bytes.ts'
import { repeat } from '../../src/libraries/base/clock.ts'
import { DecodeError } from '../../src/libraries/base/errors.ts'
import type { Logger } from '../../src/libraries/base/logger.ts'
import { parseHead, tileName, type TreeHead } from '../../src/libraries/ledger/ledger.ts'
import { openHead } from '../../src/libraries/ledger/open-head.ts'
import type { Policy } from '../../src/libraries/ledger/policy.ts'
import { signatureTypes, verifierKey, verifierKeyText } from '../../src/libraries/ledger/verifier-key.ts'
import { type NodeKey, nodeKeyFromSeed } from '../../src/libraries/proof/sign.ts'
import type { Catalog } from '../../src/node/catalog/catalog.ts'
import { ledgerBatchKey, ledgerStatesOf } from '../../src/node/store/layout.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { headOf, type LedgerSeen, tilesOf } from '../history/ledger.ts'
import type { Volume } from './volume.ts'
import type { SimulatedWitnesses } from './witnesses.ts'
import type { Process } from './world.ts'

const origin = 'data.example/ledger'
const ledgerKey = nodeKeyFromSeed(new Uint8Array(32).fill(7))
const nodeKey = nodeKeyFromSeed(new Uint8Array(32).fill(8))
export const logKey = verifierKeyText(verifierKey(origin, signatureTypes.ed25519, ledgerKey.publicKey))
/** How often a keeper that has witnesses looks whether there is something to ask or to show. */
const publishMs = 250

export interface KeptBy {
  readonly process: Process
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly logger: Logger
}

/** A keeper that runs. */
export interface Keeping {
  /** Datasets of which it has heard blocks that are not entered. */
  waiting(): number
  stop(): Promise<void>
}

export class SimulatedLedger {
  readonly heads: TreeHead[] = []
  readonly early: string[] = []
  readonly log: string[] = []
  /** Why a keeper halted. */
  readonly halts = new Set<string>()
  readonly counts = { signed: 0, shown: 0, steps: 0, failedSteps: 0 }
  readonly #volume: Volume
  readonly #folder: string
  readonly #everyMs: number
  readonly #signer: NodeKey
  readonly #decoded = new WeakMap<Uint8Array, BatchRecord>()
  readonly witnesses: SimulatedWitnesses | undefined
  /** Undefined: a head waits for its quorum until it is met. */
  readonly #waitMs: number | undefined
  readonly #policy: Policy

  /** `folder` is that of the store on the volume. */
  constructor(
    volume: Volume,
    folder: string,
    everyMs: number,
    witnessed: { readonly witnesses?: SimulatedWitnesses | undefined; readonly waitMs?: number | undefined } = {},
  ) {
    this.witnesses = witnessed.witnesses
    this.#waitMs = witnessed.waitMs
    this.#policy = policyOf(logKey, this.witnesses?.policy)
    this.#volume = volume
    this.#folder = folder
    this.#everyMs = everyMs
    this.#signer = { ...ledgerKey, sign: (message) => this.#sign(message) }
    const checkpoint = this.#pathOf('checkpoint')
    const states = `${folder}/${ledgerStatesOf(1)}/`
    volume.changed = (operation, path) => {
      if (operation === 'rename' && path === checkpoint) this.#show(volume.bytes(path))
      if (operation === 'link' && path.startsWith(states)) this.#state(volume.bytes(path))
    }
  }

  /** Runs a keeper in a process. */
  keep(by: KeptBy): Keeping {
    const { catalog, process } = by
    const { keeper, waiting, aside } = this.keeperOf(by)
    const unsubscribe = catalog.onAdvance(({ chain, fromSequence }) =>
      waiting.heard(chain.name, chain.blocks.length - fromSequence),
    )
    const step = async (): Promise<void> => {
      this.counts.steps++
      await this.step(keeper)
    }
    const onError = (): void => void this.counts.failedSteps++
    const { clock } = process
    const works = [repeat(step, { everyMs: this.#everyMs, clock, onError })]
    const { publisher } = keeper
    if (this.witnesses !== undefined) works.push(repeat(() => publisher.tick(), { everyMs: publishMs, clock, onError }))
    return {
      waiting: () => waiting.load.datasets + aside.datasets,
      stop: async () => {
        unsubscribe()
        if (this.witnesses !== undefined) await publisher.close()
        await Promise.all(works.map((work) => work.close()))
      },
    }
  }

  /** A keeper as a process has it. What it says of itself changes with the process now and then. */
  keeperOf({ process, store, catalog, logger }: KeptBy) {
    const { clock } = process
    const told = this.#told(logger)
    const records = new BlockRecords({
      store,
      work: { run: () => Promise.reject(new RangeError('no rows are proven')) },
    })
    const keys = new LedgerKeys(store)
    const aside = new SetAside({ clock, logger: told })
    const waiting = new WaitingDatasets({ catalog, store, keys, records, clock, aside })
    const facts = { ledger: { origin, keys: ['key'] }, version: process.world.pick(['1', '1', '1', '2']), engines: [] }
    const places = new Places(store, 1)
    const left = new LeftEntries({ store, catalog, keys, records, places, aside, logger: told })
    const own = { clock, logger: told, waiting, left, facts, nodeKey, ledger: 1, origin, signer: this.#signer }
    return { keeper: new Keeper({ ...own, store, ...this.#witnessed(process, store) }), waiting, aside }
  }

  /** What else a keeper has whose ledger is witnessed: it enters nothing before a quorum has said that it holds no more. */
  #witnessed(process: Process, store: ObjectStore) {
    const { witnesses } = this
    if (witnesses === undefined) return {}
    const put: ObjectStore['put'] = (key, bytes) => {
      const isBatch = key.startsWith(ledgerBatchKey(1, 0).slice(0, -1))
      const isEarly = isBatch && !witnesses.haveConfirmed(process)
      if (isEarly) this.early.push(`${key} was put before a quorum had confirmed the tree`)
      return store.put(key, bytes)
    }
    const { policy } = witnesses
    return { store: { ...store, put }, policy, waitMs: this.#waitMs, exchange: witnesses.exchangeOf(process) }
  }

  /** It has witnesses, and no head of all that is entered is shown with their quorum. */
  get isBehind(): boolean {
    if (this.witnesses === undefined) return false
    const numbers = this.#volume.paths(this.#pathOf('batches')).map(Number)
    if (numbers.length === 0) return false
    const { to } = this.#batch(this.#volume.bytes(this.#pathOf(`batches/${Math.max(...numbers)}`)))
    const shown = this.#volume.paths(this.#pathOf('')).includes('checkpoint')
    return !shown || !this.#isMet(this.#volume.bytes(this.#pathOf('checkpoint')), to.size)
  }

  #isMet(note: Uint8Array, size: number): boolean {
    const opened = openHead(note, this.#policy)
    return opened.ok && opened.quorum === 'met' && opened.head.size === size
  }

  /** Lets a keeper do what is due. */
  async step(keeper: Keeper): Promise<void> {
    await keeper.step()
    if (keeper.state.kind === 'halted') this.halts.add(`the ledger halts: ${keeper.state.reason}`)
  }

  /** What was seen, beside what the store has in the end. */
  seen(stored: Pick<LedgerSeen, 'entries' | 'files' | 'datasets'>): LedgerSeen {
    const { heads, early, log } = this
    return { ...stored, heads, early, contradicted: this.witnesses?.contradicted ?? [], log }
  }

  #sign(message: Uint8Array): Uint8Array {
    this.counts.signed++
    try {
      this.#note(parseHead(decodeUtf8(message)), 'signed')
    } catch (error) {
      // Something else than a head.
      if (!(error instanceof DecodeError)) throw error
    }
    return ledgerKey.sign(message)
  }

  #show(note: Uint8Array): void {
    this.counts.shown++
    const head = headOf(note)
    this.#note(head, 'shown')
    if (this.witnesses === undefined || this.#waitMs !== undefined || this.#isMet(note, head.size)) return
    this.early.push(`a head of ${head.size} was shown before its quorum`)
  }

  #state(state: Uint8Array): void {
    const { size } = stateCodec.decode(state).tree
    const missing = this.#missingTiles(size)
    if (missing.length > 0) this.early.push(`a state of ${size} was stored before ${missing.join(', ')}`)
  }

  /** A head rests on the batch that ends with it, on those before, and on the tiles of its size. */
  #note(head: TreeHead, what: string): void {
    this.heads.push(head)
    const missing = this.#missingTiles(head.size)
    if (head.size > 0 && !this.#hasBatches(head)) missing.unshift('its batch')
    if (missing.length > 0) this.early.push(`a head of ${head.size} was ${what} before ${missing.join(', ')}`)
  }

  /** Those of a tree of this size that a loss of power may take away. */
  #missingTiles(size: number): string[] {
    const isMissing = (name: string): boolean => this.#volume.durableBytes(this.#pathOf(name)) === undefined
    return [...tilesOf(size)].map(tileName).filter(isMissing)
  }

  #hasBatches({ size, root }: TreeHead): boolean {
    for (let number = 0; ; number++) {
      const bytes = this.#volume.durableBytes(this.#pathOf(`batches/${number}`))
      if (bytes === undefined) return false
      const { to } = this.#batch(bytes)
      if (to.size >= size) return to.size === size && to.root === base64Text(root)
    }
  }

  #batch(bytes: Uint8Array): BatchRecord {
    if (!this.#decoded.has(bytes)) this.#decoded.set(bytes, batchCodec.decode(bytes))
    return must(this.#decoded.get(bytes), 'it was set')
  }

  #pathOf(name: string): string {
    return `${this.#folder}/ledger/${name}`
  }

  /** Keeps what is logged, to be searched for secrets. */
  #told(logger: Logger): Logger {
    const line =
      (level: keyof Logger): Logger['info'] =>
      (fields, message) => {
        this.log.push(`${message} ${JSON.stringify(fields, asLogged)}`)
        logger[level](fields, message)
      }
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  }
}

/** Bytes in hex, and all that an error says. */
function asLogged(_name: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value)
  return value instanceof Error ? String(value.stack) : value
}
