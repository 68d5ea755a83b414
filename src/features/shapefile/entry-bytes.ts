// A file of a zip read front to back, a few bytes at a time.

import { must } from '../../libraries/base/assert.ts'
import type { ZipEntry } from '../../libraries/formats/zip.ts'
import { malformed } from './faults.ts'

const noBytes = new Uint8Array(0)

export class EntryBytes {
  readonly name: string
  /** Size of the file. */
  readonly size: number
  /** Where the piece begins that `take` gave last, in `bytes`; valid until the next `fill`. */
  at = 0
  bytes: Uint8Array = noBytes
  #next = 0
  #taken = 0
  readonly #chunks: AsyncGenerator<Uint8Array>

  constructor(entry: ZipEntry) {
    this.name = entry.name
    this.size = entry.bytes
    this.#chunks = entry.read()
  }

  /** Bytes of the file that were taken so far. */
  get taken(): number {
    return this.#taken
  }

  /** Moves to the next `count` bytes; false when they must be fetched with `fill` first. */
  take(count: number): boolean {
    if (this.#next + count > this.bytes.length) return false
    this.at = this.#next
    this.#next += count
    this.#taken += count
    return true
  }

  /** Fetches until `count` bytes are at hand. Throws NodeError `MalformedBody` where the file ends before. */
  async fill(count: number): Promise<void> {
    const parts = [this.bytes.subarray(this.#next)]
    let have = this.bytes.length - this.#next
    while (have < count) {
      const { done, value } = await this.#chunks.next()
      if (done === true)
        throw malformed(this.name, `the file ends after ${this.#taken + have} bytes; more should follow.`)
      parts.push(value)
      have += value.length
    }
    this.bytes = parts.length === 2 && parts[0]?.length === 0 ? must(parts[1], 'a chunk') : Buffer.concat(parts, have)
    this.#next = 0
  }

  /** The next `count` bytes. Throws as `fill`. */
  async next(count: number): Promise<Uint8Array> {
    if (!this.take(count)) {
      await this.fill(count)
      this.take(count)
    }
    return this.bytes.subarray(this.at, this.at + count)
  }

  /** Passes over `count` bytes. Throws as `fill`. */
  async skip(count: number): Promise<void> {
    for (let rest = count; rest > 0;) {
      const step = Math.min(rest, 64 * 1024)
      await this.next(step)
      rest -= step
    }
  }

  /** Reads what is left, so that the checksum of the whole is judged. Throws NodeError `MalformedBody`. */
  async drain(): Promise<void> {
    for await (const _ of this.#chunks);
  }

  /** Frees what reading holds. Idempotent. */
  async close(): Promise<void> {
    await this.#chunks.return(undefined)
  }
}
