// The key of a witness, and the store that it is bound to: with another store, or one that was put back, it could sign a second
// tree.

import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { generateNodeKey, type NodeKey, nodeKeyFromJson, nodeKeyToJson } from '../../libraries/proof/sign.ts'
import { createPrivate, readText } from '../../node/machine/disk/files.ts'
import { witnessKeyKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

/** The key in a file; made where there is none. Throws NodeError `InvalidParameter` where it is none of this store. */
export async function ensureWitnessKey(path: string, store: ObjectStore): Promise<NodeKey> {
  if ((await readText(path)) === undefined) {
    const made = generateNodeKey()
    // The store knows it before anybody has it: an interrupted start leaves a key that nobody has.
    await store.put(keyOf(made), utf8(made.did))
    await createPrivate(path, nodeKeyToJson(made))
  }
  const key = await readKey(path)
  if ((await store.get(keyOf(key))) !== undefined) return key
  throw new NodeError('InvalidParameter', `${path} holds the key of a witness with another store.`, {
    hint: 'A witness that is put back could sign two trees. Remove the file: this is a new witness then.',
  })
}

function keyOf({ publicKey }: NodeKey): string {
  return witnessKeyKey(toHex(publicKey))
}

async function readKey(path: string): Promise<NodeKey> {
  try {
    return nodeKeyFromJson((await readText(path)) ?? '')
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new NodeError('InvalidParameter', `${path} holds no key of a witness (${error.message}).`, {
      hint: 'Remove it: this is a new witness then, with another key.',
      cause: error,
    })
  }
}
