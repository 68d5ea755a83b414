// One dataset that is followed: how far the copy is, and the way to the head that the origin tells. Windows of blocks are
// fetched while those before them are checked, and committed one after the other; what cannot be the same chain halts it,
// with evidence, and reads go on at the last good block. A halt ends when the origin tells of a head that goes on from here.

import { ProofstreamError } from '../../libraries/client/exchange.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../../libraries/odf/chain/rules.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import type { Announcements } from '../../node/log/announcements.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import type { ChainPoint } from '../../node/store/heads.ts'
import { type Breach, keepBreach } from './evidence.ts'
import { fetchLost, mendCopy } from './mend.ts'
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

export class FollowedDataset {
  readonly #deps: DatasetDeps
  /** As the origin has it now. */
  name: NameRecord
  progress: Progress = { kind: 'following' }
  #copy: ChainState | undefined
  /** Sequence of the origin's head, as far as it is known. */
  #originSequence = -1
  #told: Hash | undefined
  #running: Promise<void> | undefined
  /** Somebody waits for the copy to be mended. */
  #mending: Promise<void> | undefined
  /** Slices and checkpoints are fetched that went with packs. */
  #filling: Promise<void> | undefined
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
    if (this.#running !== undefined || this.#mending !== undefined) return undefined
    this.#running = this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** True where the copy has all that the origin is known to have. */
  get isCurrent(): boolean {
    return this.#copy?.head !== undefined && this.#copy.head === this.#told
  }

  /** Makes the copy whole, after what is under way; the same for all callers meanwhile. Throws as `mendCopy`. */
  mend(): Promise<void> {
    this.#mending ??= (async () => {
      await this.#running?.catch(() => {})
      this.#copy = await this.#mended()
    })().finally(() => {
      this.#mending = undefined
    })
    return this.#mending
  }

  /** A whole chain; what its blocks name and is lost comes behind it. Throws as `mendCopy`. */
  async #mended(): Promise<ChainState> {
    const { logger, signal } = this.#deps
    const state = await mendCopy(this.#deps, this.name, signal)
    this.#filling ??= fetchLost(this.#deps, this.name, signal)
      .catch((error: unknown) => {
        if (!signal.aborted)
          logger.warn({ dataset: this.name.alias, err: error }, 'Not all of a copy could be fetched anew')
      })
      .finally(() => {
        this.#filling = undefined
      })
    return state
  }

  /** Resolves when nothing is stored for it any more, until it is followed again. */
  async rest(): Promise<void> {
    await Promise.allSettled([this.#running, this.#mending, this.#filling])
  }

  async #run(): Promise<void> {
    const { clock, logger, signal } = this.#deps
    for (let done: Hash | undefined; done !== this.#told && !signal.aborted;) {
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
    this.#copy ??= await this.#read()
    if (head === this.#copy.head) return this.#arrived()
    const fetched = await fetchBlock(this.#deps, this.name, head)
    const top = Number(fetched.block.sequenceNumber)
    if (top < this.#copy.length) return this.#lookAgain(fetched, top)
    this.#originSequence = top
    const hashes = await hashesSince(this.#deps, this.name, { head: fetched, from: this.#copy.length })
    await this.#copyAll(head, hashes)
    if (head === this.#copy?.head) this.#arrived()
  }

  async #read(): Promise<ChainState> {
    const { logger, signal, store } = this.#deps
    const { id, alias } = this.name
    const { state, fault } = await readCopy({ store, id }, signal)
    if (fault === undefined) return state
    logger.warn({ dataset: alias, cause: fault.message }, 'The copy of a dataset is damaged: it is fetched anew')
    return await this.#mended().catch(asOwnFault)
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
    const fetch = (at: number): Promise<PromiseSettledResult<FetchedBlock>[]> =>
      Promise.allSettled(hashes.slice(at, at + windowBlocks).map((hash) => fetchBlock(this.#deps, this.name, hash)))
    let fetching = fetch(0)
    let storing: Promise<void> = Promise.resolve()
    let ahead = this.#copy ?? emptyChain
    try {
      // The reader that waits for it to be mended goes first: what is left is told again.
      const goesOn = (): boolean => !this.#deps.signal.aborted && this.#mending === undefined
      for (let at = 0; at < hashes.length && goesOn(); at += windowBlocks) {
        const fetched = await fetching
        const [first] = fetched
        if (
          ahead.head !== undefined &&
          first?.status === 'fulfilled' &&
          first.value.block.prevBlockHash !== ahead.head
        ) {
          await storing
          return await this.#forked(head, { sequence: ahead.length - 1, hash: ahead.head }, first.value)
        }
        const { checked, fault } = this.#check(ahead, fetched)
        ahead = checked.at(-1)?.state ?? ahead
        const before = storing
        storing = this.#store(checked, before)
        // It may fail while blocks are still waited for.
        storing.catch(() => {})
        fetching = fetch(at + windowBlocks)
        if (fault !== undefined) {
          await storing
          throw fault.reason
        }
        await before
      }
      await storing
    } finally {
      await Promise.allSettled([fetching, storing])
    }
  }

  /** Stores what blocks name, and commits them when those before them are: those before the first fault, which it throws. */
  async #store(checked: readonly CheckedBlock[], before: Promise<void>): Promise<void> {
    const { announcements, store } = this.#deps
    const { id, alias } = this.name
    const named = await Promise.allSettled(checked.map((block) => fetchNamed(this.#deps, this.name, block)))
    await before
    const bad = named.findIndex(({ status }) => status === 'rejected')
    const good = bad === -1 ? checked : checked.slice(0, bad)
    await commitBlocks({ store, id }, alias, good, announcements).catch((error: unknown) => {
      // What is stored is not what it was: it is read again, and mended, at the next try.
      if (error instanceof HaltError || error instanceof DecodeError) this.#copy = undefined
      return asOwnFault(error)
    })
    this.#copy = good.at(-1)?.state ?? this.#copy
    const fault = named[bad]
    if (fault?.status === 'rejected') throw fault.reason
  }

  /** The blocks that come next by the rules, up to the first that does not or could not be had, and why. */
  #check(
    ahead: ChainState,
    fetched: readonly PromiseSettledResult<FetchedBlock>[],
  ): { readonly checked: readonly CheckedBlock[]; readonly fault?: { readonly reason: unknown } } {
    const checked: CheckedBlock[] = []
    let state = ahead
    for (const one of fetched) {
      if (one.status === 'rejected') return { checked, fault: one }
      try {
        state = checkNext(state, one.value.block, one.value.hash)
        if (state.datasetId !== this.name.id) {
          throw new HaltError('ChainBroken', `its seed is that of ${state.datasetId}, not of ${this.name.id}`)
        }
        checked.push({ ...one.value, state })
      } catch (reason) {
        return { checked, fault: { reason } }
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
    if (standing !== undefined && ('kind' in standing || standing.alias !== this.name.alias)) return
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

  async #halt(head: Hash, refusal: Pick<Breach, 'kind' | 'reason' | 'ours' | 'theirs'>): Promise<void> {
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
      'A followed dataset is halted: the origin tells another chain (proofstream doctor says where both are kept)',
    )
  }
}

/** The copy cannot be read: nothing that the origin is to be blamed for. Throws ProofstreamError. */
function asOwnFault(error: unknown): never {
  if (!(error instanceof HaltError) && !(error instanceof DecodeError)) throw error
  const message = `The copy is damaged: ${error.message}. proofstream fsck lists all damage. You can also start over in a new directory.`
  throw new ProofstreamError(0, { error: { kind: 'Damaged' }, message }, error)
}
