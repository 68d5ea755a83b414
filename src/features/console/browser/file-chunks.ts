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

/** A file that is written once, and then read. The browser has its bytes, and may keep them on disk. */
export class BlobShelf {
  readonly #parts: Blob[] = []

  readonly write = async (bytes: Uint8Array): Promise<void> => {
    this.#parts.push(new Blob([new Uint8Array(bytes)]))
  }

  readonly read = (): AsyncGenerator<Uint8Array> => chunksOf(this.blob())

  blob(): Blob {
    return new Blob(this.#parts, { type: 'application/zip' })
  }
}
