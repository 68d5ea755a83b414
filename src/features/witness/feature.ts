// What a node is of ledgers elsewhere: a gateway is a witness of those that its policy names, and so is a process with the role
// `witness` alone. A replica of another node is the follower of those whose addresses the policy has too.

import { NodeError } from '../../libraries/base/errors.ts'
import type { PolicyLog } from '../../libraries/ledger/policy.ts'
import type { NodeKey } from '../../libraries/proof/sign.ts'
import type { FeatureCode, FeatureParts, Origin } from '../../node/feature.ts'
import type { OptionalRoutes } from '../../node/http/context.ts'
import { settingsOf } from '../../node/options.ts'
import { BlockRecords } from '../../node/files/block-records.ts'
import { defaultOrigin, ledgerRecord } from '../ledger/identity.ts'
import { ledgerOptions } from '../ledger/options.ts'
import { readPolicy } from '../ledger/policy-file.ts'
import { boundConnections, connectionsMost } from './connections.ts'
import { FollowedLedger } from './followed-ledger.ts'
import { Follower } from './follower.ts'
import { OwnCopies } from './own-copies.ts'
import { keysOf, registerWitness, type Witnessing, type WitnessKeys } from './routes.ts'
import { Witness } from './witness.ts'
import { ensureWitnessKey } from './witness-key.ts'

/** The first ledger of a store, whose name the witness has. */
const first = 1
const longestWaitMs = 60_000

/** The ledgers of others that a policy names: those that are followed, and those that are only witnessed. */
interface Ledgers {
  readonly followed: readonly PolicyLog[]
  readonly others: readonly PolicyLog[]
}

interface Signers {
  readonly witness: NodeKey | undefined
  readonly follower: NodeKey | undefined
}

export class WitnessFeature implements FeatureCode {
  /** Until it has started nobody is told that it is none. */
  #state: Witnessing = { kind: 'starting' }
  readonly #stop = new AbortController()
  readonly #followers = new Map<string, Follower>()
  readonly routes: OptionalRoutes = {
    every: (app, context) => {
      const isAlone = context.facts.roles.includes('witness')
      if (isAlone) boundConnections(app.server, connectionsMost)
      const isSome = isAlone || context.gateway !== undefined || context.origin !== undefined
      if (isSome) registerWitness(app, context, () => this.#state)
    },
  }

  keys(): WitnessKeys {
    return keysOf(this.#state)
  }

  /** Begins to cosign, where the policy names ledgers. Throws NodeError `InvalidParameter`. */
  async start(parts: FeatureParts): Promise<void> {
    const { policyFile, origin: given } = settingsOf(parts.config.settings, ledgerOptions) ?? {}
    const { gateway, origin, paths } = parts
    const isAlone = isWitnessAlone(parts)
    if (isAlone && (policyFile === undefined || given === undefined)) throw incomplete()
    const isSome = policyFile !== undefined && (isAlone || gateway !== undefined || origin !== undefined)
    const { logs } = isSome ? await readPolicy(policyFile) : { logs: [] }
    if (isAlone && logs.length === 0) throw invalid(`The policy ${policyFile} names no ledger: it has no log line.`)
    const followed = origin === undefined ? [] : logs.filter(({ url }) => url !== undefined)
    const others = logs.filter((log) => !followed.includes(log))
    const witness = others.length === 0 ? undefined : await keyOf(parts, paths.witnessKey)
    const follower = followed.length === 0 ? undefined : await keyOf(parts, paths.followerKey)
    const some = follower ?? witness
    if (some === undefined) return void (this.#state = { kind: 'none' })
    // A replica has no ledger of its own, whose name it would have.
    const name = given ?? (origin === undefined ? undefined : defaultOrigin(parts.config.allowedHosts, some))
    const started = nameOf(parts, name, this.#stop.signal).then((own) => {
      if (own !== undefined) this.#run(parts, own, { followed, others }, { witness, follower })
    })
    parts.opened.push(async () => {
      this.#stop.abort()
      await started
      await Promise.all([...this.#followers.values()].map((one) => one.close()))
    })
    // Its name is known before the first request, but where a keeper elsewhere has not begun yet.
    if (name !== undefined) await started
  }

  #run(parts: FeatureParts, own: string, { followed, others }: Ledgers, signers: Signers): void {
    const { store, clock, logger, origin } = parts
    const of = { store, clock, logger }
    // A witness of itself says nothing.
    const logs = others.map(({ key }) => key).filter(({ name }) => name !== own)
    const witness =
      signers.witness &&
      new Witness({ ...of, name: isWitnessAlone(parts) ? own : `${own}/witness`, signer: signers.witness, logs })
    for (const { key, url } of followed) {
      if (origin === undefined || url === undefined) continue
      this.#followers.set(key.name, followerOf(parts, origin, { name: key.name, url }, this.#stop.signal))
    }
    const follower =
      signers.follower &&
      new Witness({
        ...of,
        name: `${own}/follower`,
        signer: signers.follower,
        logs: followed.map(({ key }) => key),
        vouching: this.#followers,
      })
    this.#state = { kind: 'running', witness, follower }
    this.#measure(parts, [witness ?? [], follower ?? []].flat())
  }

  #measure({ metrics }: FeatureParts, witnesses: readonly Witness[]): void {
    const sum = (one: 'cosigned' | 'evidence'): number => witnesses.reduce((all, { counts }) => all + counts[one], 0)
    metrics.counter('witness_cosigned_total', 'Heads of ledgers cosigned as a witness.', () => sum('cosigned'))
    const evidence = 'Heads kept as evidence against ledgers that have signed them.'
    metrics.counter('witness_evidence_total', evidence, () => sum('evidence'))
    if (this.#followers.size === 0) return
    const checked = (one: 'compared' | 'ordered'): number =>
      [...this.#followers.values()].reduce((all, { counts }) => all + counts[one], 0)
    const compared = 'Entries of a followed ledger that were held against blocks here.'
    metrics.counter('follower_compared_entries_total', compared, () => checked('compared'))
    const ordered = 'Entries of a followed ledger of which only the order was checked.'
    metrics.counter('follower_ordered_entries_total', ordered, () => checked('ordered'))
  }
}

function isWitnessAlone({ config }: FeatureParts): boolean {
  return config.roles.includes('witness')
}

function incomplete(): NodeError {
  return invalid('A witness takes --ledger-policy with the ledgers that it cosigns, and --ledger-origin with its name.')
}

function invalid(message: string): NodeError {
  return new NodeError('InvalidParameter', message, {
    hint: 'proofstream serve --roles witness --ledger-policy ledgers.txt --ledger-origin witness.example.org/w1',
  })
}

/** Undefined where the file holds the key of another store, which the log of a node with more to do then says. */
async function keyOf(parts: FeatureParts, path: string): Promise<NodeKey | undefined> {
  return await ensureWitnessKey(path, parts.store).catch((error: unknown) => {
    if (!(error instanceof NodeError) || error.kind !== 'InvalidParameter' || isWitnessAlone(parts)) throw error
    parts.logger.error({ reason: error.message, hint: error.details.hint }, 'This node is no witness; all else goes on')
    return undefined
  })
}

function followerOf(
  { store, clock, logger, catalog, work }: FeatureParts,
  origin: Origin,
  { name, url }: { readonly name: string; readonly url: string },
  signal: AbortSignal,
): Follower {
  const records = new BlockRecords({ store, work })
  const copies = new OwnCopies({ origin, catalog, records, clock, signal })
  return new Follower({ store, clock, logger, origin: name, ledger: new FollowedLedger(url, signal), copies, signal })
}

/** The name of the node's own ledger, as the options or the store have it; undefined when the node stops first. */
async function nameOf(
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
