// The bytes of a file that a command is given by name, and whether it is an archive.

import { open, readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { isPack } from '../libraries/evidence/pack/files.ts'
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

/** Archives, which may be larger than memory, by how they begin. Nothing is read of a pipe, which gives its bytes once. */
export async function archiveKind(file: string): Promise<'tar' | 'pack' | undefined> {
  if (file === '-' || !(await stat(file)).isFile()) return undefined
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(262), 0, 262, 0)
    if (isPack(buffer.subarray(0, bytesRead))) return 'pack'
    return Buffer.from(buffer.subarray(257, bytesRead)).toString('latin1') === 'ustar' ? 'tar' : undefined
  } finally {
    await handle.close()
  }
}
