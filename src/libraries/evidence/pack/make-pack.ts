// An evidence pack in the making: files come in any order and leave in that of the pack, behind the page that they make. The same
// files make the same bytes.

import { toHex } from '../../base/bytes.ts'
import { crc32 } from '../../base/crc32.ts'
import { createSha2, sha256 } from '../../base/ids/native-crypto.ts'
import type { Line } from '../report.ts'
import { answerFacts, Order, pagePath } from './files.ts'
import { type PackedFile, packPage } from './page.ts'
import { factsOf } from './read-pack.ts'
import { type ZipFile, zipEnd, zipHeader } from './zip.ts'

/** Takes bytes; resolves when it has room for more. */
export type Write = (bytes: Uint8Array) => Promise<void>

/** Where a file waits that may be larger than memory. */
export interface Shelf {
  readonly write: Write
  readonly read: () => AsyncIterable<Uint8Array>
}

/** `bytes` of what is held, or `facts` of what waits on a shelf. */
interface MadeFile extends ZipFile {
  readonly sha256: string
  readonly read: Shelf['read']
  readonly bytes?: Uint8Array
  readonly facts?: readonly Line[]
}

export class PackMaker {
  readonly #files: MadeFile[] = []

  add(name: string, bytes: Uint8Array): void {
    const read = async function* (): AsyncGenerator<Uint8Array> {
      yield bytes
    }
    this.#files.push({ ...sumsOf(bytes), name, read, bytes })
  }

  /** Of a file that was added. */
  bytesOf(name: string): Uint8Array | undefined {
    return this.#files.find((file) => file.name === name)?.bytes
  }

  /** Adds the bundle of a proof, which `make` writes. */
  async addBundle(
    name: string,
    {
      proof,
      shelf,
      make,
    }: { readonly proof: Uint8Array; readonly shelf: Shelf; readonly make: (write: Write) => Promise<void> },
  ): Promise<void> {
    const hash = createSha2('sha256')
    let [sum, sizeBytes] = [0, 0]
    await make(async (bytes) => {
      hash.update(bytes)
      sum = crc32(bytes, sum)
      sizeBytes += bytes.length
      await shelf.write(bytes)
    })
    const sums = { sizeBytes, crc32: sum, sha256: toHex(hash.digest()) }
    this.#files.push({ ...sums, name, read: shelf.read, facts: answerFacts(proof) })
  }

  /** Writes the pack. Throws PackFault where the files make none. */
  async write(write: Write): Promise<void> {
    const files = this.#files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const bytes = packPage(toldFiles(files))
    const page = { name: pagePath, ...sumsOf(bytes) }
    const end = zipEnd([page, ...files])
    await write(zipHeader(page))
    await write(bytes)
    for (const file of files) {
      await write(zipHeader(file))
      for await (const piece of file.read()) await write(piece)
    }
    await write(end)
  }
}

/** With what the page tells of them. Throws PackFault. */
function toldFiles(files: readonly MadeFile[]): PackedFile[] {
  const order = new Order()
  const told = files.map(({ name: path, sizeBytes, sha256, bytes, facts: known }) => {
    const placed = order.next(path)
    const facts = bytes === undefined ? known : factsOf(placed, path, bytes)
    return { path, sizeBytes, sha256, ...(facts !== undefined && { facts }) }
  })
  order.end()
  return told
}

function sumsOf(bytes: Uint8Array): Pick<MadeFile, 'sizeBytes' | 'crc32' | 'sha256'> {
  return { sizeBytes: bytes.length, crc32: crc32(bytes), sha256: toHex(sha256(bytes)) }
}
