// Who asks: access keys, kept while they are good and renewed before they end. Where they come from is `key-sources.ts`.

import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Credentials } from './sign.ts'

/** Credentials, and until when they may be used without asking again, in milliseconds since 1970; absent for always. */
export interface KeptCredentials extends Credentials {
  readonly expiresMs?: number
}

/** They are renewed so long before they end, and an attempt that failed is repeated after so long. */
const renewBeforeMs = 5 * 60_000
const retryMs = 10_000

export class CredentialSource {
  readonly #ask: () => Promise<KeptCredentials>
  readonly #clock: Clock
  readonly #logger: Logger
  #kept: KeptCredentials | undefined
  #asking: Promise<KeptCredentials> | undefined
  #askedMs = Number.NEGATIVE_INFINITY

  constructor(
    ask: () => Promise<KeptCredentials>,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#ask = ask
    this.#clock = clock
    this.#logger = logger
  }

  /** Credentials that are good now. Throws NodeError `StoreUnavailable` where there are none. */
  async current(): Promise<Credentials> {
    const [kept, nowMs] = [this.#kept, this.#clock.nowMs()]
    const { expiresMs = Number.POSITIVE_INFINITY } = kept ?? {}
    if (kept === undefined || nowMs >= expiresMs) return this.#renew()
    if (nowMs < expiresMs - renewBeforeMs || nowMs < this.#askedMs + retryMs) return kept
    return this.#renew().catch((error: unknown) => {
      this.#logger.warn({ err: error }, 'credentials of the store could not be renewed yet; those in use still hold')
      return kept
    })
  }

  /** Asks again after the store refused `used`; true when there are others now. Throws as `current`. */
  async renewed(used: Credentials): Promise<boolean> {
    const isAsking = this.#asking !== undefined || this.#clock.nowMs() >= this.#askedMs + retryMs
    const now = isAsking ? await this.#renew() : this.#kept
    return now !== undefined && now.secretAccessKey !== used.secretAccessKey
  }

  /** Callers that come meanwhile share one answer. */
  #renew(): Promise<KeptCredentials> {
    if (this.#asking !== undefined) return this.#asking
    this.#askedMs = this.#clock.nowMs()
    const asking = this.#ask().finally(() => {
      this.#asking = undefined
    })
    this.#asking = asking.then((credentials) => {
      this.#kept = credentials
      return credentials
    })
    return this.#asking
  }
}
