// The tokens of the installation, for admins: who has which, a form to make one, a way to revoke. What is done with them is
// `islands/tokens.ts`, for a token is held by a script alone.

import { ago } from './format.ts'
import { type Html, html } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'

/** A token without its text. */
export interface ListedToken {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly datasets?: readonly string[]
  readonly expiresAt?: string
  readonly createdAt: string
  readonly lastFour: string
}

const scopes = [
  ['read', 'read datasets, ask questions'],
  ['ingest', 'send rows'],
  ['create', 'make datasets, say what they are'],
  ['admin', 'all of that, tokens, deleting'],
] as const

export function tokensPage(tokens: readonly ListedToken[], nowMs: number): Page {
  return {
    title: 'Tokens',
    place: 'tokens',
    islands: ['tokens'],
    main: html`<h1>Tokens</h1>
<p class="lead">Anyone with the text of a token may do what its scopes say. The node keeps only a hash of it.</p>
<div id="tokens">${table(tokens, nowMs)}</div>
<section aria-labelledby="make"><h2 id="make">Make a token</h2>${form()}</section>`,
  }
}

function table(tokens: readonly ListedToken[], nowMs: number): Html {
  const rows = tokens.map(({ id, name, scopes: held, datasets, expiresAt, createdAt, lastFour }) => {
    const until =
      expiresAt === undefined
        ? 'until revoked'
        : html`<time datetime="${expiresAt}">${expiresAt.slice(0, 16).replace('T', ' ')}</time>`
    return html`<tr><th scope="row">${name}</th><td><code>…${lastFour}</code></td><td>${held.join(', ')}</td>
<td>${datasets === undefined ? 'all datasets' : datasets.join(', ')}</td><td>${ago(createdAt, nowMs)}</td><td>${until}</td>
<td><button type="button" class="copy" data-revoke="${id}" aria-label="Revoke the token ${name} that ends in ${lastFour}">Revoke</button></td></tr>`
  })
  const heads = ['Name', 'Ends in', 'Scopes', 'Datasets', 'Made', 'Valid', 'Revoke'].map(
    (text) => html`<th scope="col">${text}</th>`,
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Tokens">
<table><thead><tr>${heads}</tr></thead><tbody>
${rows}
</tbody></table></div>`
}

function form(): Html {
  const boxes = scopes.map(
    ([scope, about]) =>
      html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"> <code>${scope}</code> ${about}</label>`,
  )
  return html`<form id="make-token" class="fields" autocomplete="off" hidden>
<label for="token-name">Name</label>
<input id="token-name" name="holder" required maxlength="100" placeholder="roof sensors" aria-describedby="token-name-hint">
<p class="hint" id="token-name-hint">A name for people, such as the owner or device.</p>
<fieldset><legend>Scopes</legend>
${boxes}
</fieldset>
<label for="token-datasets">Datasets</label>
<input id="token-datasets" name="datasets" placeholder="acme/*, city/trees" spellcheck="false" aria-describedby="token-datasets-hint">
<p class="hint" id="token-datasets-hint">Patterns, separated by commas. Empty means all.</p>
<label for="token-expires">Valid until</label>
<input id="token-expires" name="expires" type="date" aria-describedby="token-expires-hint">
<p class="hint" id="token-expires-hint">The end of that day, UTC. Empty means until revoked.</p>
<button type="submit">Create token</button>
<div id="made" role="status"></div>
<p class="bad" id="refused" role="alert"></p>
</form>`
}
