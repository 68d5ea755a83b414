// A replica of another node: which of its datasets are copied here, and as what they are shown. A look at the origin's list
// every two seconds decides names, visibility and what is hidden or gone; long polls bring the blocks of the first datasets
// sooner. Nothing is copied, and no name is given, that the origin does not show to this replica.

import { ProofstreamError } from '../../libraries/client/exchange.ts'
import { logCodec, type NameRecord, originLog } from '../../libraries/odf/chain/records.ts'
import type { FollowOptions } from './options.ts'
import { Bound } from '../../libraries/base/bound.ts'
import { type Clock, type Repeated, repeat, timeText } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { ShownDatasets, ToldSecrets } from '../../node/feature.ts'
import type { Announcements } from '../../node/log/announcements.ts'
import { errorTable } from '../../libraries/base/error-table.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { logKey, logsPrefix } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { putLog } from '../../node/store/records.ts'
import type { WorkPool } from '../../node/machine/work/work-pool.ts'
import { CopySource } from './copy-source.ts'
import { type DatasetDeps, FollowedDataset, type Progress } from './dataset.ts'
import { datasetOfChain } from './fetch.ts'
import { FollowedNames, nameOf } from './names.ts'
import { type Gone, goneOf, isRefusal, type Listed, Origin } from './origin.ts'

const lookEveryMs = 2_000
/** Datasets whose head is waited for; of the others the list tells. */
const pollsMost = 64
const pollSeconds = 25
/** Between polls that are answered at once. */
const leastPollMs = 1_000
/** Objects under way, of all datasets. */
const placesMost = 16
const roomBytes = 256 * 1024 * 1024
const parallelAsks = 8

export interface FollowDeps {
  readonly options: FollowOptions
  readonly store: ObjectStore
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly work: WorkPool
  readonly evidenceDir: string
  /** How long the copy of a dataset stays that was deleted at the origin. */
  readonly deleteGraceMs: number
  /** Told of a dataset whose copy is no longer there. */
  readonly onRemoved: (id: DatasetId) => void
}

/** How it goes with one dataset. */
export interface Followed {
  readonly name: NameRecord
  readonly blocks: number
  readonly lag: { readonly blocks: number; readonly seconds: number }
  readonly progress: Progress
}

/** What the origin shows now, and what it says of the others that are known here. */
interface Shown {
  readonly listed: readonly Listed[]
  readonly goneOf: (name: NameRecord) => Promise<Gone | Listed>
}

/**
 * Begins to follow; resolves before anything is copied. Throws NodeError `InvalidParameter` for a store that holds datasets
 * of its own.
 */
export async function startFollow(deps: FollowDeps): Promise<Follow> {
  const { store } = deps
  const other = (await store.list(logsPrefix)).find((log) => log !== originLog)
  if (other !== undefined) {
    const fault = `The store has its own datasets (log ${other}), so it cannot follow a node.`
    throw new NodeError('InvalidParameter', fault, { hint: 'Name another data directory with --data.' })
  }
  const mends: Mends = { count: 0 }
  const mended = (): void => void mends.count++
  const log = { id: originLog, kind: 'origin', partitions: 1 } as const
  await putLog(store, log).catch(async (error: unknown) => {
    if (!(error instanceof DecodeError)) throw error
    await store.replace(logKey(originLog), logCodec.encode(log))
    mended()
  })
  const names = new FollowedNames(store, mended)
  const known = await names.load()
  return new Follow({ ...deps, mended }, { names, known, mends })
}

/** Records and objects that failed their check and were made or fetched anew, since the start. */
interface Mends {
  count: number
}

export class Follow {
  readonly #deps: DatasetDeps
  readonly #mends: Mends
  readonly #onRemoved: (id: DatasetId) => void
  /** Where readers of the copies have what fails its check, or is not here yet. */
  readonly source: CopySource
  #tellAsked: () => void = () => {}
  readonly #names: FollowedNames
  readonly #matches: (text: string) => boolean
  readonly #patterns: readonly string[]
  readonly #deleteGraceMs: number
  readonly #stop = new AbortController()
  readonly #looks: Repeated
  /** All that were shown since the start, and those of the store. */
  readonly #datasets = new Map<DatasetId, FollowedDataset>()
  readonly #shown = new Set<DatasetId>()
  readonly #polls = new Map<DatasetId, Promise<void>>()
  readonly #copies = new Set<Promise<void>>()
  /** Of a node without a list. */
  readonly #idOf = new Map<string, DatasetId>()
  #settled: Promise<void> = Promise.resolve()
  #state: 'new' | 'known'
  /** Why the last look at the origin failed, without a word of the origin's own. */
  fault: string | undefined
  /** When the last look began that showed what is followed, by the monotonic clock. */
  #lookedMs: number | undefined

  constructor(
    deps: FollowDeps & Pick<DatasetDeps, 'mended'>,
    {
      names,
      known,
      mends,
    }: { readonly names: FollowedNames; readonly known: readonly NameRecord[]; readonly mends: Mends },
  ) {
    const { options, clock, logger, deleteGraceMs } = deps
    const { signal } = this.#stop
    const origin = new Origin(options, { clock, stop: signal })
    const bounds = { room: new Bound(roomBytes), places: new Bound(placesMost) }
    this.#deps = { ...deps, ...bounds, origin, signal }
    this.#names = names
    this.#mends = mends
    this.#onRemoved = deps.onRemoved
    const asked = new Promise<void>((resolve) => (this.#tellAsked = resolve))
    const shown = (id: DatasetId): FollowedDataset | undefined =>
      this.#shown.has(id) ? this.#datasets.get(id) : undefined
    this.source = new CopySource({ ...this.#deps, asked, shown, mendName: (alias) => names.mend(alias) })
    this.#patterns = options.patterns
    this.#matches = matcherOf(options.patterns)
    this.#deleteGraceMs = deleteGraceMs
    for (const name of known) {
      this.#datasets.set(name.id, new FollowedDataset(this.#deps, name))
      this.#shown.add(name.id)
    }
    this.#state = known.length > 0 ? 'known' : 'new'
    const onError = (error: unknown): void => logger.error({ err: error }, 'Followed datasets were not looked after')
    this.#looks = repeat(() => this.#look(), { everyMs: lookEveryMs, clock, onError })
  }

  /** Address of the node that is followed. */
  get url(): string {
    return this.#deps.origin.url
  }

  /** Bytes that were fetched since the start. */
  get receivedBytes(): number {
    return this.#deps.origin.bytes
  }

  /** Records and objects that failed their check and were made or fetched anew since the start. */
  get mended(): number {
    return this.#mends.count
  }

  /** Why the replica has nothing to answer from, or undefined. */
  get notReady(): string | undefined {
    return this.#state === 'known'
      ? undefined
      : `nothing is known of ${this.url} yet${this.fault ? `: ${this.fault}` : ''}`
  }

  /** What is followed, by alias. */
  status(): readonly Followed[] {
    const all = [...this.#datasets.values()].filter(({ name }) => this.#shown.has(name.id))
    return all
      .map(({ name, length: blocks, lag, progress }) => ({ name, blocks, lag, progress }))
      .sort((a, b) => (a.name.alias < b.name.alias ? -1 : 1))
  }

  /** What the origin showed to this replica, and when; undefined where it cannot say. */
  get shown(): ShownDatasets | undefined {
    if (this.fault !== undefined || this.#lookedMs === undefined) return undefined
    return { sinceMs: this.#lookedMs, names: this.status().map(({ name }) => name) }
  }

  /** What the origin tells of the entries of a dataset in its ledger. */
  async secretsOf({ alias }: NameRecord): Promise<ToldSecrets> {
    try {
      const told = await this.#deps.origin.secrets(alias)
      return told === undefined ? { kind: 'none' } : { kind: 'told', salt: told['salt'], keys: told['keys'] }
    } catch (error) {
      if (!(error instanceof ProofstreamError)) throw error
      return { kind: isRefusal(error) ? 'none' : 'unanswered' }
    }
  }

  /** Resolves when nothing is fetched or stored any more; the next process goes on from there. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#tellAsked()
    await this.#looks.close()
    await Promise.all([...this.#polls.values(), ...this.#copies])
    await Promise.all([...this.#datasets.values()].map((dataset) => dataset.rest()))
    await this.#settled
  }

  async #look(): Promise<void> {
    const { clock, signal } = this.#deps
    const beganMs = clock.monotonicMs()
    const shown = await this.#ask()
    if (shown === undefined || signal.aborted) return
    const now = new Map<DatasetId, Listed>()
    for (const one of shown.listed) if (this.#follows(one)) now.set(one.id, one)
    const missing = [...this.#shown].filter((id) => !now.has(id))
    const asks = new Bound(parallelAsks)
    await Promise.allSettled(missing.map((id) => asks.run(1, () => this.#miss(id, shown, now))))
    for (const listed of now.values()) this.#show(listed)
    this.#lookedMs = beganMs
    await this.#settle()
    this.#state = 'known'
    this.#tellAsked()
    for (const { id, head } of now.values()) this.#copy(id, head)
    for (const id of now.keys()) if (this.#polls.size < pollsMost && !this.#polls.has(id)) this.#poll(id)
    for (const id of await this.#names.due(clock.nowMs(), (one) => this.#shown.has(one))) await this.#remove(id)
  }

  /** Removes the copy of a deleted dataset; what is known of it goes too, so that a restored one begins anew. */
  async #remove(id: DatasetId): Promise<void> {
    await this.#datasets.get(id)?.rest()
    await this.#names.remove(id, this.#deps.signal)
    this.#datasets.delete(id)
    this.#onRemoved(id)
  }

  /** What the origin shows; undefined where it cannot be asked now. */
  async #ask(): Promise<Shown | undefined> {
    const { origin, logger, signal } = this.#deps
    try {
      const listed = await origin.list()
      const shown: Shown =
        listed === undefined ? await this.#askByName() : { listed, goneOf: ({ id }) => origin.standing(id) }
      this.fault = undefined
      return shown
    } catch (error) {
      if (signal.aborted) return undefined
      if (!(error instanceof ProofstreamError)) throw error
      if (this.fault === undefined) logger.warn({ cause: error.message }, 'The node that is followed cannot be asked')
      this.fault = outsideWords(error)
      this.#tellAsked()
      // Nothing is shown to this replica any more.
      return isRefusal(error) ? { listed: [], goneOf: async () => ({ kind: 'hidden' }) } : undefined
    }
  }

  /** For a node without a list: the datasets that are named in full. Whether anyone may read them it does not say. */
  async #askByName(): Promise<Shown> {
    const { origin } = this.#deps
    const listed: Listed[] = []
    const gone = new Map<string, Gone>()
    for (const alias of this.#patterns.filter((pattern) => /^[^*:]+$/.test(pattern))) {
      try {
        const head = await origin.head(alias)
        if (head === undefined) continue
        const id = this.#idOf.get(alias) ?? (await datasetOfChain(origin, alias, head))
        this.#idOf.set(alias, id)
        listed.push({ id, alias, visibility: 'private', head })
      } catch (error) {
        if (error instanceof HaltError) gone.set(alias, { kind: 'hidden' })
        else gone.set(alias, goneOf(error))
      }
    }
    return { listed, goneOf: async ({ alias }) => gone.get(alias) ?? { kind: 'hidden' } }
  }

  /** One that was shown is not in the list. */
  async #miss(id: DatasetId, { goneOf: ask }: Shown, now: Map<DatasetId, Listed>): Promise<void> {
    const { clock, logger, signal } = this.#deps
    const dataset = this.#datasets.get(id)
    if (dataset === undefined) return
    try {
      const answer = await ask(dataset.name)
      if (signal.aborted) return
      if (!('kind' in answer)) {
        if (this.#follows(answer)) now.set(id, answer)
        else this.#shown.delete(id)
        return
      }
      this.#shown.delete(id)
      logger.warn({ dataset: dataset.name.alias, kind: answer.kind }, 'The origin does not show a dataset any more')
      if (answer.kind !== 'deleted') return
      const nowMs = clock.nowMs()
      const until = timeText(nowMs + this.#deleteGraceMs)
      const atMs = Date.parse(answer.at)
      const at = timeText(Number.isNaN(atMs) ? nowMs : Math.min(nowMs, atMs))
      await this.#names.noteDeleted(dataset.name, { at, until })
    } catch (error) {
      // It cannot say now: all stays as it was.
      if (!(error instanceof ProofstreamError)) throw error
    }
  }

  #follows({ id, alias }: Listed): boolean {
    const name = this.#datasets.get(id)?.name
    const names = [id, alias, ...(name === undefined ? [] : [name.alias, name.born ?? name.alias])]
    return names.some(this.#matches)
  }

  #show(listed: Listed): void {
    const { id } = listed
    const dataset = this.#datasets.get(id)
    const name = nameOf(listed, dataset?.name)
    if (dataset === undefined) this.#datasets.set(id, new FollowedDataset(this.#deps, name))
    else dataset.name = name
    this.#shown.add(id)
  }

  /** Gives each dataset that is shown its name, when there is something to show. */
  #settle(): Promise<void> {
    const settled = this.#settled.then(() => {
      const names = this.status().filter(({ name, blocks }) => blocks > 0 || this.#names.has(name.id))
      return this.#names.settle(names.map(({ name }) => name))
    })
    this.#settled = settled.catch(() => {})
    return settled
  }

  /** Brings the copy to this head, beside all others. */
  #copy(id: DatasetId, head: Hash): void {
    const { logger } = this.#deps
    const dataset = this.#datasets.get(id)
    const following = dataset?.follow(head)
    if (dataset === undefined || following === undefined) return
    const copy = following
      .then(() => (dataset.length > 0 && !this.#names.has(id) ? this.#settle() : undefined))
      .catch((error: unknown) =>
        logger.error({ dataset: dataset.name.alias, err: error }, 'A copy could not be stored'),
      )
    this.#copies.add(copy)
    void copy.finally(() => this.#copies.delete(copy))
  }

  /** Waits for each new head of a dataset as long as it is shown. */
  #poll(id: DatasetId): void {
    const { logger } = this.#deps
    const poll = this.#pollWhileShown(id).catch((error: unknown) => {
      logger.error({ dataset: id, err: error }, 'A head is not waited for any more')
    })
    this.#polls.set(id, poll)
    void poll.finally(() => this.#polls.delete(id))
  }

  async #pollWhileShown(id: DatasetId): Promise<void> {
    const { origin, clock, signal } = this.#deps
    for (let last: Hash | undefined; this.#shown.has(id) && !signal.aborted;) {
      const dataset = this.#datasets.get(id)
      if (dataset === undefined) return
      const beganMs = clock.monotonicMs()
      const { held } = dataset
      let head: Hash | undefined
      try {
        const known = held === undefined ? undefined : { hash: held, waitSeconds: pollSeconds }
        head = await origin.head(dataset.name.alias, known)
      } catch (error) {
        // The list says why, and what becomes of it.
        if (signal.aborted || !(error instanceof ProofstreamError)) return
      }
      if (head !== undefined && this.#shown.has(id)) this.#copy(id, head)
      const isNew = head !== undefined && head !== last
      last = head ?? last
      if (!isNew && clock.monotonicMs() - beganMs < leastPollMs) await clock.sleep(leastPollMs, signal)
    }
  }
}

/** What anyone may hear of an error: its status, and its kind where that is one that nodes have. */
function outsideWords({ status, kind }: ProofstreamError): string {
  const known = Object.hasOwn(errorTable, kind) ? kind : ''
  return status === 0 ? kind : `status ${status} ${known}`.trimEnd()
}

/** True for texts that one of the patterns fits, in any ASCII case. */
function matcherOf(patterns: readonly string[]): (text: string) => boolean {
  const all = patterns.map((pattern) => {
    const parts = (pattern === '*' ? '*/*' : pattern)
      .split('*')
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('[^/]*')}$`, 'i')
  })
  return (text) => all.some((one) => one.test(text))
}
