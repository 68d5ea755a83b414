// A zip that is written front to back: files are deflated in pieces, and their sizes stand behind them. Neither a file nor the zip
// has 4 GiB: not all programs read those. Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

import { constants, crc32, deflateRawSync } from 'node:zlib'
import { tooLarge } from '../../libraries/columnar/outputs/file-format.ts'

const mostBytes = 0xffff_ffff
/** What a piece may repeat of those before it. */
const windowBytes = 32 * 1024
/** Version 2.0, sizes behind, deflated, 1 January 1980. */
const facts = [20, 8, 8, 0, 33]

export class ZipWriter {
  readonly #files: { readonly name: string; readonly at: number; readonly sizes: number[] }[] = []
  #window: Uint8Array = new Uint8Array(0)
  #sum = 0
  #bytes = 0
  #packedBytes = 0
  #at = 0

  /** Begins a file. */
  begin(name: string): Uint8Array {
    this.#files.push({ name, at: this.#at, sizes: [] })
    this.#window = new Uint8Array(0)
    this.#sum = this.#bytes = this.#packedBytes = 0
    return this.#counted([words(...long(0x0403_4b50), ...facts, 0, 0, 0, 0, 0, 0, name.length, 0), Buffer.from(name)])
  }

  /** The next bytes of the file. Throws NodeError `ResultTooLarge`. */
  add(bytes: Uint8Array): Uint8Array {
    this.#sum = crc32(bytes, this.#sum)
    this.#bytes += bytes.length
    const packed = deflateRawSync(bytes, { level: 1, dictionary: this.#window, finishFlush: constants.Z_SYNC_FLUSH })
    this.#window = Buffer.concat([this.#window, bytes.subarray(-windowBytes)]).subarray(-windowBytes)
    this.#packedBytes += packed.length
    return this.#counted([packed])
  }

  /** The end of the file. */
  finish(): Uint8Array {
    const last = deflateRawSync(new Uint8Array(0))
    const sizes = [...long(this.#sum), ...long(this.#packedBytes + last.length), ...long(this.#bytes)]
    this.#files.at(-1)?.sizes.push(...sizes)
    return this.#counted([last, words(...long(0x0807_4b50), ...sizes)])
  }

  /** The end of the zip. */
  end(): Uint8Array {
    const [start, count] = [this.#at, this.#files.length]
    const list = this.#files.flatMap(({ name, at, sizes }) => [
      words(...long(0x0201_4b50), 20, ...facts, ...sizes, name.length, 0, 0, 0, 0, 0, 0, ...long(at)),
      Buffer.from(name),
    ])
    const bytes = this.#counted(list)
    const end = words(...long(0x0605_4b50), 0, 0, count, count, ...long(bytes.length), ...long(start), 0)
    return Buffer.concat([bytes, end])
  }

  #counted(parts: readonly Uint8Array[]): Uint8Array {
    const bytes = Buffer.concat(parts)
    this.#at += bytes.length
    if (this.#at <= mostBytes && this.#bytes <= mostBytes) return bytes
    throw tooLarge('The workbook has more than 4 GiB.')
  }
}

/** Numbers of two bytes, the low one first. */
function words(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value & 0xff, value >> 8]))
}

function long(value: number): readonly [low: number, high: number] {
  return [value & 0xffff, value >>> 16]
}
