// A row at its own address: its values in full, its neighbours, the block that brought it, and what proves it.

import { countText, fact, shortHash } from './format.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'
import { proofsPart, type ShownProofs } from './proofs-part.ts'

export interface ShownRow {
  readonly alias: string
  readonly offset: number
  /** Rows of the dataset. */
  readonly all: number
  readonly offsetColumn: string
  readonly values: readonly ShownValue[] | { readonly reason: string }
  readonly block: { readonly sequence: number; readonly hash: string; readonly systemTime: string }
  readonly proofs: ShownProofs
}

export interface ShownValue {
  readonly name: string
  readonly type: string
  /** Filled by the node. */
  readonly isSystem: boolean
  /** Undefined where it is null. */
  readonly text: string | undefined
  /** Its first characters alone are shown. */
  readonly isCut: boolean
}

export function rowPage(row: ShownRow): Page {
  const { alias, offset, all, block, values, proofs, offsetColumn } = row
  const link = (to: number, text: string): Html => html`<a href="/${alias}/rows/${to}">${text}</a>`
  const name = alias.split('/')[1] ?? ''
  const condition = encodeURIComponent(`"${offsetColumn}" = ${offset}`)
  return {
    title: `Row ${offset} of ${alias}`,
    place: 'datasets',
    islands: ['live'],
    main: html`<p class="path"><a href="/${alias}">${alias}</a> /</p>
<h1>Row ${countText(offset)}</h1>
<p class="links">${where(offset > 0 ? offset - 1 : undefined, (to) => link(to, '← Previous row'))}${where(offset + 1 < all ? offset + 1 : undefined, (to) => link(to, 'Next row →'))}
<a href="/${alias}/export?where=${condition}&amp;format=NdJson" download="${name}-row-${offset}.ndjson" data-save>As JSON</a></p>
<section aria-labelledby="values"><h2 id="values">Values</h2>${valuesTable(values)}</section>
${proofsPart(proofs)}
<section aria-labelledby="block"><h2 id="block">Where it is from</h2><dl class="facts">
${fact('Block', html`<a href="/${alias}/blocks/${block.hash}">${countText(block.sequence)}</a>`)}
${fact('Hash of the block', shortHash(block.hash))}
${fact('Committed', html`<time datetime="${block.systemTime}">${block.systemTime}</time>`)}
</dl></section>`,
  }
}

function valuesTable(values: ShownRow['values']): Html {
  if ('reason' in values) return html`<p class="empty">${values.reason}</p>`
  const rows = values.map(({ name, type, isSystem, text, isCut }) => {
    const cut = isCut ? html` <span class="hint">The rest is in the JSON.</span>` : undefined
    const cell = text === undefined ? html`<td class="null">null</td>` : html`<td class="whole">${text}${cut}</td>`
    return html`<tr${isSystem ? html` class="system"` : undefined}><th scope="row">${name}</th>${cell}<td class="wide"><code>${type}</code></td></tr>`
  })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Values of the row">
<table class="values"><thead><tr><th scope="col">Column</th><th scope="col">Value</th><th scope="col" class="wide">Type</th></tr></thead><tbody>
${rows}
</tbody></table></div>`
}
