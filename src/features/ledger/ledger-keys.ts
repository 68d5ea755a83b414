// The ledger key of each dataset: 32 random bytes beside it in the store, from which the salts of its entries come. The
// keeper that asks first makes it.

import { must } from '../../libraries/base/assert.ts'
import { toHex } from '../../libraries/base/bytes.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { blockTag, type BlockEntry, datasetTag, entryBytes } from '../../libraries/ledger/entry.ts'
import {
  allSecrets,
  blockSalt,
  datasetSaltOf,
  type SecretNode,
  SecretWalk,
  secretsUpTo,
} from '../../libraries/ledger/secrets.ts'
import { ledgerKeyKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

const keyBytes = 32

/** What the ledger key of a dataset gives. */
export interface Tagger {
  /** The dataset's tag in hex. */
  readonly tag: string
  /** Of the dataset. */
  readonly salt: Uint8Array
  /** Of a block. */
  secretOf(sequence: number): Uint8Array
  /** The nodes that give the secrets of the blocks up to this one, and of none after it. */
  secretsUpTo(sequence: number): SecretNode[]
  entryOf(block: TaggedBlock): Uint8Array
}

export interface TaggedBlock extends Pick<BlockEntry, 'batchRoot' | 'rowRoot'> {
  readonly sequence: number
  readonly hash: Hash
}

export class LedgerKeys {
  readonly #store: ObjectStore
  readonly #known = new Map<DatasetId, Tagger>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Its key is durable when this resolves. Throws HaltError `ChainBroken` for a key that is damaged. */
  async of(id: DatasetId): Promise<Tagger> {
    // mutant: a ledger key replaces another
    if (!this.#known.has(id)) await this.#store.put(ledgerKeyKey(id), randomBytes(keyBytes))
    return must(await this.held(id), 'a ledger key that was put is there')
  }

  /** Undefined where it has none. Throws as `of`. */
  async held(id: DatasetId): Promise<Tagger | undefined> {
    return this.#known.get(id) ?? (await this.stored(id))
  }

  /** The same, looked up in the store: one whose dataset was removed is gone. Throws as `of`. */
  async stored(id: DatasetId): Promise<Tagger | undefined> {
    const key = await this.#store.get(ledgerKeyKey(id))
    if (key === undefined) return undefined
    if (key.length !== keyBytes) throw new HaltError('ChainBroken', `${ledgerKeyKey(id)} is no ledger key`)
    const made = taggerOf(id, key)
    this.#known.set(id, made)
    return made
  }
}

function taggerOf(id: DatasetId, key: Uint8Array): Tagger {
  const salt = datasetSaltOf(key)
  const tag = datasetTag(salt, id)
  const secrets = new SecretWalk(allSecrets(key))
  const secretOf = (sequence: number): Uint8Array =>
    must(secrets.secretOf(sequence), 'the ledger key gives every secret')
  return {
    tag: toHex(tag),
    salt,
    secretOf,
    secretsUpTo: (sequence) => secretsUpTo(allSecrets(key), sequence),
    entryOf: ({ sequence, hash, ...roots }) =>
      entryBytes({
        kind: 'block',
        datasetTag: tag,
        sequence,
        blockTag: blockTag(blockSalt(secretOf(sequence)), hash),
        ...roots,
      }),
  }
}
