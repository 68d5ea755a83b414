// The order of every dataset route: name, existence, right (contract.md §1). A dataset the caller may do nothing to is
// indistinguishable from a missing one.

import type { FastifyRequest } from 'fastify'
import { can, canSee, demand, demandToken, type Right } from '../access/scopes.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { type Alias, parseAlias } from '../model/names.ts'
import { type MayRead, nameFor } from '../replica/pin.ts'

/** What the caller may read, for names inside SQL and proofs. */
export function mayRead(request: FastifyRequest): MayRead {
  return (dataset) => can(request.principal, 'read', dataset)
}

/** The alias in the path and the dataset behind it. Throws as `demand`; NodeError `InvalidName`,
 * `ReservedName`; HaltError `ChainBroken` for a damaged dataset that the caller may use. */
export async function datasetOf(
  catalog: Catalog,
  request: FastifyRequest,
  right: Right,
): Promise<{ readonly alias: Alias; readonly chain: DatasetChain }> {
  demandToken(request.principal, right)
  const alias = aliasOf(request)
  const { principal } = request
  const name = await nameFor(catalog, alias.text, (dataset) => canSee(principal, dataset))
  demand(principal, right, alias.text, name)
  return { alias, chain: await catalog.chainOf(name) }
}

/** The alias in the path. */
export function aliasOf(request: FastifyRequest): Alias {
  const { account, dataset } = request.params as { account: string; dataset: string } // DatasetParams validated it
  return parseAlias(account, dataset)
}
