// The routes of the node by path: what fastify matches for itself, but does not tell for another method than the one asked.

import type { FastifyContextConfig, FastifyInstance } from 'fastify'

export interface KnownPath {
  readonly pattern: RegExp
  /** Parts of the path that are not fixed: the fewer, the more the path is this one. */
  readonly variables: number
  /** Settings of the route of each method. */
  readonly methods: Map<string, FastifyContextConfig>
}

/** The path that a URL means, of those that are registered; undefined when it is none. */
export type FindPath = (url: string) => KnownPath | undefined

/** Register before the routes. */
export function registerKnownPaths(app: FastifyInstance): FindPath {
  const known = new Map<string, KnownPath>()
  app.addHook('onRoute', (route) => {
    const entry = known.get(route.url) ?? knownPath(route.url)
    for (const method of [route.method].flat()) entry.methods.set(method, route.config ?? {})
    known.set(route.url, entry)
  })
  return (url) => {
    const path = decodedPath(url)
    const matching = [...known.values()].filter((entry) => path !== undefined && entry.pattern.test(path))
    return matching.sort((a, b) => a.variables - b.variables)[0]
  }
}

/** The path of a URL with its escapes undone, as routes are matched; a slash that is escaped separates nothing. */
function decodedPath(url: string): string | undefined {
  try {
    return decodeURI(pathOf(url))
  } catch {
    return undefined
  }
}

/** The path of a request's target, which may be a whole URL. */
export function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split('?')[0] ?? ''
}

function knownPath(url: string): KnownPath {
  const pattern = url
    .replace(/[.]/g, '\\.')
    .replace(/:[A-Za-z]+/g, '[^/]+')
    .replace(/\*/g, '.*')
  return { pattern: new RegExp(`^${pattern}$`), variables: url.split(/[:*]/).length - 1, methods: new Map() }
}
