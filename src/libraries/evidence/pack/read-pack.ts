// An evidence pack, read once from start to end: each byte must be the one that follows from the files, and the page must be the one
// that they make. Bundles are checked while they come; other files are held until the end.

import { concatBytes, equalBytes, toHex } from '../../base/bytes.ts'
import { DecodeError } from '../../base/errors.ts'
import { createSha2 } from '../../base/ids/native-crypto.ts'
import type { MetadataBlock } from '../../model/events.ts'
import { type BundleFindings, checkBundle } from '../bundle.ts'
import type { Reader } from '../judge.ts'
import type { Line } from '../report.ts'
import { answerFacts, headFacts, Order, pagePath, type Placed, receiptFacts, statementFacts } from './files.ts'
import { type PackedFile, packPage } from './page.ts'
import { PackFault, readZip } from './zip.ts'

/** A file that is held. */
export interface HeldFile extends Placed {
  readonly path: string
  readonly bytes: Uint8Array
}

/** A bundle of a pack, and where its chain has which block. */
export interface HeldBundle {
  readonly path: string
  readonly found: BundleFindings
  readonly blocks: ReadonlyMap<number, { readonly id: string; readonly hash: string }>
}

export interface PackContents {
  readonly held: readonly HeldFile[]
  readonly bundles: readonly HeldBundle[]
  /** Without the page. */
  readonly files: readonly PackedFile[]
}

/** Of all files that are held. */
const heldBytesMost = 512 * 1024 * 1024

/** Throws PackFault where it is not as it was made, and what `chunks` throws. */
export async function readPack(
  chunks: AsyncIterable<Uint8Array>,
  { signer, policy }: Pick<Reader, 'signer' | 'policy'>,
): Promise<PackContents> {
  const [order, held, bundles, files]: [Order, HeldFile[], HeldBundle[], PackedFile[]] = [new Order(), [], [], []]
  let page: Uint8Array | undefined
  let heldBytes = 0
  const hold = async (pieces: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> => {
    heldBytes += sizeBytes
    if (heldBytes > heldBytesMost)
      throw new PackFault('impossible', 'Its answers and proofs are larger than a program holds.')
    const all: Uint8Array[] = []
    for await (const piece of pieces) all.push(piece.slice())
    return concatBytes(all)
  }
  await readZip(chunks, async ({ name: path, sizeBytes }, pieces) => {
    if (page === undefined) {
      if (path !== pagePath) throw new PackFault('altered', `It does not begin with ${pagePath}.`)
      page = await hold(pieces, sizeBytes)
      return
    }
    const placed = order.next(path)
    const hash = createSha2('sha256')
    const hashed = through(pieces, (piece) => hash.update(piece))
    let facts: readonly Line[] | undefined
    if (placed.folder === 'bundles') {
      const bundle = await readBundleIn(path, hashed, { signer, policy })
      bundles.push(bundle)
      facts = bundle.found.kind === 'whole' ? answerFacts(bundle.found.proof) : undefined
    } else {
      const bytes = await hold(hashed, sizeBytes)
      held.push({ path, bytes, ...placed })
      facts = factsOf(placed, path, bytes)
    }
    for await (const _ of hashed);
    files.push({ path, sizeBytes, sha256: toHex(hash.digest()), ...(facts !== undefined && { facts }) })
  })
  order.end()
  const isWhole = bundles.every(({ found }) => found.kind === 'whole')
  // The page of what is faulty is not looked at: the fault is told.
  if (isWhole && !equalBytes(page ?? new Uint8Array(), packPage(files))) {
    throw new PackFault('altered', `${pagePath} is not the page that its files make.`)
  }
  return { held, bundles, files }
}

/** What the page tells of a file that is held; of a folder of the ledger the first file tells. Throws PackFault. */
export function factsOf({ folder, isFirst }: Placed, path: string, bytes: Uint8Array): Line[] | undefined {
  try {
    if (folder === 'answers') return answerFacts(bytes)
    if (folder === 'receipts') return receiptFacts(bytes)
    if (folder === 'statement') return statementFacts(bytes)
    return folder === 'ledger' && isFirst ? headFacts(bytes) : undefined
  } catch (error) {
    if (error instanceof DecodeError) throw new PackFault('altered', `${path} cannot be read: ${error.message}.`)
    throw error
  }
}

async function readBundleIn(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { signer, policy }: Pick<Reader, 'signer' | 'policy'>,
): Promise<HeldBundle> {
  const blocks = new Map<number, { readonly id: string; readonly hash: string }>()
  const datasets = new Set<string>()
  const rows = {
    block(id: string, { hash, block }: { readonly hash: string; readonly block: MetadataBlock }): void {
      datasets.add(id)
      blocks.set(Number(block.sequenceNumber), { id, hash })
    },
    slice(): void {},
  }
  const found = await checkBundle(pieces, { policy, ...(signer !== undefined && { signer }) }, { rows })
  return { path, found, blocks: datasets.size === 1 ? blocks : new Map() }
}

async function* through(
  pieces: AsyncIterable<Uint8Array>,
  see: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    see(piece)
    yield piece
  }
}
