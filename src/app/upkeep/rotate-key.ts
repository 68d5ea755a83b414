// `key rotate`: the key that signs is changed for a new one, and the store says since when nobody signs with
// the old one. The store knows first, so that no interruption leaves a retired key in use: a node refuses to start with one.

import type { Config } from '../../node/config.ts'
import type { Opening } from '../../node/driver.ts'
import { readText, replacePrivate } from '../../node/machine/disk/files.ts'
import { createLogger } from '../../node/machine/ops/logger.ts'
import { closeAll, openStoreThatIs, placesOf } from '../open-storage.ts'
import { listSigners, putRetired, putSigner } from '../../node/store/signers.ts'
import { systemClock as clock, timeText } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Retired } from '../../libraries/proof/signer.ts'
import { generateNodeKey, nodeKeyFromJson, nodeKeyToJson } from '../../libraries/proof/sign.ts'
import { openForItself } from './repair.ts'

export interface RotatedKey {
  /** did:key of the key that signs from now on. */
  readonly did: string
  readonly former: string
  readonly retired: Retired
}

/**
 * Puts a new key in the place of the present one, whose secret part is gone for good. Durable when it resolves. A repeat
 * after an interruption goes on. Throws NodeErrors `ObjectNotFound` where there is no key or no store, `LogUnavailable`
 * while a node has the data directory; DecodeError for a file that holds no key.
 */
export async function rotateKey(config: Config, { leaked }: { readonly leaked: boolean }): Promise<RotatedKey> {
  const { nodeKey: path } = placesOf(config)
  const held = await readText(path)
  if (held === undefined) {
    throw new NodeError('ObjectNotFound', `There is no key in ${path}.`, {
      hint: 'Name the data directory with --data, or the file with --node-key.',
    })
  }
  const { did: former } = nodeKeyFromJson(held)
  const opening: Opening = { logger: createLogger(config.logLevel), onFailure: () => {}, opened: [] }
  try {
    const store = await openForItself(config, opening)
    await putSigner(store, former)
    const retired = await putRetired(store, former, { at: timeText(clock.nowMs()), why: leaked ? 'leaked' : 'rotated' })
    const next = generateNodeKey()
    await replacePrivate(path, nodeKeyToJson(next))
    return { did: next.did, former, retired }
  } finally {
    await closeAll(opening.opened)
  }
}

/**
 * Says of a former key that it leaked. Nodes may be running. Durable when it resolves. Throws NodeErrors `ObjectNotFound`
 * where no node has signed with it over this store, `InvalidParameter` for the present key.
 */
export async function markLeaked(config: Config, did: string): Promise<Retired> {
  const held = await readText(placesOf(config).nodeKey)
  if (held !== undefined && nodeKeyFromJson(held).did === did) {
    throw new NodeError('InvalidParameter', 'This is the key that signs now.', {
      hint: 'key rotate --leaked, without a DID',
    })
  }
  const store = await openStoreThatIs(config, 'write')
  try {
    if ((await listSigners(store)).some((signer) => signer.did === did)) {
      return await putRetired(store, did, { at: timeText(clock.nowMs()), why: 'leaked' })
    }
    throw new NodeError('ObjectNotFound', `No node over this store has signed as ${did}.`, {
      hint: 'key show lists the keys.',
    })
  } finally {
    await store.close()
  }
}
