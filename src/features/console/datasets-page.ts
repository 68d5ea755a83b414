// The first page: what this node holds and which of it is alive. Empty, it says how to send the first row.

import { ago, countText, sizeText } from './format.ts'
import { commands } from './how-to.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import { liveMark, type Page } from './layout.ts'
import { pulse } from './pictures.ts'

export interface ListedDataset {
  readonly id: string
  readonly blocks: number
  readonly alias: string
  readonly visibility: 'public' | 'private'
  readonly description: string | undefined
  readonly rows: number
  readonly bytes: number
  readonly lastCommit: string
  /** Rows of each of the last hours, oldest first. */
  readonly perHour: readonly number[]
}

export interface DatasetList {
  readonly datasets: readonly ListedDataset[]
  /** Path of the next page. */
  readonly next: string | undefined
  /** Account that the list is of. */
  readonly account: string | undefined
  /** What was searched for, the order, and the datasets on all pages. */
  readonly q: string
  readonly sort: string
  readonly total: number
  readonly nowMs: number
  /** `http://host:port` as the browser knows it. */
  readonly origin: string
  /** By name: what programs ask of the node. */
  readonly links: Readonly<Record<string, string>>
}

/** One stream tells of so many datasets (docs/spec/http.md §12). */
const mostFollowed = 50

export function datasetsPage(list: DatasetList): Page {
  const { datasets, next, account, links, q } = list
  const isEmpty = datasets.length === 0 && q === '' && account === undefined
  const followed = datasets.slice(0, mostFollowed)
  const names = followed.map(({ alias }) => alias).join(' ')
  const places = followed.map(({ id, blocks }) => `${id}:${blocks - 1}`).join(',')
  const programs = Object.entries(links).map(([name, path]) => html`<a href="${path}">${linkTexts[name] ?? name}</a>`)
  return {
    title: 'Datasets',
    place: 'datasets',
    islands: ['live'],
    main: html`<h1 data-follow="${names}" data-places="${places}">Datasets${where(account, (name) => html` of ${name}`)} ${liveMark}</h1>
${where(account, () => html`<p><a href="/datasets">The datasets of all accounts</a></p>`)}
${isEmpty ? undefined : searchForm(list)}
<div data-part="list">${isEmpty ? none(list) : datasets.length === 0 ? nothingFound(list) : table(list)}</div>
${where(datasets.length > 0 ? links : undefined, whatNext)}
${where(next, (path) => html`<p><a href="${path}" rel="next">Next page</a></p>`)}
<footer><h2>For programs</h2><p class="links">${programs}</p></footer>`,
  }
}

const orders = [
  ['name', 'by name'],
  ['rows', 'most rows first'],
  ['newest', 'newest block first'],
] as const

/** Searches all that the caller may read, by an address of its own: no script is needed. */
function searchForm({ account, q, sort, total }: DatasetList): Html {
  const options = orders.map(([name, text]) => {
    return html`<option value="${name}"${name === sort ? html` selected` : undefined}>${text}</option>`
  })
  return html`<form class="run" action="/datasets" role="search">
${where(account, (name) => html`<input type="hidden" name="account" value="${name}">`)}
<label for="find">Find</label>
<input id="find" type="search" name="q" value="${q}" maxlength="200" placeholder="name, description or keyword">
<label>Order <select id="order" name="sort">${options}</select></label>
<button type="submit">Show</button>
<p class="hint">${countText(total)} ${total === 1 ? 'dataset' : 'datasets'}</p>
</form>`
}

function nothingFound({ q, account }: DatasetList): Html {
  const sought = q === '' ? undefined : html` with ${q} in its name, description or keywords`
  return html`<p>You may read no dataset${where(account, (name) => html` of ${name}`)}${sought}.${where(q || undefined, () => html` <a href="/datasets">All datasets</a>`)}</p>`
}

/** Where to go on. */
function whatNext(links: DatasetList['links']): Html {
  const ask =
    'query' in links
      ? html` Ask several at once in <a href="/query">SQL</a>, and save the answer with its proof.`
      : undefined
  return html`<p class="hint">Open a dataset for its rows, charts and history.${ask} <a href="/ingest">Send a file</a> to make another.</p>`
}

/** Names of links in JSON, as a person reads them. */
const linkTexts: Readonly<Record<string, string>> = {
  info: 'About the node',
  limits: 'Limits',
  datasets: 'Datasets',
  query: 'Query',
  verifyPage: 'Proof checker as one file',
  openapi: 'OpenAPI',
  swagger: 'Swagger',
  errors: 'Errors',
  health: 'Alive',
  ready: 'Ready',
  metrics: 'Metrics',
  did: 'Keys (DID document)',
}

function table({ datasets, nowMs }: DatasetList): Html {
  const rows = datasets.map(({ alias, visibility, description, rows, bytes, lastCommit, perHour }) => {
    const [account = '', name = ''] = alias.split('/')
    const hidden = visibility === 'private' ? html` <span class="tag">private</span>` : undefined
    return html`<tr>
<th scope="row"><a class="name" href="/${alias}"><span class="account">${account}/</span>${name}</a>${hidden}
${where(description, (text) => html`<p class="about">${text.slice(0, 200)}</p>`)}</th>
<td class="number">${countText(rows)}</td>
<td class="number wide">${sizeText(bytes)}</td>
<td class="fresh">${ago(lastCommit, nowMs)}</td>
<td class="wide">${pulse(perHour)}</td>
</tr>`
  })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Datasets">
<table class="datasets">
<thead><tr><th scope="col">Dataset</th><th scope="col" class="number">Rows</th><th scope="col" class="number wide">Size</th><th scope="col">Last block</th><th scope="col" class="wide">Rows per hour, two days</th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
</div>`
}

function none({ origin }: DatasetList): Html {
  return html`<div class="empty">
<h2>Nothing here yet</h2>
<p>Send a first row, and the node creates the dataset. Run this on the machine of the node, in the folder where it was started:</p>
${commands(firstRow(origin))}
<p>Then load this page again. To see private datasets, use a token that may read them.</p>
</div>`
}

function firstRow(origin: string): string {
  return `curl -X POST '${origin}/acme/readings/ingest?create=true' \\
  -H "Authorization: Bearer $(cat proofstream-data/token)" \\
  -H 'Content-Type: application/x-ndjson' \\
  -d '{"sensor":"s1","celsius":21.5}'`
}
