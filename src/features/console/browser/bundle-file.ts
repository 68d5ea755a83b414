// A bundle that was given to the page: its proof is checked as any other, and all else against the proof, while the file is
// read once from start to end. Nothing of it is kept here but the proof and when the named blocks were made.

import { BundleFault } from '../../../libraries/proof/bundle/manifest.ts'
import { askedOf, type BundleContents, readBundle } from '../../../libraries/proof/bundle/read-bundle.ts'
import { type BlockVerdict, judgeBlockProof } from '../../../libraries/ledger/judge-proof.ts'
import type { Policy } from '../../../libraries/ledger/policy.ts'
import type { MetadataBlock } from '../../../libraries/model/events.ts'
import {
  type OfflineOptions,
  type OfflineSuccess,
  type OfflineVerdict,
  verifyOffline,
} from '../../../libraries/proof/verify.ts'

/** What was found: the verdict over the proof alone where that is not good. */
export type BundleFindings =
  | { readonly kind: 'proof'; readonly verdict: OfflineVerdict & { readonly ok: false } }
  | { readonly kind: 'fault'; readonly fault: BundleFault }
  | {
      readonly kind: 'whole'
      /** The saved answer with its proof. */
      readonly proof: Uint8Array
      readonly verdict: OfflineSuccess
      readonly contents: BundleContents
      readonly blockTimes: ReadonlyMap<string, string>
      /** None is altered. */
      readonly ledger: readonly BlockVerdict[]
    }

const nameBytes = 14

/** Whether a file begins as bundles do. */
export async function isBundle(file: Blob): Promise<boolean> {
  const name = new Uint8Array(await file.slice(0, nameBytes).arrayBuffer())
  return new TextDecoder('latin1').decode(name) === 'manifest.json\0'
}

/** Listeners to a bundle's parts while it is checked. */
export interface BundleWatch {
  /** Of each share, 0 to 1. */
  readonly onProgress: (share: number) => void
  /** What is to be used when the bundle is whole, if anything is. */
  readonly rows?: {
    block(id: string, of: { readonly hash: string; readonly block: MetadataBlock; readonly isNamed: boolean }): void
    slice(path: string, piece: Uint8Array): void
  }
}

/** Reads and checks a bundle. Throws what reading the file and `rows` throw. */
export async function checkBundle(
  file: Blob,
  options: OfflineOptions & { readonly policy?: Policy | undefined },
  { onProgress, rows }: BundleWatch,
): Promise<BundleFindings> {
  let verdict: OfflineVerdict | undefined
  let proof = new Uint8Array()
  const blockTimes = new Map<string, string>()
  const named = new Set<string>()
  const ledger: BlockVerdict[] = []
  try {
    const contents = await readBundle(chunksOf(file, onProgress), {
      async proof(bytes) {
        proof = bytes.slice()
        verdict = verifyOffline(proof, options)
        // What follows is not looked at: the answer is known.
        if (!verdict.ok) throw new BundleFault('failed', verdict.message)
        const asked = askedOf(verdict.answer)
        for (const hashes of asked.pins.values()) for (const hash of hashes) named.add(hash)
        return asked
      },
      ledgerProof(dataset, block, bytes) {
        const judged = judgeBlockProof(bytes, { dataset, block }, options.policy)
        if (judged.verdict === 'altered') {
          throw new BundleFault('failed', `The ledger's proof of block ${block} is altered: ${judged.reason}.`)
        }
        ledger.push(judged)
      },
      block(id, hash, block) {
        const isNamed = named.has(hash)
        if (isNamed) blockTimes.set(hash, block.systemTime)
        const told = verdict?.ok === true ? verdict.answer.datasets : []
        if (
          told.some(
            ({ blockHash, blockTime = block.systemTime }) => blockHash === hash && blockTime !== block.systemTime,
          )
        )
          throw new BundleFault('failed', `The block ${hash} was not made at the time that the proof says.`)
        rows?.block(id, { hash, block, isNamed })
      },
      async slice(path, piece) {
        rows?.slice(path, piece)
      },
    })
    if (verdict?.ok !== true) throw new BundleFault('noBundle', 'It has no proof.')
    return { kind: 'whole', proof, verdict, contents, blockTimes, ledger }
  } catch (error) {
    if (!(error instanceof BundleFault)) throw error
    return verdict?.ok === false ? { kind: 'proof', verdict } : { kind: 'fault', fault: error }
  }
}

async function* chunksOf(file: Blob, onProgress: (share: number) => void): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  let doneBytes = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield next.value
    doneBytes += next.value.length
    onProgress(doneBytes / file.size)
  }
}
