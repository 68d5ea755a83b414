// A block of a chain: what it did, its neighbours, its rows, its event whole, and how what it holds is proven.

import { deedOf, type ShownBlock } from './dataset-page.ts'
import { countText, fact, shortHash } from './format.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'
import { rowsTable, type ShownRows } from './rows-part.ts'
import { ownQuestion } from './own-links.ts'
import { proofsPart, type ShownProofs } from './proofs-part.ts'

export interface ShownWholeBlock extends ShownBlock {
  readonly alias: string
  readonly previous: string | undefined
  readonly next: string | undefined
  /** Hash of the slice with its rows. */
  readonly slice: string | undefined
  /** The event as JSON, lines broken; a long one is cut. */
  readonly event: string
  /** Its last rows, newest first. */
  readonly last: ShownRows | undefined
  readonly numbers: ReadonlySet<string>
  readonly offsetColumn: string
  readonly proofs: ShownProofs
  /** The keys with which nodes sign answers over it. */
  readonly signers: readonly string[]
}

const plainHead = (name: string, kind: string): Html => html`<th scope="col" class="${kind}">${name}</th>`

export function blockPage(block: ShownWholeBlock): Page {
  const { alias, sequence, hash, systemTime, kind, from, rows, previous, next, slice, event, last, signers } = block
  const link = (path: string | undefined, text: string): ReturnType<typeof html> | undefined =>
    where(path, (found) => html`<a href="/${alias}/blocks/${found}">${text}</a>`)
  const statement = `select * from "${alias}" where "offset" between ${from} and ${from + rows - 1} order by "offset"`
  return {
    title: `Block ${sequence} of ${alias}`,
    place: 'datasets',
    islands: ['live'],
    main: html`<p class="path"><a href="/${alias}">${alias}</a> /</p>
<h1>Block ${sequence}</h1>
<p class="lead">${deedOf(kind, rows)}. Its hash is that of its bytes, which hold the hash of the block before it: what it says cannot change unseen.</p>
<p class="links">${link(previous, '← Previous block')}${link(next, 'Next block →')}</p>
<dl class="facts">
${fact('Hash', shortHash(hash))}
${where(previous, (found) => fact('Previous block', shortHash(found)))}
${fact('Made', html`<time datetime="${systemTime}">${systemTime}</time>`)}
${fact('Event', kind)}
${rows === 0 ? undefined : fact('Offsets', `${countText(from)} to ${countText(from + rows - 1)}`)}
${where(slice, (found) => fact('Slice', html`${shortHash(found)} <a href="/${alias}/data/${found}" download="${found}.parquet">Parquet</a>`))}
</dl>
${where(
  last,
  (
    shown,
  ) => html`<section aria-labelledby="rows"><h2 id="rows">The last rows of the block</h2>${rowsTable(`Rows of block ${sequence}`, shown, { ...block, head: plainHead })}
<p><a href="${ownQuestion(statement)}">Query all its rows in SQL</a>, and save them with a proof.</p></section>`,
)}
${proofsPart(block.proofs)}
<section aria-labelledby="signers"><h2 id="signers">Signers</h2>
<p class="hint">A key of this installation signs answers that name this block. A signature vouches for the bytes, not for the truth of the records.</p>
<ul>${signers.map((key) => html`<li><code class="hash" title="${key}" data-copy="${key}">${key.slice(0, 16)}…${key.slice(-8)}</code></li>`)}</ul></section>
<section aria-labelledby="event"><h2 id="event">Event</h2>
<pre tabindex="0" role="region" aria-label="The event as JSON">${event}</pre></section>`,
  }
}
