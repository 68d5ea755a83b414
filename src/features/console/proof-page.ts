// The page on which a proof is checked: in the browser itself, without the node, and then by the node where the reader says so.

import { html } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'

export const proofPage: Page = {
  title: 'Verify',
  place: 'verify',
  islands: ['verify'],
  main: html`<h1>Check a proof</h1>
<p class="lead">This page checks the proof itself and sends nothing. <a href="/assets/verify.html" download>Save it as one file</a>, and it works offline, years from now.</p>
<form id="form" class="check">
<div id="drop">
<label for="file">Files: saved answers, bundles, evidence packs, proofs of a ledger, receipts, refusals, heads</label>
<input type="file" id="file" multiple aria-describedby="file-hint">
<p id="file-hint" class="hint">Choose a file or drop it anywhere on this page. If the rows were saved separately, choose both files. A receipt is judged with the proofs that you choose with it. A bundle (.tar) is checked with all its blocks and rows, an evidence pack (.zip) with all its files: do not unpack it.</p>
</div>
<label for="text">or its text</label>
<textarea id="text" rows="4" spellcheck="false" autocomplete="off" placeholder="${'{"commitment":…'}"></textarea>
<label for="signer">Key of the expected signer, if you know it</label>
<input type="text" id="signer" spellcheck="false" autocomplete="off" placeholder="did:key:z6Mk…" aria-describedby="signer-fault">
<p id="signer-fault" class="bad" role="alert"></p>
<label for="policy">Policy, for proofs of a ledger: which ledgers and witnesses count</label>
<textarea id="policy" rows="3" spellcheck="false" autocomplete="off" placeholder="log example.org/ledger+…" aria-describedby="policy-hint"></textarea>
<p id="policy-hint" class="hint">Two lines, which a node shows at <code>/ledger/policy</code>. A file does not say whom to trust: take them from somebody whom you trust.</p>
<button type="submit" disabled>Check</button>
</form>
<noscript><p class="note">A script of this page checks proofs. Without scripts: <code>proofstream verify --offline FILE</code>, or POST the file to this address.</p></noscript>
<section id="verdict" class="check" aria-label="Verdict">
<div id="result" role="status"></div>
<div id="details"></div>
<div id="again"></div>
</section>`,
}
