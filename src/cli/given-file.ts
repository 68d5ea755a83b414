// The bytes of a file that a command is given by name, and whether it is an archive.

import { open, readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'

/** `-` stands for stdin. */
export async function readGiven(file: string): Promise<Uint8Array> {
  return file === '-' ? await buffer(process.stdin) : await readFile(file)
}

/** Bundles are archives, and may be larger than memory. Nothing is read of a pipe, which gives its bytes once. */
export async function isTar(file: string): Promise<boolean> {
  if (file === '-' || !(await stat(file)).isFile()) return false
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(262), 0, 262, 0)
    return bytesRead === 262 && Buffer.from(buffer.subarray(257, 262)).toString('latin1') === 'ustar'
  } finally {
    await handle.close()
  }
}
