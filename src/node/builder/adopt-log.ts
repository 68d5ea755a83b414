// Gives up one log for another (docs/decisions/log.md#adopting-another-log): builds what the old one still holds, says
// what nobody can build any more, and puts the one record by which all datasets of the old log go on in the new one.

import { defined } from '../../libraries/base/collections.ts'
import type { AdoptionRecord, LowWaterMark } from '../../libraries/odf/chain/records.ts'
import type { EventLog } from '../log/event-log.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { logsPrefix } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { newestLowWaterMark, putAdoption, readAdoption, readLog } from '../store/records.ts'
import { type BuilderDeps, type BuilderHalt, startBuilder } from './builder.ts'
import { declareLog } from './resume.ts'

/** How often the builder of the old log is asked how far it is. */
const lookMs = 200
/** A log that others may write is watched for this long: it must not grow. */
const stillMs = 2_000
/** Nobody sends parts of large batches to a log that this process alone has. */
const ownPatienceMs = 1_000

export interface AdoptionRequest {
  /** The log to give up, or its id where it is gone. */
  readonly old: EventLog | string
  /** The log to go on in. */
  readonly next: EventLog
  readonly acceptLoss: boolean
}

/** Messages that no chain will ever have read. */
export interface GivenUp {
  readonly partition: number
  readonly from: number
  /** Absent when the end of the log is not known. */
  readonly to?: number
  /** Only those of this dataset, which a builder has stopped. */
  readonly dataset?: string
  /** Why they cannot be built. */
  readonly reason: string
}

export interface Adoption {
  /** `refused`: something would be given up, and loss is not accepted; nothing was changed. */
  readonly outcome: 'adopted' | 'was adopted before' | 'refused'
  readonly old: string
  readonly new: string
  readonly givenUp: readonly GivenUp[]
}

/** `signal` aborts with its reason: a log or store that takes no more would be waited for without end. */
export type AdoptDeps = Omit<BuilderDeps, 'log' | 'options' | 'assignment' | 'attemptPatienceMs' | 'tellsHalts'> & {
  readonly signal: AbortSignal
}

/**
 * Makes the datasets of `old` go on in `next`. No node may run on either. May be repeated after a crash. Durable when it
 * resolves. Throws NodeErrors `InvalidParameter` (the two cannot follow one another), `LogUnavailable` (somebody writes
 * to the old log), and what log and store throw.
 */
export async function adoptLog(deps: AdoptDeps, request: AdoptionRequest): Promise<Adoption> {
  const { store } = deps
  const { old, next, acceptLoss } = request
  const id = typeof old === 'string' ? old : old.id
  if (id === next.id) {
    throw new NodeError('InvalidParameter', 'The two are one log.', {
      hint: 'A log that has lost messages is not gone on with. Take another: a new prefix in --log, or an empty log directory.',
    })
  }
  const before = await readAdoption(store, id)
  if (before?.new === next.id) return adoptionOf(before, 'was adopted before', [])
  if (before !== undefined) throw new NodeError('InvalidParameter', `Log ${id} was given up for log ${before.new}.`)
  await demandFollows(store, id, next)
  const { givenUp, ...left } = typeof old === 'string' ? await goneLog(store, id) : await builtLog(deps, old)
  const record: AdoptionRecord = { old: id, new: next.id, ...left, begin: await endsOf(next) }
  if (givenUp.length > 0 && !acceptLoss) return adoptionOf(record, 'refused', givenUp)
  await declareLog(store, next)
  const claim = await putAdoption(store, record)
  const inForce = claim.outcome === 'won' ? record : claim.inForce
  if (inForce.new !== next.id) throw new NodeError('InvalidParameter', `Log ${id} was given up for ${inForce.new}.`)
  return adoptionOf(inForce, 'adopted', givenUp)
}

function adoptionOf(record: AdoptionRecord, outcome: Adoption['outcome'], givenUp: readonly GivenUp[]): Adoption {
  return { outcome, old: record.old, new: record.new, givenUp }
}

/** The store knows the old log; the new one is in force, and is empty or known too. */
async function demandFollows(store: ObjectStore, old: string, next: EventLog): Promise<void> {
  if ((await readLog(store, old)) === undefined) {
    const known = await store.list(logsPrefix)
    throw new NodeError('InvalidParameter', `The store knows no log ${old}.`, {
      candidates: known,
      hint: known.length === 0 ? 'It knows none at all.' : `It knows ${known.join(', ')}.`,
    })
  }
  const later = await readAdoption(store, next.id)
  if (later !== undefined) {
    throw new NodeError('InvalidParameter', `The new log ${next.id} was itself given up for log ${later.new}.`)
  }
  if ((await readLog(store, next.id)) !== undefined) return
  if ((await endsOf(next)).some((end) => end > 0)) {
    throw new NodeError('InvalidParameter', `The new log ${next.id} holds messages that are not of this store.`, {
      hint: 'Name an empty log.',
    })
  }
}

function ofEach<T>(partitions: number, of: (number: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: partitions }, (_, number) => of(number)))
}

function endsOf(log: EventLog): Promise<number[]> {
  return ofEach(log.partitions, async (number) => (await log.range(number)).end)
}

/** What a log that is given up leaves. */
type LeftBehind = Pick<AdoptionRecord, 'partitions' | 'halted'> & { readonly givenUp: readonly GivenUp[] }

async function goneLog(store: ObjectStore, id: string): Promise<LeftBehind> {
  const count = (await readLog(store, id))?.partitions ?? 0
  const parts = await ofEach(count, async (number) => {
    return { floor: await newestLowWaterMark(store, id, number), end: undefined, reason: 'the log is gone' }
  })
  return leftBehind(parts, (halted) => halted)
}

/** Builds all that the log holds. */
async function builtLog(deps: AdoptDeps, log: EventLog): Promise<LeftBehind> {
  const halts = await buildToEnd(deps, log)
  const parts = await ofEach(log.partitions, async (number) => {
    const floor = await newestLowWaterMark(deps.store, log.id, number)
    const halt = halts.find(({ partition, dataset }) => partition === number && dataset === undefined)
    // A log that is cut off at its beginning still has its end; one that is not the same any more has none.
    const isKnown = halt === undefined || halt.reason === 'LogTruncated'
    const end = isKnown ? (await log.range(number)).end : undefined
    return { floor, end, reason: halt === undefined ? 'it was not built' : `${halt.reason}: ${halt.what}` }
  })
  // A floor goes on naming a dataset that is well again until it rises.
  const isHalted = (id: string): boolean => halts.some(({ dataset }) => dataset === id)
  return leftBehind(parts, (halted) => halted.filter(({ dataset }) => isHalted(dataset)))
}

interface LeftPartition {
  readonly floor: LowWaterMark | undefined
  readonly end: number | undefined
  readonly reason: string
}

function leftBehind(
  parts: readonly LeftPartition[],
  choose: (halted: LowWaterMark['halted']) => LowWaterMark['halted'],
): LeftBehind {
  const givenUp = parts.flatMap(({ floor, end, reason }, partition): GivenUp[] => {
    const from = floor?.position ?? 0
    const to = end === undefined ? {} : { to: end }
    const datasets = choose(floor?.halted ?? []).map(({ dataset, position, reason: why }) => {
      return { partition, from: position, ...to, dataset, reason: why }
    })
    return from === end ? datasets : [{ partition, from, ...to, reason }, ...datasets]
  })
  return {
    partitions: parts.map(({ floor, end }) => ({ floor: floor?.position ?? 0, ...defined({ end }) })),
    halted: choose(parts.flatMap(({ floor }) => floor?.halted ?? [])),
    givenUp,
  }
}

/** Runs a builder until each floor is at the end of its partition or the partition is halted; resolves with the halts. */
async function buildToEnd(deps: AdoptDeps, log: EventLog): Promise<readonly BuilderHalt[]> {
  const { clock, logger, signal } = deps
  const patience = log.kind === 'kafka' ? {} : { attemptPatienceMs: ownPatienceMs }
  const options = { openAgeMs: 0, waitAgeMs: 0, burstBlocks: Number.MAX_SAFE_INTEGER }
  const builder = await startBuilder({ ...deps, log, options, tellsHalts: false, ...patience })
  try {
    for (;;) {
      await clock.sleep(lookMs)
      signal.throwIfAborted()
      const { partitions, halted } = builder.status()
      const ends = await endsOf(log)
      const isHalted = (number: number): boolean =>
        halted.some(({ partition, dataset }) => partition === number && dataset === undefined)
      const open = partitions.filter(({ partition, floor }) => !isHalted(partition) && floor !== ends[partition])
      if (partitions.length === log.partitions && open.length === 0) break
      logger.debug({ partitions: open }, 'the old log is being built to its end')
    }
    if (log.kind === 'kafka') await demandStill(deps, log)
    return builder.status().halted
  } finally {
    await builder.stop()
  }
}

async function demandStill({ clock }: AdoptDeps, log: EventLog): Promise<void> {
  const before = await endsOf(log)
  await clock.sleep(stillMs)
  if ((await endsOf(log)).every((end, number) => end === before[number])) return
  throw new NodeError('LogUnavailable', 'Somebody still writes to the old log.', {
    hint: 'Stop all its nodes first; what they were sent has been built.',
  })
}
