// Which proofs the ledger has of a block and of a row in it, as it answers now; else why it has none.

import type { ShownProof, ShownProofs } from '../proofs-part.ts'
import { equalBytes, utf8 } from '../../../libraries/base/bytes.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import { noRoot, parseEntry } from '../../../libraries/ledger/entry.ts'
import { parseDocument } from '../../../libraries/ledger/proof-document.ts'
import { parseTlogProof } from '../../../libraries/ledger/tlog-proof.ts'
import type { DatasetChain } from '../../../node/catalog/dataset-chain.ts'
import type { ChainBlock } from '../../../node/catalog/packed-blocks.ts'
import { type HttpContext, ledgerOf, type LedgerProof } from '../../../node/http/context.ts'

/** `offset`: of a row of the block. */
export async function proofsOf(
  context: HttpContext,
  { name }: DatasetChain,
  { block, offset }: { readonly block: ChainBlock; readonly offset?: number },
): Promise<ShownProofs> {
  const { alias } = name
  const found = await askedOf(context, name, block)
  const last = alias.split('/')[1] ?? ''
  const isRow = offset !== undefined
  if (!('proof' in found)) {
    const reason =
      'noProof' in found ? found.noProof : `No head of the ledger has its block yet. It is due at ${found.notYet}.`
    return { block: { reason }, ...(isRow && { row: { reason } }) }
  }
  const ofBlock = { path: `/${alias}/blocks/${block.hash}/proof`, file: `${last}-block-${block.sequence}.tlog-proof` }
  if (!isRow) return { block: ofBlock }
  const ofRow: ShownProof = hasRows(found.proof)
    ? { path: `/${alias}/rows/${offset}/proof`, file: `${last}-row-${offset}.tlog-proof` }
    : {
        reason:
          name.proofs === 'rows'
            ? 'Its block was entered before the dataset had proofs of rows, or has values of such types.'
            : 'The dataset has proofs of batches and blocks alone. Its owner can have rows proved, of blocks to come: PATCH it with {"proofs": "rows"}.',
      }
  return { block: ofBlock, row: ofRow }
}

async function askedOf(context: HttpContext, name: DatasetChain['name'], block: ChainBlock): Promise<LedgerProof> {
  const ledger = ledgerOf(context)
  if (ledger === undefined) return { noProof: 'This node runs without a ledger (--without ledger).' }
  try {
    return await ledger.proofOf(name, block)
  } catch (error) {
    if (error instanceof NodeError) return { noProof: error.message }
    throw error
  }
}

/** The entry of the block that is proven has a root of its rows. */
function hasRows(proof: string): boolean {
  const { extra } = parseTlogProof(utf8(proof))
  const document = extra && parseDocument(extra)
  if (document === undefined || document.kind === 'newer') return false
  const entry = parseEntry(document.entry)
  return entry.kind === 'block' && !equalBytes(entry.rowRoot, noRoot)
}
