// Places a body that was typed: where another batch brought columns at the same moment, it is read and placed again
// (docs/decisions/ingest.md, Schemas).

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { sameValue } from '../../libraries/base/compare.ts'
import { schemaEquals } from '../../libraries/model/schema.ts'
import type { Metrics } from '../machine/ops/metrics.ts'
import { type Decision, patientFor, type Waiters } from './outcome.ts'
import { type BatchToPlace, placeBatch, type Placed, type PlaceDeps } from './place-batch.ts'
import type { TypedBody } from './reading.ts'
import { type Target, targetOf } from './shape.ts'

/** How often a body is read again: each time some other batch brought columns at the same moment. */
const mostReadings = 5
/** Rows that bring a schema call for a block at once; where none comes, the log decides without us. */
const decidedWithinMs = 10_000

interface PlacedBody extends Placed {
  /** As it was appended. */
  readonly body: TypedBody
  readonly replayed: boolean
}

/**
 * Places a batch whose body was read against `target`. Rows that bring a schema are in the chain, or refused, when this
 * resolves; or no block came in time. Throws as `placeBatch`, and as `typedBody` where the body no longer fits.
 */
export async function placeTyped(
  deps: PlaceDeps & { readonly waiters: Waiters; readonly metrics?: Metrics | undefined },
  batch: BatchToPlace,
  target: Target,
): Promise<PlacedBody> {
  const { chain } = batch
  const { clock, metrics } = deps
  let { body } = batch
  let against = target
  for (let readings = 1; ; readings++) {
    // mutant: no second reading of a first post
    if (body.kept !== undefined && isOther(chain, body, against)) {
      against = targetOf(chain)
      body = await body.kept.read(against)
    }
    const startedMs = clock.monotonicMs()
    const placed = await placeBatch(deps, { ...batch, body })
    if (!placed.replayed) metrics?.acceptedToLoggedSeconds.observe((clock.monotonicMs() - startedMs) / 1000)
    if (placed.bringsSchema !== true) return { ...placed, body }
    const { batchId: id, position } = placed.note
    const decision = await deps.waiters.wait(chain, { id, position }, patientFor(decidedWithinMs))
    // A body of many records is not kept: it is refused, and may be sent again.
    if (readings === mostReadings || body.kept === undefined || !isConflict(decision)) {
      return { ...placed, body, decided: decision === 'void' ? undefined : decision }
    }
  }
}

/** True when the dataset's columns are neither those that the body was read against nor those that it brings. */
function isOther(chain: DatasetChain, { shape }: TypedBody, against: Target): boolean {
  const now = targetOf(chain)
  if (!sameValue(now.vocabulary, against.vocabulary)) return true
  if (now.shape === undefined || now.shape === against.shape) return false
  return !schemaEquals(now.shape.schema, shape.schema)
}

function isConflict(decision: Decision | undefined): boolean {
  if (decision === undefined || decision === 'void') return false
  const { status } = decision.outcome
  return status.kind === 'rejected' && status.error === 'SchemaConflict'
}
