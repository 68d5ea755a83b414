// The SQL page: a statement, its answer as a table, how sure the answer is, and where it can be had as a file or with its
// proof. A statement that a link brought stands in the editor and has not run.

import type { AnswerColumn, Rows } from './charts/cells.ts'
import type { Chart } from './charts/points.ts'
import { countText, shortHash, sizeText } from './format.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import type { Example } from './examples.ts'
import type { Page } from './layout.ts'
import { ownQuestion } from './own-links.ts'
import { charts, map, type ShownMap } from './pictures.ts'

export interface ShownQuery {
  /** Empty where there is none yet. */
  readonly statement: string
  /** As it was given. */
  readonly limit: number | undefined
  readonly mostRows: number
  readonly result: ShownAnswer | ShownFault | undefined
  /** What can be asked: datasets of the caller, not more than a page shows. */
  readonly tree: readonly ShownTree[]
  /** Names of saved queries that the caller may run, not more than a page shows. */
  readonly saved: readonly string[]
}

/** A dataset with its columns and questions to begin with. */
export interface ShownTree {
  readonly alias: string
  readonly rows: number
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly examples: readonly Example[]
}

export interface ShownAnswer {
  readonly kind: 'answer'
  readonly columns: readonly AnswerColumn[]
  /** Undefined where the answer is too large for a page. */
  readonly rows: Rows | undefined
  readonly charts: readonly Chart[]
  /** Of its geometries or coordinates; a feature's row is the place of its row in the answer. */
  readonly map: ShownMap | undefined
  readonly bytes: number
  /** There are more rows than were asked for. */
  readonly isCut: boolean
  readonly ms: number
  readonly stability: 'exact' | 'pinned' | undefined
  readonly datasets: readonly { readonly alias: string; readonly blockHash: string }[]
  /** The same rows with a proof; or why there is none. */
  readonly proof: Saved | { readonly reason: string }
  /** Address of the page that makes a pack with this answer and its datasets; undefined where it has no proof. */
  readonly pack: string | undefined
  /** The files are of the blocks that were read; else of those that are newest then. */
  readonly isPinned: boolean
  /** Empty where the statement is too long for an address. */
  readonly files: readonly Saved[]
  /** Address of this page with the statement in its editor. */
  readonly permalink: string | undefined
}

/** A way to save the answer. */
interface Saved {
  readonly name: string
  readonly path: string
  readonly file: string
}

/** Why a statement has no answer. */
export interface ShownFault {
  readonly kind: 'fault'
  readonly status: number
  readonly title: string
  readonly detail: string
  readonly hint: string | undefined
  readonly errorKind: string
  /** Path of the page of its kind. */
  readonly type: string
  /** 1-based; the column counts code points. */
  readonly position: { readonly line: number; readonly column: number } | undefined
  readonly candidates: readonly string[]
}

export function queryPage(query: ShownQuery): Page {
  const { statement, limit, mostRows, result, tree, saved } = query
  return {
    title: 'SQL',
    place: 'query',
    islands: ['query', 'map', 'chart', 'table'],
    main: html`<h1>SQL</h1>
<form id="ask" action="/query" method="get" class="ask">
<label for="statement">Statement</label>
<textarea id="statement" name="query" rows="5" spellcheck="false" autocomplete="off" autocapitalize="off" required placeholder="${'select * from "account/dataset"'}">
${statement}</textarea>
<div class="run">
<button type="submit">Run</button>
<button type="button" class="quiet" hidden>Stop</button>
<label for="limit">Rows at most</label>
<input id="limit" name="limit" type="number" min="0" max="${mostRows}" value="${limit ?? ''}" placeholder="100">
<input type="hidden" name="run" value="1">
<span class="hint" id="state" role="status"></span>
</div>
</form>
<section id="answer" aria-labelledby="answer-title">
${resultOf(statement, result)}
</section>
${saveForm}
${where(tree.length > 0 ? tree : undefined, treeOf)}
${where(saved.length > 0 ? saved : undefined, savedList)}
<section id="history" aria-labelledby="history-title" hidden><h2 id="history-title">Asked before, in this browser</h2></section>`,
  }
}

/** For a script alone: it takes a token. */
const saveForm = html`<details id="save" hidden><summary>Save this statement at an address</summary>
<form class="fields" autocomplete="off">
<label for="save-name">Name</label>
<input id="save-name" name="query-name" required maxlength="100" pattern="[a-z0-9]+(-[a-z0-9]+)*" placeholder="by-device" spellcheck="false" aria-describedby="save-hint">
<p class="hint" id="save-hint">Lower-case letters, digits and hyphens. It answers at <code>/q/&lt;name&gt;</code>; a parameter like <code>$device</code> is <code>?device=…</code> there.</p>
<label for="save-about">What it is for</label>
<input id="save-about" name="query-about" maxlength="1000">
<button type="submit">Save</button>
</form>
<div role="status"></div>
</details>`

function savedList(names: readonly string[]): Html {
  return html`<section aria-labelledby="saved-title"><h2 id="saved-title">Saved</h2>
<p class="links">${names.map((name) => html`<a href="/q/${name}">${name}</a>`)} <a href="/q">All saved queries</a></p></section>`
}

/** What there is to ask: a click puts a question into the editor. */
function treeOf(tree: readonly ShownTree[]): Html {
  const first = tree.find(({ rows }) => rows > 0)
  const items = tree.map((dataset) => {
    const { alias, rows, columns, examples } = dataset
    const links = examples.map(({ title, sql }) => html`<a href="${ownQuestion(sql)}" data-fill="${sql}">${title}</a>`)
    const names = columns.map(({ name, type }) => html`<li><code>${name}</code> <small>${type}</small></li>`)
    return html`<details${dataset === first ? html` open` : undefined}><summary>${alias} <small>${countText(rows)} rows</small></summary>
<p class="links">${links}</p>
<ul class="columns-of">${names}</ul></details>`
  })
  return html`<section aria-labelledby="tree-title" class="tree"><h2 id="tree-title">Datasets</h2>
${items}
</section>`
}

/** What came of a statement. */
export function resultOf(statement: string, result: ShownQuery['result']): Html {
  if (result?.kind === 'answer') return answer(result)
  if (result?.kind === 'fault') return fault(result, statement)
  if (statement !== '')
    return html`<h2 id="answer-title">Not run yet</h2>
<p class="note">This statement comes from the address. Read it, then press Run.</p>`
  return html`<h2 id="answer-title">No statement yet</h2>
<p class="hint">One SELECT over any datasets, in the SQL of DuckDB. <code>show tables</code> lists the datasets that you may read, and <code>describe "account/dataset"</code> the columns of one.</p>`
}

function answer(shown: ShownAnswer): Html {
  const { rows, bytes, isCut, ms, stability, datasets } = shown
  const count = rows === undefined ? sizeText(bytes) : `${countText(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`
  const classText =
    stability === 'exact'
      ? 'reproducible from the rows'
      : 'may depend on the order of rows in their blocks, or on the version of the engine'
  return html`<h2 id="answer-title">Answer <small>${count}${isCut ? ', cut: there are more' : ''}, ${Math.round(ms)} ms</small></h2>
${isCut ? html`<p class="hint">Raise “Rows at most”, or write a LIMIT, or save all rows below.</p>` : undefined}
<div data-charts>${charts(shown.charts)}</div>
${where(shown.map, (found) => map(found, '#row-'))}
${rows === undefined ? tooLarge(shown) : table(shown, rows)}
<dl class="facts">
${stability && html`<div><dt>Class</dt><dd><code>${stability}</code>: ${classText}</dd></div>`}
${datasets.map(({ alias, blockHash }) => html`<div><dt>${alias}, at block</dt><dd>${shortHash(blockHash)}</dd></div>`)}
</dl>
${ways(shown)}`
}

function tooLarge({ bytes }: ShownAnswer): Html {
  return html`<p class="note">The answer has ${sizeText(bytes)}, too much for a page. Save it, or query fewer rows or columns.</p>`
}

function table({ columns, map: hasMap }: ShownAnswer, rows: Rows): Html {
  const classes = columns.map(({ isNumber }) => (isNumber ? 'number' : ''))
  const heads = columns.map(
    ({ name, type }, at) =>
      html`<th scope="col" class="${classes[at]}"><button type="button" class="head">${name}</button><br><small>${type}</small></th>`,
  )
  const body = rows.map((row, number) => {
    const cells = row.map((cell, at) =>
      cell === undefined
        ? html`<td class="null ${classes[at]}">null</td>`
        : html`<td class="${classes[at]}">${cell}</td>`,
    )
    return hasMap === undefined ? html`<tr>${cells}</tr>` : html`<tr id="row-${number}">${cells}</tr>`
  })
  return html`<p class="filter"><label>Filter these rows <input type="search" id="filter" autocomplete="off" data-filter></label></p>
<div class="scroll" tabindex="0" role="region" aria-label="Rows of the answer">
<table class="rows"><thead><tr>${heads}</tr></thead><tbody>
${body}
</tbody></table></div>`
}

function ways({ files, proof, pack, permalink, isPinned }: ShownAnswer): Html {
  const saved = ({ name, path, file }: Saved): Html => html`<a href="${path}" download="${file}" data-save>${name}</a>`
  const proven = 'reason' in proof ? html`<span class="hint">${proof.reason}</span>` : saved(proof)
  const whole =
    files.length === 0
      ? html`<p class="hint">The statement is too long for an address. To save the rows, send it with POST from a program.</p>`
      : html`<h3>Save all rows${isPinned ? ', of these blocks' : undefined}</h3>
<p class="links">${files.map(saved)}</p>`
  return html`<div class="ways-out">
<h3>Prove it, share it</h3>
<p class="links">${proven}${where(pack, packLink)}${where(permalink, (path) => html`<a href="${path}">Link to this statement</a>`)}</p>
${whole}
</div>`
}

export function packLink(address: string): Html {
  return html`<a href="${address}">Evidence pack, with all rows of its datasets</a>`
}

function fault(shown: ShownFault, statement: string): Html {
  const { status, title, detail, hint, errorKind, type, position, candidates } = shown
  return html`<h2 id="answer-title" class="bad">${title}</h2>
<p>${detail}</p>
${where(position, (at) => excerpt(statement, at))}
${where(hint, (text) => html`<p>${text}</p>`)}
${candidates.length === 0 ? undefined : html`<p>Similar names: ${candidates.map((name) => html`<code>${name}</code>`)}</p>`}
<p class="hint">${status} <a href="${type}">${errorKind}</a></p>`
}

/** So much of a line is shown on either side of the place of a fault. */
const excerptChars = 60

/** The line of a fault, its place marked. */
function excerpt(statement: string, { line, column }: NonNullable<ShownFault['position']>): Html {
  const characters = Array.from(statement.split('\n')[line - 1] ?? '')
  const before = characters.slice(0, column - 1)
  const rest = characters.slice(column - 1).join('')
  const marked = /^(?:"[^"]*"?|[\p{L}\p{N}_]+|.)/u.exec(rest)?.[0] ?? ' '
  const after = Array.from(rest.slice(marked.length))
  const [head, tail] = [before.length > excerptChars ? '…' : '', after.length > excerptChars ? '…' : '']
  return html`<p class="hint">Line ${line}, column ${column}:</p>
<pre class="place" tabindex="0" aria-label="The place of the fault" data-line="${line}" data-column="${column}"><code>${head}${before.slice(-excerptChars).join('')}<mark>${marked}</mark>${after.slice(0, excerptChars).join('')}${tail}</code></pre>`
}
