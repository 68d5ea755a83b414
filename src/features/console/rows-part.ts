// The rows of a dataset on its page: filters, the values of columns that have few, a page of the rows, and the files of all
// of them. All of it is links and one form, whose addresses show the same rows to others.

import { addressOfRows, type AskedRows, changed, comparisons, type Filter, isCompared } from './asked-rows.ts'
import { countText } from './format.ts'
import { packAddress } from './pack-page.ts'
import { type Html, html } from '../../libraries/base/html.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { Field } from '../../libraries/model/schema.ts'

/** A cell is undefined where the value is null. Or why there are none to show. */
export type ShownRows =
  | { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | undefined)[])[] }
  | { readonly reason: string }

/** A column with its most frequent values, and how many different ones there are. A value is undefined where it is null. */
export interface Facet {
  readonly column: Field
  readonly distinct: number
  readonly values: readonly { readonly value: string | undefined; readonly rows: number }[]
}

/** Of a value in the list of values. */
const shownValueChars = 60

export interface ShownFile {
  readonly name: string
  readonly path: string
  readonly file: string
}

export interface ShownAsked {
  readonly alias: string
  readonly asked: AskedRows
  /** Of all columns. */
  readonly fields: readonly Field[]
  readonly numbers: ReadonlySet<string>
  readonly offsetColumn: string
  /** Rows of the dataset. */
  readonly all: number
  /** On all pages; undefined where they were not counted in time. */
  readonly total: number | undefined
  readonly shown: ShownRows
  readonly pageRows: number
  readonly facets: readonly Facet[]
  /** Rows that values are counted in at most: the newest. */
  readonly countedRows: number
  /** Longer values have no link. */
  readonly linkedValueChars: number
  readonly files: readonly ShownFile[]
  /** Of the SQL page, with these rows. */
  readonly question: string
  /** Columns that are left out. */
  readonly left: number
}

export function rowsPart(part: ShownAsked): Html {
  const { asked, all, left, shown } = part
  if (all === 0)
    return html`<h2 id="rows">Rows</h2>${'reason' in shown ? html`<p class="empty">${shown.reason}</p>` : undefined}`
  return html`<h2 id="rows">Rows <small>${extent(part)}</small></h2>
${filters(part)}
${facets(part)}
${filterForm(part)}
${table(part)}
${left > 0 ? html`<p class="hint">${countText(left)} more columns are in the list below, and in files.</p>` : undefined}
${pager(part)}
${files(part)}
${asked.until !== undefined && asked.until < all ? html`<p class="hint">Rows before offset ${countText(asked.until)}. <a href="${addressOfRows(part.alias, { ...asked, skip: 0, until: undefined })}">Show ${countText(all - asked.until)} newer</a></p>` : undefined}`
}

function extent({ asked: { filters: given, order }, total, all }: ShownAsked): string {
  const counted = total === undefined ? 'of' : `${countText(total)} of`
  const how =
    order === undefined ? 'newest first' : `by ${order.column.name}, ${order.isDescending ? 'greatest' : 'least'} first`
  return given.length === 0 ? `${countText(total ?? all)}, ${how}` : `${counted} ${countText(all)}, ${how}`
}

function filterText({ column, is, value }: Filter): string {
  const { text, takes } = comparisons[is]
  return takes ? `${column.name} ${text} ${value === '' ? '(empty)' : value}` : `${column.name} ${text}`
}

/** What is filtered by, each with a way to take it out. */
function filters({ alias, asked }: ShownAsked): Html | undefined {
  if (asked.filters.length === 0) return undefined
  const items = asked.filters.map((filter) => {
    const rest = changed(asked, { filters: asked.filters.filter((one) => one !== filter) })
    const text = filterText(filter).slice(0, 200)
    return html`<li><a href="${addressOfRows(alias, rest)}" aria-label="Take out: ${text}">${text} ×</a></li>`
  })
  return html`<ul class="chips" aria-label="Filters">${items}<li class="plain"><a href="${addressOfRows(alias, changed(asked, { filters: [] }))}">Show all rows</a></li></ul>`
}

function facets(part: ShownAsked): Html | undefined {
  const { facets: list, all, countedRows } = part
  if (list.length === 0) return undefined
  const about =
    all > countedRows
      ? html`<p class="hint">Values are counted in the newest ${countText(countedRows)} rows.</p>`
      : undefined
  return html`<div class="facets">${list.map((facet) => facetOf(part, facet))}</div>${about}`
}

function facetOf({ alias, asked, linkedValueChars }: ShownAsked, { column, values, distinct }: Facet): Html {
  const most = Math.max(...values.map(({ rows }) => rows))
  const items = values.map(({ value, rows }) => {
    const filter: Filter = value === undefined ? { column, is: 'null', value: '' } : { column, is: 'eq', value }
    const held = asked.filters.find((one) => sameFilter(one, filter))
    const then = held === undefined ? [...asked.filters, filter] : asked.filters.filter((one) => one !== held)
    const text =
      value === undefined
        ? html`<i>null</i>`
        : value === ''
          ? html`<i>empty</i>`
          : html`${Array.from(value).slice(0, shownValueChars).join('')}`
    const isLinked = (value?.length ?? 0) <= linkedValueChars
    const current = held === undefined ? undefined : html` aria-current="true"`
    const link = isLinked
      ? html`<a href="${addressOfRows(alias, changed(asked, { filters: then }))}"${current}>${text}</a>`
      : html`<span>${text}…</span>`
    return html`<li>${link}<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${Math.ceil((100 * rows) / most)}" height="1"/></svg><span>${countText(rows)}</span></li>`
  })
  const more =
    distinct > values.length ? html`<p class="hint">${countText(distinct - values.length)} more</p>` : undefined
  return html`<div><h3>${column.name}</h3><ul>${items}</ul>${more}</div>`
}

function sameFilter(one: Filter, other: Filter): boolean {
  return one.column === other.column && one.is === other.is && one.value === other.value
}

/** One more filter: the form holds what is asked already, so that it works without a script. */
function filterForm({ alias, asked, fields }: ShownAsked): Html {
  const held = asked.filters.map(
    ({ column, is, value }) =>
      html`<input type="hidden" name="column" value="${column.name}"><input type="hidden" name="is" value="${is}"><input type="hidden" name="value" value="${value}">`,
  )
  const order =
    asked.order &&
    html`<input type="hidden" name="sort" value="${asked.order.column.name}"><input type="hidden" name="order" value="${asked.order.isDescending ? 'desc' : 'asc'}">`
  const signs = Object.entries(comparisons).map(([name, { text }]) => html`<option value="${name}">${text}</option>`)
  return html`<form class="run where" action="/${alias}#rows">
${held}${order}
<label for="column">Where</label>
<select id="column" name="column"><option value="">choose a column</option>${fields.map(({ name }) => html`<option>${name}</option>`)}</select>
<select name="is" aria-label="Comparison">${signs}</select>
<input name="value" aria-label="Value" maxlength="2000" autocomplete="off" placeholder="value">
<button type="submit" class="quiet">Filter</button>
</form>`
}

function table(part: ShownAsked): Html {
  const { alias, shown } = part
  if ('rows' in shown && shown.rows.length === 0) return html`<p class="empty">No row is like that.</p>`
  return rowsTable(`Rows of ${alias}`, shown, { ...part, head: (name, kind) => head(part, name, kind) })
}

/** Rows in a box that scrolls by itself, offsets with links. `numbers`: columns whose digits stand under digits. */
export function rowsTable(
  label: string,
  shown: ShownRows,
  of: Pick<ShownAsked, 'alias' | 'numbers' | 'offsetColumn'> & {
    readonly head: (name: string, kind: string) => Html
  },
): Html {
  if ('reason' in shown) return html`<p class="empty">${shown.reason}</p>`
  const { alias, numbers, offsetColumn } = of
  const classes = shown.columns.map((name) => (numbers.has(name) ? 'number' : ''))
  const rows = shown.rows.map((row) => {
    const cells = row.map((cell, at) => {
      if (cell === undefined) return html`<td class="null">null</td>`
      const isOffset = shown.columns[at] === offsetColumn
      return html`<td class="${classes[at]}">${isOffset ? html`<a href="/${alias}/rows/${cell}">${cell}</a>` : cell}</td>`
    })
    return html`<tr>${cells}</tr>`
  })
  const heads = shown.columns.map((name, at) => of.head(name, classes[at] ?? ''))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table class="rows"><thead><tr>${heads}</tr></thead><tbody>
${rows}
</tbody></table></div>`
}

/** A head that sorts: numbers and times the greatest first, another click turns them round. */
function head({ alias, asked, fields }: ShownAsked, name: string, kind: string): Html {
  const column = fields.find((field) => foldAscii(field.name) === foldAscii(name))
  if (column === undefined || !isCompared(column)) return html`<th scope="col" class="${kind}">${name}</th>`
  const held = asked.order?.column === column ? asked.order : undefined
  const isDescending = held === undefined ? kind === 'number' : !held.isDescending
  const sorted = held && html` aria-sort="${held.isDescending ? 'descending' : 'ascending'}"`
  const path = addressOfRows(alias, changed(asked, { order: { column, isDescending } }))
  return html`<th scope="col" class="${kind}"${sorted}><a class="head" href="${path}">${name}</a></th>`
}

function pager({ alias, asked, total, shown, pageRows, all }: ShownAsked): Html | undefined {
  if ('reason' in shown) return undefined
  const { skip } = asked
  const to = skip + shown.rows.length
  const hasNext = total === undefined ? shown.rows.length === pageRows : to < total
  if (skip === 0 && !hasNext) return undefined
  const until = asked.until ?? all
  const at = (from: number, text: string, rel: string): Html =>
    html`<a href="${addressOfRows(alias, { ...asked, skip: from, until })}" rel="${rel}">${text}</a>`
  const of = total === undefined ? undefined : ` of ${countText(total)}`
  return html`<div class="pager" role="navigation" aria-label="Pages of rows">${skip > 0 ? at(Math.max(0, skip - pageRows), '← Previous', 'prev') : undefined}
<span>${countText(Math.min(skip + 1, to))}–${countText(to)}${of}</span>
${hasNext ? at(to, 'Next →', 'next') : undefined}</div>`
}

/** The rows on all pages as files. */
function files({ alias, files: list, asked, total, question }: ShownAsked): Html {
  const which =
    asked.filters.length === 0 ? 'all rows' : total === undefined ? 'these rows' : `these ${countText(total)} rows`
  const links = list.map(
    ({ name, path, file }) => html`<a class="button" href="${path}" download="${file}" data-save>${name}</a>`,
  )
  return html`<p class="files"><span>Download ${which}</span>${links}<a href="${question}">Query it in SQL</a><a href="${packAddress([alias])}">Evidence pack</a> <span class="hint" role="status" data-saved></span></p>`
}
