// The ledger of the node, from what its address answers to programs: its name and head, who signed that and when, what is not
// in it yet, and how a stranger holds the node to it.

import { countText, fact } from './format.ts'
import { commands } from './how-to.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'

/** What `GET /ledger` answers, as texts/operations.json describes it. A follower and a witness have no members but the last two. */
export interface LedgerAnswer {
  readonly origin?: string
  readonly keys?: readonly string[]
  readonly path?: string
  readonly size?: number
  readonly root?: string
  /** Signed note. */
  readonly head?: string
  readonly statement?: string
  readonly delay?: string
  readonly state?: 'running' | 'late' | 'halted'
  readonly reason?: string
  readonly behind?: { readonly blocks: number; readonly seconds: number }
  readonly aside?: { readonly datasets: number; readonly seconds: number }
  readonly quorum?: 'met' | 'not met' | 'none'
  readonly witnesses?: readonly { readonly name: string; readonly state: string; readonly at?: string }[]
  /** Oldest first. */
  readonly timestamps?: readonly { readonly size: number; readonly at: string }[]
  readonly former?: readonly { readonly origin: string; readonly size: number }[]
  readonly witness?: string
  readonly follower?: string
}

const shownStamps = 20

/** `host`: address of the node. */
export function ledgerPage(ledger: LedgerAnswer, host: string): Page {
  const { origin, witness, follower } = ledger
  return {
    title: 'Ledger',
    place: 'node',
    main: html`<h1>Ledger</h1>
<p class="lead">One append-only tree over the blocks of this node. A reader who keeps a head of it today can show next year whether a block was changed, or taken away.</p>
${origin === undefined ? html`<p class="note">This process keeps no ledger of its own. It signs heads of others.</p>` : own(ledger, host)}
${witness === undefined && follower === undefined ? undefined : html`<section aria-labelledby="signs"><h2 id="signs">Heads of others</h2><dl class="facts">${where(witness, (key) => fact('As a witness it signs with', copied(key)))}${where(follower, (key) => fact('As a follower, which checks each entry first, with', copied(key)))}</dl></section>`}`,
  }
}

function own(ledger: LedgerAnswer, host: string): Html {
  const { origin = '', keys = [], root, size = 0, delay, statement, path = '/ledger', head } = ledger
  return html`${standing(ledger)}
<dl class="figures">
${fact('Entries', countText(size))}
${fact('Not in it yet', html`${countText(ledger.behind?.blocks ?? 0)}<small>${waiting(ledger)}</small>`)}
${fact('Witnesses', html`${quorumTexts[ledger.quorum ?? 'none']}<small>${signedText(ledger)}</small>`)}
</dl>
<dl class="facts">
${fact('Name (origin)', origin)}
${where(lastSigned(ledger), (at) => fact('Last signed by others', time(at)))}
${keys.map((key) => fact('Key', copied(key)))}
${where(root, (text) => fact('Root', copied(text)))}
${where(delay, (text) => fact('A block is entered within', text))}
${where(statement, (hash) => fact('The node of itself', html`<a href="${path}/statements/${hash}">newest statement</a>`))}
</dl>
${witnessesOf(ledger)}
${stampsOf(ledger, path)}
${policy}
<section aria-labelledby="check"><h2 id="check">Check it</h2>
<p>Rows and blocks have their proofs on their pages. <a href="/verify">Verify</a> judges them in your browser. This follows the whole ledger, and says when it goes back on what it showed before:</p>
${commands(`proofstream ledger audit ${host} --policy policy.txt --state ledger.head`)}
${where(head, (text) => html`<details><summary>The signed head</summary><pre tabindex="0" role="region" aria-label="The signed head">${text}</pre><p><a href="${path}/checkpoint">As a file</a></p></details>`)}</section>
${formerOf(ledger)}`
}

function standing({ state, reason, aside }: LedgerAnswer): Html {
  const texts = { running: '✓ Kept up', late: '✗ Late: it promises nothing now', halted: '✗ Not kept' }
  const told = where(state, (one) => html`<span class="${one === 'running' ? 'good' : 'bad'}">${texts[one]}</span>`)
  const left = where(aside, ({ datasets }) => html` ${countText(datasets)} datasets cannot be entered now.`)
  return html`<p class="status">${told ?? 'Another process keeps it.'}${where(reason, (text) => html` ${text}`)}${left}</p>`
}

function waiting({ behind }: LedgerAnswer): string {
  if (behind === undefined) return 'known to the process that keeps it'
  return behind.blocks === 0 ? 'all blocks are below the head' : `the first for ${Math.round(behind.seconds)} s`
}

const quorumTexts = { met: 'quorum met', 'not met': 'quorum not met', none: 'none needed' } as const

function signedText({ witnesses = [] }: LedgerAnswer): string {
  const signed = witnesses.filter(({ state, at }) => state === 'cosigned' || at !== undefined).length
  return witnesses.length === 0
    ? 'nobody outside signs the head'
    : `${signed} of ${witnesses.length} have signed a head`
}

/** A head does not say when it was made: those who signed it do. */
function lastSigned({ witnesses = [], timestamps = [] }: LedgerAnswer): string | undefined {
  return [...witnesses, ...timestamps]
    .flatMap(({ at }) => at ?? [])
    .toSorted()
    .at(-1)
}

function copied(text: string): Html {
  return html`<code class="hash" title="${text}" data-copy="${text}">${text.length > 40 ? `${text.slice(0, 24)}…${text.slice(-8)}` : text}</code>`
}

function time(at: string | undefined): Html {
  return at === undefined ? html`–` : html`<time datetime="${at}">${at}</time>`
}

function witnessesOf({ witnesses = [] }: LedgerAnswer): Html | undefined {
  if (witnesses.length === 0) return undefined
  const rows = witnesses.map(({ name, state, at }) => {
    return html`<tr><th scope="row">${name}</th><td>${state}</td><td>${time(at)}</td></tr>`
  })
  return html`<section aria-labelledby="witnesses"><h2 id="witnesses">Witnesses</h2>
<p class="hint">Other parties, each of which signs a head only where it goes on from the last one that it signed.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Witnesses"><table><thead><tr><th scope="col">Witness</th><th scope="col">State</th><th scope="col">Signed</th></tr></thead><tbody>
${rows}
</tbody></table></div></section>`
}

function stampsOf({ timestamps = [] }: LedgerAnswer, path: string): Html | undefined {
  if (timestamps.length === 0) return undefined
  const rows = timestamps
    .toReversed()
    .slice(0, shownStamps)
    .map(({ size, at }) => {
      return html`<tr><td>${time(at)}</td><td class="number">${countText(size)}</td><td><a href="${path}/timestamps/${size}.tsr" download>stamp</a> <a href="${path}/timestamps/${size}.head" download>head</a></td></tr>`
    })
  return html`<section aria-labelledby="stamps"><h2 id="stamps">Time stamps <small>newest first</small></h2>
<p class="hint">An authority signed that the head was there at that time.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Time stamps"><table><thead><tr><th scope="col">Time</th><th scope="col" class="number">Entries</th><th scope="col">Files</th></tr></thead><tbody>
${rows}
</tbody></table></div></section>`
}

const policy = html`<section aria-labelledby="policy"><h2 id="policy">Policy</h2>
<p><a href="/ledger/policy" download="policy.txt">policy.txt</a> says what a proof has to be signed by. Get it once, from somebody whom you trust, and keep it:</p>
<ul><li><code>log</code> names this ledger by its key. Proofs of other ledgers do not count.</li>
<li><code>quorum</code> names the witnesses that must have signed, by the lines <code>witness</code> and <code>group</code> before it. With <code>none</code> the word of this node is enough.</li></ul></section>`

function formerOf({ former = [] }: LedgerAnswer): Html | undefined {
  if (former.length === 0) return undefined
  const items = former.map(({ origin, size }) => html`<li>${origin} <small>${countText(size)} entries</small></li>`)
  return html`<section aria-labelledby="former"><h2 id="former">Former ledgers</h2>
<p class="hint">This one took the place of others. Proofs of them stay valid.</p><ul>${items}</ul></section>`
}
