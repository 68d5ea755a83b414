// The page on which an evidence pack is made: what is to go into it. The browser gathers it, from the routes that anyone has.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { html } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'

const name = Type.String({ maxLength: 210 })
const description = 'A dataset that the page proposes: account/dataset.'
const Asked = Type.Object(
  {
    dataset: Type.Optional(Type.Union([name, Type.Array(name, { maxItems: 100 })], { description })),
    sql: Type.Optional(Type.String({ description: 'A statement that the page proposes.' })),
  },
  { additionalProperties: false },
)

export function registerPackPage(app: FastifyInstance): void {
  app.get('/evidence-pack', { schema: { querystring: Asked } }, () => ({
    about: 'A browser makes an evidence pack here. A program: proofstream pack-evidence DATASET… -o pack.zip',
  }))
}

/** Address of the page with what it proposes. */
export function packAddress(datasets: readonly string[], sql?: string): string {
  const proposed = new URLSearchParams(datasets.map((name): [string, string] => ['dataset', name]))
  if (sql !== undefined) proposed.set('sql', sql)
  return `/evidence-pack?${proposed}`
}

export function packPageOf({ query }: Pick<FastifyRequest, 'query'>): Page {
  const { dataset = [], sql = '' } = query as Static<typeof Asked> // validated by the route
  const block = (name: string, label: string) => html`<div class="parameter"><label for="${name}">${label}</label>
<input type="text" id="${name}" pattern="[0-9]{1,9}|[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*)?" title="A number of a block, or a time such as 2026-03-01" spellcheck="false" autocomplete="off" aria-describedby="blocks-hint"></div>`
  return {
    title: 'Evidence pack',
    islands: ['pack'],
    main: html`<h1>Evidence pack</h1>
<p class="lead">One zip for somebody who has no account here: datasets with all their blocks and rows, signed answers, receipts, what the ledger has of them, and a page that says what all of it is. Anyone who has the file can read all rows of its datasets.</p>
<form id="pack" class="check" autocomplete="off">
<label for="datasets">Datasets</label>
<input type="text" id="datasets" value="${[dataset].flat().join(' ')}" placeholder="account/dataset" spellcheck="false" autocapitalize="off" aria-describedby="datasets-hint">
<p id="datasets-hint" class="hint">Several with blanks between them. The pack has all rows of each.</p>
<label for="statements">Statements, if any</label>
<textarea id="statements" rows="4" spellcheck="false" autocapitalize="off" aria-describedby="statements-hint">
${sql}</textarea>
<p id="statements-hint" class="hint">Each is asked anew, and the pack has its signed answer. Put a semicolon between several. The address of a saved query counts as one: <code>/q/&lt;name&gt;?…</code></p>
<label for="receipts">Receipts, if any</label>
<textarea id="receipts" rows="2" spellcheck="false" autocapitalize="off" aria-describedby="receipts-hint"></textarea>
<p id="receipts-hint" class="hint">Their ids, one a line. The pack has each as the node signs it, with its proofs.</p>
<div class="parameters">${block('from', 'Proofs of the ledger from block')}${block('to', 'up to block')}</div>
<p id="blocks-hint" class="hint">Numbers or times of blocks. Without both, the pack has the proof of the newest block of each dataset.</p>
<button type="submit" disabled>Make the pack</button> <span class="hint" id="state"></span>
<p class="bad" role="alert"></p>
<div id="made" role="status"></div>
</form>
<noscript><p class="note">A script of this page makes packs. Without scripts: <code>proofstream pack-evidence DATASET… -o pack.zip</code></p></noscript>`,
  }
}
