// What may be changed of a dataset, on its page, for callers with the right: its description, its licence, its publisher, who may
// read it, its name, that it is there.
// It is done by `islands/changes.ts`, for a token is held by a script alone; the words are those of docs/deleting.md.

import type { Readme } from './dataset-readme.ts'
import { type Html, html } from '../../libraries/base/html.ts'
import { licences } from './licences.ts'
import type { SetLicense } from '../../libraries/model/events.ts'

export interface ShownChanges {
  readonly alias: string
  readonly visibility: 'public' | 'private'
  readonly description: string | undefined
  readonly keywords: readonly string[]
  readonly license: Omit<SetLicense, 'kind'> | undefined
  readonly readme: Readme
  /** The caller decides how it is kept, too: with the scope `admin`. */
  readonly isKeeper: boolean
  /** How long a deletion can be taken back: `168h`. */
  readonly grace: string
}

export function changes(shown: ShownChanges): Html {
  const { alias, description, keywords, isKeeper } = shown
  return html`<section id="changes" aria-labelledby="change" data-alias="${alias}" hidden><h2 id="change">Change it</h2>
<div class="pair">
<form id="describe" class="fields" autocomplete="off">
<label for="description">Description</label>
<textarea id="description" name="description" rows="3">
${description}</textarea>
<label for="keywords">Keywords</label>
<input id="keywords" name="keywords" value="${keywords.join(', ')}" aria-describedby="keywords-hint">
<p class="hint" id="keywords-hint">Separated by commas.</p>
<button type="submit">Describe it so</button>
</form>
${licensing(shown)}
${publishing(shown)}
${isKeeper ? keeping(shown) : undefined}
</div>
<p class="bad" id="refused" role="alert"></p>
</section>`
}

function licensing({ license }: ShownChanges): Html {
  const { shortName, name, spdxId, websiteUrl } = license ?? {}
  const options = licences.map(
    ([id, about, address]) =>
      html`<option value="${id}" data-name="${about}" data-address="${address}"${id === spdxId ? html` selected` : undefined}>${id}: ${about}</option>`,
  )
  return html`<form id="licence" class="fields" autocomplete="off">
<label for="common">Licence</label>
<select id="common"><option value="">another one</option>${options}</select>
<label for="short-name">Short name</label>
<input id="short-name" name="shortName" value="${shortName}" required maxlength="100">
<label for="licence-name">Name</label>
<input id="licence-name" name="fullName" value="${name}" required maxlength="300">
<label for="spdx">Identifier of SPDX</label>
<input id="spdx" name="spdxId" value="${spdxId}" maxlength="100" spellcheck="false" placeholder="none">
<label for="website">Where its text is</label>
<input id="website" name="websiteUrl" type="url" value="${websiteUrl}" required maxlength="1000" placeholder="https://…">
<button type="submit">License it so</button>
</form>`
}

function publishing({ readme: { publisher, contact, text } }: ShownChanges): Html {
  return html`<form id="publish" class="fields" autocomplete="off">
<label for="publisher">Publisher</label>
<input id="publisher" name="publisher" value="${publisher}" maxlength="300">
<label for="contact">Contact</label>
<input id="contact" name="contact" value="${contact}" maxlength="300" aria-describedby="contact-hint">
<p class="hint" id="contact-hint">An address of an office rather than of a person: it stays in the chain.</p>
<label for="readme">About it</label>
<textarea id="readme" name="text" rows="5" aria-describedby="readme-hint">
${text}</textarea>
<p class="hint" id="readme-hint">All three are its attachment <code>README.md</code>.</p>
<button type="submit">Save the README</button>
</form>`
}

function keeping({ alias, visibility, grace }: ShownChanges): Html {
  const reading =
    visibility === 'public'
      ? html`<p>It is public: all readers of this node see it. Readers keep what they have fetched, and caches may keep it for a year.</p>
<button type="button" class="quiet" data-visibility="private">Hide it</button>`
      : html`<p>It is private: only a token for it shows it.</p>
<button type="button" class="quiet" data-visibility="public">Make it public</button>`
  return html`<div>${reading}
<form id="rename" class="fields" autocomplete="off">
<label for="alias">Another name</label>
<input id="alias" name="alias" value="${alias}" required spellcheck="false" aria-describedby="alias-hint">
<p class="hint" id="alias-hint">The old name redirects to it until a new dataset takes that name. Proofs and links by its identity stay valid.</p>
<button type="submit" class="quiet">Rename it</button>
</form>
<form id="delete" class="fields" autocomplete="off">
<label for="typed">Type its name to delete it</label>
<input id="typed" name="typed" required spellcheck="false" placeholder="${alias}" aria-describedby="typed-hint">
<p class="hint" id="typed-hint">Rows sent before are in its last blocks, and later ones are rejected. Its name is free at once. For ${grace} it can be restored as it was. Deleting never makes a proof false.</p>
<button type="submit">Delete it</button>
</form></div>`
}
