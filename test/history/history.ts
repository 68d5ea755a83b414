// What callers of a node saw, beside what its chains hold in the end, and the verdicts on it. The simulation, the kills and
// the tests of system calls are judged by this checker; its own test plants each anomaly. Orders are numbers that rise with
// each thing seen by anyone: of two events the one with the lower number was first.

import { judgeLedger, type LedgerSeen } from './ledger.ts'
import type { Verdict } from './verdicts.ts'

/** `refused`: an answer that promises that nothing was stored. `unknown`: none, or one that leaves it open. */
export type Answer =
  | {
      readonly kind: 'ok'
      readonly receiptId: string
      /** Given once the batch is committed. */
      readonly block?: { readonly sequence: number; readonly hash: string }
      readonly offsets?: { readonly start: number; readonly end: number }
    }
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'unknown'; readonly error: string }

/** One request that carried a batch. */
export interface Attempt {
  readonly sentAt: number
  readonly answeredAt: number
  /** The process that answered; a restarted one is another. */
  readonly session: string
  readonly answer: Answer
}

export interface BatchSent {
  readonly id: string
  readonly dataset: string
  readonly rows: number
  /** Batches of one key and dataset exclude one another. */
  readonly key?: string
  readonly attempts: Attempt[]
}

/** The head of a dataset as a process showed it. */
export interface HeadSeen {
  /** When it was asked for: what was told later need not be in it. One reader of a session asks one after the other. */
  readonly at: number
  readonly session: string
  readonly dataset: string
  readonly sequence: number
  readonly hash: string
}

/** A proof checked once more. */
export interface ProofChecked {
  readonly at: number
  readonly id: string
  readonly holds: boolean
}

/** One row as it was stored: it names its batch, its place in it and the batch's size. */
export interface StoredRow {
  readonly batch: string
  readonly number: number
  readonly of: number
  readonly offset: number
  /** Of the block that holds it. */
  readonly sequence: number
}

export interface StoredDataset {
  readonly alias: string
  readonly blocks: readonly { readonly sequence: number; readonly hash: string }[]
  /** By offset. */
  readonly rows: readonly StoredRow[]
}

export interface History {
  readonly batches: readonly BatchSent[]
  readonly heads: readonly HeadSeen[]
  readonly proofs: readonly ProofChecked[]
  /** Batches that were acknowledged when logged and whose receipt says in the end that the log's order rejected them. */
  readonly rejected: readonly string[]
  readonly stored: readonly StoredDataset[]
  /** Time from the end of all faults until everything acknowledged was committed; undefined: never. */
  readonly drain: { readonly tookMs: number | undefined; readonly withinMs: number }
  /** Things that must not grow: open files, temporary files, memory. */
  readonly held: readonly {
    readonly name: string
    readonly before: number
    readonly after: number
    readonly mayGrow: number
  }[]
  /** Where there is one. */
  readonly ledger?: LedgerSeen
}

/** Everything that is wrong with a history; empty when it keeps every promise. */
export function judge(history: History): Verdict[] {
  return [
    ...judgeBatches(history),
    ...judgeOrder(history),
    ...judgeBlocks(history),
    ...judgeHeads(history),
    ...judgeProofs(history.proofs),
    ...judgeEnd(history),
    ...(history.ledger === undefined ? [] : judgeLedger(history.ledger)),
  ]
}

/** True when a caller was told that the batch is safe. */
export function isAcknowledged({ attempts }: BatchSent): boolean {
  return attempts.some(({ answer }) => answer.kind === 'ok')
}

/** Lost, twice, torn, never accepted, in another dataset, or not where the receipt says. */
function judgeBatches({ batches, stored, rejected }: History): Verdict[] {
  const verdicts: Verdict[] = []
  const isRejected = new Set(rejected)
  const sent = new Map(batches.map((batch) => [batch.id, batch]))
  const found = new Map<string, StoredRow[]>()
  for (const { alias, rows } of stored) {
    for (const row of rows) {
      const batch = sent.get(row.batch)
      if (batch === undefined)
        verdicts.push({ kind: 'phantom', message: `nobody sent ${row.batch}, a row of ${alias}` })
      else if (batch.dataset !== alias) {
        verdicts.push({ kind: 'foreign', message: `${row.batch} was sent to ${batch.dataset} and is in ${alias}` })
      } else {
        const rowsOfBatch = found.get(row.batch)
        if (rowsOfBatch === undefined) found.set(row.batch, [row])
        else rowsOfBatch.push(row)
      }
    }
  }
  const holders = new Map<string, string>()
  for (const batch of batches) {
    const rows = found.get(batch.id)
    if (rows === undefined) {
      if (isAcknowledged(batch) && !isRejected.has(batch.id))
        verdicts.push({ kind: 'lost', message: `${batch.id} was acknowledged and is not stored` })
      continue
    }
    verdicts.push(...judgeRows(batch, rows))
    if (isRejected.has(batch.id)) verdicts.push({ kind: 'phantom', message: `${batch.id} was rejected and is stored` })
    if (batch.key === undefined) continue
    const name = `${batch.dataset} ${batch.key}`
    const other = holders.get(name)
    if (other !== undefined) {
      verdicts.push({ kind: 'duplicate', message: `${other} and ${batch.id} have one key and are both stored` })
    }
    holders.set(name, batch.id)
  }
  return verdicts
}

function judgeRows(batch: BatchSent, rows: readonly StoredRow[]): Verdict[] {
  const { id, attempts } = batch
  const verdicts: Verdict[] = []
  if (attempts.length > 0 && attempts.every(({ answer }) => answer.kind === 'refused')) {
    verdicts.push({ kind: 'phantom', message: `${id} was refused each time and is stored` })
  }
  const numbers = new Set(rows.map(({ number }) => number))
  if (numbers.size < rows.length) {
    verdicts.push({ kind: 'duplicate', message: `${id} has ${rows.length} rows, ${numbers.size} of them different` })
  }
  const first = rows[0]
  const whole = rows.every(
    ({ of, number, offset, sequence }, i) =>
      of === batch.rows && number === i && offset === (first?.offset ?? 0) + i && sequence === first?.sequence,
  )
  if (numbers.size !== batch.rows || (numbers.size === rows.length && !whole)) {
    verdicts.push({ kind: 'torn', message: `${id} has ${numbers.size} of ${batch.rows} rows, or not in one piece` })
  }
  for (const { answer } of attempts) {
    if (answer.kind !== 'ok' || answer.offsets === undefined) continue
    const { start, end } = answer.offsets
    if (start !== first?.offset || end !== rows.at(-1)?.offset) {
      verdicts.push({ kind: 'lost', message: `${id} was told offsets ${start} to ${end} and is at ${first?.offset}` })
    }
  }
  return verdicts
}

/** What was acknowledged before another batch was first sent comes before it. */
function judgeOrder({ batches, stored }: History): Verdict[] {
  const sent = new Map(batches.map((batch) => [batch.id, batch]))
  const verdicts: Verdict[] = []
  for (const { rows } of stored) {
    const inOrder = [...new Set(rows.map(({ batch }) => batch))].flatMap((id) => sent.get(id) ?? [])
    let earliestAck = Number.POSITIVE_INFINITY
    let acked = ''
    for (const batch of inOrder.reverse()) {
      const sentAt = Math.min(...batch.attempts.map((attempt) => attempt.sentAt))
      if (earliestAck < sentAt) {
        verdicts.push({
          kind: 'reorder',
          message: `${acked} was acknowledged before ${batch.id} was sent, and follows it`,
        })
      }
      for (const { answer, answeredAt } of batch.attempts) {
        if (answer.kind !== 'ok' || answeredAt >= earliestAck) continue
        earliestAck = answeredAt
        acked = batch.id
      }
    }
  }
  return verdicts
}

interface SeenBlock {
  readonly dataset: string
  readonly sequence: number
  readonly hash: string
}

/** Every block that anybody was told of by number and hash. */
function* blocksSeen({ batches, heads }: History): Generator<SeenBlock & { at: number; session: string }> {
  yield* heads
  for (const { dataset, attempts } of batches) {
    for (const { answer, answeredAt: at, session } of attempts) {
      if (answer.kind === 'ok' && answer.block !== undefined) yield { dataset, at, session, ...answer.block }
    }
  }
}

/** One number, one block; and what was shown is in the chain in the end. */
function judgeBlocks(history: History): Verdict[] {
  const verdicts: Verdict[] = []
  const hashes = new Map<string, string>()
  const take = ({ dataset, sequence, hash }: SeenBlock): void => {
    const name = `block ${sequence} of ${dataset}`
    const other = hashes.get(name) ?? hash
    if (other !== hash) verdicts.push({ kind: 'fork', message: `${name} is ${other} and ${hash}` })
    hashes.set(name, hash)
  }
  const ends = new Map<string, number>()
  for (const { alias, blocks } of history.stored) {
    for (const block of blocks) take({ dataset: alias, ...block })
    ends.set(alias, Math.max(...blocks.map(({ sequence }) => sequence), -1))
  }
  for (const seen of blocksSeen(history)) {
    take(seen)
    if (seen.sequence > (ends.get(seen.dataset) ?? -1)) {
      verdicts.push({ kind: 'head-rollback', message: `${seen.dataset} was seen at ${seen.sequence}, beyond its end` })
    }
  }
  return verdicts
}

/** One process never shows an older head than before, nor one older than it has told somebody. */
function judgeHeads(history: History): Verdict[] {
  const verdicts: Verdict[] = []
  const shown = new Map<string, number>()
  const told = new Map<string, number>()
  const heads = new Set<unknown>(history.heads)
  for (const seen of [...blocksSeen(history)].sort((a, b) => a.at - b.at)) {
    const name = `${seen.session} ${seen.dataset}`
    if (!heads.has(seen)) {
      told.set(name, Math.max(seen.sequence, told.get(name) ?? 0))
      continue
    }
    if (seen.sequence < (shown.get(name) ?? 0)) {
      verdicts.push({ kind: 'head-rollback', message: `${name} went from ${shown.get(name)} to ${seen.sequence}` })
    }
    if (seen.sequence < (told.get(name) ?? 0)) {
      verdicts.push({
        kind: 'stale-after-committed',
        message: `${name} told of block ${told.get(name)} and showed ${seen.sequence}`,
      })
    }
    shown.set(name, seen.sequence)
  }
  return verdicts
}

function judgeProofs(proofs: readonly ProofChecked[]): Verdict[] {
  const held = new Set<string>()
  const verdicts: Verdict[] = []
  for (const { id, holds } of [...proofs].sort((a, b) => a.at - b.at)) {
    if (holds) held.add(id)
    else if (held.has(id)) verdicts.push({ kind: 'proof-flip', message: `the proof ${id} held and does not any more` })
  }
  return verdicts
}

function judgeEnd({ drain, held }: History): Verdict[] {
  const verdicts: Verdict[] = []
  if (drain.tookMs === undefined || drain.tookMs > drain.withinMs) {
    verdicts.push({ kind: 'stuck', message: `not drained within ${drain.withinMs} ms of the last fault` })
  }
  for (const { name, before, after, mayGrow } of held) {
    if (after > before + mayGrow) verdicts.push({ kind: 'leak', message: `${name} grew from ${before} to ${after}` })
  }
  return verdicts
}
