// A dataset's page: what it is, its newest rows, its columns, its chain, how to write to it and how to read it.

import type { Plot } from './charts/points.ts'
import { ownValue } from '../../libraries/base/collections.ts'
import { changes, type ShownChanges } from './dataset-changes.ts'
import { ago, countText, fact, shortHash, sizeText } from './format.ts'
import type { Readme } from './dataset-readme.ts'
import { type Addressed, howToRead, howToWrite } from './how-to.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import { liveMark, type Page } from './layout.ts'
import { charts, map, pulse, pulseText, type ShownMap } from './pictures.ts'
import { rowsPart, type ShownAsked } from './rows-part.ts'

export interface ShownColumn {
  readonly name: string
  /** Short text of its type, without the mark of what may be absent. */
  readonly type: string
  readonly isOptional: boolean
  /** Filled by the node, not by the writer. */
  readonly isSystem: boolean
  readonly isNumber: boolean
  /** Of the rows of `ShownDataset.figuresOf`; absent where none were found. */
  readonly figures: ColumnFigures | undefined
}

export interface ColumnFigures {
  readonly nulls: number
  /** How many different values; about so many unless figures are exact. */
  readonly distinct: number | undefined
  readonly least: string | undefined
  readonly greatest: string | undefined
}

export interface ShownBlock {
  readonly sequence: number
  readonly hash: string
  readonly systemTime: string
  /** Kind of its event: `AddData`, `SetInfo`, … */
  readonly kind: string
  /** First offset and number of the rows that it brought. */
  readonly from: number
  readonly rows: number
}

export interface ShownDataset extends Omit<Addressed, 'example'> {
  readonly id: string
  readonly visibility: 'public' | 'private'
  readonly description: string | undefined
  readonly keywords: readonly string[]
  readonly license: { readonly name: string; readonly websiteUrl: string } | undefined
  /** Its attachment of that name. */
  readonly readme: Readme
  readonly rows: number
  readonly bytes: number
  readonly blocks: number
  readonly head: string
  readonly createdAt: string
  readonly lastCommit: string
  readonly columns: readonly ShownColumn[]
  /** Name of the column with the event time. */
  readonly eventTime: string
  readonly perHour: readonly number[]
  /** The last blocks, newest first. */
  readonly chain: readonly ShownBlock[]
  readonly asked: ShownAsked
  /** How many of the newest rows chart and figures are of; undefined where there are none. */
  readonly figuresOf: number | undefined
  /** Different values were counted one by one. */
  readonly isExact: boolean
  /** Or why there are none. */
  readonly charts: readonly Plot[] | { readonly reason: string }
  readonly map: ShownMap | undefined
  /** Undefined for a caller that may change nothing here. */
  readonly changes: ShownChanges | undefined
  readonly nowMs: number
}

/** Longer cells are cut on the page; files have the whole value. */
export const shownCellChars = 200
/** A page shows so many columns of its newest rows, and all of them in the list of columns. */
export const mostShownColumns = 50

export function datasetPage(dataset: ShownDataset): Page {
  const { alias, description } = dataset
  const [account = '', name = ''] = alias.split('/')
  const items = `/ogc/collections/${account}:${name}/items`
  return {
    title: alias,
    place: 'datasets',
    islands: [
      'live',
      'chart',
      ...(dataset.map === undefined && !dataset.hasGeometry ? [] : ['map']),
      ...(dataset.changes === undefined ? [] : ['changes']),
    ],
    main: html`<p class="path"><a href="/datasets?account=${account}">${account}</a> /</p>
<h1 data-follow="${alias}" data-places="${dataset.id}:${dataset.blocks - 1}">${name}${dataset.visibility === 'private' ? html` <span class="tag">private</span>` : undefined} ${liveMark}</h1>
${where(description, (text) => html`<p class="lead">${text}</p>`)}
<div data-part="facts">${facts(dataset)}</div>
${readmePart(dataset.readme)}
<section data-part="chart">${chartPart(dataset)}</section>
<section data-part="map">${where(dataset.map, (shown) => html`<h2 id="map">Map <small>newest features</small></h2>${dataset.hasItems ? html`${map(shown, `${items}/`)}<p><a href="${items}?f=html">All features, as a list</a></p>` : map(shown, `/${alias}/rows/`)}`)}</section>
<section data-part="rows" aria-labelledby="rows">${rowsPart(dataset.asked)}</section>
<section data-part="columns" aria-labelledby="columns"><h2 id="columns">Columns <small>${dataset.columns.length}${where(dataset.figuresOf, () => html`, figures of ${extent(dataset)}`)}</small></h2>${columns(dataset)}</section>
<div class="pair">
<section aria-labelledby="read"><h2 id="read">Read it</h2>${howToRead({ ...dataset, example: '' })}</section>
<section aria-labelledby="write"><h2 id="write">Write to it</h2><p><a href="/ingest?${`dataset=${alias}`}">Send a file</a></p>${howToWrite({ ...dataset, example: exampleOf(dataset) })}</section>
</div>
<section data-part="chain" aria-labelledby="chain"><h2 id="chain">Chain <small>${countText(dataset.blocks)} blocks</small></h2>${chain(dataset)}</section>
${where(dataset.changes, changes)}`,
  }
}

function facts(dataset: ShownDataset): Html {
  const { rows, bytes, blocks, lastCommit, createdAt, head, id, license, readme, keywords, perHour, nowMs } = dataset
  return html`<dl class="figures">
${fact('Rows', countText(rows))}
${fact('Size', sizeText(bytes))}
${fact('Blocks', countText(blocks))}
${fact('Last block', ago(lastCommit, nowMs))}
${fact('Rows per hour', html`${pulse(perHour)}<small>${pulseText(perHour)}</small>`)}
</dl>
<dl class="facts">
${fact('Head', shortHash(head))}
${fact('Identity', html`<code class="hash" title="${id}" data-copy="${id}">${id.slice(0, 18)}…${id.slice(-8)}</code>`)}
${fact('Created', ago(createdAt, nowMs))}
${where(license, ({ name, websiteUrl }) => fact('License', linked(name, websiteUrl)))}
${where(readme.publisher || undefined, (text) => fact('Publisher', text))}
${where(readme.contact || undefined, (text) => fact('Contact', text))}
${keywords.length === 0 ? undefined : fact('Keywords', keywords.slice(0, 20).join(', ').slice(0, 500))}
</dl>`
}

function chartPart(dataset: ShownDataset): Html | undefined {
  if ('reason' in dataset.charts) return html`<p class="hint">${dataset.charts.reason}</p>`
  return where(
    charts(dataset.charts),
    (drawn) => html`<h2 id="chart">Over event time <small>${extent(dataset)}</small></h2>${drawn}`,
  )
}

/** A longer text is folded, and one that is longer still is cut. */
const [openReadmeChars, shownReadmeChars] = [600, 20_000]

function readmePart({ text }: Readme): Html | undefined {
  if (text === '') return undefined
  const shown = html`<p class="readme">${text.length > shownReadmeChars ? `${text.slice(0, shownReadmeChars)}…` : text}</p>`
  return html`<section aria-labelledby="about"><h2 id="about">About it</h2>${text.length <= openReadmeChars ? shown : html`<details><summary>README</summary>${shown}</details>`}</section>`
}

/** A link, where the address is one of the web. */
function linked(text: string, address: string): Html {
  return /^https?:\/\//i.test(address) ? html`<a href="${address}" rel="noreferrer">${text}</a>` : html`${text}`
}

/** The rows that chart and figures are of. */
function extent({ rows, figuresOf = 0 }: ShownDataset): string {
  return figuresOf === rows ? 'all rows' : `the newest ${countText(figuresOf)} rows`
}

function columns({ columns: list, figuresOf, isExact }: ShownDataset): Html {
  const rows = list.map(({ name, type, isOptional, isSystem, figures }) => {
    const kind = isSystem ? 'System' : isOptional ? 'Nullable' : 'Required'
    return html`<tr${isSystem ? html` class="system"` : undefined}><th scope="row">${name}</th><td><code>${type}</code></td><td>${kind}</td>
${figuresOf === undefined ? [] : figureCells(figures, figuresOf)}</tr>`
  })
  const figures = html`<th scope="col" class="number">Nulls</th><th scope="col" class="number">${isExact ? 'Distinct' : 'Distinct, about'}</th><th scope="col">Min</th><th scope="col">Max</th>`
  const table = (
    label: string,
    shown: readonly Html[],
  ): Html => html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table class="columns"><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Given</th>${figuresOf === undefined ? [] : figures}</tr></thead><tbody>
${shown}
</tbody></table></div>`
  const rest = rows.slice(mostShownColumns)
  return html`${table('Columns', rows.slice(0, mostShownColumns))}
${rest.length === 0 ? undefined : html`<details><summary>${countText(rest.length)} more columns</summary>${table('More columns', rest)}</details>`}`
}

function figureCells(figures: ColumnFigures | undefined, rows: number): Html {
  if (figures === undefined) return html`<td></td><td></td><td></td><td></td>`
  const { nulls, distinct, least, greatest } = figures
  const part = nulls === 0 ? '0' : `${((100 * nulls) / rows).toFixed(1)} %`
  const different = distinct === undefined ? '' : countText(distinct)
  return html`<td class="number">${part}</td><td class="number">${different}</td><td>${least}</td><td>${greatest}</td>`
}

/** What a block did, in words. */
const deeds: Readonly<Record<string, string>> = {
  Seed: 'dataset made',
  SetVocab: 'names of system columns',
  SetDataSchema: 'columns',
  SetInfo: 'description',
  SetLicense: 'license',
  SetAttachments: 'attachments',
  AddPushSource: 'source of records',
  DisablePushSource: 'source of records ended',
}

/** `+300 rows`, or what its event is of. */
export function deedOf(kind: string, rows: number): string {
  return rows === 0 ? (ownValue(deeds, kind) ?? kind) : `+${countText(rows)} rows`
}

function chain({ chain: blocks, blocks: total, alias, nowMs }: ShownDataset): Html {
  const items = blocks.map(({ sequence, hash, systemTime, kind, from, rows }) => {
    const span = rows === 0 ? '' : ` offsets ${countText(from)} to ${countText(from + rows - 1)}`
    return html`<li><span class="sequence">${sequence}</span><span class="deed"><a href="/${alias}/blocks/${hash}">${deedOf(kind, rows)}</a><small>${span}</small></span>
<span>${ago(systemTime, nowMs)}</span>${shortHash(hash)}</li>`
  })
  const more = total > blocks.length ? html`, newest of ${countText(total)}` : undefined
  return html`<p class="hint">Each block names the previous one by its hash, so no change goes unnoticed${more}.
<a href="/${alias}/blocks">All, as JSON</a></p>
<ol class="chain">
${items}
</ol>`
}

/** A record that the dataset takes, as JSON; its event time comes first. */
function exampleOf({ columns: list, eventTime, hasGeometry }: ShownDataset): string {
  const own = list.filter(({ isSystem }) => !isSystem).slice(0, 6)
  const place = { type: 'Point', coordinates: [13.4, 52.52] }
  const isPlace = (name: string): boolean => hasGeometry && name.toLowerCase() === 'geometry'
  const time = list.filter(({ name }) => name === eventTime)
  const members = [...time, ...own].map(({ name, type }) => [name, isPlace(name) ? place : exampleValue(type)])
  return own.length === 0 ? '{"sensor":"s1","celsius":21.5}' : JSON.stringify(Object.fromEntries(members))
}

function exampleValue(type: string): unknown {
  if (/^(?:U?Int|Float|Decimal)/.test(type)) return type.includes('Int') ? 1 : 1.5
  if (type === 'Bool') return true
  if (type.startsWith('Timestamp')) return '2026-01-01T00:00:00Z'
  if (type === 'Date') return '2026-01-01'
  if (type.startsWith('List')) return []
  return type === 'String' ? 'text' : null
}
