// Path, method and query string of a request. An unknown path is 404, another method 405 with Allow (fastify says 404 to
// both). Query strings are strict unless a route says otherwise: unknown, repeated and ill-escaped parameters are errors,
// because a misspelt `limit` that is ignored answers another question than the one asked. At the end, the schemas of
// parameters that more than one route takes: they validate, and describe the parameters in the OpenAPI document.

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type TBoolean, type TOptional, type TString, Type } from 'typebox'
import { NodeError } from '../../libraries/base/errors.ts'
import { schemaFormats } from '../../libraries/model/query.ts'
import { libraryOutputs } from '../../libraries/columnar/outputs/formats.ts'
import { type FileChoice, fileChoices } from '../../libraries/formats/file-choices.ts'

interface KnownPath {
  readonly pattern: RegExp
  /** Parts of the path that are not fixed: the fewer, the more the path is this one. */
  readonly variables: number
  /** Settings of the route of each method. */
  readonly methods: Map<string, FastifyContextConfig>
}

/** The path that a URL means, of those that are registered; undefined when it is none. */
export type FindPath = (url: string) => KnownPath | undefined

/**
 * Answers requests that no route takes. Register before the routes. fastify would refuse their bodies before:
 * `refuseUnknown` is to be called first.
 */
export function registerPaths(app: FastifyInstance): {
  readonly findPath: FindPath
  readonly refuseUnknown: (request: FastifyRequest, reply: FastifyReply) => never
} {
  const known = new Map<string, KnownPath>()
  app.addHook('onRoute', (route) => {
    const entry = known.get(route.url) ?? knownPath(route.url)
    for (const method of [route.method].flat()) entry.methods.set(method, route.config ?? {})
    known.set(route.url, entry)
  })
  const findPath = (url: string): KnownPath | undefined => {
    const path = decodedPath(url)
    const matching = [...known.values()].filter((entry) => path !== undefined && entry.pattern.test(path))
    return matching.sort((a, b) => a.variables - b.variables)[0]
  }
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply): never => {
    const path = shownPath(request)
    const nearest = findPath(request.url)
    // An asset that is not there lies under a known path too.
    if (nearest === undefined || nearest.methods.has(request.method)) {
      throw new NodeError('RouteNotFound', `There is no route ${path}.`, { hint: 'GET / lists the routes.' })
    }
    const configs = [...nearest.methods.values()]
    request.tell = configs[0]?.tell
    const methods = [...nearest.methods]
      .flatMap(([method, { absent }]) => (absent === undefined ? [method] : []))
      .sort()
    if (methods.length === 0) throw notAnswered(request, configs[0]?.absent)
    void reply.header('allow', methods.join(', '))
    // A client that lacks the start of its path, as those of OpenTelemetry do where they are given none.
    const [longer, meant] = [...known].find(([url, one]) => url.endsWith(path) && one.methods.has(request.method)) ?? []
    const asked = meant === undefined ? '' : `Did you mean ${longer?.replace(/:(\w+)/g, '{$1}')}? `
    const hint = `${asked}${meant?.methods.get(request.method)?.absent ?? `${path} takes ${methods.join(', ')}.`}`
    throw new NodeError('MethodNotAllowed', `${path} does not take ${request.method}.`, { hint, candidates: methods })
  }
  app.setNotFoundHandler(refuseUnknown)
  return { findPath, refuseUnknown }
}

/** The error for a route that this process does not have. */
export function notAnswered(request: FastifyRequest, hint = ''): NodeError {
  return new NodeError('RouteNotFound', `This node does not answer ${request.method} ${shownPath(request)}.`, { hint })
}

/** The path of a URL with its escapes undone, as routes are matched; a slash that is escaped separates nothing. */
function decodedPath(url: string): string | undefined {
  try {
    return decodeURI(pathOf(url))
  } catch {
    return undefined
  }
}

/** The path of a request, as a message names it. */
export function shownPath({ url }: Pick<FastifyRequest, 'url'>): string {
  return pathOf(url).slice(0, 200)
}

/** The path of a request's target, which may be a whole URL. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split('?')[0] ?? ''
}

function knownPath(url: string): KnownPath {
  const pattern = url
    .replace(/[.]/g, '\\.')
    .replace(/:[A-Za-z]+/g, '[^/]+')
    .replace(/\*/g, '.*')
  return { pattern: new RegExp(`^${pattern}$`), variables: url.split(/[:*]/).length - 1, methods: new Map() }
}

const NoParameters = Type.Object({}, { additionalProperties: false })

/** Routes that name no parameters take none. Register before the routes. */
export function registerParameterRules(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.looseParameters === true || route.schema?.hide === true) return
    route.schema = { querystring: NoParameters, ...route.schema }
  })
}

/** Throws NodeError `InvalidParameter`. */
export function demandWellEscaped(url: string): void {
  const query = url.indexOf('?')
  if (query < 0 || !url.includes('%', query)) return
  try {
    decodeURIComponent(url.slice(query + 1))
  } catch {
    throw new NodeError('InvalidParameter', 'The query string has a percent sign that begins no UTF-8 escape.', {
      hint: "Write % as %25; curl does it with -G --data-urlencode 'query=…'.",
    })
  }
}

const nameText = { maxLength: 100, description: 'Labels of letters, digits and inner hyphens, joined by dots.' }

export const DatasetParams = Type.Object({ account: Type.String(nameText), dataset: Type.String(nameText) })

export const DecimalText = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ pattern: '^[0-9]{1,15}$', description })

/** `A, B or C.` */
function oneOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`
}

export const SchemaFormatText = Type.String({ description: oneOf(schemaFormats), maxLength: 20 })

const [defaultFormat, ...otherFormats] = libraryOutputs.names
const fromFeatures = '`/info` lists those of features, too.'
export const DataFormatText = Type.String({
  description: `${oneOf([`${defaultFormat} (default)`, ...otherFormats])} ${fromFeatures}`,
  maxLength: 20,
})

export const FileFormatText = Type.String({
  description: `${oneOf(libraryOutputs.files.map(({ name }) => name))} ${fromFeatures}`,
  maxLength: 20,
})

/** Which block is read. */
export const At = Type.Optional(Type.String({ maxLength: 120, description: 'Hash of a block (default: the head).' }))

/** What a caller may choose of a file. */
function choicesAs(
  ofSwitch: (about: { description: string }) => TString | TBoolean,
): Record<FileChoice, TOptional<TString | TBoolean>> {
  const types = Object.entries(fileChoices).map(([name, { isSwitch, about: description }]) => {
    const type = isSwitch === true ? ofSwitch({ description }) : Type.String({ maxLength: 255, description })
    return [name, Type.Optional(type)]
  })
  return Object.fromEntries(types) as ReturnType<typeof choicesAs> // a row each
}

export const FileParameters = choicesAs((about) => Type.String({ pattern: '^(?:true|false)$', ...about }))
export const FileMembers = choicesAs((about) => Type.Boolean(about))

const defaultItems = 100
const maxItems = 1000

/** Items of one page. Throws NodeError `InvalidParameter` outside 1 to 1,000. */
export function pageSize(text: string | undefined): number {
  const items = text === undefined ? defaultItems : Number(text)
  if (items >= 1 && items <= maxItems) return items
  throw new NodeError('InvalidParameter', `limit is ${items}; pages hold 1 to ${maxItems} items.`, {
    hint: 'Follow next for more.',
  })
}
