// The order of every dataset route: name, existence, right (contract.md §1). A dataset the caller may do nothing to is
// indistinguishable from a missing one.

import type { FastifyRequest } from 'fastify'
import { can, canSee, demand, demandToken, type Right } from '../access/scopes.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { NameRecord } from '../chain/records.ts'
import { type Alias, parseAlias } from '../model/names.ts'
import { type MayRead, nameFor } from '../replica/pin.ts'

/** What the caller may read, for names inside SQL and proofs. */
export function mayRead(request: FastifyRequest): MayRead {
  return (dataset) => can(request.principal, 'read', dataset)
}

/**
 * The alias in the path and the dataset behind it. Throws as `nameOf`; HaltError `ChainBroken` when its chain is
 * damaged.
 */
export async function datasetOf(
  catalog: Catalog,
  request: FastifyRequest,
  right: Right,
): Promise<{ readonly alias: Alias; readonly chain: DatasetChain }> {
  const name = await nameOf(catalog, request, right)
  return { alias: aliasOf(request), chain: await catalog.chainOf(name) }
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
