// `key show` asks a node for its keys. `key rotate` changes what is stored, without a node.

import type { JsonValue } from '../../index.ts'
import { openClient } from '../client.ts'
import type { CommandContext, StoredOptions } from '../context.ts'
import { exitCodes, note } from '../failure.ts'
import { itemsAt, memberAt, objectOf } from '../../libraries/base/json/members.ts'
import { printObject, printObjects } from '../output.ts'

/** The keys with which the node signs or once signed. */
export async function showKeys(context: CommandContext): Promise<number> {
  const client = await openClient(context)
  const document = (await client.call({ path: '/.well-known/did.json' })).json()
  const keys = itemsAt(document, 'verificationMethod').map((method): JsonValue =>
    objectOf({
      did: memberAt(method, 'controller') ?? memberAt(document, 'id'),
      type: memberAt(method, 'type'),
      publicKey: memberAt(method, 'publicKeyMultibase'),
      retired: memberAt(method, 'expires') ?? memberAt(method, 'revoked'),
      leaked: memberAt(method, 'revoked') === undefined ? undefined : true,
    }),
  )
  printObjects(context.form, ['did', 'type', 'publicKey', 'retired', 'leaked'], keys)
  return exitCodes.done
}

/**
 * Changes the key, and prints the new one and the former one. `leaked`: the former one counts as leaked. With the DID of a former
 * key nothing is changed, and since when that key counts as leaked is printed.
 */
export async function rotateKey(
  context: CommandContext,
  { leaked = false, config }: StoredOptions & { readonly leaked?: boolean | string },
): Promise<number> {
  const upkeep = await import('../../app/upkeep/rotate-key.ts')
  if (typeof leaked === 'string') {
    const { at, why } = await upkeep.markLeaked(config, leaked)
    printObject(context.form, objectOf({ did: leaked, retired: at, why }))
    note('this former key counts as leaked; the present key is unchanged')
    return exitCodes.done
  }
  const { did, former, retired } = await upkeep.rotateKey(config, { leaked })
  printObject(context.form, objectOf({ did, former, retired: retired.at, why: retired.why }))
  note('start the node again; with one key for several processes, all of them')
  note('the secret part of the former key is gone: backups of before still have it')
  return exitCodes.done
}
