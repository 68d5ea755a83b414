// The bytes of a file that a command is given by name.

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'

/** `-` stands for stdin. */
export async function readGiven(file: string): Promise<Uint8Array> {
  return file === '-' ? await buffer(process.stdin) : await readFile(file)
}
