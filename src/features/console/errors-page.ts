// Errors as pages: the catalogue of every kind, what to do about one of them, and the problem (RFC 9457) of a request.

import { html, where } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'

/** What a page says of a kind. */
export interface ShownError {
  readonly kind: string
  readonly status: number
  readonly title: string
  readonly meaning: string
  readonly fix: string
  readonly retryable: boolean
  /** Path of its own page. */
  readonly page: string
  readonly example: { readonly body: Readonly<Record<string, unknown>> }
}

export function errorsPage(errors: readonly ShownError[]): Page {
  const rows = errors.map(
    ({ kind, page, status, title }) =>
      html`<tr><td class="number">${status}</td><th scope="row"><a href="${page}">${kind}</a></th><td>${title}</td></tr>`,
  )
  return {
    title: 'Errors',
    place: 'errors',
    main: html`<h1>Errors</h1>
<p class="lead">Every refusal of this node has one of these kinds. Each page says what to do.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Kinds">
<table><thead><tr><th scope="col" class="number">Status</th><th scope="col">Kind</th><th scope="col">Title</th></tr></thead><tbody>
${rows}
</tbody></table></div>`,
  }
}

export function errorPage({ kind, status, title, meaning, fix, retryable, example }: ShownError): Page {
  return {
    title: kind,
    place: 'errors',
    main: html`<p class="path"><a href="/errors">Errors</a> /</p>
<h1>${kind}</h1>
<p class="lead">${title}. Status ${status}${retryable ? ', may succeed when repeated' : ''}.</p>
<p>${meaning}</p>
<p>What to do: ${fix}</p>
<h2>Example</h2>
<pre tabindex="0">${JSON.stringify(example.body, undefined, 2)}</pre>`,
  }
}

/** Members of a problem body that a page shows. */
export interface ShownProblem {
  readonly status: number
  readonly title: string
  readonly kind: string
  readonly detail: string
  readonly hint: string | undefined
  /** Path of the page of its kind. */
  readonly type: string
  readonly instance: string
}

export function problemPage({ status, title, kind, detail, hint, type, instance }: ShownProblem): Page {
  return {
    title: `${status} ${title}`,
    // What was deleted can be restored at the address of its identity.
    islands: kind === 'DatasetDeleted' ? ['changes'] : [],
    main: html`<h1><span class="status">${status}</span> ${title}</h1>
<p class="lead">${detail}</p>
${where(hint, (text) => html`<p>${text}</p>`)}
<dl class="facts">
<div><dt>Kind</dt><dd><a href="${type}">${kind}</a></dd></div>
<div><dt>Request</dt><dd><code>${instance}</code></dd></div>
</dl>
<p>${kind === 'DatasetNotFound' ? html`<a href="/ingest">Send a file to make a dataset</a> · ` : undefined}<a href="/">All datasets</a></p>`,
  }
}
