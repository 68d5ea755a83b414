// The composition root of `verify --bundle`: checks all that a bundle holds, and runs its question again over its slices as
// a node does: same gate, same engine in a child process, same comparison. No node, no network; nothing is written but
// slices into a temporary directory of its own, which is gone at the end.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BundleFault } from '../libraries/proof/bundle/manifest.ts'
import {
  type Asked,
  askedOf,
  type BundleContents,
  type BundleSizes,
  readBundle,
} from '../libraries/proof/bundle/read-bundle.ts'
import { DatasetChain } from '../node/catalog/dataset-chain.ts'
import { Objects } from '../node/catalog/objects.ts'
import type { NameRecord } from '../libraries/odf/chain/records.ts'
import { freeSpaceOf } from '../node/machine/disk/files.ts'
import { Engines } from '../node/engine/engines.ts'
import { type DatasetId, hashText } from '../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../libraries/base/ids/native-crypto.ts'
import { parseJson } from '../libraries/base/json/json.ts'
import { must } from '../libraries/base/assert.ts'
import { systemClock as clock } from '../libraries/base/clock.ts'
import type { Limits } from '../libraries/base/limits.ts'
import { silentLogger as logger } from '../libraries/base/logger.ts'
import { errorTable } from '../libraries/base/error-table.ts'
import { DecodeError, NodeError } from '../libraries/base/errors.ts'
import type { MetadataBlock } from '../libraries/model/events.ts'
import type { JsonValue } from '../libraries/base/json/value.ts'
import { type ReadProof, readProof } from '../libraries/proof/read-proof.ts'
import type { Chains } from '../node/answers/pin.ts'
import { Files } from '../node/files/files.ts'
import { type Rerun, type RerunDeps, runAgain } from '../node/answers/verify.ts'
import { openReadOnlyDirectoryStore } from '../node/store/directory/directory-store.ts'
import { dataPaths } from '../node/store/layout.ts'
import { SliceFiles } from '../node/files/slice-files.ts'
import { type BlockVerdict, judgeBlockProof } from '../libraries/ledger/judge-proof.ts'
import type { Policy } from '../libraries/ledger/policy.ts'
import { type OfflineVerdict, verifyOffline } from '../libraries/proof/verify.ts'

export interface BundleOptions {
  /** Of the engine and of what is answered. */
  readonly limits: Limits
  /** Directory of a node to which engines may have been added. */
  readonly dataDir?: string
  /** did:key that must have signed. */
  readonly signer?: string
  /** Which ledgers and witnesses count. */
  readonly policy?: Policy
  /** Told of the bytes that were read. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void
}

/** What was found out about a bundle. */
export type BundleVerdict =
  /** Its proof is wrong, or none: the rest was not looked at. */
  | { readonly outcome: 'proof'; readonly verdict: OfflineVerdict & { readonly ok: false } }
  /** The file is no bundle, or does not hold what it must. */
  | { readonly outcome: 'bundle'; readonly fault: BundleFault }
  /** Proof and bundle are good. `failure`: why the rows did not come out of the blocks, or could not be run. */
  | {
      readonly outcome: 'run'
      readonly verdict: OfflineVerdict & { readonly ok: true }
      readonly contents: BundleContents
      /** Of the pinned blocks, those that have a proof. Without a policy each is `altered` or `impossible`. */
      readonly ledger: readonly BlockVerdict[]
      readonly rerun: Rerun | undefined
      readonly failure: { readonly error: NodeError; readonly status: number } | undefined
    }

/** As deep as saved answers of deployed nodes nest. */
const maxDepth = 128
const chunkBytes = 1024 * 1024

/**
 * Checks the bundle in `file`, and runs its question again. Throws NodeError `StorageFull` where there is no room to
 * unpack it, and what the file system throws.
 */
export async function verifyBundle(file: string, options: BundleOptions): Promise<BundleVerdict> {
  // At once, so that no signal comes between the directory and what removes it.
  const dir = mkdtempSync(join(tmpdir(), 'proofstream-bundle-'))
  const remove = (): void => rmSync(dir, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    return await verifyIn(dir, file, options)
  } finally {
    process.off('exit', remove)
    await rm(dir, { recursive: true, force: true })
  }
}

/** The proof of the bundle is not good. */
class BadProof extends DecodeError {
  readonly verdict: OfflineVerdict & { readonly ok: false }

  constructor(verdict: OfflineVerdict & { readonly ok: false }) {
    super('proof', verdict.message)
    this.verdict = verdict
  }
}

async function verifyIn(dir: string, file: string, options: BundleOptions): Promise<BundleVerdict> {
  const unpacking = new Unpacking(dir, options)
  let contents: BundleContents
  try {
    contents = await readBundle(unpacking.chunksOf(file), unpacking)
  } catch (error) {
    if (error instanceof BadProof) return { outcome: 'proof', verdict: error.verdict }
    if (error instanceof BundleFault) return { outcome: 'bundle', fault: error }
    throw error
  } finally {
    await unpacking.close()
  }
  const { chains, ledger } = unpacking
  const { verdict, bytes } = must(unpacking.proofRead, 'a bundle has a proof')
  const engines = openOwnEngines(dir, options)
  try {
    await engines.current.prove()
    const proof = readProof(withoutOutput(parseJson(bytes, { maxDepth })), options.limits.sqlBytes)
    const rerun = await rerunOver({ dir, chains, engines, limits: options.limits }, proof)
    return { outcome: 'run', verdict, contents, ledger, rerun, failure: undefined }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const failure = { error, status: errorTable[error.kind].status }
    return { outcome: 'run', verdict, contents, ledger, rerun: undefined, failure }
  } finally {
    await engines.close()
  }
}

/** What comes out of a bundle while it is read: its proof, its chains, and slices as files. */
class Unpacking {
  readonly chains = new Map<DatasetId, DatasetChain>()
  readonly ledger: BlockVerdict[] = []
  proofRead: { readonly verdict: OfflineVerdict & { readonly ok: true }; readonly bytes: Uint8Array } | undefined
  readonly #dir: string
  readonly #options: BundleOptions
  #totalBytes = 0
  #open: { readonly path: string; readonly handle: FileHandle } | undefined

  constructor(dir: string, options: BundleOptions) {
    this.#dir = dir
    this.#options = options
  }

  async *chunksOf(file: string): AsyncGenerator<Uint8Array> {
    let doneBytes = 0
    const stream: AsyncIterable<Uint8Array> = createReadStream(file, { highWaterMark: chunkBytes })
    for await (const chunk of stream) {
      doneBytes += chunk.length
      if (this.#totalBytes > 0) this.#options.onProgress?.(doneBytes, this.#totalBytes)
      yield chunk
    }
  }

  async proof(bytes: Uint8Array, sizes: BundleSizes): Promise<Asked> {
    const { signer } = this.#options
    const verdict = verifyOffline(bytes, signer === undefined ? {} : { signer })
    if (!verdict.ok) throw new BadProof(verdict)
    this.proofRead = { verdict, bytes }
    this.#totalBytes = sizes.bytes
    const free = freeSpaceOf(await statfs(this.#dir)).bytes
    if (free < sizes.bytes) {
      throw new NodeError('StorageFull', `The bundle has ${sizes.bytes} bytes; ${tmpdir()} has room for ${free}.`, {
        hint: 'Name a directory with more room: TMPDIR=…',
      })
    }
    return askedOf(verdict.answer)
  }

  ledgerProof(dataset: DatasetId, block: string, bytes: Uint8Array): void {
    this.ledger.push(judgeBlockProof(bytes, { dataset, block }, this.#options.policy))
  }

  block(id: DatasetId, hash: string, block: MetadataBlock): void {
    const chain = this.chains.get(id) ?? new DatasetChain(nameOf(id))
    this.chains.set(id, chain)
    try {
      chain.apply(hash, block)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new BundleFault('failed', `Block ${hash} of ${id} cannot be read: ${error.message}.`)
    }
  }

  async slice(path: string, piece: Uint8Array): Promise<void> {
    if (this.#open?.path !== path) {
      await this.close()
      const target = join(this.#dir, path)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      this.#open = { path, handle: await open(target, 'wx', 0o600) }
    }
    await this.#open.handle.writeFile(piece)
  }

  async close(): Promise<void> {
    await this.#open?.handle.close()
    this.#open = undefined
  }
}

/** Chains have no names here: a proof names datasets by their ids. */
function nameOf(id: DatasetId): NameRecord {
  return { id, alias: id, log: '', partition: 0, visibility: 'private' }
}

/** The saved answer without its rows, whose hash was checked. */
function withoutOutput(saved: JsonValue): JsonValue {
  if (!(saved instanceof Map)) return saved
  return new Map([...saved].filter(([name]) => name !== 'output'))
}

/** Engines for one question, whose processes may read `dir` alone. */
function openOwnEngines(dir: string, { limits, dataDir }: BundleOptions): Engines {
  return new Engines({
    enginesDir: dataDir === undefined ? undefined : dataPaths(dataDir).engines,
    cores: availableParallelism(),
    processes: 1,
    exportSlots: 1,
    exportMs: limits.exportMs,
    exportBytes: limits.exportBytes,
    queryMs: limits.queryMs,
    memoryBytes: limits.queryMemoryBytes,
    resultBytes: limits.resultBytes,
    queueLimit: 1,
    callerSharePercent: 100,
    isOpen: () => true,
    dataRoots: [dir],
    logger,
    clock,
  })
}

interface Unpacked {
  readonly dir: string
  readonly chains: ReadonlyMap<DatasetId, DatasetChain>
  readonly engines: Engines
  readonly limits: Limits
}

async function rerunOver({ dir, chains, engines, limits }: Unpacked, proof: ReadProof): Promise<Rerun> {
  const store = await openReadOnlyDirectoryStore(dir)
  const objects = new Objects(store)
  const slices = new SliceFiles({ store, dir: join(dir, 'cache'), mostBytes: limits.sliceFileBytes, clock })
  const deps: RerunDeps = {
    catalog: chainsOf(chains),
    files: new Files({ objects, slices, limits }),
    engine: engines.current,
    engines,
    objects,
    limits,
  }
  const hashOf = async (output: readonly Uint8Array[]): Promise<string> => {
    const digest = createSha3256()
    for (const part of output) digest.update(part)
    return hashText(digest.digest())
  }
  const caller = {
    key: ['bundle'],
    mayRead: () => true,
    signal: new AbortController().signal,
    room: { take: () => {} },
  }
  try {
    return await runAgain(deps, { proof, hashOf }, caller)
  } finally {
    await slices.close()
    await store.close()
  }
}

/** The chains of a bundle as a catalog: by id, which is how a proof names them. */
function chainsOf(chains: ReadonlyMap<DatasetId, DatasetChain>): Chains {
  const byId = (id: DatasetId): NameRecord | undefined => chains.get(id)?.name
  return {
    nameOf: async () => undefined,
    nameOfId: async (id) => byId(id),
    heldName: byId,
    names: async () => [...chains.values()].map(({ name }) => name),
    renamed: async () => undefined,
    chainOf: async ({ id }) => must(chains.get(id), 'names are those of chains'),
    refresh: async () => {},
  }
}
