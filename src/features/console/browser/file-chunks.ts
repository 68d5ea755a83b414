// Files that may be larger than memory: one that a reader has chosen, in pieces, and one in the making, which the browser keeps.

import { bundleHeadBytes, isBundle } from '../../../libraries/evidence/bundle.ts'
import { isPack, packHeadBytes } from '../../../libraries/evidence/pack/files.ts'

/** Which archive a file is, by how it begins. */
export async function archiveKind(file: Blob): Promise<'bundle' | 'pack' | undefined> {
  const head = new Uint8Array(await file.slice(0, Math.max(bundleHeadBytes, packHeadBytes)).arrayBuffer())
  if (isPack(head)) return 'pack'
  return isBundle(head) ? 'bundle' : undefined
}

/** `onProgress` is told each share, 0 to 1. */
export async function* chunksOf(file: Blob, onProgress?: (share: number) => void): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  let doneBytes = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield next.value
    doneBytes += next.value.length
    onProgress?.(doneBytes / file.size)
  }
}

/** So many bytes are in memory before the browser is given them. */
const heldBytesMost = 8 * 1024 * 1024

/** A file that is written once, and then read. */
export class BlobShelf {
  readonly #parts: Blob[] = []
  #held: Uint8Array<ArrayBuffer>[] = []
  #heldBytes = 0

  readonly write = async (bytes: Uint8Array): Promise<void> => {
    this.#held.push(bytes.slice())
    this.#heldBytes += bytes.length
    if (this.#heldBytes < heldBytesMost) return
    this.#parts.push(new Blob(this.#held))
    this.#held = []
    this.#heldBytes = 0
  }

  readonly read = (): AsyncGenerator<Uint8Array> => chunksOf(this.blob())

  blob(): Blob {
    return new Blob([...this.#parts, ...this.#held], { type: 'application/zip' })
  }
}
