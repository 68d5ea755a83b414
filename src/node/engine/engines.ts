// The engines of a node: the one of the release, on which new statements run, and those of other versions, which a proof asks for
// by its dialect. A proof names its own version. So at most two other engines run at a time, with one process each.

import { NodeError } from '../../libraries/base/errors.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { draining } from './process/child-pool.ts'
import { type Engine, openEngine } from './engine.ts'
import { knownEngines } from './known-engines.ts'
import { dialect, type EngineOptions, engineVersion, normalizerVersion } from './messages.ts'
import { reasonOf } from '../../libraries/sql/sql-errors.ts'
import { addingHint, engineAbsent, findNativeEngine, type NativeEngine } from './native-engine.ts'

const othersMost = 2
/** Proofs that may wait for one of these. */
const waitingMost = 16

export interface EnginesOptions extends Omit<EngineOptions, 'native'> {
  /** Where added engines lie. */
  readonly enginesDir?: string | undefined
}

/** An engine that is on this machine. */
export interface EngineAbout {
  readonly version: string
  /** SHA-256 of its library, in hex. */
  readonly digest: string
  readonly default: boolean
}

interface Other {
  readonly engine: Engine
  /** Proofs that run on it. */
  users: number
}

export class Engines {
  readonly #options: EnginesOptions
  /** That of the release, or one that refuses every statement where it is not on this machine. */
  readonly current: Engine
  /** False where `current` refuses all. */
  readonly isComplete: boolean
  /** By version, the one asked for last at the end. */
  readonly #others = new Map<string, Other>()
  readonly #waiting = new WaitingLine()
  /** By version: their libraries are read once. */
  readonly #natives = new Map<string, NativeEngine>()
  readonly #closing = new AbortController()

  constructor(options: EnginesOptions) {
    this.#options = options
    const native = this.#native(engineVersion)
    this.isComplete = native !== undefined
    this.current = native === undefined ? absentEngine() : openEngine({ ...options, native })
    if (native === undefined) options.logger.warn({ hint: addingHint(engineVersion) }, 'no engine runs statements here')
  }

  /**
   * Does it with the engine of this version, whose processes start for it. Undefined where it is not here. Throws NodeError
   * `Saturated`, `Draining`, and what `use` throws.
   */
  async using<T>(version: string, use: (engine: Engine) => Promise<T>): Promise<T | undefined> {
    if (version === this.current.version && this.isComplete) return await use(this.current)
    const other = await this.#take(version)
    if (other === undefined) return undefined
    try {
      return await use(other.engine)
    } finally {
      other.users--
      this.#waiting.next()
    }
  }

  /** Those that are on this machine and that the release knows. */
  async list(): Promise<EngineAbout[]> {
    const found: EngineAbout[] = []
    for (const { version } of knownEngines) {
      const digest = await this.#native(version)
        ?.digest()
        .catch(() => undefined)
      if (digest !== undefined) found.push({ version, digest, default: version === engineVersion })
    }
    return found
  }

  async close(): Promise<void> {
    this.#closing.abort(draining())
    this.#waiting.end()
    await Promise.all(
      [this.current, ...[...this.#others.values()].map(({ engine }) => engine)].map((one) => one.close()),
    )
  }

  /** The one that is on this machine now. */
  #native(version: string): NativeEngine | undefined {
    const found = findNativeEngine(version, this.#options.enginesDir)
    const before = this.#natives.get(version)
    if (found === undefined || found.folder === before?.folder) return found && before
    this.#natives.set(version, found)
    return found
  }

  async #take(version: string): Promise<Other | undefined> {
    for (;;) {
      if (this.#closing.signal.aborted) throw draining()
      const known = this.#others.get(version)
      if (known !== undefined) return this.#used(version, known)
      const native = await this.#checked(version)
      if (native === undefined) return undefined
      if (await this.#makeRoom()) {
        // Another proof may have come first while an engine was closed.
        if (this.#others.has(version) || this.#others.size >= othersMost) continue
        const engine = openEngine({ ...this.#options, native, processes: 1, exportSlots: 1 })
        return this.#used(version, { engine, users: 0 })
      }
      await this.#waiting.wait()
    }
  }

  /** Undefined too where its library is not the one that the release knows. */
  async #checked(version: string): Promise<NativeEngine | undefined> {
    const native = this.#native(version)
    if (native === undefined || (await isKnown(native, this.#options.logger))) return native
    // Another one may be put in its place.
    this.#natives.delete(version)
    return undefined
  }

  #used(version: string, other: Other): Other {
    this.#others.delete(version)
    this.#others.set(version, other)
    other.users++
    return other
  }

  /** Whether there is room for one more, if need be in the place of one that nobody uses. */
  async #makeRoom(): Promise<boolean> {
    if (this.#others.size < othersMost) return true
    const unused = [...this.#others].find(([, { users }]) => users === 0)
    if (unused === undefined) return false
    const [version, { engine }] = unused
    this.#others.delete(version)
    await engine.close()
    return true
  }
}

/** Proofs that wait for their turn. */
class WaitingLine {
  readonly #waiting: (() => void)[] = []

  /** Throws NodeError `Saturated` where too many wait. */
  async wait(): Promise<void> {
    if (this.#waiting.length >= waitingMost) {
      throw new NodeError('Saturated', 'Too many proofs wait for engines of other versions.', { retryAfterSeconds: 5 })
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  next(): void {
    this.#waiting.shift()?.()
  }

  end(): void {
    for (const go of this.#waiting.splice(0)) go()
  }
}

/** False where its files are others than those that the release knows. */
async function isKnown(engine: NativeEngine, logger: Logger): Promise<boolean> {
  try {
    await engine.digest()
    return true
  } catch (error) {
    logger.error({ reason: reasonOf(error) }, 'an engine is not used')
    return false
  }
}

/** In the place of the engine of the release, where it is not on this machine: a node without it starts, and says so. */
function absentEngine(): Engine {
  const refuse = async (): Promise<never> => await Promise.reject(engineAbsent(engineVersion))
  return {
    name: 'duckdb',
    version: engineVersion,
    digest: refuse,
    normalizerVersion,
    dialect,
    analyze: refuse,
    judge: refuse,
    run: refuse,
    runOwn: refuse,
    expectOwn: () => undefined,
    stream: refuse,
    prove: async () => await Promise.resolve(),
    fault: () => undefined,
    load: () => ({ running: 0, waiting: 0 }),
    close: async () => await Promise.resolve(),
  }
}
