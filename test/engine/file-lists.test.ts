// Both ends of the lists of files, without processes: what travels, and what the other end makes of it.
import { expect, test } from 'vitest'
import { type EngineTable, HeldLists, SentLists } from '../../src/engine/messages.ts'

function table(list: string, from: number, to: number, asked: number[] = []): EngineTable {
  const path = (number: number): string => {
    asked.push(number)
    return `/${list}/${number}`
  }
  return { parts: ['a/b'], dataset: list, schema: undefined, files: { list, from, to, path } }
}

test('a list travels once, then only what it grew by', () => {
  const sent = new SentLists()
  expect(sent.plain([table('x', 0, 3)]).tables[0]?.more).toEqual(['/x/0', '/x/1', '/x/2'])
  const asked: number[] = []
  expect(sent.plain([table('x', 0, 3, asked)]).tables[0]?.more).toEqual([])
  expect(asked).toEqual([2])
  expect(sent.plain([table('x', 4, 5)]).tables[0]?.more).toEqual(['/x/3', '/x/4'])
  expect(sent.plain([table('x', 0, 2)]).tables[0]?.more).toEqual([])
  expect(sent.plain([table('y', 0, 1)]).tables[0]?.more).toEqual(['/y/0'])
})

test('the other end has the files of each run, and a signature that differs when they do', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  const take = (...tables: EngineTable[]): { files: readonly string[]; signature: string }[] =>
    held.take(sent.plain(tables)).map(({ files, signature }) => ({ files: files(), signature }))
  const [first] = take(table('x', 0, 2))
  expect(first?.files).toEqual(['/x/0', '/x/1'])
  const [grown, other, none] = take(table('x', 0, 3), table('y', 1, 2), table('z', 0, 0))
  expect(grown?.files).toEqual(['/x/0', '/x/1', '/x/2'])
  expect(other?.files).toEqual(['/y/1'])
  expect(none?.files).toEqual([])
  expect(take(table('x', 0, 2))[0]).toEqual(first)
  expect(new Set([first, grown, other, none].map((one) => one?.signature)).size).toBe(4)
})

test('a list named twice in one job travels once', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  const job = sent.plain([table('x', 0, 2), table('x', 1, 3)])
  expect(job.tables.map(({ more }) => more)).toEqual([['/x/0', '/x/1'], ['/x/2']])
  expect(held.take(job).map(({ files }) => files())).toEqual([
    ['/x/0', '/x/1'],
    ['/x/1', '/x/2'],
  ])
})

test('many paths are forgotten on both ends, and sent again', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  held.take(sent.plain([table('x', 0, 150_000)]))
  const job = sent.plain([table('y', 0, 100_000)])
  expect(job.forget).toBe(true)
  expect(held.take(job)[0]?.files()).toHaveLength(100_000)
  const again = sent.plain([table('x', 0, 2)])
  expect(again.forget).toBe(false)
  expect(held.take(again)[0]?.files()).toEqual(['/x/0', '/x/1'])
})

test('ends that disagree are an error, not another dataset', () => {
  const [sent, held] = [new SentLists(), new HeldLists()]
  sent.plain([table('x', 0, 2)])
  expect(() => held.take(sent.plain([table('x', 0, 2)]))).toThrow('brings the files')
  held.take(new SentLists().plain([table('x', 0, 2)]))
  const forged = { ...table('x', 0, 2), files: { list: 'x', from: 0, to: 2, path: () => '/other' } }
  expect(() => held.take(sent.plain([forged]))).toThrow('only ever grows')
})
