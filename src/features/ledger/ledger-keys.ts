// The ledger key of each dataset: 32 random bytes beside it in the store, from which the salts of its entries come. The
// keeper that asks first makes it.

import { must } from '../../libraries/base/assert.ts'
import { toHex } from '../../libraries/base/bytes.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { blockTag, datasetTag, entryBytes, noRoot } from '../../libraries/ledger/entry.ts'
import { allSecrets, blockSalt, datasetSaltOf, SecretWalk } from '../../libraries/ledger/secrets.ts'
import { ledgerKeyKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

const keyBytes = 32

/** Makes entries of one dataset. */
export interface Tagger {
  /** The dataset's tag in hex. */
  readonly tag: string
  entryOf(sequence: number, hash: Hash): Uint8Array
}

export class LedgerKeys {
  readonly #store: ObjectStore
  readonly #known = new Map<DatasetId, Tagger>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Its key is durable when this resolves. Throws HaltError `ChainBroken` for a key that is damaged. */
  async of(id: DatasetId): Promise<Tagger> {
    if (!this.#known.has(id)) await this.#store.put(ledgerKeyKey(id), randomBytes(keyBytes))
    return must(await this.held(id), 'a ledger key that was put is there')
  }

  /** Undefined where it has none. Throws as `of`. */
  async held(id: DatasetId): Promise<Tagger | undefined> {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const key = await this.#store.get(ledgerKeyKey(id))
    if (key === undefined) return undefined
    if (key.length !== keyBytes) throw new HaltError('ChainBroken', `${ledgerKeyKey(id)} is no ledger key`)
    const tag = datasetTag(datasetSaltOf(key), id)
    const secrets = new SecretWalk(allSecrets(key))
    const made = { tag: toHex(tag), entryOf: entryMaker(tag, secrets) }
    this.#known.set(id, made)
    return made
  }
}

function entryMaker(tag: Uint8Array, secrets: SecretWalk): Tagger['entryOf'] {
  return (sequence, hash) => {
    const salt = blockSalt(must(secrets.secretOf(sequence), 'the ledger key gives every secret'))
    return entryBytes({
      kind: 'block',
      datasetTag: tag,
      sequence,
      blockTag: blockTag(salt, hash),
      batchRoot: noRoot,
      rowRoot: noRoot,
    })
  }
}
