// The bytes of a file that a command is given by name, and whether it is an archive.

import { open, readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { CommandFailure, exitCodes } from './failure.ts'

/** `-` stands for stdin. */
export async function readGiven(file: string): Promise<Uint8Array> {
  return file === '-' ? await buffer(process.stdin) : await readNamed(file)
}

/** Throws CommandFailure (usage) for a directory, of which the system does not say the name. */
export async function readNamed(file: string): Promise<Uint8Array> {
  return await readFile(file).catch((cause: unknown) => {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EISDIR')) throw cause
    throw new CommandFailure(exitCodes.usage, `${file} is a directory, not a file.`, { cause })
  })
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
