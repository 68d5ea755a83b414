// The witnesses of a simulated ledger, two or three, and their quorum: each decides as a real one, keeps what it has signed, and
// comes and goes, answers late or not at all, by a chance of its own. The third may be a liar. What keepers have asked and been
// told is noted.

import type { boundedFetch } from '../../src/libraries/base/bounded-fetch.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { parsePolicy, type Policy, quorumOf } from '../../src/libraries/ledger/policy.ts'
import { parseAddCheckpoint } from '../../src/libraries/ledger/witness.ts'
import { WitnessInMemory } from '../features/ledger/small-witness.ts'
import type { Random } from '../history/load.ts'
import type { Process, World } from './world.ts'

class SimulatedWitness extends WitnessInMemory {
  isAway = false
  /** Times that it went away: what is under way then is lost, after it was decided or before. */
  lives = 0
  /** It answers what is not so, half of the time. */
  isLiar = false
}

interface Said {
  readonly status: number
  readonly text: string
  readonly holdsNoMore?: boolean
}

export class SimulatedWitnesses {
  readonly all: readonly SimulatedWitness[]
  readonly policy: Policy
  /** What a witness has refused that no ledger may ask: a head that does not go on from what it holds. */
  readonly contradicted: string[] = []
  readonly counts = { cosigned: 0, conflicts: 0, unanswered: 0, lies: 0 }
  readonly #world: World
  readonly #random: Random
  readonly #slowMs: number
  /** Witnesses that have said to a process that they hold no larger tree than it has. */
  readonly #told = new WeakMap<Process, Set<string>>()
  /** Lines of cosignatures, of any witness for any head. */
  readonly #lines: string[] = []
  #isCalm = false

  /** `logKey` is that of the ledger. `mayLie`: where there are three, one of them may. */
  constructor(world: World, logKey: string, random: Random, mayLie = false) {
    this.#world = world
    this.#random = random
    const count = this.#random.between(2, 3)
    this.#slowMs = [5, 100, 1_000][this.#random.between(0, 2)] ?? 5
    this.all = [1, 2, 3].slice(0, count).map((number) => new SimulatedWitness(number))
    const names = this.all.map((_, at) => `W${at + 1}`).join(' ')
    const lines = this.all.map((witness, at) => witness.lineAt(`http://w${at + 1}`))
    this.policy = parsePolicy(utf8([...lines, `group G 2 ${names}`, 'quorum G', ''].join('\n')))
    for (const [at, witness] of this.all.entries()) {
      witness.logKey = logKey
      witness.isLiar = mayLie && at === 2 && this.#random.next() < 0.5
      this.#comeOrGo(witness, this.#random.next() < 0.5)
    }
  }

  /** They come back, and stay, and answer soon. */
  heal(): void {
    this.#isCalm = true
    for (const witness of this.all) witness.isAway = false
  }

  /** A quorum has said to the process that it holds no larger tree. */
  haveConfirmed(process: Process): boolean {
    return quorumOf(this.policy, this.#told.get(process) ?? []) === 'met'
  }

  /** How a process asks them. */
  exchangeOf(process: Process): typeof boundedFetch {
    return async (url, { signal, mostMs, body }) => {
      const broken = new Promise<never>((_, reject) => {
        const end = (): void => reject(new RangeError('no answer'))
        signal?.addEventListener('abort', end, { once: true })
        this.#world.schedule(mostMs, end)
      })
      const bytes = body instanceof Uint8Array ? body : undefined
      try {
        return await Promise.race([this.#answer(process, new URL(url), bytes), broken])
      } catch (error) {
        this.counts.unanswered++
        throw error
      } finally {
        await process.gate()
      }
    }
  }

  async #answer(process: Process, { hostname, pathname }: URL, body: Uint8Array | undefined) {
    const name = hostname.toUpperCase()
    const witness = this.all[Number(name.slice(1)) - 1]
    await this.#delay()
    if (witness === undefined || witness.isAway) throw new RangeError('connection refused')
    const { lives } = witness
    const retryAfter = 1_000
    if (!this.#isCalm && this.#random.next() < 0.02) return { status: 503, bytes: new Uint8Array(), retryAfter }
    const shown = witness.shownAt(pathname)
    const isLie = witness.isLiar && this.#random.next() < 0.5
    let said: Said = { status: shown === undefined ? 404 : 200, text: isLie ? changed(shown ?? '') : (shown ?? '') }
    if (body !== undefined) said = isLie ? this.#lie(body) : this.#decide(witness, name, body)
    if (isLie) this.counts.lies++
    await this.#delay()
    if (witness.lives !== lives) throw new RangeError('the connection was reset')
    if (said.holdsNoMore === true) this.#tell(process, name)
    return { status: said.status, bytes: utf8(said.text), retryAfter }
  }

  /** Lines of others, of other heads or of nobody, sizes that it does not hold, refusals without a reason. */
  #lie(body: Uint8Array): Said {
    const { size } = parseAddCheckpoint(body).head
    const line = this.#lines[this.#random.between(0, this.#lines.length - 1)] ?? ''
    const sizes = [size + this.#random.between(1, 1_000), size, this.#random.between(0, size), -1]
    const lies = [
      ...[line, changed(line), `${line}${line}`, '', 'a page'].map((text) => ({ status: 200, text })),
      ...sizes.map((told) => ({ status: 409, text: `${told}\n`, holdsNoMore: told <= size })),
      ...[403, 404, 422, 500].map((status) => ({ status, text: '', holdsNoMore: status === 404 })),
    ]
    return lies[this.#random.between(0, lies.length - 1)] ?? { status: 500, text: '' }
  }

  #decide(witness: SimulatedWitness, name: string, body: Uint8Array): Said {
    witness.seconds = startSeconds + Math.floor(this.#world.nowMs / 1_000)
    const { size } = parseAddCheckpoint(body).head
    const decision = witness.addCheckpoint(body)
    const { status } = decision
    if (status === 200) this.counts.cosigned++
    if (status === 409) this.counts.conflicts++
    if ((status !== 200 && status !== 409) || ('isEvidence' in decision && decision.isEvidence)) {
      this.contradicted.push(`${name} holds ${witness.last.size} entries and refused a head of ${size}: ${status}`)
    }
    const text = 'body' in decision ? decision.body : decision.reason
    if (status === 200) this.#lines.push(text)
    return { status, text, holdsNoMore: status === 200 || (status === 409 && Number(text) <= size) }
  }

  #tell(process: Process, name: string): void {
    this.#told.set(process, (this.#told.get(process) ?? new Set()).add(name))
  }

  async #delay(): Promise<void> {
    const isSlow = !this.#isCalm && this.#random.next() < 0.03
    await this.#world.after(isSlow ? this.#random.next() * 12_000 : this.#random.next() * this.#slowMs)
  }

  #comeOrGo(witness: SimulatedWitness, isAway: boolean): void {
    if (this.#isCalm) return
    witness.isAway = isAway
    if (isAway) witness.lives++
    this.#world.schedule(this.#random.next() * 8_000, () => this.#comeOrGo(witness, !isAway))
  }
}

/** With one letter changed: a signature over it, or in it, is not good. */
const changed = (text: string): string => text.replace(/[A-Z](?=[^A-Z]*$)/, (letter) => letter.toLowerCase())

const startSeconds = Date.parse('2026-03-01T00:00:00Z') / 1_000
