// The changing of a dataset, its deletion and what takes that back: a message in the log, then the wait until it is
// committed and this process shows it (docs/decisions/datasets.md). Of PATCH only what differs from what holds is logged.

import { defined } from '../../libraries/base/collections.ts'
import { type Deletion, isEntered, type NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type DatasetChain, viewOf } from '../catalog/dataset-chain.ts'
import { randomText } from '../../libraries/base/ids/native-crypto.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { must } from '../../libraries/base/assert.ts'
import { sameValue } from '../../libraries/base/compare.ts'
import type { ChangeHeader } from '../log/messages.gen.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { JsonValue } from '../../libraries/base/json/value.ts'
import { foldAscii, parseAliasText } from '../../libraries/model/names.ts'
import { ingestOf } from './ingest-rules.ts'
import { descriptionOf, freshnessOf, ledgerOf, membersOf, proofsOf, visibilityOf, withoutKind } from './new-dataset.ts'
import { patientFor, type Waiters } from './outcome.ts'
import type { ChangeToPublish, Publisher } from './publish.ts'
import { nameTaken, rejection } from './refusals.ts'

/** A change that is not committed within this time has an unknown outcome. */
const commitWithinMs = 15_000
const lookMs = 50
const idBytes = 32
/** No right clock stands before this: the program was not made yet. Machines without a battery start in 1970. */
const programMadeMs = Date.UTC(2026, 0)

/** What is to be changed: each member as a whole. */
export type Change = Pick<
  ChangeHeader,
  | 'info'
  | 'license'
  | 'attachments'
  | 'visibility'
  | 'freshnessMs'
  | 'ingest'
  | 'ledger'
  | 'proofs'
  | 'alias'
  | 'traceparent'
>

const bodyMembers = 'info license attachments visibility freshness ingest ledger proofs alias'.split(' ')

/**
 * Reads the body; null takes freshness, ingest or proofs away. Throws NodeErrors `InvalidRequest`, `InvalidName`,
 * `ReservedName`, and `LedgerKeepsBlocks` where a dataset that is entered in the ledger shall be so no more.
 */
export function changeOf(body: JsonValue | undefined, chain: DatasetChain): Change {
  const member = membersOf(body, bodyMembers)
  const { vocabulary, schema } = viewOf(chain)
  const visibility = member('visibility', visibilityOf)
  const freshnessMs = member('freshness', (value) => (value === null ? 0 : freshnessOf(value)))
  const ingest = member('ingest', (value) => (value === null ? {} : ingestOf(value, vocabulary, schema)))
  const alias = member('alias', aliasTextOf)
  const proofs = member('proofs', (value) => (value === null ? 'batches' : proofsOf(value)))
  const ledger = member('ledger', (value) => stillEntered(ledgerOf(value), chain))
  const change = { ...descriptionOf(member), ...defined({ alias, visibility, freshnessMs, ingest, ledger, proofs }) }
  if (Object.keys(change).length > 0) return change
  throw new NodeError('InvalidRequest', 'The body has nothing to change.', { candidates: bodyMembers })
}

/** What is entered stays, and a gap would look like a lie. Throws NodeError `LedgerKeepsBlocks`. */
function stillEntered(ledger: boolean, { name }: DatasetChain): boolean {
  if (ledger || !isEntered(name)) return ledger
  throw new NodeError('LedgerKeepsBlocks', `The blocks of '${name.alias}' are entered in the ledger and stay there.`, {
    hint: 'A dataset can be kept out when it is made: "ledger": false with PUT. Entries tell strangers no name and no content.',
  })
}

/** Throws NodeErrors `InvalidRequest`, `InvalidName`, `ReservedName`. */
function aliasTextOf(value: JsonValue): string {
  if (typeof value === 'string') return parseAliasText(value).text
  throw new NodeError('InvalidRequest', 'alias is not a text.', { hint: 'Write it as "account/dataset".' })
}

/** The change of a dataset that a ledger has: one that is hidden stays entered, and says so from then on. */
export function keepingEntered(change: Change, name: NameRecord): Change {
  const isHidden = change.visibility === 'private' && isEntered(name)
  return isHidden ? { ...change, ledger: true } : change
}

/** True where the change is of how the dataset is kept, beside what it says of itself. */
export function changesRecord({ visibility, freshnessMs, ingest, ledger, proofs, alias }: Change): boolean {
  return [visibility, freshnessMs, ingest, ledger, proofs, alias].some((member) => member !== undefined)
}

/** The part of a change that is none yet: what holds already makes no block. */
function differenceTo(chain: DatasetChain, change: Change): Change {
  const { info, license, attachments } = viewOf(chain)
  const { visibility, freshnessMs = 0, ingest = {}, proofs = 'batches', alias } = chain.name
  const held: Change = {
    visibility,
    alias,
    freshnessMs,
    ingest,
    // With the visibility that is asked for, where nothing is said of the ledger.
    ledger: isEntered({ ...chain.name, ...defined({ visibility: change.visibility }) }),
    proofs,
    ...(info === undefined ? {} : { info: withoutKind(info) }),
    ...(license === undefined ? {} : { license: withoutKind(license) }),
    attachments: attachments?.items ?? [],
  }
  const asked = Object.entries(change) as [keyof Change, unknown][] // of its own members
  return Object.fromEntries(asked.filter(([name, value]) => !sameValue(value, held[name])))
}

export interface ChangeDeps {
  readonly catalog: Catalog
  readonly publisher: Publisher
  readonly waiters: Waiters
  readonly clock: Clock
}

/**
 * Logs the change, unless it is one no longer, and waits until this process shows it. Throws NodeError `DatasetExists` where a
 * new name is another's, and as `settle`.
 */
export async function changeDataset(deps: ChangeDeps, chain: DatasetChain, asked: Change): Promise<void> {
  const { traceparent, ...rest } = asked
  const { id, alias } = chain.name
  const change = differenceTo(chain, rest)
  if (Object.keys(change).length === 0) return
  if (change.alias !== undefined) await demandFree(deps, change.alias, id)
  const trace = traceparent === undefined ? {} : { traceparent }
  const now = change.alias ?? alias
  const isShown = async (sequence: number): Promise<boolean> => {
    if (!changesRecord(change)) return true
    const name = await deps.catalog.rereadName(now)
    // The old name is left last.
    const isLeft = foldAscii(now) === foldAscii(alias) || (await deps.catalog.rereadName(alias))?.id !== id
    return name?.id === id && (name.changed ?? 0) >= sequence && isLeft
  }
  await settle(deps, chain, { kind: 'change', ...change, ...trace }, isShown)
}

/**
 * Deletes the dataset, if `after`, where given, is the last block with rows or schema. Resolves with what is noted of it,
 * when this process no longer finds it. Throws NodeError `LogUnavailable` where the clock is years behind, as the grace would be
 * over once it is right, and as `settle`.
 */
export async function deleteDataset(
  deps: ChangeDeps,
  chain: DatasetChain,
  { after, graceMs }: { readonly after: number | undefined; readonly graceMs: number },
): Promise<Deletion> {
  const { catalog, clock } = deps
  const { id, alias } = chain.name
  if (graceMs > 0 && clock.nowMs() < programMadeMs) {
    throw new NodeError('LogUnavailable', `'${alias}' cannot be deleted now: it is ${timeText(clock.nowMs())} here.`, {
      hint: 'Set the clock of the node first: until it is right, nobody can say how long the dataset can be restored.',
      retryAfterSeconds: 30,
    })
  }
  let deletion: Deletion | undefined
  await settle(deps, chain, { kind: 'delete', graceMs, ...defined({ after }) }, async () => {
    deletion = await catalog.deletionOf(id)
    return deletion !== undefined && (await catalog.rereadName(alias))?.id !== id
  })
  return must(deletion, 'it was noted')
}

/**
 * Takes the deletion back; `alias` is the name that the dataset has then. Throws NodeError `DatasetExists` where it is another's,
 * and as `settle`.
 */
export async function restoreDataset(deps: ChangeDeps, chain: DatasetChain, alias: string): Promise<void> {
  const { id } = chain.name
  await demandFree(deps, alias, id)
  const isShown = async (): Promise<boolean> => {
    return (await deps.catalog.rereadName(alias))?.id === id && (await deps.catalog.deletionOf(id)) === undefined
  }
  await settle(deps, chain, { kind: 'restore', alias }, isShown)
}

async function demandFree({ catalog }: ChangeDeps, alias: string, id: DatasetId): Promise<void> {
  const holder = await catalog.nameOf(alias)
  if (holder !== undefined && holder.id !== id) throw nameTaken(holder.alias)
}

type Unnamed<T> = T extends unknown ? Omit<T, 'dataset' | 'id'> : never

/**
 * Logs a message and waits until it is committed, as block `sequence`, and shown. Throws NodeError `OutcomeUnknown` after
 * 15 s, what a rejection means, and what the log throws.
 */
async function settle(
  deps: ChangeDeps,
  chain: DatasetChain,
  message: Unnamed<ChangeToPublish>,
  isShown: (sequence: number) => Promise<boolean>,
): Promise<void> {
  const { clock, publisher, waiters } = deps
  const { id: dataset, alias, partition } = chain.name
  const id = randomText(idBytes)
  const endMs = clock.monotonicMs() + commitWithinMs
  // `as`: a message of one kind with the two members that all have.
  const position = await publisher.change(partition, { ...message, dataset, id } as ChangeToPublish)
  const decision = await waiters.wait(chain, { id, position }, patientFor(commitWithinMs))
  if (decision === undefined || decision === 'void') throw unknown(alias, message.kind)
  if (decision.outcome.status.kind === 'rejected') throw rejection(decision.outcome.status, chain)
  // Elsewhere the block may be seen before the records that follow it.
  while (!(await isShown(decision.block.sequence))) {
    if (clock.monotonicMs() > endMs) throw unknown(alias, message.kind)
    await clock.sleep(lookMs)
  }
}

/** What a repeat of the request meets when the first one was committed. */
const repeatHints: Readonly<Record<ChangeToPublish['kind'], string>> = {
  change: 'Repeat the same request; it finishes what was begun.',
  delete: 'Repeat the same request: 404 or 410 then says that the dataset is deleted.',
  restore: 'Repeat the same request: 409 DatasetExists then says that the dataset is restored.',
}

function unknown(alias: string, kind: ChangeToPublish['kind']): NodeError {
  const message = `What was asked of '${alias}' is in the log but was not committed within ${commitWithinMs / 1000} s.`
  return new NodeError('OutcomeUnknown', message, { hint: repeatHints[kind] })
}
