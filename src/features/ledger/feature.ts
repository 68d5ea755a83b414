// The ledger of a node: every builder keeps it, every process shows it.

import { repeat } from '../../libraries/base/clock.ts'
import type { FeatureCode, FeatureParts } from '../../node/feature.ts'
import type { OptionalRoutes } from '../../node/http/context.ts'
import { settingsOf } from '../../node/options.ts'
import { BlockRecords } from './block-records.ts'
import { claimOrigin, ensureLedgerKey, ledgerVerifierKey, storedOrigin } from './identity.ts'
import { Keeper } from './keeper.ts'
import { LedgerKeys } from './ledger-keys.ts'
import { LeftEntries } from './left-entries.ts'
import { Places } from './places.ts'
import { type LedgerOptions, ledgerOptions } from './options.ts'
import { type KeeperStatus, registerLedger } from './routes.ts'
import { WaitingDatasets } from './waiting.ts'

/** The first ledger of a store. */
const first = 1
/** A step begins so often within the delay, so that what waits for one, and for its own work, is in time. */
const stepsPerDelay = 4
const longestWaitMs = 60_000

export class Ledger implements FeatureCode {
  /** Undefined while this process keeps none. */
  #status: (() => KeeperStatus) | undefined
  readonly routes: OptionalRoutes = {
    every: (app, context) => registerLedger(app, { context, ledger: first, status: () => this.#status?.() }),
  }

  /** Keeps the ledger that the options name or the store has, where this process builds. Throws NodeError `InvalidParameter`. */
  async start(parts: FeatureParts): Promise<void> {
    const options = settingsOf(parts.config.settings, ledgerOptions)
    if (options === undefined || !parts.config.roles.includes('builder')) return
    const { origin } = options
    if (origin !== undefined) return await this.#keep(parts, { ...options, origin })
    const stop = new AbortController()
    const resumed = this.#resume(parts, options, stop.signal)
    parts.opened.push(async () => {
      stop.abort()
      await resumed
    })
  }

  /** Goes on with the ledger of the store, if it has one. Nothing waits for that; a store that is away is asked again. */
  async #resume(parts: FeatureParts, options: LedgerOptions, signal: AbortSignal): Promise<void> {
    for (let waitMs = 1_000; !signal.aborted; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      try {
        const origin = await storedOrigin(parts.store, first)
        if (origin !== undefined && !signal.aborted) await this.#keep(parts, { ...options, origin })
        return
      } catch (err) {
        parts.logger.warn({ err }, 'The ledger of the store could not be opened and is tried again')
        await parts.clock.sleep(waitMs, signal)
      }
    }
  }

  async #keep(
    parts: FeatureParts,
    { origin, keyFile, delayMs }: LedgerOptions & { readonly origin: string },
  ): Promise<void> {
    const { store, clock, logger, catalog, paths, opened, health, nodeKey, metrics, version, work } = parts
    const signer = await ensureLedgerKey(keyFile ?? paths.ledgerKey)
    const key = ledgerVerifierKey(origin, signer)
    const refusal = await claimOrigin(store, first, { origin, key })
    if (refusal !== undefined) {
      logger.error({ reason: refusal }, 'The ledger is not kept; all else goes on')
      const state = { kind: 'halted', reason: refusal } as const
      this.#status = () => ({ state, delayMs, waiting: { datasets: 0, sinceMs: undefined } })
      return
    }
    const keys = new LedgerKeys(store)
    const records = new BlockRecords({ store, work })
    const waiting = new WaitingDatasets({ catalog, store, keys, records, clock, logger })
    const facts = { ledger: { origin, keys: [key] }, version, engines: [] }
    const left = new LeftEntries({ store, catalog, keys, records, places: new Places(store, first), logger })
    parts.beforeRemoval.push((deletion) => left.handOver(deletion))
    const keeper = new Keeper({ store, clock, logger, ledger: first, origin, signer, waiting, left, facts, nodeKey })
    const unsubscribe = catalog.onAdvance(({ chain }) => waiting.heard(chain.name))
    const running = repeat(() => keeper.step(), {
      everyMs: Math.max(250, delayMs / stepsPerDelay),
      clock,
      onError: (err) => logger.warn({ err }, 'The ledger could not be kept up and is tried again'),
    })
    opened.push(async () => {
      unsubscribe()
      await running.close()
    })
    this.#status = () => ({ state: keeper.state, delayMs, waiting: waiting.load })
    metrics.gauge(
      'ledger_waiting_datasets',
      'Datasets with blocks that are not in the ledger.',
      () => waiting.load.datasets,
    )
    health.tell('ledger', () => ({ origin, state: keeper.state.kind }))
  }
}
