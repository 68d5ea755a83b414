// The bytes of a file that a command is given by name.

import { open, readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'

/** `-` stands for stdin. */
export async function readGiven(file: string): Promise<Uint8Array> {
  return file === '-' ? await buffer(process.stdin) : await readFile(file)
}

/** Whether the file is an archive, as bundles are, which may be larger than memory; never of stdin. */
export async function isTar(file: string): Promise<boolean> {
  if (file === '-') return false
  const handle = await open(file)
  try {
    const { bytesRead, buffer: bytes } = await handle.read(new Uint8Array(262), 0, 262, 0)
    return bytesRead === 262 && Buffer.from(bytes.subarray(257, 262)).toString('latin1') === 'ustar'
  } finally {
    await handle.close()
  }
}
