// Who asks, and what for: the principal of each request, and the order in which every dataset route judges it: name,
// existence, right (docs/spec/http.md §1). A dataset the caller may do nothing to is indistinguishable from a missing one.

import type { FastifyRequest } from 'fastify'
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

/** The function that finds who asks, at once where it can. Throws NodeErrors `BadAuthorization`, `Unauthenticated`. */
export function callerFinder({
  tokens,
  anonymousRead,
}: Pick<HttpContext, 'tokens' | 'anonymousRead'>): (request: FastifyRequest) => Principal | Promise<Principal> {
  const anonymous = anonymousPrincipal(anonymousRead)
  return ({ headers }) => {
    const token = tokenOf(headers.authorization)
    return token === undefined ? anonymous : (tokens.known(token) ?? tokens.authenticate(token))
  }
}

/**
 * Sets `request.principal` and demands what the route's `right` says of the token alone. Throws NodeErrors
 * `Unauthenticated`; `Forbidden` where only an admin may ask.
 */
export function admitCaller(request: FastifyRequest, principal: Principal): void {
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
