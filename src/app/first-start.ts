// What a first start leaves in the data directory: the node's key and the first admin token. Each start goes through
// here and makes what is missing, so that a first start that was interrupted anywhere is finished by the next one.

import { dirname } from 'node:path'
import { isTokenText, makeTokenText } from '../node/access/token.ts'
import type { TokenRegistry } from '../node/access/tokens.ts'
import { createPrivate, readText, removePrivate, replacePrivate } from '../node/machine/disk/files.ts'
import { must } from '../libraries/base/assert.ts'
import type { Logger } from '../libraries/base/logger.ts'
import { DecodeError, NodeError } from '../libraries/base/errors.ts'
import { generateNodeKey, type NodeKey, nodeKeyFromJson, nodeKeyToJson } from '../libraries/proof/sign.ts'

/** The node's key; made where there is none. Throws NodeError `InvalidParameter` for a file that holds anything else than a key. */
export async function ensureNodeKey(path: string): Promise<NodeKey> {
  const held = await readText(path)
  if (held !== undefined) return readKey(path, held)
  await createPrivate(path, nodeKeyToJson(generateNodeKey())).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new NodeError('InvalidParameter', `The node key cannot be made: there is no directory ${dirname(path)}.`, {
      hint: 'Make the directory, or name another file with --node-key.',
      cause: error,
    })
  })
  return readKey(path, must(await readText(path), 'the key that was written is there'))
}

function readKey(path: string, text: string): NodeKey {
  try {
    return nodeKeyFromJson(text)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new NodeError('InvalidParameter', `${path} holds no node key (${error.message}).`, {
      hint: 'Put the file back from a backup. With a new key (the file removed) earlier proofs name another signer.',
      cause: error,
    })
  }
}

/**
 * The first admin token, made once and written for curl and the local command line. Its text is durable under
 * `<path>.new` before the store knows it, and gets its name after that: so no admin token is ever without its text. Who
 * puts a text there before a start chooses the token: processes without a lasting directory share one so. An
 * empty file is made again: its bytes never reached the disk. A damaged one is for a person to judge.
 */
export async function ensureAdminToken(tokens: TokenRegistry, path: string, logger: Logger): Promise<void> {
  const held = await readText(path)
  const begun = `${path}.new`
  if (held !== undefined && !isEmpty(held)) {
    if (!isTokenText(held.trim())) {
      logger.warn({ path }, 'the token file is damaged; where it is removed, the next start makes a new admin token')
    }
    if ((await readText(begun)) !== undefined) await removePrivate(begun)
    return
  }
  if (held !== undefined) logger.warn({ path }, 'the token file is empty; a new admin token is made')
  const found = (await readText(begun))?.trim()
  const text = found !== undefined && isTokenText(found) ? found : makeTokenText()
  // Written again when it was found: it may not have been durable.
  await replacePrivate(begun, `${text}\n`)
  if (!(await tokens.knows(text))) await tokens.create({ name: 'admin', scopes: ['admin'] }, text)
  await replacePrivate(path, `${text}\n`)
  await removePrivate(begun)
}

/** True also for zeros: what a file system may leave of a file whose bytes never reached the disk. */
function isEmpty(text: string): boolean {
  return text.replaceAll('\0', '').trim() === ''
}
