// What `include=Ledger` adds to an answer, beside what is signed: for each block that it was asked of the proof that the ledger has
// it, or by when there is to be one. It waits for nothing, and is made anew for each answer.

import { utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { fromPlain, jsonText } from '../../libraries/base/json/json.ts'
import type { PinnedDataset } from '../../libraries/model/query.ts'
import { type HttpContext, type LedgerAnswers, ledgerOf, type LedgerProof } from './context.ts'

/** The names without `Ledger`, and the ledger where that is among them. Throws NodeError `InvalidParameter` where there is none. */
export function askedOfLedger(
  context: Pick<HttpContext, 'routes'>,
  include: readonly string[] | undefined,
): { readonly include: readonly string[] | undefined; readonly ledger: LedgerAnswers | undefined } {
  const rest = include?.filter((name) => name.toLowerCase() !== 'ledger')
  if (rest?.length === include?.length) return { include, ledger: undefined }
  const ledger = ledgerOf(context)
  if (ledger !== undefined) return { include: rest, ledger }
  throw new NodeError('InvalidParameter', 'include names Ledger, and this node was started without one.')
}

/** The body of an answer with the member `ledger` at its end. */
export async function withLedger(
  { catalog }: Pick<HttpContext, 'catalog'>,
  body: readonly Uint8Array[],
  { pinned, ledger }: { readonly pinned: readonly PinnedDataset[]; readonly ledger: LedgerAnswers },
): Promise<readonly Uint8Array[]> {
  const proofs: object[] = []
  for (const { id, blockHash, blockTime } of pinned) {
    const chain = await catalog.byId(id)
    const sequence = chain?.sequenceOf(blockHash)
    const proof: LedgerProof =
      chain === undefined || sequence === undefined
        ? { noProof: 'The dataset was deleted meanwhile.' }
        : await ledger.proofOf(chain.name, { hash: blockHash, sequence, systemTime: blockTime })
    proofs.push({ id, blockHash, ...proof })
  }
  const last = body.at(-1) ?? new Uint8Array()
  const member = utf8(`,"ledger":${jsonText(fromPlain(proofs))}}`)
  // It ends in a brace.
  return [...body.slice(0, -1), last.subarray(0, -1), member]
}
