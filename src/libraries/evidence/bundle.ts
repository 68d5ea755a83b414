// A bundle: its proof is checked as any other, and all else against the proof, while the file is read once from start to end.
// Nothing of it is kept here but the proof and when the named blocks were made.

import { defined } from '../base/collections.ts'
import { BundleFault } from '../proof/bundle/manifest.ts'
import { askedOf, type BundleContents, readBundle } from '../proof/bundle/read-bundle.ts'
import { type BlockVerdict, judgeBlockProof } from '../ledger/judge-proof.ts'
import type { Policy } from '../ledger/policy.ts'
import type { MetadataBlock } from '../model/events.ts'
import { type OfflineOptions, type OfflineSuccess, type OfflineVerdict, verifyOffline } from '../proof/verify.ts'
import { answerReport, failedReport, faultyBundleReport, findingsAlone } from './answer-report.ts'
import type { Known } from './ledger-lines.ts'
import type { Report } from './report.ts'

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

const firstName = 'manifest.json\0'
/** So many bytes tell. */
export const bundleHeadBytes = firstName.length

/** Whether a file begins as bundles do. */
export function isBundle(head: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(head.subarray(0, bundleHeadBytes)) === firstName
}

/** Listeners to a bundle's parts while it is checked. */
export interface BundleWatch {
  /** What is to be used when the bundle is whole, if anything is. */
  readonly rows?: {
    block(id: string, of: { readonly hash: string; readonly block: MetadataBlock; readonly isNamed: boolean }): void
    slice(path: string, piece: Uint8Array): void
  }
}

/** Reads and checks a bundle, from its bytes in pieces of any size. Throws what reading them and `rows` throw. */
export async function checkBundle(
  chunks: AsyncIterable<Uint8Array>,
  options: OfflineOptions & { readonly policy?: Policy | undefined },
  { rows }: BundleWatch = {},
): Promise<BundleFindings> {
  let verdict: OfflineVerdict | undefined
  let proof = new Uint8Array()
  const blockTimes = new Map<string, string>()
  const named = new Set<string>()
  const ledger: BlockVerdict[] = []
  try {
    const contents = await readBundle(chunks, {
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

/** What is said of a bundle. `lack`: why there is no policy. */
export function bundleReport(
  found: BundleFindings,
  { isNamed, lack, keys }: Pick<Known, 'isNamed' | 'keys'> & { readonly lack?: string | undefined },
): Report {
  if (found.kind === 'proof') return failedReport(found.verdict)
  if (found.kind === 'fault') return faultyBundleReport(found.fault)
  const { verdict, contents, blockTimes, ledger } = found
  const findings = findingsAlone(verdict, { isNamed, blockTimes })
  const { rows, blocks } = contents
  return answerReport({ verdict, findings, bundle: { rows, blocks, ledger, ...defined({ lack }) }, keys })
}
