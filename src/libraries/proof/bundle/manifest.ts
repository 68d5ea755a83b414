// What a bundle holds and in which order: the manifest, the proof, the engine that it needs, proofs of a ledger, and of each
// dataset the blocks up to the pinned one and the slices that they name (docs/spec/bundle.md). The manifest says all of it,
// so that a reader knows what must come next.

import { datasetIdPattern, hashPattern } from '../../base/ids/identifiers.ts'
import { parseJson } from '../../base/json/json.ts'
import { checked, list, map, natural, object, oneOf, recordCodec, refuse, text, tuple } from '../../base/json/shape.ts'
import { DecodeError } from '../../base/errors.ts'
import { JsonNumber } from '../../base/json/value.ts'
import { fileBytesMost, tarBytes } from './tar.ts'

/** Why a bundle cannot be used; its message is a sentence. */
export class BundleFault extends DecodeError {
  override readonly name: string = 'BundleFault'
  /** `noBundle`: these bytes are none; `impossible`: of a kind that is not read here; `failed`: not what it must hold. */
  readonly outcome: 'noBundle' | 'impossible' | 'failed'
  readonly sentence: string

  constructor(outcome: BundleFault['outcome'], sentence: string) {
    super('bundle', sentence)
    this.outcome = outcome
    this.sentence = sentence
  }
}

/** An object by its sha3-256 multihash, and its size in bytes. */
export type Entry = readonly [hash: string, sizeBytes: number]

export interface Manifest {
  readonly kind: 'proofstream-bundle'
  readonly version: 1
  readonly proof: Entry
  /** Of `engine.json`. */
  readonly engine: Entry
  /** Proofs that a ledger has pinned blocks: by id, then block, each block at most once. */
  readonly ledger: readonly { readonly id: string; readonly block: string; readonly proof: Entry }[]
  /** By id. */
  readonly datasets: readonly {
    readonly id: string
    /** From the first block of the chain to the pinned one. */
    readonly blocks: readonly Entry[]
    /** In the order of the blocks that name them, each once. */
    readonly slices: readonly Entry[]
  }[]
}

export const manifestPath = 'manifest.json'
export const proofPath = 'proof.json'
export const enginePath = 'engine.json'
/** 128 bytes and more for each of so many objects. */
export const objectsMost = 500_000
export const manifestBytesMost = 64 * 1024 * 1024
/** No reader takes a longer one. */
export const ledgerProofBytesMost = 256 * 1024
/** Blocks hold no rows; those of nodes have some hundred bytes. */
export const blockBytesMost = 16 * 1024 * 1024

const sizeBytes = checked(natural, (size) => (size > fileBytesMost ? 'is not less than 8 GiB' : undefined))
const entry = tuple(text(hashPattern), sizeBytes)

const codec = recordCodec<Manifest>(
  'manifest',
  object({
    kind: oneOf('proofstream-bundle'),
    version: map(natural, (version) => (version === 1 ? (1 as const) : refuse('is not 1'))),
    proof: entry,
    datasets: checked(
      list(object({ id: text(datasetIdPattern), blocks: list(entry, { least: 1 }), slices: list(entry) })),
      (datasets) => orderFault(datasets.map(({ id }) => id)),
    ),
    engine: entry,
    ledger: checked(
      list(object({ id: text(datasetIdPattern), block: text(hashPattern), proof: entry })),
      // No id is the beginning of another.
      (ledger) => orderFault(ledger.map(({ id, block }) => `${id} ${block}`)),
    ),
  }),
)

function orderFault(ids: readonly string[]): string | undefined {
  return ids.every((id, at) => at === 0 || (ids[at - 1] ?? '') < id) ? undefined : 'are not in the order of their ids'
}

/** In canonical JSON. Throws BundleFault for more objects than a bundle may hold. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const bytes = codec.encode(manifest)
  const objects = objectsOf(manifest)
  if (objects > objectsMost || bytes.length > manifestBytesMost) {
    throw new BundleFault(
      'impossible',
      `It would hold ${objects} blocks and slices; a bundle holds at most ${objectsMost}.`,
    )
  }
  return bytes
}

function objectsOf({ datasets }: Manifest): number {
  return datasets.reduce((sum, { blocks, slices }) => sum + blocks.length + slices.length, 0)
}

/** Throws BundleFault. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  try {
    const value = parseJson(bytes, { maxDepth: 8, maxValues: 4 * objectsMost })
    const version =
      value instanceof Map && value.get('kind') === 'proofstream-bundle' ? value.get('version') : undefined
    if (version instanceof JsonNumber && /^[2-9]$|^[1-9]\d+$/.test(version.token)) {
      throw new BundleFault(
        'impossible',
        `It is a bundle of version ${version.token.slice(0, 20)}; this program reads version 1.`,
      )
    }
    return codec.decode(bytes)
  } catch (error) {
    if (error instanceof BundleFault || !(error instanceof DecodeError)) throw error
    throw new BundleFault('noBundle', `It is no bundle: its ${error.message}.`)
  }
}

/** A file of a bundle. */
export interface BundleFile {
  readonly path: string
  readonly hash: string
  readonly sizeBytes: number
}

/** The files after the manifest, in their order; paths of objects are those of a store, so that they unpack as one. */
export function* bundleFiles(manifest: Manifest): Generator<BundleFile, undefined> {
  const file = (path: string, [hash, sizeBytes]: Entry): BundleFile => ({ path, hash, sizeBytes })
  yield file(proofPath, manifest.proof)
  yield file(enginePath, manifest.engine)
  for (const { id, block, proof } of manifest.ledger) yield file(ledgerPath(id, block), proof)
  for (const { id, blocks, slices } of manifest.datasets) {
    for (const block of blocks) yield file(objectPath(id, 'blocks', block[0]), block)
    for (const slice of slices) yield file(objectPath(id, 'data', slice[0]), slice)
  }
  return undefined
}

export function objectPath(id: string, kind: 'blocks' | 'data', hash: string): string {
  return `datasets/${id.slice('did:odf:'.length)}/${kind}/${hash}`
}

export function ledgerPath(id: string, block: string): string {
  return `ledger/${id.slice('did:odf:'.length)}/${block}.tlog-proof`
}

/** Bytes of the whole bundle. */
export function bundleBytes(manifest: Manifest, manifestBytes: number): number {
  return tarBytes([manifestBytes, ...[...bundleFiles(manifest)].map(({ sizeBytes }) => sizeBytes)])
}
