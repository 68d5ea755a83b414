// Answers that would come out the same, by what was asked of which blocks: kept in memory, those asked for longest dropped
// first, and found once where several callers ask at the same time. Stands between node/answers/query.ts, which has judged on
// each request what its caller may read before anything is looked up here, and the engine.

import { cancelled, over } from '../engine/process/cancelled.ts'
import type { Stability } from '../../libraries/sql/statement.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Caller } from './pin.ts'

export interface QueryAnswer {
  /** The whole body, in parts. Canonical JSON when it holds a proof. */
  readonly body: readonly Uint8Array[]
  readonly mediaType: string
  /** Rows were left out because of `limit`. */
  readonly truncated: boolean
  readonly stability: Stability
}

/** Finds an answer on behalf of a caller. */
type Find = (caller: Caller) => Promise<QueryAnswer>

/** What an answer takes beside its bytes, roughly. */
const entryBytes = 500
/** One answer may take an eighth of the room: it must not drive out all others. */
const largestPart = 8

export class KeptAnswers {
  readonly #bytesMost: number
  /** By key, least recently used first. */
  readonly #kept = new Map<string, QueryAnswer>()
  /** By key: searches of callers that do not wait in one another's turn. */
  readonly #searches = new Map<string, Set<Search>>()
  #bytes = 0
  #reused = 0

  /** `bytesMost` is the limit `keptAnswerBytes`. */
  constructor(bytesMost: number) {
    this.#bytesMost = bytesMost
  }

  /** Memory taken. */
  get bytes(): number {
    return this.#bytes
  }

  /** Answers that were not computed, because they were there or being found for another caller. */
  get reused(): number {
    return this.#reused
  }

  /**
   * The answer for `key`, which must differ wherever a byte of the answer may: kept, or found by `find`, at most once at a
   * time. Failures are not kept. Throws what `find` throws, NodeError `Saturated` where the caller has no room for the
   * answer, and `QueryTimeout` when the caller leaves; `find` is cancelled when all callers that wait for it have left.
   */
  async of(key: string, caller: Caller, find: Find): Promise<QueryAnswer> {
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      this.#kept.delete(key)
      this.#kept.set(key, kept)
      this.#reused++
      caller.room.take(sizeOf(kept))
      return kept
    }
    const earlier = this.#underWay(key, caller)
    if (earlier === undefined) return await this.#search(key, caller, find).join(caller)
    try {
      const answer = await earlier.join(caller)
      this.#reused++
      return answer
    } catch (error) {
      if (error !== earlier.failure || !(error instanceof NodeError)) throw error
      // Another caller's share or turn says nothing of this one's.
      if (error.kind === 'Saturated') return await find(caller)
      if (error.kind !== 'QueryTimeout') throw error
      // It began before this caller asked, whose own time is not over.
      return await (this.#underWay(key, caller) ?? this.#search(key, caller, find)).join(caller)
    }
  }

  /** A search that runs, or that waits in the caller's own turn. */
  #underWay(key: string, { key: [turn] }: Caller): Search | undefined {
    const searches = [...(this.#searches.get(key) ?? [])].filter(({ state }) => state !== 'over')
    return searches.find(({ state }) => state === 'running') ?? searches.find((search) => search.turn === turn)
  }

  #search(key: string, caller: Caller, find: Find): Search {
    const search = new Search(caller)
    const beside = this.#searches.get(key) ?? new Set()
    this.#searches.set(key, beside.add(search))
    const end = (): void => {
      beside.delete(search)
      if (beside.size === 0) this.#searches.delete(key)
    }
    search.begin(find).then(
      (found) => {
        end()
        const answer = this.#keep(key, found)
        for (const one of [search, ...beside]) one.found(answer)
      },
      (error: unknown) => {
        end()
        search.fail(error)
      },
    )
    return search
  }

  /** Keeps an answer in one piece; answers with it, or with the given one where there is no room for it. */
  #keep(key: string, answer: QueryAnswer): QueryAnswer {
    if (this.#kept.has(key) || sizeOf(answer) > this.#bytesMost / largestPart) return answer
    // The parts may be windows of larger buffers.
    const kept = { ...answer, body: [concatBytes(answer.body)] }
    this.#kept.set(key, kept)
    this.#bytes += sizeOf(kept)
    for (const [oldest, { body }] of this.#kept) {
      if (this.#bytes <= this.#bytesMost) break
      this.#kept.delete(oldest)
      this.#bytes -= sizeOf({ body })
    }
    return kept
  }
}

function sizeOf({ body }: Pick<QueryAnswer, 'body'>): number {
  return body.reduce((sum, { length }) => sum + length, entryBytes)
}

interface Waiter {
  readonly caller: Caller
  readonly take: (answer: QueryAnswer) => void
  readonly refuse: (error: unknown) => void
}

/** One run of a statement, and the callers that wait for its answer. */
class Search {
  /** Whose turn it waits for. */
  readonly turn: string | undefined
  readonly #first: Caller
  readonly #left = new AbortController()
  readonly #waiting = new Set<Waiter>()
  /** Of the answer, once they are known. */
  #bytes = 0
  /** `running`: a process has it; `over`: nobody waits for it. */
  state: 'waiting' | 'running' | 'over' = 'waiting'
  /** What it ended with. */
  failure: unknown

  constructor(first: Caller) {
    this.#first = first
    this.turn = first.key[0]
  }

  /** Begins on behalf of the first caller, with room in the shares of all callers. */
  async begin(find: Find): Promise<QueryAnswer> {
    return await find({
      ...this.#first,
      signal: this.#left.signal,
      room: {
        take: (bytes) => {
          const refusal = this.#takeRoom(bytes)
          if (refusal !== undefined) throw refusal
        },
      },
      begins: () => {
        if (this.state === 'waiting') this.state = 'running'
      },
    })
  }

  async join(caller: Caller): Promise<QueryAnswer> {
    if (this.#bytes > 0) caller.room.take(this.#bytes)
    return await new Promise((take, refuse) => {
      const waiter = { caller, take, refuse }
      this.#waiting.add(waiter)
      const leave = (): void => this.#drop(waiter, cancelled())
      if (caller.signal.aborted) leave()
      else caller.signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Answers all callers; a search that is still under way ends. */
  found(answer: QueryAnswer): void {
    if (this.#bytes === 0) this.#takeRoom(sizeOf(answer))
    for (const { take } of this.#waiting) take(answer)
    this.#end()
  }

  fail(error: unknown): void {
    this.failure = error
    for (const { refuse } of this.#waiting) refuse(error)
    this.#end()
  }

  #end(): void {
    this.#waiting.clear()
    this.state = 'over'
    this.#left.abort(over)
  }

  /** A caller without room gets no answer. Returns the refusal if none has room. */
  #takeRoom(bytes: number): NodeError | undefined {
    this.#bytes += bytes
    let refusal: NodeError | undefined
    for (const waiter of this.#waiting) {
      try {
        waiter.caller.room.take(bytes)
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        refusal = error
        this.#drop(waiter, error)
      }
    }
    return this.#waiting.size === 0 ? refusal : undefined
  }

  #drop(waiter: Waiter, error: NodeError): void {
    if (!this.#waiting.delete(waiter)) return
    waiter.refuse(error)
    if (this.#waiting.size === 0) this.#end()
  }
}
