// Random logs and what must come of them: messages of several datasets with resends, repeats, large batches, aborts and
// cuts, and by an account of its own the rows that each dataset must hold in the end.

import fc from 'fast-check'
import { must } from '../../../src/libraries/base/assert.ts'
import { FoldHarness } from './fold-harness.ts'
import { datasetId, type LargeBatch, TestWriter } from './support.ts'

export type Action =
  | { readonly kind: 'rows'; readonly dataset: number; readonly writer: number; readonly batches: readonly number[] }
  | { readonly kind: 'keyed'; readonly dataset: number; readonly writer: number; readonly key: number }
  | {
      readonly kind: 'large'
      readonly dataset: number
      readonly writer: number
      readonly end: 'last' | 'abort' | 'never'
    }
  | {
      readonly kind: 'produced'
      readonly dataset: number
      readonly writer: number
      readonly producer: number
      readonly epoch: number
      readonly first: number
      readonly rows: number
      readonly givenUp: number
      /** Goes on with the current stream, or begins one after it, or after another. */
      readonly link: 'goesOn' | 'begins' | 'stale'
    }
  | { readonly kind: 'resend'; readonly back: number }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'cut'; readonly datasets: readonly number[]; readonly stale: boolean }

const dataset = fc.integer({ min: 0, max: 2 })
const writer = fc.integer({ min: 0, max: 1 })

export const actions: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('rows' as const),
        dataset,
        writer,
        batches: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('keyed' as const),
        dataset,
        writer,
        key: fc.integer({ min: 0, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('large' as const),
        dataset,
        writer,
        end: fc.constantFrom('last' as const, 'last' as const, 'abort' as const, 'never' as const),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('produced' as const),
        dataset,
        writer,
        producer: fc.integer({ min: 0, max: 1 }),
        epoch: fc.integer({ min: 0, max: 1 }),
        first: fc.integer({ min: 0, max: 6 }),
        rows: fc.integer({ min: 1, max: 4 }),
        givenUp: fc.constantFrom(0, 0, 0, 1),
        link: fc.constantFrom('goesOn', 'goesOn', 'begins', 'begins', 'stale'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('resend' as const), back: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('foreign' as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('cut' as const),
        datasets: fc.uniqueArray(dataset, { minLength: 1, maxLength: 3 }),
        stale: fc.boolean(),
      }),
    },
  ),
  { minLength: 3, maxLength: 24 },
)

export interface Script {
  readonly messages: readonly Uint8Array[]
  /** Values of column `n` that each dataset must hold, in order. */
  readonly expected: ReadonlyMap<string, readonly number[]>
}

/** The log that the actions make. Large batches are interleaved: their parts come while others go on. */
export async function scriptOf(todo: readonly Action[]): Promise<Script> {
  const script = new ScriptMaker()
  for (const id of script.ids) await script.add(script.creator.create(id, `acme/set-${script.ids.indexOf(id)}`))
  for (const action of todo) await script.run(action)
  await script.finish()
  return { messages: script.messages, expected: script.expected }
}

interface OpenBatch {
  readonly id: string
  readonly writer: TestWriter
  readonly large: LargeBatch
  readonly first: number
  readonly end: 'last' | 'abort' | 'never'
}

const largeRows = 20

class ScriptMaker {
  readonly ids = ['a', 'b', 'c'].map(datasetId)
  readonly creator = new TestWriter('creator')
  readonly writers = [new TestWriter('w0'), new TestWriter('w1')]
  readonly cutter = new TestWriter('cutter')
  readonly folds = new Map(this.ids.map((id) => [id, new FoldHarness(id)]))
  readonly messages: Uint8Array[] = []
  readonly expected = new Map<string, number[]>(this.ids.map((id) => [id, []]))
  readonly #keys = new Set<string>()
  readonly #open: OpenBatch[] = []
  /** Epoch, last number and current stream of each producer. */
  readonly #producers = new Map<string, { epoch: number; last: number; stream: string }>()
  #streams = 0

  /** Every dataset's own fold follows along, to know the sequences that a builder would write into cuts. */
  async add(message: Uint8Array): Promise<void> {
    this.messages.push(message)
    for (const fold of this.folds.values()) await fold.take(message)
  }

  async run(action: Action): Promise<void> {
    switch (action.kind) {
      case 'rows': {
        const [id, from] = this.#target(action)
        const rows = action.batches.reduce((sum, count) => sum + count, 0)
        this.#expect(id, from.nextRow, rows)
        return this.add(
          from.rows(
            id,
            action.batches.map((count) => ({ rows: count })),
          ),
        )
      }
      case 'keyed': {
        const [id, from] = this.#target(action)
        const key = `${id} ${action.key}`
        if (!this.#keys.has(key)) this.#expect(id, from.nextRow, 2)
        this.#keys.add(key)
        return this.add(from.rows(id, [{ rows: 2, key: String(action.key) }]))
      }
      case 'produced':
        return this.#produce(action)
      case 'large':
        return this.#startOrGoOn(action)
      case 'resend': {
        const message = this.messages.at(-action.back)
        return message === undefined ? undefined : this.add(message)
      }
      case 'foreign':
        return this.add(new TextEncoder().encode('not one of ours'))
      case 'cut':
        return this.add(
          this.#cut(
            action.datasets.map((at) => must(this.ids[at], 'a dataset')),
            action.stale ? 1 : 0,
          ),
        )
    }
  }

  /** Ends what is open, so that everything expected is in a block. */
  async finish(): Promise<void> {
    for (const { id, writer: from, large } of this.#open.splice(0)) await this.add(from.abort(id, large.attempt))
    await this.add(this.#cut(this.ids, 0))
  }

  /** A range of a numbered stream: it is taken whole or not at all. */
  async #produce(action: Extract<Action, { kind: 'produced' }>): Promise<void> {
    const { epoch, first, rows, givenUp, link } = action
    const [id, from] = this.#target(action)
    const last = first + givenUp + rows - 1
    const name = `${id} ${action.producer}`
    const known = this.#producers.get(name)
    const isFirst = link !== 'goesOn'
    const stream = (isFirst ? `${++this.#streams}` : (known?.stream ?? 'none')).padEnd(22, '-')
    const after = link === 'stale' ? 'another'.padEnd(22, '-') : known?.stream
    const isAnew = isFirst && (known === undefined || epoch > known.epoch)
    const isCurrent = known !== undefined && epoch === known.epoch && link !== 'stale'
    if (isAnew || (isCurrent && first === known.last + 1)) {
      this.#expect(id, from.nextRow, rows)
      this.#producers.set(name, { epoch, last, stream })
    } else if (isCurrent && isFirst && last <= known.last) {
      this.#producers.set(name, { ...known, stream })
    }
    const begins = isFirst ? { begins: after === undefined ? {} : { after } } : {}
    const producer = { id: `producer ${action.producer}`, epoch, first, last, stream, ...begins }
    // The same numbers have the same bytes.
    await this.add(from.rows(id, [{ rows, producer, body: `${first} to ${last}` }]))
  }

  #target(action: { dataset: number; writer: number }): [string, TestWriter] {
    return [must(this.ids[action.dataset], 'a dataset'), must(this.writers[action.writer], 'a writer')]
  }

  #expect(id: string, first: number, rows: number): void {
    for (let i = 0; i < rows; i++) this.expected.get(id)?.push(first + i)
  }

  #cut(ids: readonly string[], behind: number): Uint8Array {
    const entries = ids.map((id) => ({
      dataset: id,
      sequence: must(this.folds.get(id), 'a fold').state.nextSequence - behind,
    }))
    return this.cutter.cut(entries)
  }

  /** The first part of a new batch, and the end of one that is in flight. */
  async #startOrGoOn(action: Extract<Action, { kind: 'large' }>): Promise<void> {
    const [id, from] = this.#target(action)
    const waiting = this.#open.shift()
    if (waiting !== undefined) await this.#goOn(waiting)
    const first = from.nextRow
    const large = from.large(id, { rows: largeRows }, 2)
    await this.add(large.part(0))
    this.#open.push({ id, writer: from, large, first, end: action.end })
  }

  async #goOn({ id, writer: from, large, first, end }: OpenBatch): Promise<void> {
    if (end === 'abort') await this.add(from.abort(id, large.attempt))
    if (end !== 'last') return
    await this.add(large.part(1))
    this.#expect(id, first, largeRows)
  }
}
