// A bundle, read once from its first byte to its last: each file must be the one that the manifest names next, with the
// header that a writer gives it and the bytes of its hash; chains must hold by their rules and end at the blocks of the
// proof; nothing may be missing, come twice or be left over. It hands each part to its caller as it comes.

import { hashText } from '../../base/ids/identifiers.ts'
import { createSha3256 } from '../../base/ids/native-crypto.ts'
import { must } from '../../base/assert.ts'
import { concatBytes, equalBytes } from '../../base/bytes.ts'
import { sameValue } from '../../base/compare.ts'
import type { MetadataBlock } from '../../model/events.ts'
import type { SignedAnswer } from '../signed-answer.ts'
import { ChainWalk } from './chain-walk.ts'
import { decodeEngineFile, type EngineFile, engineBytesMost, plainDialect } from './engine-file.ts'
import {
  blockBytesMost,
  bundleBytes,
  type BundleFile,
  bundleFiles,
  BundleFault,
  decodeManifest,
  ledgerProofBytesMost,
  manifestBytesMost,
  manifestPath,
  type Manifest,
} from './manifest.ts'
import { answerBytesMost } from '../proof-body.ts'
import { ByteSource, readTarHeader, tarEnd, tarHeader, tarPadding } from './tar.ts'

/** The blocks that a proof names, by dataset. */
export type Pins = ReadonlyMap<string, ReadonlySet<string>>

/** What a proof asks of its bundle. */
export interface Asked {
  readonly pins: Pins
  readonly dialect: string
}

/** Throws BundleFault for an answer that names a dataset without its block. */
export function askedOf({ datasets, dialect = plainDialect }: Pick<SignedAnswer, 'datasets' | 'dialect'>): Asked {
  const pins = new Map<string, Set<string>>()
  for (const { id, alias = id, blockHash } of datasets) {
    if (blockHash === undefined) {
      throw new BundleFault(
        'impossible',
        `The proof does not say up to which block it is of ${alias}: it cannot be run again.`,
      )
    }
    pins.set(id, (pins.get(id) ?? new Set()).add(blockHash))
  }
  return { pins, dialect }
}

export interface BundleTaker {
  /** The proof, as it was saved; says what it asks for. What it throws ends the reading. */
  proof(bytes: Uint8Array, contents: BundleSizes): Promise<Asked>
  /** The proof that a ledger has a pinned block: bytes that nothing here has checked. */
  ledgerProof(id: string, block: string, bytes: Uint8Array): void
  /** A block that follows the one before it. */
  block(id: string, hash: string, block: MetadataBlock): void
  /** A piece of a slice; what was taken is to be used only when the bundle was read to its end. */
  slice(path: string, piece: Uint8Array): Promise<void>
}

export interface BundleSizes {
  readonly blocks: number
  readonly slices: number
  /** Of the whole file. */
  readonly bytes: number
}

/** What a bundle holds. */
export interface BundleContents extends BundleSizes {
  readonly rows: number
  /** A hint. */
  readonly engine: EngineFile
}

/** Reads `chunks` to their end. Throws BundleFault, and what `taker` throws. */
export async function readBundle(chunks: AsyncIterable<Uint8Array>, taker: BundleTaker): Promise<BundleContents> {
  const source = new ByteSource(chunks)
  const { manifest, manifestBytes } = await readManifest(source)
  const reader = new Reader(source, bundleFiles(manifest))
  const sizes = {
    blocks: manifest.datasets.reduce((sum, { blocks }) => sum + blocks.length, 0),
    slices: manifest.datasets.reduce((sum, { slices }) => sum + slices.length, 0),
    bytes: bundleBytes(manifest, manifestBytes),
  }
  const asked = await taker.proof(await reader.whole(answerBytesMost), sizes)
  const { pins } = asked
  comparePins(manifest, pins)
  const engine = await readBesides(reader, manifest, { asked, taker })
  let rows = 0
  for (const dataset of manifest.datasets) rows += await readChain(reader, dataset, { pins, taker })
  await readEnd(source)
  return { ...sizes, rows, engine }
}

async function readManifest(
  source: ByteSource,
): Promise<{ readonly manifest: Manifest; readonly manifestBytes: number }> {
  const header = await source.header()
  const said = header && readTarHeader(header)
  if (header === undefined || said?.path !== manifestPath) {
    throw new BundleFault('noBundle', `It is no bundle: it does not begin with ${manifestPath} in a tar archive.`)
  }
  const { sizeBytes } = said
  if (sizeBytes > manifestBytesMost) {
    throw new BundleFault('impossible', `Its manifest has ${sizeBytes} bytes; ${manifestBytesMost} are read.`)
  }
  checkHeader(header, { path: manifestPath, sizeBytes })
  const bytes = await source.take(sizeBytes)
  if (bytes.length < sizeBytes) throw endsBefore(manifestPath)
  const manifest = decodeManifest(bytes)
  await readPadding(source, { path: manifestPath, sizeBytes })
  return { manifest, manifestBytes: sizeBytes }
}

/** The files after the manifest, one after the other. */
class Reader {
  readonly #source: ByteSource
  readonly #files: Iterator<BundleFile, undefined>

  constructor(source: ByteSource, files: Iterator<BundleFile, undefined>) {
    this.#source = source
    this.#files = files
  }

  /** The next file, in pieces that `take` is handed. */
  async next(take: (piece: Uint8Array, path: string) => Promise<void> | void): Promise<void> {
    const { value } = this.#files.next()
    const file: BundleFile = must(value, 'as many files are read as the manifest names')
    const { path, hash, sizeBytes } = file
    const header = await this.#source.header()
    if (header === undefined) throw endsBefore(path)
    checkHeader(header, file)
    const digest = createSha3256()
    let found = 0
    for await (const piece of this.#source.pieces(sizeBytes)) {
      digest.update(piece)
      found += piece.length
      await take(piece, path)
    }
    if (found < sizeBytes) throw endsBefore(path)
    const actual = hashText(digest.digest())
    if (actual !== hash) throw new BundleFault('failed', `The bytes of ${path} hash to ${actual}, not to ${hash}.`)
    await readPadding(this.#source, file)
  }

  /** The next file, which has at most `bytesMost`. */
  async whole(bytesMost: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    await this.next((piece, path) => {
      bytes += piece.length
      if (bytes > bytesMost) throw new BundleFault('impossible', `${path} has more than ${bytesMost} bytes.`)
      pieces.push(piece)
    })
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : concatBytes(pieces)
  }
}

function comparePins({ datasets }: Manifest, pins: Pins): void {
  const missing = [...pins.keys()].find((id) => !datasets.some((dataset) => dataset.id === id))
  if (missing !== undefined)
    throw new BundleFault('failed', `The proof names the dataset ${missing}, which is not here.`)
  const extra = datasets.find(({ id }) => !pins.has(id))
  if (extra !== undefined)
    throw new BundleFault('failed', `It holds the dataset ${extra.id}, which the proof does not name.`)
}

/** Reads what stands between the proof and the datasets; resolves with what is said of the engine. */
async function readBesides(
  reader: Reader,
  manifest: Manifest,
  { asked: { pins, dialect }, taker }: { readonly asked: Asked; readonly taker: BundleTaker },
): Promise<EngineFile> {
  const engine = decodeEngineFile(await reader.whole(engineBytesMost), dialect)
  for (const { id, block } of manifest.ledger) {
    if (pins.get(id)?.has(block) !== true) {
      throw new BundleFault(
        'failed',
        `It has a ledger proof of block ${block} of ${id}, which the proof does not name.`,
      )
    }
    taker.ledgerProof(id, block, await reader.whole(ledgerProofBytesMost))
  }
  return engine
}

/** Reads the blocks and slices of a dataset; resolves with how many rows it has. */
async function readChain(
  reader: Reader,
  { id, blocks, slices }: Manifest['datasets'][number],
  { pins, taker }: { readonly pins: Pins; readonly taker: BundleTaker },
): Promise<number> {
  const walk = new ChainWalk(id)
  const unseen = new Set(pins.get(id))
  for (const [hash] of blocks) {
    if (unseen.size === 0) throw new BundleFault('failed', `It holds blocks of ${id} after those that the proof names.`)
    taker.block(id, hash, walk.next(hash, await reader.whole(blockBytesMost)))
    unseen.delete(hash)
  }
  const [lost] = unseen
  if (lost !== undefined) {
    throw new BundleFault('failed', `The proof names block ${lost} of ${id}, which is not in the chain that is here.`)
  }
  const named = walk.slices
  const wrong = named.findIndex((slice, at) => !sameValue(slice, slices[at]))
  if (wrong >= 0) {
    throw new BundleFault(
      'failed',
      `Slice ${wrong} of ${id} is not ${named[wrong]?.join(' with ')} bytes, as its block says.`,
    )
  }
  if (slices.length > named.length) {
    throw new BundleFault('failed', `It holds ${slices.length} slices of ${id}; its blocks name ${named.length}.`)
  }
  for (const _ of slices) await reader.next(async (piece, path) => await taker.slice(path, piece))
  return walk.rows
}

function checkHeader(header: Uint8Array, { path, sizeBytes }: Pick<BundleFile, 'path' | 'sizeBytes'>): void {
  if (equalBytes(header, tarHeader(path, sizeBytes))) return
  const said = readTarHeader(header)
  if (said === undefined) throw new BundleFault('failed', `Where ${path} must come stands no file.`)
  if (said.path !== path) {
    throw new BundleFault('failed', `Where ${path} must come stands ${JSON.stringify(said.path.slice(0, 300))}.`)
  }
  const why = said.sizeBytes === sizeBytes ? 'the header of a bundle' : `${sizeBytes} bytes, as the manifest says`
  throw new BundleFault('failed', `${path} has not ${why}.`)
}

async function readPadding(
  source: ByteSource,
  { path, sizeBytes }: Pick<BundleFile, 'path' | 'sizeBytes'>,
): Promise<void> {
  const zeros = tarPadding(sizeBytes)
  if (!equalBytes(await source.take(zeros.length), zeros)) {
    throw new BundleFault('failed', `Behind ${path} stand not the zeros of a tar archive.`)
  }
}

async function readEnd(source: ByteSource): Promise<void> {
  const end = tarEnd(source.taken)
  if (equalBytes(await source.take(end.length + 1), end)) return
  throw new BundleFault('failed', 'It does not end where its last file does: bytes are missing there, or too many.')
}

function endsBefore(path: string): BundleFault {
  return new BundleFault('failed', `It ends before ${path} does.`)
}
