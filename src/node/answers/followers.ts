// The callers that wait for the next block of datasets: event streams and tails that wait. The catalog says when a chain has
// grown; the callers that wait for it are woken a few at a time, so that a thousand of them hold the event loop no longer than one
// query does. What each has seen is its own matter: a caller that was away goes on from the chain.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { type Clock, nextTurn, type Repeated, repeat } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'

/** Woken before others have a turn. */
const wokenAtOnce = 32
/** Those whose time is over are woken this often. */
const wakeEveryMs = 250
/** A commit that was not announced here is found in the store. */
const lookEveryMs = 1_000

/** A dataset that is followed, and the callers that wait for its next block. */
interface Feed {
  /** Held as long as it is followed: what is announced of it is then read, whatever else the catalog drops. */
  chain: DatasetChain
  /** Why the chain cannot be followed any more. */
  fault: unknown
  readonly waiting: Set<Follower>
  followers: number
  state: 'idle' | 'waking'
}

/** How far a follower knows one dataset. */
export class Place {
  readonly feed: Feed
  /** Sequence of the last block that it knows. */
  seen: number

  constructor(feed: Feed, seen: number) {
    this.feed = feed
    this.seen = seen
  }

  /** The chain as it is now. */
  get chain(): DatasetChain {
    return this.feed.chain
  }

  get isBehind(): boolean {
    return this.chain.headSequence > this.seen
  }
}

/** One who follows datasets, one `next` at a time. */
export class Follower {
  readonly places: readonly Place[]
  state: 'here' | 'left' = 'here'
  /** Of the wait under way, by the monotonic clock. */
  untilMs = 0
  wake: () => void = () => {}

  constructor(places: readonly Place[]) {
    this.places = places
  }

  get isBehind(): boolean {
    return this.places.some(({ isBehind }) => isBehind)
  }
}

export class Followers {
  readonly #clock: Clock
  readonly #feeds = new Map<DatasetId, Feed>()
  /** Looks after feeds while there are any. */
  readonly #lookAfter: () => Repeated[]
  #repeated: Repeated[] = []
  readonly #end: () => void
  #state: 'open' | 'draining' = 'open'

  constructor(deps: { readonly catalog: Catalog; readonly clock: Clock; readonly logger: Logger }) {
    const { catalog, clock, logger } = deps
    this.#clock = clock
    this.#end = catalog.onAdvance(({ chain }) => this.#grown(chain))
    const look = async (): Promise<void> => {
      for (const [id, feed] of this.#feeds) {
        try {
          const chain = await catalog.byId(id)
          if (chain !== undefined) this.#grown(chain)
        } catch (error) {
          logger.warn({ dataset: feed.chain.name.alias, cause: String(error) }, 'Followers of a dataset are sent away')
          this.#feeds.delete(id)
          feed.fault = error
          void wakeDue(feed, clock)
        }
      }
    }
    const wake = async (): Promise<void> => {
      for (const feed of this.#feeds.values()) await wakeDue(feed, clock)
    }
    const onError = (error: unknown): void => logger.error({ cause: String(error) }, 'Followers were not looked after')
    // Apart: a store that is slow to answer keeps no one from a sign of life.
    this.#lookAfter = () => [
      repeat(look, { everyMs: lookEveryMs, clock, onError }),
      repeat(wake, { everyMs: wakeEveryMs, clock, onError }),
    ]
  }

  /** True once the node shuts down: all followers end. */
  get isDraining(): boolean {
    return this.#state === 'draining'
  }

  /** Follows chains, each from after a block that is known (default: its head). To be left. */
  follow(chains: readonly DatasetChain[], seen: ReadonlyMap<DatasetId, number> = new Map()): Follower {
    const places = chains.map((chain) => {
      const { id } = chain.name
      const feed = this.#feeds.get(id) ?? { chain, fault: undefined, waiting: new Set(), followers: 0, state: 'idle' }
      feed.followers++
      this.#feeds.set(id, feed)
      if (this.#repeated.length === 0 && !this.isDraining) this.#repeated = this.#lookAfter()
      return new Place(feed, seen.get(id) ?? chain.headSequence)
    })
    return new Follower(places)
  }

  /** Idempotent. A `next` under way resolves. */
  leave(follower: Follower): void {
    if (follower.state === 'left') return
    follower.state = 'left'
    for (const { feed } of follower.places) {
      const { id } = feed.chain.name
      feed.followers--
      if (feed.followers === 0 && this.#feeds.get(id) === feed) this.#feeds.delete(id)
    }
    follower.wake()
    if (this.#feeds.size === 0) void this.#stopLooking()
  }

  async #stopLooking(): Promise<void> {
    await Promise.all(this.#repeated.splice(0).map((one) => one.close()))
  }

  /**
   * Resolves when one of the datasets has a block that is not known, when about `ms` have gone by, when the follower has
   * left, or when the node shuts down. Throws what keeps a chain from being read.
   */
  async next(follower: Follower, ms: number): Promise<void> {
    const { places } = follower
    if (follower.state === 'here' && !this.isDraining && !follower.isBehind) {
      follower.untilMs = this.#clock.monotonicMs() + ms
      await new Promise<void>((resolve) => {
        follower.wake = resolve
        for (const { feed } of places) feed.waiting.add(follower)
      })
      for (const { feed } of places) feed.waiting.delete(follower)
    }
    for (const { feed } of places) if (feed.fault !== undefined) throw feed.fault
  }

  /** Wakes all, and follows nothing any more. */
  async close(): Promise<void> {
    this.#end()
    this.#state = 'draining'
    for (const { waiting } of this.#feeds.values()) for (const { wake } of waiting) wake()
    await this.#stopLooking()
  }

  #grown(chain: DatasetChain): void {
    const feed = this.#feeds.get(chain.name.id)
    if (feed === undefined) return
    feed.chain = chain
    void wakeDue(feed, this.#clock)
  }
}

/** Wakes the followers that do not know the head, or whose time is over, and those that fall behind meanwhile. */
async function wakeDue(feed: Feed, clock: Clock): Promise<void> {
  if (feed.state === 'waking') return
  feed.state = 'waking'
  const nowMs = clock.monotonicMs()
  for (let told = -1, woken = 0; told < feed.chain.headSequence;) {
    told = feed.chain.headSequence
    for (const follower of feed.waiting) {
      if (!follower.isBehind && nowMs < follower.untilMs && feed.fault === undefined) continue
      follower.wake()
      woken++
      if (woken % wokenAtOnce === 0) await nextTurn()
    }
  }
  feed.state = 'idle'
}
