// The ledger of a node that is followed, as anybody may read it: each read is bounded in bytes and time, without a token and
// without redirects. Nothing that it gives is trusted.

import { boundedPieces, BodyTooLong } from '../../libraries/base/bounded-body.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { TileSource } from '../../libraries/ledger/tile-reader.ts'

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

export class FollowedLedger implements TileSource {
  readonly #address: string
  readonly #stop: AbortSignal

  constructor(address: string, stop: AbortSignal) {
    this.#address = address.replace(/\/+$/, '')
    this.#stop = stop
  }

  /** Undefined for 404. Throws NotChecked. */
  async read(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    const signal = AbortSignal.any([this.#stop, AbortSignal.timeout(answerMs)])
    try {
      const answer = await fetch(`${this.#address}/${name}`, { redirect: 'error', signal })
      if (answer.status !== 200) await answer.body?.cancel()
      if (answer.status === 404) return undefined
      if (answer.status !== 200) throw new NotChecked(`${name} was answered with ${answer.status}`)
      const pieces: Uint8Array[] = []
      for await (const piece of boundedPieces(answer.body, mostBytes)) pieces.push(piece)
      return concatBytes(pieces)
    } catch (error) {
      if (error instanceof NotChecked) throw error
      const reason = error instanceof BodyTooLong ? `is longer than ${mostBytes} bytes` : 'cannot be read'
      throw new NotChecked(`${name} ${reason}`, { cause: error })
    }
  }

  lacks(name: string): NotChecked {
    return new NotChecked(`${name} is not there`)
  }

  altered(reason: string): NotChecked {
    return new NotChecked(reason)
  }
}
