// The container of a bundle: POSIX ustar, uncompressed, of regular files alone, without anything of the machine that wrote
// it (owner, time, order of a directory): the same files give the same bytes. Source: POSIX.1-2017, pax, "ustar
// Interchange Format", https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html

import { concatBytes, utf8 } from '../../base/bytes.ts'
import { DecodeError } from '../../base/errors.ts'

const blockBytes = 512
/** An archive ends on a multiple of this, as tar writes it. */
const recordBytes = 20 * blockBytes
/** Eleven octal digits. */
export const fileBytesMost = 8 ** 11 - 1
const nameBytesMost = 100
const prefixBytesMost = 155

/**
 * The 512 bytes before a file: mode 0644, owner 0, time 0. A long path is parted at its last slash. Throws DecodeError for a
 * path or a size that the form cannot hold.
 */
export function tarHeader(path: string, sizeBytes: number): Uint8Array {
  const slash = path.length > nameBytesMost ? path.lastIndexOf('/') : -1
  const [prefix, name] = [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)]
  if (!/^[!-~]+$/.test(path) || name.length > nameBytesMost || prefix.length > prefixBytesMost) {
    throw new DecodeError('tar', `the path ${path.slice(0, 200)} does not fit`)
  }
  if (sizeBytes > fileBytesMost) throw new DecodeError('tar', `${path} has more than 8 GiB`)
  const header = new Uint8Array(blockBytes)
  const put = (at: number, text: string): void => header.set(utf8(text), at)
  put(0, name)
  put(100, '0000644\0' + '0000000\0'.repeat(2))
  put(124, `${sizeBytes.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`)
  // The checksum counts its own eight bytes as spaces.
  put(148, '        0')
  put(257, 'ustar\x0000')
  put(329, '0000000\0'.repeat(2))
  put(345, prefix)
  const sum = header.reduce((total, byte) => total + byte, 0)
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  return header
}

/** What a header says, for sentences about one that should not be there; undefined for bytes that are no header. */
export function readTarHeader(header: Uint8Array): { readonly path: string; readonly sizeBytes: number } | undefined {
  const field = (from: number, length: number): string => {
    const bytes = header.subarray(from, from + length)
    const end = bytes.indexOf(0)
    return String.fromCharCode(...(end < 0 ? bytes : bytes.subarray(0, end)))
  }
  const sizeText = field(124, 12).trim()
  if (header.length !== blockBytes || field(257, 5) !== 'ustar' || !/^[0-7]{1,11}$/.test(sizeText)) return undefined
  const prefix = field(345, prefixBytesMost)
  return { path: `${prefix}${prefix === '' ? '' : '/'}${field(0, nameBytesMost)}`, sizeBytes: parseInt(sizeText, 8) }
}

/** Zeros between the end of a file and the next header. */
export function tarPadding(sizeBytes: number): Uint8Array {
  return new Uint8Array((blockBytes - (sizeBytes % blockBytes)) % blockBytes)
}

/** What stands after the last file, where `bytes` came before. */
export function tarEnd(bytes: number): Uint8Array {
  const end = 2 * blockBytes
  return new Uint8Array(end + ((recordBytes - ((bytes + end) % recordBytes)) % recordBytes))
}

/** Bytes of an archive of files of these sizes. */
export function tarBytes(sizes: readonly number[]): number {
  const bytes = sizes.reduce((sum, size) => sum + blockBytes + size + tarPadding(size).length, 0)
  return bytes + tarEnd(bytes).length
}

/** Bytes that come in chunks of any length, taken in the lengths that are wanted. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()
  #taken = 0

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Bytes taken so far. */
  get taken(): number {
    return this.#taken
  }

  /** The next `length` bytes in pieces as they came; fewer where the source ends. */
  async *pieces(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#more())) return
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      this.#taken += piece.length
      yield piece
    }
  }

  /** The next `length` bytes; fewer where the source ends. */
  async take(length: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.pieces(length)) pieces.push(piece)
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : concatBytes(pieces)
  }

  /** The next header; undefined where the source ends before it does. */
  async header(): Promise<Uint8Array | undefined> {
    const header = await this.take(blockBytes)
    return header.length === blockBytes ? header : undefined
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next()
    if (next.done === true) return false
    this.#rest = next.value
    return true
  }
}
