// The witness of a node: a gateway cosigns heads of the ledgers that its policy names.

import { NodeError } from '../../libraries/base/errors.ts'
import type { FeatureCode, FeatureParts } from '../../node/feature.ts'
import type { OptionalRoutes } from '../../node/http/context.ts'
import { settingsOf } from '../../node/options.ts'
import { ledgerRecord } from '../ledger/ledgers.ts'
import { ledgerOptions } from '../ledger/options.ts'
import { readPolicy } from '../ledger/policy-file.ts'
import { registerWitness, type Witnessing } from './routes.ts'
import { Witness } from './witness.ts'
import { ensureWitnessKey } from './witness-key.ts'

/** The first ledger of a store, whose name the witness has. */
const first = 1
const longestWaitMs = 60_000

export class WitnessFeature implements FeatureCode {
  #state: Witnessing = { kind: 'none' }
  readonly routes: OptionalRoutes = { gateway: (app, context) => registerWitness(app, context, () => this.#state) }

  /** Begins to cosign, where the policy names ledgers. Throws NodeError `InvalidParameter`. */
  async start(parts: FeatureParts): Promise<void> {
    const { policyFile, origin } = settingsOf(parts.config.settings, ledgerOptions) ?? {}
    if (policyFile === undefined || parts.gateway === undefined) return
    const { logs } = await readPolicy(policyFile)
    if (logs.length === 0) return
    const { store, clock, logger, paths, metrics, opened } = parts
    const signer = await ensureWitnessKey(paths.witnessKey, store).catch((error: unknown) => {
      if (!(error instanceof NodeError) || error.kind !== 'InvalidParameter') throw error
      logger.error({ reason: error.message, hint: error.details.hint }, 'This node is no witness; all else goes on')
      return undefined
    })
    if (signer === undefined) return
    this.#state = { kind: 'starting' }
    const stop = new AbortController()
    const started = this.#nameOf(parts, origin, stop.signal).then((own) => {
      if (own === undefined) return
      // A witness of itself says nothing.
      const others = logs.map(({ key }) => key).filter(({ name }) => name !== own)
      const witness = new Witness({ store, clock, logger, name: `${own}/witness`, signer, logs: others })
      this.#state = { kind: 'running', witness }
      metrics.counter(
        'witness_cosigned_total',
        'Heads of ledgers cosigned as a witness.',
        () => witness.counts.cosigned,
      )
      metrics.counter(
        'witness_evidence_total',
        'Heads kept as evidence against ledgers that have signed them.',
        () => witness.counts.evidence,
      )
    })
    opened.push(async () => {
      stop.abort()
      await started
    })
    // Its name is known before the first request, but where a keeper elsewhere has not begun yet.
    if (origin !== undefined) await started
  }

  /** The name of the node's own ledger, as the options or the store have it; undefined when the node stops first. */
  async #nameOf(
    { store, clock, logger }: FeatureParts,
    given: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (given !== undefined) return given
    for (let waitMs = 250; !signal.aborted; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      const record = await ledgerRecord(store, first).catch((err: unknown) => {
        logger.warn({ err }, 'The name of the ledger could not be read and is tried again')
        return undefined
      })
      if (record !== undefined) return record.origin
      await clock.sleep(waitMs, signal)
    }
    return undefined
  }
}
