// How pages write counts, sizes, times and hashes, the same everywhere. Digits stand in columns of one width (`.number`),
// the whole of what is shortened is there for readers who point at it or copy it.

import { type Html, html } from '../../libraries/base/html.ts'

const grouped = new Intl.NumberFormat('en-US')

/** `1,234,567`. */
export function countText(count: number): string {
  return grouped.format(count)
}

const sizeUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** `1.2 MB`: three digits at most, powers of 1,000. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 999.5 && unit < sizeUnits.length - 1) [value, unit] = [value / 1000, unit + 1]
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${value.toFixed(digits)} ${sizeUnits[unit] ?? ''}`
}

const spans = [
  { unit: 's', ms: 1000, below: 60_000 },
  { unit: 'min', ms: 60_000, below: 3_600_000 },
  { unit: 'h', ms: 3_600_000, below: 48 * 3_600_000 },
  { unit: 'days', ms: 86_400_000, below: 60 * 86_400_000 },
]

/** `4 min ago`; the day for what is longer ago, and for what a clock that runs ahead wrote. */
export function agoText(instant: string, nowMs: number): string {
  const ms = nowMs - Date.parse(instant)
  if (ms >= 0 && ms < 1000) return 'now'
  const span = spans.find(({ below }) => ms >= 0 && ms < below)
  return span === undefined ? instant.slice(0, 10) : `${Math.floor(ms / span.ms)} ${span.unit} ago`
}

/** A time as people say it, with the exact one behind it. */
export function ago(instant: string, nowMs: number): Html {
  return html`<time datetime="${instant}" title="${instant}">${agoText(instant, nowMs)}</time>`
}

/** `f1620e17…d9fd00f7`, with a way to copy all of it. */
export function shortHash(hash: string): Html {
  return html`<code class="hash" title="${hash}" data-copy="${hash}">${hash.slice(0, 8)}…${hash.slice(-8)}</code>`
}

/** One fact of a list of them. */
export function fact(about: string, value: Html | string): Html {
  return html`<div><dt>${about}</dt><dd>${value}</dd></div>`
}

/** Parameters of a file that opens by a double click in countries of decimal commas; texts are no formulas there. */
export const csvForExcel = 'format=Csv&delimiter=%3B&decimal=%2C&bom=true&escapeFormulas=true'
