// Whether the files with the node's secrets are what they should be; nothing of them is told.

import { readFile } from 'node:fs/promises'
import { isTokenText } from '../access/token.ts'
import { DecodeError } from '../model/errors.ts'
import { nodeKeyFromJson } from '../proof/node-key.ts'

/** True for a file that holds a node key. */
export async function isWholeKey(path: string): Promise<boolean> {
  try {
    nodeKeyFromJson(await readFile(path))
    return true
  } catch (error) {
    if (error instanceof DecodeError) return false
    throw error
  }
}

/** True for a file that holds a token. */
export async function isWholeToken(path: string): Promise<boolean> {
  return isTokenText((await readFile(path, 'utf8')).trim())
}
