// A bundle made: first every block is fetched and the chains are walked, so that what the bundle will hold is known before a
// byte of it is written; then its files, in order, the slices while they come. The same proof gives the same bytes.

import { hashText, sha3Hash } from '../../base/ids/identifiers.ts'
import { createSha3256 } from '../../base/ids/native-crypto.ts'
import { concatBytes } from '../../base/bytes.ts'
import { ChainWalk } from './chain-walk.ts'
import { encodeEngineFile, type EngineFile } from './engine-file.ts'
import {
  blockBytesMost,
  bundleBytes,
  BundleFault,
  encodeManifest,
  enginePath,
  type Entry,
  ledgerPath,
  type Manifest,
  manifestPath,
  objectPath,
  objectsMost,
  proofPath,
} from './manifest.ts'
import type { Asked, BundleContents, Pins } from './read-bundle.ts'
import { tarEnd, tarHeader, tarPadding } from './tar.ts'

/** Takes bytes; resolves when it has room for more. */
type Take = (bytes: Uint8Array) => Promise<void>

/** Where objects come from. */
export interface BundleSource {
  /** Hashes of the blocks of a chain, from its first to the last of `pins`. */
  chain(id: string, pins: ReadonlySet<string>): Promise<readonly string[]>
  /** Hands the bytes of an object to `take`, in order. */
  object(
    of: { readonly id: string; readonly kind: 'blocks' | 'data'; readonly hash: string },
    take: Take,
  ): Promise<void>
  /** The proof that a ledger has a block. A bundle of a source with this has one of each pinned block. */
  readonly ledgerProof?: (id: string, block: string) => Promise<Uint8Array>
}

/** A bundle that can be written. */
export interface BundlePlan {
  readonly contents: BundleContents
  readonly manifest: Manifest
  readonly proof: Uint8Array
  readonly engine: Uint8Array
  /** In the order of the manifest. */
  readonly ledger: readonly Uint8Array[]
  /** By hash. */
  readonly blocks: ReadonlyMap<string, Uint8Array>
}

/** What a bundle is made for. */
interface Wanted extends Pick<Asked, 'pins'> {
  readonly proof: Uint8Array
  /** What its dialect needs. */
  readonly engine: EngineFile
}

interface FetchedProof {
  readonly id: string
  readonly block: string
  readonly bytes: Uint8Array
}

/** Objects that are fetched at once. */
const parallel = 8
/** Slices up to this size are fetched ahead. */
const aheadBytes = 1024 * 1024
/** Blocks are held in memory until they are written. */
const heldBytesMost = 512 * 1024 * 1024

/**
 * Fetches the blocks up to those that a proof names. Throws BundleFault for a chain that does not hold by its rules or is too
 * long, and what `source` throws.
 */
export async function planBundle(
  { proof, pins, engine: engineFile }: Wanted,
  { source, onBlock }: { readonly source: BundleSource; readonly onBlock: (done: number, of: number) => void },
): Promise<BundlePlan> {
  const engine = encodeEngineFile(engineFile)
  const ledger = await fetchLedgerProofs(pins, source)
  const blocks = new Map<string, Uint8Array>()
  const datasets: Manifest['datasets'][number][] = []
  let [rows, heldBytes, slices] = [0, 0, 0]
  for (const id of [...pins.keys()].sort()) {
    const hashes = await source.chain(id, pins.get(id) ?? new Set())
    if (hashes.length + blocks.size > objectsMost) throw tooMany(hashes.length)
    const walk = new ChainWalk(id)
    const entries: Entry[] = []
    for await (const { item: hash, result: bytes } of inOrder(
      hashes,
      async (hash) => await wholeBlock(source, id, hash),
    )) {
      walk.next(hash, bytes)
      entries.push([hash, bytes.length])
      blocks.set(hash, bytes)
      heldBytes += bytes.length
      if (heldBytes > heldBytesMost) throw tooMany(hashes.length)
      onBlock(entries.length, hashes.length)
    }
    datasets.push({ id, blocks: entries, slices: walk.slices })
    rows += walk.rows
    slices += walk.slices.length
  }
  const manifest: Manifest = {
    kind: 'proofstream-bundle',
    version: 1,
    proof: entryOf(proof),
    engine: entryOf(engine),
    ledger: ledger.map(({ id, block, bytes }) => ({ id, block, proof: entryOf(bytes) })),
    datasets,
  }
  const bytes = bundleBytes(manifest, encodeManifest(manifest).length)
  const contents = { blocks: blocks.size, slices, rows, bytes, engine: engineFile }
  return { contents, manifest, proof, engine, ledger: ledger.map(({ bytes }) => bytes), blocks }
}

function entryOf(bytes: Uint8Array): Entry {
  return [sha3Hash(bytes), bytes.length]
}

/** What a source has of the ledger about the pinned blocks, by id, then block. */
async function fetchLedgerProofs(pins: Pins, { ledgerProof }: BundleSource): Promise<FetchedProof[]> {
  const found: FetchedProof[] = []
  if (ledgerProof === undefined) return found
  for (const id of [...pins.keys()].sort()) {
    for (const block of [...(pins.get(id) ?? [])].sort()) {
      found.push({ id, block, bytes: await ledgerProof(id, block) })
    }
  }
  return found
}

/** Writes the files of a plan. Throws BundleFault for a slice that is not what its block says, and what `source` and `write` throw. */
export async function writeBundle(
  { manifest, proof, engine, ledger, blocks }: BundlePlan,
  source: BundleSource,
  write: Take,
): Promise<void> {
  let written = 0
  const writeOn = async (...parts: readonly Uint8Array[]): Promise<void> => {
    const bytes = concatBytes(parts)
    written += bytes.length
    await write(bytes)
  }
  const file = async (path: string, bytes: Uint8Array): Promise<void> =>
    await writeOn(tarHeader(path, bytes.length), bytes, tarPadding(bytes.length))
  await file(manifestPath, encodeManifest(manifest))
  await file(proofPath, proof)
  await file(enginePath, engine)
  for (const [at, { id, block }] of manifest.ledger.entries())
    await file(ledgerPath(id, block), ledger[at] ?? new Uint8Array())
  for (const { id, blocks: entries, slices } of manifest.datasets) {
    for (const [hash] of entries) await file(objectPath(id, 'blocks', hash), blocks.get(hash) ?? new Uint8Array())
    const ahead = async ([hash, sizeBytes]: Entry): Promise<Uint8Array | undefined> =>
      sizeBytes <= aheadBytes ? await wholeSlice(source, id, [hash, sizeBytes]) : undefined
    for await (const { item, result: bytes } of inOrder(slices, ahead)) {
      const [hash, sizeBytes] = item
      const path = objectPath(id, 'data', hash)
      if (bytes !== undefined) {
        await file(path, bytes)
        continue
      }
      await writeOn(tarHeader(path, sizeBytes))
      await copySlice(source, { id, entry: item, take: writeOn })
      await writeOn(tarPadding(sizeBytes))
    }
  }
  await writeOn(tarEnd(written))
}

async function wholeBlock(source: BundleSource, id: string, hash: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  await source.object({ id, kind: 'blocks', hash }, async (piece) => {
    bytes += piece.length
    if (bytes > blockBytesMost)
      throw new BundleFault('failed', `Block ${hash} of ${id} has more than ${blockBytesMost} bytes.`)
    pieces.push(piece)
  })
  return concatBytes(pieces)
}

async function wholeSlice(source: BundleSource, id: string, entry: Entry): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  await copySlice(source, { id, entry, take: async (piece) => void pieces.push(piece) })
  return concatBytes(pieces)
}

/** Hands a slice on while it comes, never more of it than its block says. */
async function copySlice(
  source: BundleSource,
  { id, entry: [hash, sizeBytes], take }: { readonly id: string; readonly entry: Entry; readonly take: Take },
): Promise<void> {
  const digest = createSha3256()
  let bytes = 0
  await source.object({ id, kind: 'data', hash }, async (piece) => {
    bytes += piece.length
    if (bytes > sizeBytes)
      throw new BundleFault('failed', `Slice ${hash} of ${id} came with more than ${sizeBytes} bytes.`)
    digest.update(piece)
    await take(piece)
  })
  if (bytes !== sizeBytes)
    throw new BundleFault('failed', `Slice ${hash} of ${id} came with ${bytes} bytes, not ${sizeBytes}.`)
  if (hashText(digest.digest()) !== hash)
    throw new BundleFault('failed', `The bytes of slice ${hash} of ${id} have another hash.`)
}

/** What `work` makes of each item, in order; some are at work ahead of the one that is wanted. */
async function* inOrder<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): AsyncGenerator<{ readonly item: T; readonly result: R }> {
  const ahead: { readonly item: T; readonly result: Promise<R> }[] = []
  for (let at = 0; at < items.length || ahead.length > 0;) {
    for (; at < items.length && ahead.length < parallel; at++) {
      const item = items[at] as T // below its length
      const result = work(item)
      result.catch(() => {})
      ahead.push({ item, result })
    }
    const first = ahead.shift()
    if (first !== undefined) yield { item: first.item, result: await first.result }
  }
}

function tooMany(blocks: number): BundleFault {
  return new BundleFault('impossible', `A chain has ${blocks} blocks: more than a bundle holds.`)
}
