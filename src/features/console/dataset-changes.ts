// What may be changed of a dataset, on its page, for callers with the right: its description, who may read it, its name, that it is there.
// It is done by `islands/changes.ts`, for a token is held by a script alone; the words are those of docs/deleting.md.

import { type Html, html } from '../../libraries/base/html.ts'

export interface ShownChanges {
  readonly alias: string
  readonly visibility: 'public' | 'private'
  readonly description: string | undefined
  readonly keywords: readonly string[]
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
${isKeeper ? keeping(shown) : undefined}
</div>
<p class="bad" id="refused" role="alert"></p>
</section>`
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
