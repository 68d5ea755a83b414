// A file that a reader has chosen, in pieces: it may be larger than memory.

import { bundleHeadBytes, isBundle } from '../../../libraries/evidence/bundle.ts'

export async function beginsAsBundle(file: Blob): Promise<boolean> {
  return isBundle(new Uint8Array(await file.slice(0, bundleHeadBytes).arrayBuffer()))
}

/** `onProgress` is told each share, 0 to 1. */
export async function* chunksOf(file: Blob, onProgress: (share: number) => void): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  let doneBytes = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield next.value
    doneBytes += next.value.length
    onProgress(doneBytes / file.size)
  }
}
