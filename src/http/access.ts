// Who asks, and what for: the principal of each request, and the order in which every dataset route judges it: name,
// existence, right (docs/spec/http.md §1). A dataset the caller may do nothing to is indistinguishable from a missing one.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  anonymousPrincipal,
  can,
  canSee,
  demand,
  demandAdmin,
  demandToken,
  type Principal,
  type Right,
} from '../access/scopes.ts'
import { tokenOf } from '../access/token.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { NameRecord } from '../chain/records.ts'
import { type Alias, parseAlias } from '../model/names.ts'
import { type MayRead, nameFor } from '../replica/pin.ts'
import type { HttpContext } from './context.ts'

/**
 * Sets `request.principal` and demands what the route's `right` says of the token alone.
 * Throws NodeError `BadAuthorization`, `Unauthenticated` on every route; `Forbidden` where only an admin may ask.
 */
export function registerAuthentication(
  app: FastifyInstance,
  context: Pick<HttpContext, 'tokens' | 'anonymousRead'>,
): void {
  const anonymous = anonymousPrincipal(context.anonymousRead)
  // Declared so that requests share one shape; set before any handler runs.
  app.decorateRequest('principal')
  app.addHook('onRequest', (request, _reply, done) => {
    const token = tokenOf(request.headers.authorization)
    const known = token === undefined ? anonymous : context.tokens.known(token)
    if (token === undefined || known !== undefined) {
      admit(request, known ?? anonymous)
      return done()
    }
    return context.tokens.authenticate(token).then((principal) => admit(request, principal))
  })
}

/** Throws NodeErrors `Unauthenticated`, `Forbidden`. */
function admit(request: FastifyRequest, principal: Principal): void {
  request.principal = principal
  const { right } = request.routeOptions.config
  if (right === 'admin') demandAdmin(principal)
  else if (right !== undefined) demandToken(principal, right)
}

/** What the caller may read, for names inside SQL and proofs. */
export function mayRead(request: FastifyRequest): MayRead {
  return (dataset) => can(request.principal, 'read', dataset)
}

/** The dataset in the path. Throws as `nameOf`; HaltError `ChainBroken` when its chain is damaged. */
export async function datasetOf(
  catalog: Catalog,
  request: FastifyRequest,
  right: Right,
): Promise<{ readonly chain: DatasetChain }> {
  return { chain: await catalog.chainOf(await nameOf(catalog, request, right)) }
}

/**
 * The name in the path, for a caller with the right. Throws as `demand`; NodeError `InvalidName`, `ReservedName`;
 * HaltError `ChainBroken` when its record is damaged.
 */
export async function nameOf(catalog: Catalog, { params, principal }: Asked, right: Right): Promise<NameRecord> {
  demandToken(principal, right)
  const { text } = aliasOf({ params })
  const name = await nameFor(catalog, text, (dataset) => canSee(principal, dataset))
  demand(principal, right, text, name)
  return name
}

type Asked = Pick<FastifyRequest, 'params' | 'principal'>

/** The alias in the path. */
export function aliasOf({ params }: Pick<FastifyRequest, 'params'>): Alias {
  const { account, dataset } = params as { account: string; dataset: string } // DatasetParams validated it
  return parseAlias(account, dataset)
}
