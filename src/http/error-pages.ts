// The error catalogue: one entry per kind as /errors lists it, and its page for people.

import { type ErrorKind, errorTable, isRetryable, kindSlug } from '../model/error-table.ts'
import { NodeError } from '../model/errors.ts'
import { problemOf } from './problem.ts'
import { errorTexts } from './texts.ts'

/** What `GET /errors/{kind}` says of one kind. */
export interface ErrorEntry {
  readonly kind: ErrorKind
  readonly status: number
  readonly title: string
  readonly meaning: string
  readonly fix: string
  readonly retryable: boolean
  /** Path of the page. */
  readonly page: string
  readonly example: { readonly mediaType: string; readonly body: Readonly<Record<string, unknown>> }
}

const exampleRequestId = '7d3f7f0e-5a0c-4c3e-9a51-0d9f4c1c2b3a'

/** Every kind, by status as the table has them. */
// the keys of the table are its kinds
export const errorCatalogue: readonly ErrorEntry[] = (Object.keys(errorTable) as ErrorKind[]).map((kind) => {
  const { meaning, fix, example } = errorTexts[kind]
  const { message, ...details } = example
  const problem = problemOf(new NodeError(kind, message, details), exampleRequestId)
  return {
    kind,
    status: errorTable[kind].status,
    title: errorTable[kind].title,
    meaning,
    fix,
    retryable: isRetryable(kind),
    page: `/errors/${kindSlug(kind)}`,
    example: { mediaType: problem.mediaType, body: problem.body },
  }
})

/** The page of one kind for a browser, as the inside of an HTML body. */
export function errorPageHtml(entry: ErrorEntry): string {
  return [
    `<h1>${entry.kind}</h1>`,
    `<p>${escapeHtml(entry.title)}. Status ${entry.status}${entry.retryable ? ', may succeed when repeated' : ''}.</p>`,
    `<p>${escapeHtml(entry.meaning)}</p>`,
    `<p>What to do: ${escapeHtml(entry.fix)}</p>`,
    `<pre>${escapeHtml(JSON.stringify(entry.example.body, undefined, 2))}</pre>`,
    '<p><a href="/errors">All kinds</a></p>',
  ].join('\n')
}

/** The list of all kinds for a browser, as the inside of an HTML body. */
export function errorListHtml(): string {
  const items = errorCatalogue.map(
    (entry) => `<li><a href="${entry.page}">${entry.kind}</a> (${entry.status}): ${escapeHtml(entry.title)}</li>`,
  )
  return `<h1>Errors</h1>\n<ul>\n${items.join('\n')}\n</ul>`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
