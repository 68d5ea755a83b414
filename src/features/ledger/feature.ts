// The ledger of a node: every builder keeps it, every process shows it.

import { must } from '../../libraries/base/assert.ts'
import { type Clock, repeat } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Policy } from '../../libraries/ledger/policy.ts'
import { parseVerifierKey } from '../../libraries/ledger/verifier-key.ts'
import { knownEngines } from '../../node/engine/known-engines.ts'
import { engineVersion } from '../../node/engine/messages.ts'
import type { FeatureCode, FeatureParts } from '../../node/feature.ts'
import type { OptionalRoutes } from '../../node/http/context.ts'
import type { Metrics } from '../../node/machine/ops/metrics.ts'
import { settingsOf } from '../../node/options.ts'
import { Answers, type AnswersDeps, stepsPerDelay } from './answers.ts'
import { BlockRecords } from '../../node/files/block-records.ts'
import {
  claimOrigin,
  defaultOrigin,
  ensureLedgerKey,
  ledgerKeyFile,
  ledgerRecord,
  ledgerVerifierKey,
  newestLedger,
  originsUpTo,
  isUnnamed,
} from './identity.ts'
import { newestTree, Places } from './stored-ledger.ts'
import { Keeper, type StatementFacts } from './keeper.ts'
import { LedgerKeys } from './ledger-keys.ts'
import { LeftEntries } from './left-entries.ts'
import { type LedgerOptions, ledgerOptions } from './options.ts'
import { readAskedPolicy, refuseOwnWitness } from './policy-file.ts'
import { registerProofs, registerReceiptProofs } from './proof-routes.ts'
import { behindOf, type KeeperStatus, standingOf, toldKeeper } from './about.ts'
import { registerLedger } from './routes.ts'
import { SetAside, WaitingDatasets } from './waiting.ts'
import { TimeStamper } from './time-stamps.ts'

const longestWaitMs = 60_000
/** How often it is looked which witness is to be asked, and which head is to be shown. */
const publishMs = 250
/** How often it is looked whether a head is to be stamped, at most. */
const stampMs = 10_000

interface KeptBy extends LedgerOptions {
  readonly records: BlockRecords
}

export class Ledger implements FeatureCode {
  /** Undefined while this process keeps none. */
  #status: (() => KeeperStatus) | undefined
  #policy: Policy | undefined
  #open: (answers: Answers) => void = () => {}
  /** What it says of single blocks; there once it has started. */
  readonly #answers = new Promise<Answers>((resolve) => {
    this.#open = resolve
  })
  readonly routes: OptionalRoutes = {
    every: (app, context) => {
      const of = { context, answers: this.#answers }
      registerLedger(app, { ...of, status: () => this.#status?.(), policy: () => this.#policy })
      if (context.gateway === undefined && context.replica === undefined) return
      registerProofs(app, of)
    },
    gateway: (app, context) => registerReceiptProofs(app, { context, answers: this.#answers }),
    ledger: {
      promiseOf: async (name, block) => await (await this.#answers).promiseOf(name, block),
      proofOf: async (name, block) => await (await this.#answers).proofOf(name, block),
      secretsOf: async (name, sequence) => await (await this.#answers).secretsOf(name, sequence),
    },
  }

  /** Keeps the ledger that the options name or the store has, where this process builds. Throws NodeError `InvalidParameter`. */
  async start(parts: FeatureParts): Promise<void> {
    const options = settingsOf(parts.config.settings, ledgerOptions)
    if (options === undefined) return
    const { roles } = parts.config
    // A witness alone asks no others.
    const isAsking = options.policyFile !== undefined && !roles.includes('witness')
    const policy = isAsking ? await readAskedPolicy(options.policyFile) : undefined
    this.#policy = policy
    const { store, clock, work } = parts
    const { origin, delayMs, waitMs } = options
    const records = new BlockRecords({ store, work })
    const of = { store, clock, records, delayMs, waitMs }
    const tree: AnswersDeps['tree'] = async (number) => await newestTree(store, policy, number)
    this.#open(new Answers({ ...of, tree, status: () => this.#status?.() }))
    if (!roles.includes('builder')) return
    if (origin !== undefined) return await this.#keep(parts, { ...options, records, origin })
    const stop = new AbortController()
    const resumed = this.#resume(parts, { ...options, records }, stop.signal)
    parts.opened.push(async () => {
      stop.abort()
      await resumed
    })
  }

  /**
   * Goes on with the ledger of the store. Where it has none, a gateway that builds begins one. Nothing waits for that; a store that
   * is away is asked again.
   */
  async #resume(parts: FeatureParts, options: KeptBy, signal: AbortSignal): Promise<void> {
    for (let waitMs = 1_000; !signal.aborted; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      try {
        const known = (await originsUpTo(parts.store, await newestLedger(parts.store))).at(-1)
        const origin = known ?? (parts.gateway === undefined ? undefined : await this.#ownName(parts, options))
        if (origin !== undefined && !signal.aborted) await this.#keep(parts, { ...options, origin })
        return
      } catch (err) {
        if (err instanceof NodeError && err.kind === 'InvalidParameter') return this.#halt(parts, options, err.message)
        parts.logger.warn({ err }, 'The ledger of the store could not be opened and is tried again')
        await parts.clock.sleep(waitMs, signal)
      }
    }
  }

  /** Throws NodeError `InvalidParameter`. */
  async #ownName({ config, paths }: FeatureParts, { keyFile }: LedgerOptions): Promise<string> {
    return defaultOrigin(config.allowedHosts, await ensureLedgerKey(keyFile ?? paths.ledgerKey))
  }

  /** Goes on with the newest ledger of the store, or begins the first. Throws NodeError `InvalidParameter`. */
  async #keep(parts: FeatureParts, options: KeptBy & { readonly origin: string }): Promise<void> {
    const { store, clock, logger, catalog, paths, opened, health, nodeKey, metrics, version } = parts
    const { keyFile, delayMs, waitMs, policyFile, tsa, records } = options
    const policy = this.#policy
    const ledger = Math.max(1, await newestLedger(store))
    const known = await originsUpTo(store, ledger)
    // The option may go on naming a ledger in whose place another is.
    const origin = (known.includes(options.origin) ? known.at(-1) : undefined) ?? options.origin
    // The witness keeps the first name.
    if (policy !== undefined && policyFile !== undefined) refuseOwnWitness(policyFile, policy, [...known, origin])
    const signer = await ensureLedgerKey(ledgerKeyFile(keyFile ?? paths.ledgerKey, ledger))
    const key = ledgerVerifierKey(origin, signer)
    if (isUnnamed(origin)) {
      const hint =
        'A lasting name: --public-url or --ledger-origin before the first start, later proofstream ledger renew.'
      logger.warn({ origin, hint }, 'The ledger is named by its key alone')
    }
    const refusal = await claimOrigin(store, ledger, { origin, key })
    if (refusal !== undefined) return this.#halt(parts, options, refusal)
    const keys = new LedgerKeys(store)
    const aside = new SetAside({ clock, logger })
    const waiting = new WaitingDatasets({ catalog, store, keys, records, clock, aside })
    const previous = (await ledgerRecord(store, ledger))?.previous
    const facts = { ledger: { origin, keys: [key] }, version, engines: statedEngines(), ...defined({ previous }) }
    const left = new LeftEntries({ store, catalog, keys, records, places: new Places(store, ledger), aside, logger })
    parts.beforeRemoval.push((deletion) => left.handOver(deletion))
    const of = { ledger, origin, signer, facts, policy, waitMs }
    const keeper = new Keeper({ store, clock, logger, waiting, left, nodeKey, ...of })
    const stamper = tsa && new TimeStamper({ store, clock, logger, ledger, key: parseVerifierKey(key), tsa })
    opened.push(this.#run(parts, { keeper, waiting, delayMs }))
    if (stamper !== undefined) opened.push(runStamper(parts, stamper, keeper))
    const status = (): KeeperStatus => ({
      state: keeper.state,
      delayMs,
      waitMs,
      waiting: waiting.load,
      unshown: keeper.publisher.unshown,
      aside,
      witnesses: keeper.publisher.witnesses,
    })
    this.#status = status
    measure(metrics, status, clock)
    const cosigned = 'Heads of the ledger that a witness has cosigned.'
    metrics.counter('ledger_cosignatures_total', cosigned, () => keeper.publisher.cosignatures)
    if (stamper !== undefined) measureStamps(metrics, stamper)
    health.tell('ledger', () => ({
      origin,
      ...toldKeeper(status(), { clock, policy }),
      ...defined({ timestamps: stamper?.told }),
    }))
  }

  /** Keeps it up until what this returns is called. */
  #run(
    { catalog, clock, logger }: FeatureParts,
    {
      keeper,
      waiting,
      delayMs,
    }: { readonly keeper: Keeper; readonly waiting: WaitingDatasets; readonly delayMs: number },
  ): () => Promise<void> {
    const { publisher } = keeper
    const unsubscribe = catalog.onAdvance(({ chain, fromSequence }) =>
      // One that was opened is told from 0 on: which of its blocks are entries already, a look over all names says.
      waiting.heard(chain.name, fromSequence === 0 ? 0 : chain.blocks.length - fromSequence),
    )
    const onError = (err: unknown): void => logger.warn({ err }, 'The ledger could not be kept up and is tried again')
    const everyMs = Math.max(250, delayMs / stepsPerDelay)
    const works = [repeat(() => keeper.step(), { everyMs, clock, onError })]
    if (publisher.witnesses.length > 0) {
      works.push(repeat(() => publisher.tick(), { everyMs: publishMs, clock, onError }))
    }
    return async () => {
      unsubscribe()
      await publisher.close()
      await Promise.all(works.map((work) => work.close()))
    }
  }

  #halt({ logger, health, clock, metrics }: FeatureParts, { delayMs, waitMs }: LedgerOptions, reason: string): void {
    logger.error({ reason }, 'The ledger is not kept; all else goes on')
    const none = { entries: 0, datasets: 0, blocks: 0, sinceMs: undefined }
    const aside = new SetAside({ clock, logger })
    const status = { state: { kind: 'halted', reason }, delayMs, waitMs, waiting: none, unshown: none, aside } as const
    health.tell('ledger', () => toldKeeper({ ...status, witnesses: [] }, { clock, policy: undefined }))
    this.#status = () => ({ ...status, witnesses: [] })
    measure(metrics, this.#status, clock)
  }
}

function measure(metrics: Metrics, status: () => KeeperStatus, clock: Clock): void {
  const waiting = 'Datasets with blocks that are not in the ledger.'
  metrics.gauge('ledger_waiting_datasets', waiting, () => status().waiting.datasets)
  metrics.gauge('ledger_aside_datasets', 'Datasets that cannot be entered now.', () => status().aside.datasets)
  const blocks = 'Blocks that no head has that is shown.'
  metrics.gauge('ledger_behind_blocks', blocks, () => behindOf(status(), clock).blocks)
  const seconds = 'How long the first block waits that no head has that is shown.'
  metrics.gauge('ledger_behind_seconds', seconds, () => behindOf(status(), clock).seconds)
  const late = '1 while the ledger is late, stuck or halted.'
  metrics.gauge('ledger_late', late, () => Number(standingOf(status(), clock) !== 'running'))
}

/** Looks for heads to stamp until what this returns is called. A keeper that may sign nothing has nothing stamped. */
function runStamper({ clock, logger }: FeatureParts, stamper: TimeStamper, keeper: Keeper): () => Promise<void> {
  const onError = (err: unknown): void => logger.warn({ err }, 'A time stamp could not be stored and is tried again')
  const everyMs = Math.min(stampMs, Math.max(publishMs, stamper.intervalMs / stepsPerDelay))
  const tick = async (): Promise<void> => (keeper.state.kind === 'running' ? await stamper.tick() : undefined)
  const work = repeat(tick, { everyMs, clock, onError })
  return async () => {
    stamper.close()
    await work.close()
  }
}

function measureStamps(metrics: Metrics, stamper: TimeStamper): void {
  metrics.counter('ledger_timestamps_total', 'Heads of the ledger with a time stamp.', () => stamper.stamped)
  metrics.counter('ledger_timestamp_failures_total', 'Requests that brought no time stamp.', () => stamper.failed)
}

/** The libraries on which the release runs statements, of all platforms: nodes of one store need not be of the same. */
function statedEngines(): StatementFacts['engines'] {
  const { version, platforms } = must(
    knownEngines.find((one) => one.version === engineVersion),
    'the engine is known',
  )
  const digests = new Set(Object.values(platforms).map(({ library }) => library))
  return [...digests].sort().map((sha256) => ({ name: 'duckdb', version, sha256 }))
}
