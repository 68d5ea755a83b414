// The ledger of a node that is followed, as anybody may read it: each read is bounded in bytes and time, without a token and
// without redirects. Nothing that it gives is trusted.

import type { Clock } from '../../libraries/base/clock.ts'
import { boundedFetch } from '../../libraries/base/bounded-fetch.ts'
import type { LedgerSource } from '../../libraries/ledger/audit.ts'

const answerMs = 10_000

/** Why entries cannot be checked now. It shows nothing against the ledger. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked'
}

/** What `work` gives; undefined where that takes longer, or the node stops. The work goes on. */
export async function inTime<T>(
  work: Promise<T>,
  { clock, signal, ms }: { readonly clock: Clock; readonly signal: AbortSignal; readonly ms: number },
): Promise<T | undefined> {
  const over = new AbortController()
  const late = clock.sleep(ms, AbortSignal.any([signal, over.signal])).then(() => undefined)
  return await Promise.race([work, late]).finally(() => over.abort())
}

export class FollowedLedger implements LedgerSource {
  readonly #address: string
  readonly #stop: AbortSignal

  constructor(address: string, stop: AbortSignal) {
    this.#address = address.replace(/\/+$/, '')
    this.#stop = stop
  }

  /** Undefined for 404. Throws NotChecked. */
  async read(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    const how = { signal: this.#stop, mostMs: answerMs, mostBytes }
    const { status, bytes } = await boundedFetch(`${this.#address}/${name}`, how).catch((cause: unknown) => {
      throw new NotChecked(`${name} cannot be read`, { cause })
    })
    if (status === 404) return undefined
    if (status !== 200) throw new NotChecked(`${name} was answered with ${status}`)
    if (typeof bytes === 'string') throw new NotChecked(`${name} is too long, or broke off`)
    return bytes
  }

  lacks(name: string): NotChecked {
    return new NotChecked(`${name} is not there`)
  }

  newer(): NotChecked {
    return new NotChecked('the ledger has entries of a kind that is not known here')
  }

  altered(reason: string): NotChecked {
    return new NotChecked(reason)
  }
}
