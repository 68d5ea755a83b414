// The caller, and what it asks for: the principal of each request, and the order in which every dataset route judges it: name,
// existence, right (docs/spec/http.md §1). A dataset the caller may do nothing to is indistinguishable from a missing one.

import type { FastifyRequest } from 'fastify'
import {
  anonymousPrincipal,
  can,
  canSee,
  datasetNotFound,
  demand,
  demandAdmin,
  demandToken,
  type Principal,
  type Right,
} from '../access/scopes.ts'
import { tokenOf } from '../access/token.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { type Alias, parseAlias } from '../../libraries/model/names.ts'
import { type MayRead, nameFor, renamedFrom } from '../answers/pin.ts'
import type { HttpContext } from './context.ts'

/** The function that finds the caller, at once where it can. Throws NodeErrors `BadAuthorization`, `Unauthenticated`. */
export function callerFinder({
  tokens,
  anonymousRead,
}: Pick<HttpContext, 'tokens' | 'anonymousRead'>): (request: FastifyRequest) => Principal | Promise<Principal> {
  const anonymous = anonymousPrincipal(anonymousRead)
  return (request) => {
    const { headers, routeOptions } = request
    const isSigned = routeOptions.config.isObjectStore === true && headers.authorization?.startsWith(signedRequest)
    const authorization = isSigned === true ? sessionOf(headers) : headers.authorization
    const mayBePassword = routeOptions.config.takesPassword === true && authorization === undefined
    const token = tokenOf(mayBePassword ? passwordIn(request.query) : authorization)
    return token === undefined ? anonymous : (tokens.known(token) ?? tokens.authenticate(token))
  }
}

/** S3 clients sign what they send (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html). */
const signedRequest = 'AWS4-HMAC-SHA256 '

/** The token that was given to an S3 client for its requests, as a header of its own would carry it. */
function sessionOf(headers: FastifyRequest['headers']): string | undefined {
  const session = headers['x-amz-security-token']
  return session === undefined ? undefined : `Bearer ${String(session)}`
}

/** The parameter `p` of a query string, as a header would carry it; an empty one is none. */
function passwordIn(query: unknown): string | undefined {
  const { p } = Object(query) as Readonly<Record<string, unknown>> // FirstWriteQuery validates it later
  if (p === undefined || p === '') return undefined
  return `Token ${typeof p === 'string' ? p : ''}`
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

/**
 * The function that looks again whether the caller still has the right to these datasets. It throws NodeErrors `Unauthenticated`,
 * and `DatasetNotFound` for one that is hidden from him by now, or gone.
 */
export function rightsOf(
  context: Pick<HttpContext, 'tokens' | 'anonymousRead' | 'catalog'>,
  request: FastifyRequest,
  datasets: readonly { readonly id: DatasetId; readonly alias: string }[],
  right: Right = 'read',
): () => Promise<void> {
  const find = callerFinder(context)
  return async () => {
    const principal = await find(request)
    for (const { id, alias } of datasets) {
      const name = await context.catalog.nameOfId(id)
      if (name === undefined || !can(principal, right, name)) throw datasetNotFound(alias)
    }
  }
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
 * The name in the path, for a caller with the right. Throws as `demand` and `demandNotRenamed`; NodeError `InvalidName`, `ReservedName`;
 * HaltError `ChainBroken` when its record is damaged.
 */
export async function nameOf(catalog: Catalog, { params, principal }: Asked, right: Right): Promise<NameRecord> {
  demandToken(principal, right)
  const { text } = aliasOf({ params })
  const name = await nameFor(catalog, text, (dataset) => canSee(principal, dataset))
  if (name === undefined) await demandNotRenamed(catalog, principal, text)
  demand(principal, right, text, name)
  return name
}

/** Throws NodeError `DatasetNotFound`, which routes answer 308, for a former name of a dataset that the caller can see. */
export async function demandNotRenamed(catalog: Catalog, principal: Principal, alias: string): Promise<void> {
  const renamed = await renamedFrom(catalog, alias, (dataset) => canSee(principal, dataset))
  if (renamed !== undefined) throw renamed
}

type Asked = Pick<FastifyRequest, 'params' | 'principal'>

/** The alias in the path. */
export function aliasOf({ params }: Pick<FastifyRequest, 'params'>): Alias {
  const { account, dataset } = params as { account: string; dataset: string } // DatasetParams validated it
  return parseAlias(account, dataset)
}
