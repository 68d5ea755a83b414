// The pages that browsers see of OGC API Features (OGC 17-069r4, class html): each is drawn from the very document that
// other clients get as JSON, so that both say the same.

import { canonicalBytes } from '../../libraries/base/json/canonical.ts'
import { parseJson } from '../../libraries/base/json/json.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import type { JsonValue } from '../../libraries/base/json/value.ts'
import { type Html, html } from '../../libraries/base/html.ts'

export interface LinkText {
  readonly href: string
  readonly rel: string
  readonly type: string
  readonly title?: string
}

export interface Extent {
  readonly spatial?: { readonly bbox: readonly (readonly number[])[]; readonly crs: string }
  readonly temporal?: { readonly interval: readonly (readonly (string | null)[])[]; readonly trs: string }
}

export interface Collection {
  readonly id: string
  readonly title: string
  readonly description?: string
  readonly extent?: Extent
  readonly links: readonly LinkText[]
}

function listOf(links: readonly LinkText[]): Html {
  const items = links.map(({ href, rel, type, title }) => {
    return html`<li><a href="${href}">${title ?? rel}</a> <small>${rel}, ${type}</small></li>`
  })
  return html`<h2>Links</h2>
<ul>
${items}
</ul>`
}

export function landingPage(title: string, description: string, links: readonly LinkText[]): Html {
  return html`<h1>${title}</h1>
<p>${description}</p>
${listOf(links)}`
}

export function conformancePage(classes: readonly string[], links: readonly LinkText[]): Html {
  return html`<h1>Conformance</h1>
<ul>
${classes.map((one) => html`<li><a href="${one}">${one}</a></li>`)}
</ul>
${listOf(links)}`
}

export function collectionsPage(collections: readonly Collection[], links: readonly LinkText[]): Html {
  const rows = collections.map(({ title, description, links: [self] }) => {
    return html`<tr><td><a href="${self?.href}">${title}</a></td><td>${description}</td></tr>`
  })
  return html`<h1>Collections</h1>
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<tr><th>Collection</th><th>About</th></tr>
${rows}
</table></div>
${listOf(links)}`
}

export function collectionPage({ title, description, extent, links }: Collection): Html {
  const box = extent?.spatial?.bbox[0]?.join(', ')
  const times = extent?.temporal?.interval[0]?.join(' to ')
  return html`<h1>${title}</h1>
<p>${description}</p>
<p><a href="/${title}">The dataset, with a map</a></p>
<dl class="facts">
${box === undefined ? [] : html`<div><dt>West, south, east, north</dt><dd>${box}</dd></div>`}
${times === undefined ? [] : html`<div><dt>Event times</dt><dd>${times}</dd></div>`}
</dl>
${listOf(links)}`
}

export function queryablesPage(
  title: string,
  properties: Readonly<Record<string, object>>,
  links: readonly LinkText[],
): Html {
  const rows = Object.entries(properties).map(([name, schema]) => {
    return html`<tr><td>${name}</td><td><code>${JSON.stringify(schema)}</code></td></tr>`
  })
  return html`<h1>Properties of ${title}</h1>
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<tr><th>Name</th><th>JSON Schema</th></tr>
${rows}
</table></div>
${listOf(links)}`
}

/** A page of features: `features` are texts of GeoJSON. */
export function itemsPage(
  { title, url, names }: { readonly title: string; readonly url: string; readonly names: readonly string[] },
  features: readonly string[],
  links: readonly LinkText[],
): Html {
  const rows = features.map((text) => {
    const feature = membersOf(parseJson(text))
    const properties = membersOf(feature.get('properties'))
    const id = textOf(feature.get('id'))
    const cells = names.map((name) => html`<td>${textOf(properties.get(name))}</td>`)
    const geometry = textOf(membersOf(feature.get('geometry')).get('type'))
    return html`<tr><td><a href="${url}/${id}">${id}</a></td><td>${geometry}</td>${cells}</tr>`
  })
  const turns = links.filter(({ rel }) => rel === 'next')
  return html`<h1>Features of ${title}</h1>
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<tr><th>Id</th><th>Geometry</th>${names.map((name) => html`<th>${name}</th>`)}</tr>
${rows}
</table></div>
${turns.map(({ href }) => html`<p><a href="${href}" rel="next">Next page</a></p>`)}
${listOf(links)}`
}

/** One feature: `text` is GeoJSON. */
export function itemPage(title: string, text: string, links: readonly LinkText[]): Html {
  const feature = membersOf(parseJson(text))
  const properties = [...membersOf(feature.get('properties'))]
  const rows = properties.map(([name, value]) => html`<tr><th>${name}</th><td>${textOf(value)}</td></tr>`)
  return html`<h1>Feature ${textOf(feature.get('id'))} of ${title}</h1>
<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
${rows}
</table></div>
<h2>Geometry</h2>
<pre>${textOf(feature.get('geometry'))}</pre>
${listOf(links)}`
}

function membersOf(value: JsonValue | undefined): ReadonlyMap<string, JsonValue> {
  return value instanceof Map ? value : new Map()
}

/** Text as it is, any other value as JSON. */
function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : decodeUtf8(canonicalBytes(value))
}
