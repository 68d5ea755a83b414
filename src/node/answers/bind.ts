// Binds a statement: gate → names → datasets at blocks. tables.ts finds the files that it needs and runs it over them;
// query.ts and files.ts say what becomes of the rows.

import { defined } from '../../libraries/base/collections.ts'
import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Engine } from '../engine/engine.ts'
import type { Listing } from '../engine/messages.ts'
import type { Analysis } from '../../libraries/sql/statement.ts'
import type { Files } from '../files/files.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { matchParameters } from '../../libraries/model/parameters.ts'
import type { PinnedDataset, QueryRequest } from '../../libraries/model/query.ts'
import { demandSqlSize } from '../../libraries/proof/read-proof.ts'
import { listingsFor, statementOf } from './catalog-statements.ts'
import {
  askingOf,
  type Binding,
  type Caller,
  type Chains,
  datasetsOfPins,
  pinNames,
  pinnedList,
  Reader,
} from './pin.ts'

export interface BindDeps {
  readonly catalog: Chains
  readonly engine: Engine
  readonly files: Files
  readonly objects: Objects
  readonly limits: Limits
}

/** What is bound: a statement, and which rows of its answer are wanted, all of them where there is no limit. */
export type Bindable = Pick<QueryRequest, 'query' | 'datasets' | 'parameters' | 'pins' | 'skip'> & {
  readonly limit: number | undefined
  /** For a proof, made or checked. */
  readonly isProven?: boolean
  readonly explain?: boolean | undefined
  /** Nobody runs it: it has no values yet. */
  readonly describes?: boolean | undefined
}

/** A statement whose names are bound to blocks. */
export interface BoundQuery {
  readonly request: Bindable
  readonly analysis: Analysis
  /** One for each name of the statement. */
  readonly bindings: readonly Binding[]
  readonly views: readonly DatasetView[]
  /** What `input.datasets` says: ordered, with the pins that the statement does not use. */
  readonly pinned: readonly PinnedDataset[]
  readonly listings: readonly Listing[]
}

/** What a statement asks of: its parameters, and the datasets that its names are for the caller now. Throws as `bindQuery`. */
export async function lookAt(
  deps: BindDeps,
  query: string,
  caller: Caller,
): Promise<
  Pick<Analysis, 'parameters' | 'listings'> & { readonly datasets: readonly Pick<PinnedDataset, 'id' | 'alias'>[] }
> {
  demandSqlSize({ query }, deps.limits.sqlBytes)
  const { parameters, tables, listings } = await deps.engine.analyze(statementOf(query), askingOf(deps.catalog, caller))
  const bindings = await pinNames(new Reader(deps.catalog, caller.mayRead), tables, undefined)
  return { parameters, listings, datasets: bindings.map(({ pinned: { id, alias } }) => ({ id, alias })) }
}

/** Gates a statement and pins its names. */
export async function bindQuery(deps: BindDeps, request: Bindable, caller: Caller): Promise<BoundQuery> {
  demandSqlSize(request, deps.limits.sqlBytes)
  const analysis = await deps.engine.analyze(statementOf(request.query), askingOf(deps.catalog, caller))
  if (request.describes !== true) matchParameters(analysis.parameters, request.parameters)
  const reader = new Reader(deps.catalog, caller.mayRead)
  const datasets =
    request.pins === undefined ? request.datasets : await datasetsOfPins(reader, analysis.tables, request.pins)
  const bindings = await pinNames(reader, analysis.tables, datasets)
  const pinned = await pinnedList(reader, datasets ?? [], bindings)
  const listings = await listingsFor(reader, {
    names: analysis.listings,
    arePinned: datasets !== undefined && caller.connection === undefined,
    listingRows: deps.limits.listingRows,
    ...defined({ connection: caller.connection }),
  })
  return { request, analysis, bindings, views: bindings.map(({ view }) => view), pinned, listings }
}
