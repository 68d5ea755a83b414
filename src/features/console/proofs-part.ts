// What proves a block or a row beyond this node: the files that the ledger has of it, or why it has none.

import { type Html, html } from '../../libraries/base/html.ts'

/** A proof that can be fetched, or why there is none. */
export type ShownProof = { readonly path: string; readonly file: string } | { readonly reason: string }

export interface ShownProofs {
  readonly block: ShownProof
  /** Undefined where the page is of no row. */
  readonly row?: ShownProof
}

export function proofsPart({ block, row }: ShownProofs): Html {
  return html`<section aria-labelledby="proofs"><h2 id="proofs">Proofs</h2>
<p class="hint">A proof shows that the <a href="/ledger">ledger</a> of this node has it, and since which head. Anybody <a href="/verify">checks</a> it without this node.</p>
<ul class="proofs">${row && item('Proof of this row', row)}${item('Proof of this block', block)}</ul>
<p class="hint" role="status" data-saved></p></section>`
}

function item(text: string, proof: ShownProof): Html {
  if ('reason' in proof) return html`<li>${text}: <span class="hint">${proof.reason}</span></li>`
  return html`<li><a class="button" href="${proof.path}" download="${proof.file}" data-save>${text}</a></li>`
}
