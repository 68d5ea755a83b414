// What a statement is told that fails for its files alone: how many they are, and what makes them fewer.

import { expect, test } from 'vitest'
import type { EngineTable } from '../../../src/node/engine/messages.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import type { BindDeps } from '../../../src/node/answers/bind.ts'
import { openTables, runOver } from '../../../src/node/answers/tables.ts'

const limit = { name: 'queryMemoryBytes', value: 1, unit: 'bytes' }

async function toldOver(files: number): Promise<string | undefined> {
  const tooLarge = new NodeError('ResultTooLarge', 'too much', { hint: 'Filter more.', limit })
  const objects = { reading: (_views: unknown, work: () => Promise<unknown>): Promise<unknown> => work() }
  const table: Partial<EngineTable> = { files: { list: 'x', to: files, path: String } }
  const told = runOver(
    { objects } as unknown as BindDeps,
    { tables: [table as EngineTable], overSlices: undefined, views: [] },
    () => Promise.reject(tooLarge),
  )
  const error: unknown = await told.catch((reason: unknown) => reason)
  if (!(error instanceof NodeError)) throw error
  expect(error.kind).toBe('ResultTooLarge')
  expect(error.details.limit).toEqual(limit)
  return `${error.message} ${error.details.hint}`
}

test('a statement over very many files is told their number, and that they are being merged', async () => {
  expect(await toldOver(60_000)).toMatch(/^The statement reads 60000 files.*offset or event_time.*merged/)
})

test('one over few files is told what its engine said', async () => {
  expect(await toldOver(100)).toBe('too much Filter more.')
})

test('rows get one order where threads may split them, from 262,144 rows of a dataset on', async () => {
  const files = { areLong: () => false, of: async () => ({ scan: {} }) }
  const opened = [262_143, 262_144, 262_145].map((rows) => {
    const bound = { views: [{ rows }], bindings: [{}], analysis: {}, request: {} }
    return openTables({ files } as never, bound as never, {} as never)
  })
  expect((await Promise.all(opened)).map(({ ordered }) => ordered)).toEqual([false, 'whereSplit', 'whereSplit'])
})
