// What a bundle holds and in which order: the manifest, the proof, and of each dataset the blocks up to the pinned one and
// the slices that they name (docs/spec/bundle.md). The manifest says all of it, so that a reader knows what must come next.

import { datasetIdPattern, hashPattern } from '../../base/ids/identifiers.ts'
import { parseJson } from '../../base/json/json.ts'
import { checked, list, map, natural, object, oneOf, recordCodec, refuse, text, tuple } from '../../base/json/shape.ts'
import { DecodeError } from '../../base/errors.ts'
import { JsonNumber } from '../../base/json/value.ts'
import { tarBytes } from './tar.ts'

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
/** 128 bytes and more for each of so many objects. */
export const objectsMost = 500_000
export const manifestBytesMost = 64 * 1024 * 1024
/** An answer of a node has at most 256 MiB. */
export const proofBytesMost = 300 * 1024 * 1024
/** Blocks hold no rows; those of nodes have some hundred bytes. */
export const blockBytesMost = 16 * 1024 * 1024

const entry = tuple(text(hashPattern), natural)

const codec = recordCodec<Manifest>(
  'manifest',
  object({
    kind: oneOf('proofstream-bundle'),
    version: map(natural, (version): 1 => (version === 1 ? 1 : refuse('is not 1'))),
    proof: entry,
    datasets: checked(
      list(object({ id: text(datasetIdPattern), blocks: list(entry, { least: 1 }), slices: list(entry) })),
      (datasets) =>
        datasets.every(({ id }, at) => at === 0 || (datasets[at - 1]?.id ?? '') < id)
          ? undefined
          : 'are not in the order of their ids',
    ),
  }),
)

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
export function* bundleFiles({ proof, datasets }: Manifest): Generator<BundleFile, undefined> {
  yield { path: proofPath, hash: proof[0], sizeBytes: proof[1] }
  for (const { id, blocks, slices } of datasets) {
    for (const [hash, sizeBytes] of blocks) yield { path: objectPath(id, 'blocks', hash), hash, sizeBytes }
    for (const [hash, sizeBytes] of slices) yield { path: objectPath(id, 'data', hash), hash, sizeBytes }
  }
  return undefined
}

export function objectPath(id: string, kind: 'blocks' | 'data', hash: string): string {
  return `datasets/${id.slice('did:odf:'.length)}/${kind}/${hash}`
}

/** Bytes of the whole bundle. */
export function bundleBytes(manifest: Manifest, manifestBytes: number): number {
  return tarBytes([manifestBytes, ...[...bundleFiles(manifest)].map(({ sizeBytes }) => sizeBytes)])
}
