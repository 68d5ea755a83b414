// One dataset that is followed: how far the copy is, and the way to the head that the origin tells. Windows of blocks are
// fetched while those before them are checked, and committed one after the other; what cannot be the same chain halts it,
// with evidence, and reads go on at the last good block. A halt ends when the origin tells of a head that goes on from here.

import { ProofstreamError } from '../client/exchange.ts'
import type { NameRecord } from '../chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../chain/rules.ts'
import { type Clock, timeText } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import type { ChainPoint } from '../store/heads.ts'
import { type Breach, keepBreach } from './evidence.ts'
import { fetchBlock, type FetchDeps, fetchNamed, hashesSince, partingOf } from './fetch.ts'
import { type CheckedBlock, commitBlocks, type FetchedBlock, hashAt, readCopy } from './local-chain.ts'

/** Blocks that are fetched and committed together: as many as a commit has at most. */
const windowBlocks = 16
/** Another look, before a head that is behind is believed: what answers may be behind the others. */
const looksMore = 2
const betweenLooksMs = 1_000
const firstRetryMs = 1_000
const longestRetryMs = 60_000

export interface DatasetDeps extends FetchDeps {
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly evidenceDir: string
  readonly signal: AbortSignal
}

export type Progress =
  /** It goes towards the origin's head, or is there. */
  | { readonly kind: 'following' }
  /** The origin does not give what it should; it is asked again. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly tries: number; readonly untilMs: number }
  /** The origin's chain is another one than the copy, or breaks a rule; `at` is the head that it told. */
  | { readonly kind: 'halted'; readonly reason: string; readonly at: Hash; readonly untilMs: number }

/** What keeps a chain from being followed. */
interface Refusal {
  readonly kind: Breach['kind']
  readonly reason: string
  readonly ours: ChainPoint
  readonly theirs: ChainPoint
}

export class FollowedDataset {
  readonly #deps: DatasetDeps
  /** As the origin has it now. */
  name: NameRecord
  progress: Progress = { kind: 'following' }
  #copy: ChainState | undefined
  /** Sequence of the origin's head, as far as it is known. */
  #originSequence = -1
  #told: Hash | undefined
  #state: 'idle' | 'running' = 'idle'
  /** When the copy was last known to be all that the origin has, by the monotonic clock. */
  #currentMs: number

  constructor(deps: DatasetDeps, name: NameRecord) {
    this.#deps = deps
    this.name = name
    this.#currentMs = deps.clock.monotonicMs()
  }

  /** Blocks of the copy. */
  get length(): number {
    return this.#copy?.length ?? 0
  }

  /** The head that was told last; undefined before any, and while the copy has yet to be tried again. */
  get held(): Hash | undefined {
    return this.progress.kind === 'waiting' ? undefined : this.#told
  }

  /** How far the copy is behind, as far as is known. */
  get lag(): { readonly blocks: number; readonly seconds: number } {
    const blocks = Math.max(0, this.#originSequence + 1 - this.length)
    return { blocks, seconds: (this.#deps.clock.monotonicMs() - this.#currentMs) / 1000 }
  }

  /**
   * Follows to the origin's head, or to a later one that is told meanwhile. Resolves when the copy is there, or waits or
   * halts; undefined where it is on its way already. Throws what the store throws.
   */
  follow(head: Hash): Promise<void> | undefined {
    this.#told = head
    if (this.#state === 'running') return undefined
    this.#state = 'running'
    return this.#run().finally(() => {
      this.#state = 'idle'
    })
  }

  async #run(): Promise<void> {
    const { clock, logger, signal } = this.#deps
    for (let done: Hash | undefined; done !== this.#told && !signal.aborted; ) {
      const head = this.#told
      if (head === undefined || this.#isPut(head)) return
      try {
        await this.#goTo(head)
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof HaltError || error instanceof DecodeError) await this.#refuseAt(head, error.message)
        else if (!(error instanceof ProofstreamError)) throw error
        else {
          const tries = this.progress.kind === 'waiting' ? this.progress.tries + 1 : 1
          const untilMs = clock.monotonicMs() + Math.min(longestRetryMs, firstRetryMs * 2 ** (tries - 1))
          this.progress = { kind: 'waiting', reason: error.message, tries, untilMs }
          logger.warn({ dataset: this.name.alias, cause: error.message }, 'A followed dataset could not be copied')
        }
      }
      done = head
    }
  }

  /** True while the same head is not to be tried again. */
  #isPut(head: Hash): boolean {
    const { progress } = this
    if (progress.kind === 'following') return false
    if (progress.kind === 'halted' && progress.at !== head) return false
    return this.#deps.clock.monotonicMs() < progress.untilMs
  }

  async #goTo(head: Hash): Promise<void> {
    const { store, signal } = this.#deps
    const { id } = this.name
    this.#copy ??= await readCopy({ store, id }, signal).catch(asOwnFault)
    if (head === this.#copy.head) return this.#arrived()
    const fetched = await fetchBlock(this.#deps, this.name, head)
    const top = Number(fetched.block.sequenceNumber)
    if (top < this.#copy.length) return this.#lookAgain(fetched, top)
    this.#originSequence = top
    const hashes = await hashesSince(this.#deps, this.name, { head: fetched, from: this.#copy.length })
    await this.#copyAll(head, hashes)
    if (head === this.#copy?.head) this.#arrived()
  }

  #arrived(): void {
    this.#originSequence = this.length - 1
    this.#currentMs = this.#deps.clock.monotonicMs()
    if (this.progress.kind === 'halted') {
      this.#deps.logger.warn({ dataset: this.name.alias }, 'The origin tells the chain of this copy again')
    }
    this.progress = { kind: 'following' }
  }

  /** Copies blocks that come after the copy: three windows at a time are on their way. */
  async #copyAll(head: Hash, hashes: readonly Hash[]): Promise<void> {
    const { signal } = this.#deps
    let fetching = this.#fetch(hashes.slice(0, windowBlocks))
    let storing: Promise<void> = Promise.resolve()
    let ahead = this.#copy ?? emptyChain
    try {
      for (let at = windowBlocks; at < hashes.length + windowBlocks && !signal.aborted; at += windowBlocks) {
        const { blocks, fault } = await fetching
        fetching = this.#fetch(hashes.slice(at, at + windowBlocks))
        const [first] = blocks
        if (first !== undefined && ahead.head !== undefined && first.block.prevBlockHash !== ahead.head) {
          await storing
          return await this.#forked(head, { sequence: ahead.length - 1, hash: ahead.head }, first)
        }
        const window = this.#check(ahead, blocks)
        ahead = window.checked.at(-1)?.state ?? ahead
        const before = storing
        storing = this.#store(window.checked, before)
        const wrong = window.fault ?? fault
        if (wrong !== undefined) {
          await storing
          throw wrong.reason
        }
        await before
      }
      await storing
    } finally {
      await Promise.allSettled([fetching, storing])
    }
  }

  /** Blocks up to the first that cannot be had. */
  async #fetch(hashes: readonly Hash[]): Promise<{
    readonly blocks: readonly FetchedBlock[]
    readonly fault: PromiseRejectedResult | undefined
  }> {
    const fetched = await Promise.allSettled(hashes.map((hash) => fetchBlock(this.#deps, this.name, hash)))
    const blocks: FetchedBlock[] = []
    for (const one of fetched) {
      if (one.status === 'rejected') return { blocks, fault: one }
      blocks.push(one.value)
    }
    return { blocks, fault: undefined }
  }

  /** Stores what blocks name, and commits them when those before them are: those before the first fault, which it throws. */
  async #store(checked: readonly CheckedBlock[], before: Promise<void>): Promise<void> {
    const { announcements, store, logger } = this.#deps
    const { id, alias } = this.name
    const named = await Promise.allSettled(checked.map((block) => fetchNamed(this.#deps, this.name, block)))
    await before
    const bad = named.findIndex(({ status }) => status === 'rejected')
    for (const one of named) {
      if (one.status === 'fulfilled' && one.value !== undefined) {
        logger.info({ dataset: alias, cause: one.value }, 'Rows of a slice are of a type that is not checked here')
      }
    }
    const good = bad === -1 ? checked : checked.slice(0, bad)
    await commitBlocks({ store, id }, alias, good, announcements)
    this.#copy = good.at(-1)?.state ?? this.#copy
    const fault = named[bad]
    if (fault?.status === 'rejected') throw fault.reason
  }

  /** The blocks that come next by the rules, and what keeps the others from it. */
  #check(
    ahead: ChainState,
    blocks: readonly FetchedBlock[],
  ): {
    readonly checked: readonly CheckedBlock[]
    readonly fault?: PromiseRejectedResult
  } {
    const checked: CheckedBlock[] = []
    let state = ahead
    for (const one of blocks) {
      try {
        state = checkNext(state, one.block, one.hash)
        if (state.datasetId !== this.name.id) {
          throw new HaltError('ChainBroken', `its seed is that of ${state.datasetId}, not of ${this.name.id}`)
        }
        checked.push({ ...one, state })
      } catch (reason) {
        return { checked, fault: { status: 'rejected', reason } }
      }
    }
    return { checked }
  }

  /** The origin's head is not after the copy's: it halts if that is so still after a while. */
  async #lookAgain({ hash }: FetchedBlock, sequence: number): Promise<void> {
    const { origin, clock, signal, store } = this.#deps
    for (let look = 0; look < looksMore; look++) {
      await clock.sleep(betweenLooksMs, signal)
      const now = await origin.head(this.name.alias)
      if (signal.aborted) return
      if (now === hash) continue
      this.#told = now
      return
    }
    const copy = this.#copy
    if (copy?.head === undefined) return
    const there = await hashAt({ store, id: this.name.id }, sequence)
    const theirs = { sequence, hash }
    if (there === hash) {
      const reason = `its head is block ${sequence} again, ${hash}; the copy has block ${copy.length - 1}, ${copy.head}`
      await this.#halt(hash, {
        kind: 'rolled-back',
        reason,
        ours: { sequence: copy.length - 1, hash: copy.head },
        theirs,
      })
    } else {
      await this.#parted(hash, { sequence, hash: there }, theirs)
    }
  }

  /** The origin's chain does not come by the copy's head, unless the name is another dataset's by now. */
  async #forked(head: Hash, ours: ChainPoint, first: FetchedBlock): Promise<void> {
    const { origin } = this.#deps
    const standing = origin.hasList ? await origin.standing(this.name.id) : undefined
    if (standing !== undefined && (standing.kind !== 'there' || standing.listed.alias !== this.name.alias)) return
    await this.#parted(head, ours, { sequence: ours.sequence, hash: first.block.prevBlockHash ?? first.hash })
  }

  /** The origin has another block than the copy in one place. */
  async #parted(head: Hash, ours: ChainPoint, theirs: ChainPoint): Promise<void> {
    const parting = await partingOf(this.#deps, this.name, { ours, theirs })
    const { sequence } = parting.ours
    const reason = `its block ${sequence} is ${parting.theirs.hash}; the copy has ${parting.ours.hash} there`
    await this.#halt(head, { kind: 'fork', reason, ...parting })
  }

  /** The origin's next block cannot be taken. */
  async #refuseAt(head: Hash, reason: string): Promise<void> {
    const sequence = this.length
    const ours = { sequence: Math.max(0, sequence - 1), hash: this.#copy?.head ?? head }
    await this.#halt(head, { kind: 'invalid', reason, ours, theirs: { sequence: this.#originSequence, hash: head } })
  }

  async #halt(head: Hash, refusal: Refusal): Promise<void> {
    const { clock, evidenceDir, logger, origin } = this.#deps
    const { id, alias } = this.name
    const blocks: { hash: Hash; base64: string }[] = []
    for (const { hash } of [refusal.ours, refusal.theirs]) {
      // A block that cannot be had is named all the same.
      const block = await fetchBlock(this.#deps, this.name, hash).catch(() => undefined)
      if (block !== undefined) blocks.push({ hash, base64: Buffer.from(block.bytes).toString('base64') })
    }
    const at = timeText(clock.nowMs())
    await keepBreach(evidenceDir, { dataset: id, alias, origin: origin.url, at, ...refusal, blocks })
    const { kind, reason } = refusal
    this.progress = { kind: 'halted', reason, at: head, untilMs: clock.monotonicMs() + longestRetryMs }
    logger.error(
      { dataset: alias, kind, cause: reason },
      'A followed dataset is halted: the origin tells another chain (proofstream replica evidence shows both)',
    )
  }
}

/** The copy cannot be read: nothing that the origin is to be blamed for. Throws ProofstreamError. */
function asOwnFault(error: unknown): never {
  if (!(error instanceof HaltError) && !(error instanceof DecodeError)) throw error
  const message = `The copy is damaged: ${error.message}. proofstream fsck lists all that is; the directory can be made anew.`
  throw new ProofstreamError(0, { error: { kind: 'Damaged' }, message }, error)
}
