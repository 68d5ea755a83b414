// Stored objects, verbatim or decoded: blocks, slices, checkpoints. Their bytes are their identity; nothing is re-encoded.
// They are hashed before they are served or queried for the first time: what another process wrote, or a disk has kept
// for long, is taken only as what its block says it is.

import { defined } from '../../libraries/base/collections.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import { type Hash, normalHash } from '../../libraries/base/ids/identifiers.ts'
import { toPlain } from '../../libraries/base/json/json.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import type { MetadataBlock } from '../../libraries/model/events.ts'
import { eventToJson } from '../../libraries/odf/odf-json.ts'
import { blockKey, checkpointKey, dataKey, packableOf } from '../store/layout.ts'
import { loadBlock, readPieces } from '../store/load-block.ts'
import { readDeletion } from '../store/names.ts'
import { hasFiles, type ObjectStore, stampOf } from '../store/object-store.ts'
import { type ChainSource, mended } from './chain-source.ts'
import type { DatasetChain, DatasetView } from './dataset-chain.ts'

const keyOf = { blocks: blockKey, data: dataKey, checkpoints: checkpointKey } as const
export type ObjectKind = keyof typeof keyOf
const wordOf = { blocks: 'block', data: 'slice', checkpoints: 'checkpoint' } as const

const pieceBytes = 1024 * 1024
/** Slices that are read at once. */
const parallelChecks = 16

/** A stored object, and the words for it in a sentence: `slice f1620… of acme/lab`. */
export interface StoredObject {
  readonly key: string
  readonly hash: Hash
  readonly sizeBytes: number
  readonly words: string
}

/** Numbers `[from, to)` of slices of a chain. */
interface SliceRun {
  readonly from: number
  readonly to: number
}

export class Objects {
  readonly #store: ObjectStore
  readonly #source: ChainSource | undefined
  /** Checks begun, by key, each of a file as it was then; those that failed are made again. */
  readonly #checks = new Map<string, { readonly stamp: string | undefined; readonly done: Promise<StoredObject> }>()

  /** With a `source`, what is missing or damaged is fetched from there before it counts as that. */
  constructor(store: ObjectStore, source?: ChainSource) {
    this.#store = store
    this.#source = source
  }

  /**
   * A stored object of the dataset `name` by its hash in any form. The chain is asked where it decides: slices and
   * checkpoints that are there can be fetched from a dataset whose chain is broken. Throws NodeError
   * `InvalidParameter`, `BlockNotFound`, `ObjectNotFound`; HaltError `ChainBroken` when a block of the chain names an
   * object that is not there, and as `chainOf` does.
   */
  async find(
    { id, alias }: NameRecord,
    asked: { readonly kind: ObjectKind; readonly text: string; readonly chainOf: () => Promise<DatasetChain> },
  ): Promise<StoredObject> {
    const { kind, text, chainOf } = asked
    const hash = hashOf(text)
    const key = keyOf[kind](id, hash)
    const sizeBytes = await this.#store.size(key)
    const words = `${wordOf[kind]} ${hash} of ${alias}`
    if (sizeBytes !== undefined && kind !== 'blocks') return { hash, sizeBytes, key, words }
    // A block that was stored but not committed is none of the chain.
    const isOfChain = isNamed(await chainOf(), kind, hash)
    if (isOfChain && sizeBytes !== undefined) return { hash, sizeBytes, key, words }
    // Checkpoints that came in packs the chain does not know.
    if (isOfChain || kind === 'checkpoints') {
      const fetched = (await this.#fetchAnew(key)) ? await this.#store.size(key) : undefined
      if (fetched !== undefined) return { hash, sizeBytes: fetched, key, words }
    }
    if (isOfChain) throw new HaltError('ChainBroken', `${words} is missing`)
    throw new NodeError(
      kind === 'blocks' ? 'BlockNotFound' : 'ObjectNotFound',
      `'${alias}' has no ${kind === 'blocks' ? 'block' : 'object'} ${hash}.`,
    )
  }

  /** Bytes [start, end) of an object found by `find`. */
  async read(key: string, start: number, end: number): Promise<Uint8Array> {
    const bytes = await this.#store.getRange(key, start, end)
    if (bytes === undefined) throw new NodeError('ObjectNotFound', 'The object is gone.')
    return bytes
  }

  /**
   * The object as it lies there, which has the bytes that its hash names; each is read once, and again where its file was
   * written to. Throws HaltError `ChainBroken` where it has others.
   */
  async check(object: StoredObject): Promise<StoredObject> {
    const { key } = object
    const stamp = await stampOf(this.#store, key)
    const held = this.#checks.get(key)
    if (held !== undefined && held.stamp === stamp) return await held.done
    const check = { stamp, done: this.#checked(object) }
    this.#checks.set(key, check)
    check.done.catch(() => {
      if (this.#checks.get(key) === check) this.#checks.delete(key)
    })
    return await check.done
  }

  async #checked(object: StoredObject): Promise<StoredObject> {
    let now = object
    const read = async (): Promise<StoredObject> => {
      await readPieces(this.#store, now, { pieceBytes })
      return now
    }
    return await mended(read, async () => {
      if (!(await this.#fetchAnew(object.key))) return false
      now = { ...object, sizeBytes: (await this.#store.size(object.key)) ?? 0 }
      return true
    })
  }

  /** The block with this hash. Throws HaltError `ChainBroken` when it is missing or damaged. */
  async block(name: NameRecord, hash: Hash): Promise<MetadataBlock> {
    const key = blockKey(name.id, hash)
    return await mended(
      () => loadBlock(this.#store, name, hash),
      () => this.#fetchAnew(key),
    )
  }

  /** False where nothing has it but this store. */
  async #fetchAnew(key: string): Promise<boolean> {
    const asked = packableOf(key)
    return asked !== undefined && (await this.#source?.object(asked)) === true
  }

  /**
   * Checks the slices of `view`, or those of `run`. Those of a store elsewhere are checked when they become files
   * (`node/files/slice-files.ts`). Throws HaltError `ChainBroken`; NodeError `DatasetDeleted` where they are being removed.
   */
  async checkSlices(view: DatasetView, run: SliceRun = { from: 0, to: view.slices.length }): Promise<void> {
    if (!hasFiles(this.#store)) return
    const { id, alias, slices } = view
    for (let at = run.from; at < run.to; at += parallelChecks) {
      const group = slices.slice(at, Math.min(at + parallelChecks, run.to))
      const checks = await Promise.allSettled(
        group.map(({ hash, sizeBytes }) =>
          this.check({ key: dataKey(id, hash), hash, sizeBytes, words: `slice ${hash} of ${alias}` }),
        ),
      )
      const failed = checks.find((check) => check.status === 'rejected')
      if (failed === undefined) continue
      await this.#demandThere(view)
      throw failed.reason
    }
  }

  /** What `read` gives of slices of `views`, once more where what it had met is mended. Throws as `read` and `blame`. */
  async reading<T>(views: readonly DatasetView[], read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      await this.blame(error, views)
      return await read()
    }
  }

  /**
   * After `error` of a query over `views`: throws HaltError `ChainBroken` when the engine itself failed and a slice is
   * no longer what it was, NodeError `DatasetDeleted` where a dataset was deleted meanwhile, `error` as it is where it is no
   * fault of the node. Resolves where all slices are whole by now, those that were damaged fetched anew, and what had been
   * copied of them dropped: the same can be tried again.
   */
  async blame(error: unknown, views: readonly DatasetView[]): Promise<void> {
    const isFault = error instanceof NodeError ? error.kind === 'Internal' : error instanceof HaltError
    if (!isFault) throw error
    for (const view of views) await this.#demandThere(view)
    for (const { id, slices } of views) for (const { hash } of slices) this.#checks.delete(dataKey(id, hash))
    for (const view of views) await this.checkSlices(view)
  }

  async #demandThere({ id, alias }: DatasetView): Promise<void> {
    const deletion = await readDeletion(this.#store, id)
    if (deletion === undefined) return
    throw new NodeError('DatasetDeleted', `The dataset '${alias}' was deleted at ${deletion.at}, while it was read.`, {
      hint: 'Do not use what was read of it so far.',
      extra: { deleted_at: deletion.at },
    })
  }
}

/** True when a block of the chain names the object. */
function isNamed(chain: DatasetChain, kind: ObjectKind, hash: Hash): boolean {
  return kind === 'blocks' ? chain.sequenceOf(hash) !== undefined : chain.names(wordOf[kind], hash)
}

/** The normal form of a hash in any multibase. Throws NodeError `InvalidParameter`. */
export function hashOf(text: string): Hash {
  try {
    return normalHash(text)
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError('InvalidParameter', `'${text.slice(0, 120)}' is not a sha3-256 multihash.`, {
      hint: 'Hashes read f1620 and 64 hex digits; multibase F, u and z are taken too.',
      cause,
    })
  }
}

/** A block in the JSON form of ODF, with its hash. */
export interface DecodedBlock {
  readonly hash: Hash
  readonly sequence: number
  readonly prevBlockHash?: Hash
  readonly systemTime: string
  /** `{kind, …}` */
  readonly event: unknown
}

export interface BlockPage {
  /** Newest first. */
  readonly blocks: readonly DecodedBlock[]
  /** Hash to go on from; absent on the last page. */
  readonly next?: Hash
}

/** At most `limit` blocks that precede block `before` (default: the newest ones). Throws NodeError `BlockNotFound`. */
export async function blockPage(
  objects: Objects,
  chain: DatasetChain,
  page: { readonly limit: number; readonly before: Hash | undefined },
): Promise<BlockPage> {
  const end = page.before === undefined ? chain.headSequence + 1 : chain.sequenceOf(page.before)
  if (end === undefined) throw new NodeError('BlockNotFound', `'${chain.name.alias}' has no block ${page.before}.`)
  const hashes = chain.blocks
    .slice(Math.max(0, end - page.limit), end)
    .map((block) => block.hash)
    .reverse()
  const blocks = await Promise.all(hashes.map((hash) => decodedBlock(objects, chain.name, hash)))
  const last = hashes.at(-1)
  return { blocks, ...(last === undefined || end <= page.limit ? {} : { next: last }) }
}

/** The block of the dataset with this hash. Throws HaltError `ChainBroken` when it is missing or damaged. */
export async function decodedBlock(objects: Objects, name: NameRecord, hash: Hash): Promise<DecodedBlock> {
  const block = await objects.block(name, hash)
  return {
    hash,
    sequence: Number(block.sequenceNumber),
    ...defined({ prevBlockHash: block.prevBlockHash }),
    systemTime: block.systemTime,
    event: toPlain(eventToJson(block.event), { largeIntegers: 'bigint' }),
  }
}
