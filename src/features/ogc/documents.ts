// What documents of OGC API Features have in common: the form they are sent in, their links and addresses; and how a
// dataset is described as a collection. Sources: OGC 17-069r4 §7.14 (collections), RFC 8288 (links).

import type { FastifyReply, FastifyRequest } from 'fastify'
import { defined } from '../../libraries/base/collections.ts'
import type { DatasetView } from '../../node/catalog/dataset-chain.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { instantFromMs } from '../../libraries/model/instant.ts'
import { type Field, innerType } from '../../libraries/model/schema.ts'
import type { Extent } from './spatial-rows.ts'
import type { Html } from '../../libraries/base/html.ts'
import { hostOf, type HttpContext } from '../../node/http/context.ts'
import { wantsHtml } from '../../node/http/html.ts'
import { addVary } from '../../node/http/origin-rules.ts'
import type { Collection, LinkText } from './pages.ts'
import { crs84 } from './request.ts'

export const json = 'application/json'
export const geoJson = 'application/geo+json'
export const jsonSchema = 'application/schema+json'
const gregorian = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'

/** Longer links stand in the body alone: clients bound what they take as headers. */
const mostLinkChars = 2048

export type Form = 'html' | 'json'

/** What the caller wants to see. Throws NodeError `InvalidParameter`. */
export function formOf(request: FastifyRequest, reply: FastifyReply, f: string | undefined): Form {
  addVary(reply, 'Accept')
  const forms = formsOf(request)
  if (f === undefined) return wantsHtml(request) && forms.includes('html') ? 'html' : 'json'
  const found = forms.find((form) => form === f)
  if (found !== undefined) return found
  throw new NodeError('InvalidParameter', `f is '${f}'; it may be ${forms.join(' or ')}.`, { candidates: forms })
}

/** A node without its console has no pages. */
export function formsOf({ server }: Pick<FastifyRequest, 'server'>): readonly Form[] {
  return server.pages === undefined ? ['json'] : ['json', 'html']
}

/** Links of a document to itself and to its other form. */
export function selfLinks(request: FastifyRequest, url: string, { form, type }: LinkedForm): LinkText[] {
  const inForm = (one: Form): string => `${url}${url.includes('?') ? '&' : '?'}f=${one}`
  const page = { href: inForm('html'), type: 'text/html' }
  return form === 'json'
    ? [
        { href: url, rel: 'self', type, title: 'This document' },
        ...(formsOf(request).includes('html') ? [{ ...page, rel: 'alternate', title: 'This document as a page' }] : []),
      ]
    : [
        { ...page, rel: 'self', title: 'This page' },
        { href: inForm('json'), rel: 'alternate', type, title: 'This page as JSON' },
      ]
}

interface LinkedForm {
  readonly form: Form
  /** Of the JSON. */
  readonly type: string
}

interface OgcAnswer {
  readonly form: Form
  readonly links: readonly LinkText[]
  readonly type: string
  readonly json: () => string
  readonly title: string
  readonly page: () => Html
}

/** Sends a document in the form that was asked for; its links stand in a header, too (RFC 8288). */
export function sendDocument(reply: FastifyReply, { form, links, type, json, title, page }: OgcAnswer): FastifyReply {
  const header = links.map((link) => `<${link.href}>; rel="${link.rel}"; type="${link.type}"`).join(', ')
  if (header.length <= mostLinkChars) void reply.header('link', header)
  const { pages } = reply.server
  if (form === 'html' && pages !== undefined) return pages.send(reply, { title, main: page() })
  return reply.type(type).send(utf8(json()))
}

/** The root of these routes. */
export function baseOf(context: Pick<HttpContext, 'publicUrl'>, request: FastifyRequest): string {
  return `${hostOf(context, request)}/ogc`
}

function idOf({ alias }: DatasetView): string {
  return alias.replace('/', ':')
}

export function urlOf(base: string, view: DatasetView): string {
  return `${base}/collections/${idOf(view)}`
}

export function collectionOf(
  request: FastifyRequest,
  base: string,
  view: DatasetView,
  { extent, form }: { readonly extent: Extent | undefined; readonly form: Form },
): Collection & Readonly<Record<string, unknown>> {
  const url = urlOf(base, view)
  const links: LinkText[] = [
    ...selfLinks(request, url, { form, type: json }),
    { href: `${url}/items`, rel: 'items', type: geoJson, title: 'Features' },
    ...(formsOf(request).includes('html')
      ? [{ href: `${url}/items?f=html`, rel: 'items', type: 'text/html', title: 'Features as a page' }]
      : []),
    {
      href: `${url}/queryables`,
      rel: 'http://www.opengis.net/def/rel/ogc/1.0/queryables',
      type: jsonSchema,
      title: 'Properties that a filter may name',
    },
    { href: `${base.slice(0, -'/ogc'.length)}/${view.alias}`, rel: 'describedby', type: json, title: 'The dataset' },
  ]
  const description = view.info?.description
  return {
    id: idOf(view),
    title: view.alias,
    ...defined({ description }),
    ...extentMember(extent),
    itemType: 'feature',
    crs: [crs84],
    links,
  }
}

function extentMember({ bounds, times }: Partial<Extent> = {}): Pick<Collection, 'extent'> {
  if (bounds === undefined && times === undefined) return {}
  const spatial = bounds === undefined ? {} : { spatial: { bbox: [bounds], crs: crs84 } }
  const temporal = times === undefined ? {} : { temporal: { interval: [times.map(timeText)], trs: gregorian } }
  return { extent: { ...spatial, ...temporal } }
}

/** Null for a time that RFC 3339 cannot write. */
function timeText(epochMs: number): string | null {
  return epochMs >= -62_167_219_200_000 && epochMs <= 253_402_300_799_999 ? instantFromMs(epochMs) : null
}

/** The type of a property as JSON Schema has it. */
export function jsonSchemaOf({ name, type }: Field): object {
  const { kind } = innerType(type)
  if (kind === 'Bool') return { title: name, type: 'boolean' }
  if (/^U?Int/.test(kind)) return { title: name, type: 'integer' }
  if (kind.startsWith('Float')) return { title: name, type: 'number' }
  if (kind === 'Timestamp') return { title: name, type: 'string', format: 'date-time' }
  return kind === 'Date' ? { title: name, type: 'string', format: 'date' } : { title: name, type: 'string' }
}
