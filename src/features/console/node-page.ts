// The node's page: whether it is ready, what it is made of, what it is busy with, and its limits.

import { agoText, countText, fact, sizeText } from './format.ts'
import { type Html, html, where } from '../../libraries/base/html.ts'
import type { Page } from './layout.ts'

export interface ShownNode {
  readonly version: string
  readonly did: string
  readonly roles: readonly string[]
  readonly log: { readonly kind: string; readonly partitions: number; readonly caution?: string } | undefined
  readonly engine: string | undefined
  /** Why it is not ready, by part; empty when it is. */
  readonly reasons: Readonly<Record<string, string>>
  /** What its gauges say now; undefined for a caller that may not read. */
  readonly gauges: readonly ShownGauge[] | undefined
  readonly limits: readonly ShownLimit[]
  readonly hasLedger: boolean
  readonly nowMs: number
}

export interface ShownGauge {
  /** `builder_open_bytes`: the unit is at its end. */
  readonly name: string
  readonly about: string
  readonly values: readonly { readonly of: string; readonly value: number }[]
}

export interface ShownLimit {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly about: string
  /** Command line option; absent for what is fixed. */
  readonly option: string | undefined
}

export function nodePage(node: ShownNode): Page {
  const { version, did, roles, log, engine, gauges, limits, hasLedger, nowMs } = node
  return {
    title: 'Node',
    place: 'node',
    main: html`<h1>Node</h1>
${readiness(node)}
<dl class="facts">
${fact('Version', version)}
${fact('Roles', roles.join(', '))}
${where(log, ({ kind, partitions }) => fact('Log', `${kind}, ${countText(partitions)} ${partitions === 1 ? 'partition' : 'partitions'}`))}
${where(engine, (text) => fact('Engine', text))}
${fact('Key', html`<code class="hash" title="${did}" data-copy="${did}">${did.slice(0, 16)}…${did.slice(-8)}</code>`)}
</dl>
${hasLedger ? html`<p>Its blocks stand in a <a href="/ledger">ledger</a> that others can hold it to.</p>` : undefined}
${where(log?.caution, (text) => html`<p class="note">${text}</p>`)}
${where(
  gauges,
  (list) => html`<section aria-labelledby="now"><h2 id="now">Now</h2>${watched(list, nowMs)}
<details><summary>All gauges</summary>${gaugeTable(list, nowMs)}</details></section>`,
)}
<section aria-labelledby="limits"><h2 id="limits">Limits</h2>
<details><summary>${countText(limits.length)} limits</summary>${limitTable(limits)}</details></section>
<footer><h2>For programs</h2><p class="links"><a href="/readyz">readyz</a><a href="/metrics">metrics</a><a href="/limits">limits</a></p></footer>`,
  }
}

function readiness({ reasons }: ShownNode): Html {
  const list = Object.entries(reasons)
  if (list.length === 0)
    return html`<p class="lead"><span class="good">✓ Ready</span>: takes rows and answers questions.</p>`
  const items = list.map(([part, reason]) => html`<li><strong>${part}</strong>: ${reason}</li>`)
  return html`<p class="lead"><span class="bad">✗ Not ready</span></p><ul class="note">${items}</ul>`
}

/** What an operator looks at first: is there room, does a dataset stand still, do rows wait? */
const watchedGauges: Readonly<Record<string, string>> = {
  free_bytes: 'Free space',
  halted_datasets: 'Halted datasets',
  builder_lag_messages: 'Messages that wait for a block',
  builder_open_rows: 'Rows in no block yet',
  newest_block_timestamp_seconds: 'Newest block',
  query_running: 'Queries that run',
}

function watched(gauges: readonly ShownGauge[], nowMs: number): Html {
  const facts = Object.entries(watchedGauges).flatMap(([name, label]) =>
    (gauges.find((gauge) => gauge.name === name)?.values ?? []).map(({ of, value }) =>
      fact(of === '' || of === '0' ? label : `${label}, ${of}`, valueText(name, value, nowMs)),
    ),
  )
  return html`<dl class="facts">${facts}</dl>`
}

function gaugeTable(gauges: readonly ShownGauge[], nowMs: number): Html {
  const rows = gauges.flatMap(({ name, about, values }) =>
    values.map(({ of, value }) => {
      const which = of === '' ? undefined : html` <span class="tag">${of}</span>`
      return html`<tr><th scope="row"><code>${name}</code>${which}</th><td class="number">${valueText(name, value, nowMs)}</td><td>${about}</td></tr>`
    }),
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="What the node is busy with">
<table><thead><tr><th scope="col">Gauge</th><th scope="col" class="number">Value</th><th scope="col">About</th></tr></thead><tbody>
${rows}
</tbody></table></div>`
}

function valueText(name: string, value: number, nowMs: number): string {
  if (name.endsWith('_bytes')) return sizeText(value)
  if (!name.endsWith('timestamp_seconds')) return countText(value)
  return value === 0 ? 'none yet' : agoText(new Date(value * 1000).toISOString(), nowMs)
}

function limitTable(limits: readonly ShownLimit[]): Html {
  const rows = limits.map(
    ({ name, value, unit, about, option }) =>
      html`<tr><th scope="row">${name}</th><td class="number">${limitText(value, unit)}</td><td>${about}</td><td>${option === undefined ? 'fixed' : html`<code>${option}</code>`}</td></tr>`,
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Every limit">
<table><thead><tr><th scope="col">Limit</th><th scope="col" class="number">Value</th><th scope="col">Of</th><th scope="col">Option</th></tr></thead><tbody>
${rows}
</tbody></table></div>`
}

/** Bytes in the unit that they are a whole number of. */
function limitText(value: number, unit: string): string {
  const binary = unit === 'bytes' && value > 0 ? ['bytes', 'KiB', 'MiB', 'GiB'] : [unit]
  let [count, at] = [value, 0]
  while (at < binary.length - 1 && count % 1024 === 0) [count, at] = [count / 1024, at + 1]
  return `${countText(count)} ${binary[at] ?? unit}`
}
