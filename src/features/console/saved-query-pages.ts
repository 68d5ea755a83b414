// The pages of saved queries: their list, and one of them with fields for its values, its answer and its statement.

import { ago } from './format.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'
import { packLink, resultOf, type ShownAnswer, type ShownQuery } from './query-page.ts'

interface ListedQuery {
  readonly name: string
  readonly about?: string
  readonly datasets: readonly { readonly alias: string }[]
  readonly savedAt: string
}

export function savedQueriesPage(
  queries: readonly ListedQuery[],
  { nowMs, next }: { readonly nowMs: number; readonly next: string | undefined },
): Page {
  return {
    title: 'Saved queries',
    place: 'query',
    main: html`<h1>Saved queries</h1>
<p class="lead">Statements with an address. People who may read their datasets can open them, here or in a program.</p>
${queries.length === 0 ? html`<p class="note">None yet. On the <a href="/query">SQL page</a>, write a statement and save it under a name.</p>` : list(queries, nowMs)}
${where(next, (name) => html`<p><a href="/q?${new URLSearchParams({ after: name }).toString()}" rel="next">Next page</a></p>`)}`,
  }
}

function list(queries: readonly ListedQuery[], nowMs: number): Html {
  const rows = queries.map(
    ({ name, about, datasets, savedAt }) =>
      html`<tr><th scope="row"><a href="/q/${name}">${name}</a></th><td>${about}</td>
<td>${datasets.map(({ alias }) => alias).join(', ')}</td><td>${ago(savedAt, nowMs)}</td></tr>`,
  )
  const heads = ['Name', 'What it is for', 'Datasets', 'Saved'].map((text) => html`<th scope="col">${text}</th>`)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Saved queries">
<table><thead><tr>${heads}</tr></thead><tbody>
${rows}
</tbody></table></div>`
}

interface ShownSavedQuery {
  readonly name: string
  readonly about: string | undefined
  readonly query: string
  readonly fields: readonly { readonly name: string; readonly value: string }[]
  readonly limit: string | undefined
  readonly mostRows: number
  /** Undefined where a value is missing. */
  readonly result: ShownQuery['result']
}

export function savedQueryPage({ name, about, query, fields, limit, mostRows, result }: ShownSavedQuery): Page {
  const missing = html`<h2 id="answer-title">Not run yet</h2>
<p class="note">Give it its values, then press Run.</p>`
  return {
    title: name,
    place: 'query',
    islands: ['saved', 'map', 'chart', 'table'],
    main: html`<p class="crumbs"><a href="/q">Saved queries</a></p>
<h1>${name}</h1>
${where(about, (text) => html`<p class="lead">${text}</p>`)}
<form action="/q/${name}" method="get" class="run">
${fields.map(field)}
<label for="limit">Rows at most</label>
<input id="limit" name="limit" type="number" min="0" max="${mostRows}" value="${limit ?? ''}" placeholder="100">
<button type="submit">Run</button>
</form>
<section id="answer" aria-labelledby="answer-title">
${where(result?.kind === 'answer' ? result : undefined, filesOf)}
${result === undefined ? missing : resultOf(query, result)}
</section>
<section aria-labelledby="statement-title"><h2 id="statement-title">Statement</h2>
<pre tabindex="0" aria-label="Statement"><code>${query}</code></pre>
<p class="links"><a href="/query?${new URLSearchParams({ query }).toString()}">Open it in the editor</a>
<button type="button" class="quiet" data-delete="${name}" hidden>Delete</button></p>
<p class="bad" role="alert"></p>
</section>`,
  }
}

/** Above the rows too: a table of a hundred is long. */
function filesOf({ proof, pack, files }: ShownAnswer): Html {
  const saved = ['reason' in proof ? [] : proof, files].flat()
  const links = saved.map(({ name, path, file }) => html`<a href="${path}" download="${file}" data-save>${name}</a>`)
  return html`<p class="links">${links}${where(pack, packLink)}</p>`
}

function field({ name, value }: { readonly name: string; readonly value: string }): Html {
  return html`<label for="value-${name}"><code>$${name}</code></label>
<input id="value-${name}" name="${name}" value="${value}" autocomplete="off">`
}
