// What the fold remembers of the producers of a dataset: the last range of each, in the order in which they were last heard
// of. Checkpoints hold what changed; a restart reads it back from as few of them as ids are read from. Deterministic.

import { firstIdGroup } from '../../libraries/odf/chain/checkpoint.ts'
import {
  judgeRange,
  type ProducerGroup,
  producerIdentity,
  type ProducerMark,
  type ProducersHeld,
  type RangeVerdict,
} from '../../libraries/odf/chain/producers.ts'
import { fixedLimits } from '../../libraries/base/limits.ts'
import type { BatchEntry } from '../log/messages.gen.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'

const dayMs = 24 * 60 * 60 * 1000

interface EndedMark {
  readonly mark: ProducerMark
  /** Checkpoint that holds it, and the time of its block. */
  readonly number: number
  readonly timeMs: number
}

/** Mutable: marks of ended blocks, longest unheard first, and those of the open block, which count before them. */
export interface ProducerMemory {
  readonly ended: Map<Hash, EndedMark>
  readonly open: Map<Hash, ProducerMark>
}

/** The memory that a chain leaves whose last block is of `timeMs`; `groups` reach back to checkpoint `from`, oldest first. */
export function restoreProducers(
  { from, groups }: Pick<ProducersHeld, 'from' | 'groups'>,
  timeMs: number,
): ProducerMemory {
  const memory: ProducerMemory = { ended: new Map(), open: new Map() }
  for (const group of groups) if (group.number >= from) endMarks(memory, group.marks, group)
  forget(memory, timeMs)
  return memory
}

/**
 * Ends the open block as checkpoint `number` with block time `timeMs`; returns what the checkpoint holds, undefined while
 * there are no producers.
 */
export function endProducers(memory: ProducerMemory, number: number, timeMs: number): ProducersHeld | undefined {
  endMarks(memory, memory.open.values(), { number, timeMs })
  memory.open.clear()
  forget(memory, timeMs)
  const [oldest] = memory.ended.values()
  if (oldest === undefined) return undefined
  const first = firstIdGroup(number)
  const groups: { number: number; timeMs: number; marks: ProducerMark[] }[] = []
  for (const { mark, ...at } of memory.ended.values()) {
    if (at.number < first) continue
    if (groups.at(-1)?.number !== at.number) groups.push({ ...at, marks: [] })
    groups.at(-1)?.marks.push(mark)
  }
  return { count: memory.ended.size, from: oldest.number, groups }
}

/** Judges the batches of one message, one after the other; changes nothing until its marks are remembered. */
export class RangeJudge {
  readonly #memory: ProducerMemory
  readonly #dataset: DatasetId
  /** Of ranges of this message. */
  readonly #taken = new Map<Hash, ProducerMark>()

  constructor(memory: ProducerMemory, dataset: DatasetId) {
    this.#memory = memory
    this.#dataset = dataset
  }

  /** Undefined for a batch of no producer. */
  verdictOn(batch: BatchEntry): RangeVerdict | undefined {
    if (batch.producer === undefined) return undefined
    return judgeRange(this.#known(this.#identityOf(batch.producer.id, batch)), batch.producer, batch.bodyHash)
  }

  /** The numbers of the batch are used up. */
  take(batch: BatchEntry): void {
    if (batch.producer === undefined) return
    const { id, epoch, first, last, stream } = batch.producer
    this.#note({ identity: this.#identityOf(id, batch), epoch, first, last, bodyHash: batch.bodyHash, stream })
  }

  /** The stream of the batch, whose records are there, has begun. */
  begin(batch: BatchEntry): void {
    if (batch.producer === undefined) return
    const known = this.#known(this.#identityOf(batch.producer.id, batch))
    if (known !== undefined) this.#note({ ...known, stream: batch.producer.stream })
  }

  remember(): void {
    for (const [identity, mark] of this.#taken) {
      this.#memory.open.delete(identity)
      this.#memory.open.set(identity, mark)
    }
  }

  #known(identity: Hash): ProducerMark | undefined {
    const { open, ended } = this.#memory
    return this.#taken.get(identity) ?? open.get(identity) ?? ended.get(identity)?.mark
  }

  #note(mark: ProducerMark): void {
    this.#taken.delete(mark.identity)
    this.#taken.set(mark.identity, mark)
  }

  #identityOf(id: string, { token }: BatchEntry): Hash {
    return producerIdentity(this.#dataset, token, id)
  }
}

function endMarks(
  { ended }: ProducerMemory,
  marks: Iterable<ProducerMark>,
  { number, timeMs }: Pick<ProducerGroup, 'number' | 'timeMs'>,
): void {
  for (const mark of marks) {
    ended.delete(mark.identity)
    ended.set(mark.identity, { mark, number, timeMs })
  }
}

/** Forgets producers that were not heard of for 7 days, the longest unheard first, but for the last 10,000. */
function forget({ ended }: ProducerMemory, timeMs: number): void {
  const { producers, producerDays } = fixedLimits
  for (const [identity, held] of ended) {
    if (ended.size <= producers.value || timeMs - held.timeMs < producerDays.value * dayMs) return
    ended.delete(identity)
  }
}
