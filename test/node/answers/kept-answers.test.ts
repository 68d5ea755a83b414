// Answers that are kept, and searches that callers share: who waits, who leaves, who has no room, what is forgotten.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { KeptAnswers, type QueryAnswer } from '../../../src/node/answers/kept-answers.ts'
import type { Caller } from '../../../src/node/answers/pin.ts'

const most = 100_000

interface TestCaller extends Caller {
  taken: number
  leave(): void
}

function callerOf(key: string, room = Number.POSITIVE_INFINITY): TestCaller {
  const left = new AbortController()
  const caller: TestCaller = {
    key: [key],
    mayRead: () => true,
    signal: left.signal,
    taken: 0,
    room: {
      take: (bytes) => {
        if (caller.taken + bytes > room) throw new NodeError('Saturated', `no room for ${key}`)
        caller.taken += bytes
      },
    },
    leave: () => left.abort(),
  }
  return caller
}

function answerOf(text: string): QueryAnswer {
  return { body: [Buffer.from(text)], mediaType: 'application/json', truncated: false, stability: 'exact' }
}

const textOf = ({ body }: QueryAnswer): string => Buffer.concat(body).toString()

/** Searches that end when the test says so. */
function searches(): {
  readonly find: (caller: Caller) => Promise<QueryAnswer>
  readonly begun: { readonly caller: Caller; end(answer: QueryAnswer | Error): void }[]
} {
  const begun: ReturnType<typeof searches>['begun'] = []
  const find = async (caller: Caller): Promise<QueryAnswer> =>
    await new Promise((resolve, reject) => {
      begun.push({ caller, end: (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)) })
    })
  return { find, begun }
}

const kindOf = async (answer: Promise<unknown>): Promise<string> =>
  await answer.then(
    () => 'an answer',
    (error: unknown) => (error instanceof NodeError ? error.kind : String(error)),
  )
const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))

describe('what is kept', () => {
  it('never exceeds its bytes, and is what was asked for last', async () => {
    const sizes = fc.integer({ min: 0, max: 20_000 })
    const asked = fc.array(fc.record({ key: fc.nat(30), size: sizes }), { minLength: 1, maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(asked, async (asks) => {
        const answers = new KeptAnswers(most)
        const sizeOf = new Map<number, number>()
        for (const { key, size } of asks) {
          const own = sizeOf.get(key) ?? size
          sizeOf.set(key, own)
          let ran = false
          const answer = await answers.of(String(key), callerOf('a'), async () => {
            ran = true
            return answerOf('x'.repeat(own))
          })
          expect(textOf(answer)).toHaveLength(own)
          expect(answers.bytes).toBeLessThanOrEqual(most)
          // Asked for again at once, it is there unless it is too large.
          if (ran && own < most / 8 - 1000) {
            await answers.of(String(key), callerOf('a'), () => Promise.reject(new Error('it is not there')))
          }
        }
      }),
    )
  })

  it('is nothing where there is no room, and never a failure', async () => {
    const none = new KeptAnswers(0)
    let runs = 0
    const find = async (): Promise<QueryAnswer> => answerOf(String(++runs))
    expect(textOf(await none.of('k', callerOf('a'), find))).toBe('1')
    expect(textOf(await none.of('k', callerOf('a'), find))).toBe('2')
    const answers = new KeptAnswers(most)
    const failing = async (): Promise<QueryAnswer> => await Promise.reject(new NodeError('SqlValue', 'no'))
    expect(await kindOf(answers.of('k', callerOf('a'), failing))).toBe('SqlValue')
    expect(textOf(await answers.of('k', callerOf('a'), find))).toBe('3')
    expect(textOf(await answers.of('k', callerOf('b'), find))).toBe('3')
    expect(answers.reused).toBe(1)
  })

  it('is counted in the room of each caller', async () => {
    const answers = new KeptAnswers(most)
    await answers.of('k', callerOf('a'), async () => answerOf('x'.repeat(5000)))
    expect(await kindOf(answers.of('k', callerOf('b', 4000), async () => answerOf('')))).toBe('Saturated')
    const caller = callerOf('c')
    await answers.of('k', caller, async () => answerOf(''))
    expect(caller.taken).toBeGreaterThanOrEqual(5000)
  })
})

describe('equal questions at the same time', () => {
  it('are one search, which goes on while anyone waits, and ends when nobody does', async () => {
    const answers = new KeptAnswers(most)
    const { find, begun } = searches()
    const [a, b, c] = [callerOf('a'), callerOf('b'), callerOf('c')]
    const first = kindOf(answers.of('k', a, find))
    begun[0]?.caller.begins?.()
    const others = [answers.of('k', b, find), answers.of('k', c, find)]
    expect(begun).toHaveLength(1)
    a.leave()
    expect(await first).toBe('QueryTimeout')
    const search = must(begun[0], 'it has begun')
    expect(search.caller.signal.aborted).toBe(false)
    search.caller.room.take(10)
    search.end(answerOf('[1]'))
    expect((await Promise.all(others)).map(textOf)).toEqual(['[1]', '[1]'])
    expect([a.taken, b.taken, c.taken]).toEqual([0, 10, 10])

    const more = [callerOf('d'), callerOf('e')].map((caller) => ({ caller, answer: answers.of('l', caller, find) }))
    // Nobody's turn has come: each caller waits in its own.
    expect(begun).toHaveLength(3)
    for (const { caller } of more) caller.leave()
    expect(await Promise.all(more.map(({ answer }) => kindOf(answer)))).toEqual(['QueryTimeout', 'QueryTimeout'])
    expect(begun.slice(1).map(({ caller }) => caller.signal.aborted)).toEqual([true, true])
  })

  it('wait each in the turn of its caller until one has a process', async () => {
    const answers = new KeptAnswers(most)
    const { find, begun } = searches()
    const waiting = [callerOf('a'), callerOf('a'), callerOf('b')].map((caller) => answers.of('k', caller, find))
    expect(begun.map(({ caller }) => caller.key)).toEqual([['a'], ['b']])
    begun[1]?.caller.begins?.()
    waiting.push(answers.of('k', callerOf('c'), find))
    begun[1]?.end(answerOf('[1]'))
    expect((await Promise.all(waiting)).map(textOf)).toEqual(['[1]', '[1]', '[1]', '[1]'])
    // The one in the queue is cancelled; what it ends with is nobody's.
    expect(begun[0]?.caller.signal.aborted).toBe(true)
    begun[0]?.end(new NodeError('QueryTimeout', 'cancelled'))
    await turn()
    expect(begun).toHaveLength(2)
  })

  it('fail together where the statement fails, and not where its first caller had no turn or no time', async () => {
    for (const [kind, searchesAfter] of [
      ['SqlValue', 1],
      ['Saturated', 2],
      ['QueryTimeout', 2],
    ] as const) {
      const answers = new KeptAnswers(most)
      const { find, begun } = searches()
      const first = kindOf(answers.of('k', callerOf('a'), find))
      begun[0]?.caller.begins?.()
      const second = kindOf(answers.of('k', callerOf('b'), find))
      begun[0]?.end(new NodeError(kind, 'of the first'))
      expect(await first).toBe(kind)
      await turn()
      expect([kind, begun.length]).toEqual([kind, searchesAfter])
      begun[1]?.end(answerOf('[2]'))
      expect(await second).toBe(searchesAfter === 1 ? kind : 'an answer')
    }
  })

  it('leave out who has no room, and end where nobody has', async () => {
    const answers = new KeptAnswers(most)
    const { find, begun } = searches()
    const [small, large] = [callerOf('a', 5), callerOf('b')]
    const waiting = [answers.of('k', small, find)]
    const search = must(begun[0], 'it has begun')
    search.caller.begins?.()
    waiting.push(answers.of('k', large, find))
    search.caller.room.take(1000)
    expect(await kindOf(must(waiting[0], 'the first'))).toBe('Saturated')
    // Who comes later needs room as well.
    expect(await kindOf(answers.of('k', callerOf('c', 5), find))).toBe('Saturated')
    search.end(answerOf('[1]'))
    expect(await kindOf(must(waiting[1], 'the second'))).toBe('an answer')

    const alone = answers.of('l', callerOf('d', 5), find)
    expect(() => begun[1]?.caller.room.take(1000)).toThrow('no room for d')
    begun[1]?.end(new NodeError('Saturated', 'no room'))
    expect(await kindOf(alone)).toBe('Saturated')
  })
})
