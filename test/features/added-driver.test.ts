// A log and a store that are only added to the list of drivers are options of a node and are used by it, with nothing else of
// the source naming them.

import { expect, it, vi } from 'vitest'
import { startLiveNode } from '../helpers/live-node.ts'

vi.mock(import('../../src/app/drivers.ts'), async (original) => {
  const { logDrivers, storeDrivers } = await original()
  const { log, store } = await import('./toy-drivers.ts')
  // A row more in each list, as a commit would add it.
  return { logDrivers: [...logDrivers, log], storeDrivers: [...storeDrivers, store] }
})

it('is what a node writes to and reads from', async () => {
  const live = await startLiveNode({ log: 'toy://3', store: 'box://toys' })
  try {
    expect((await live.ingest('acme/lab', [{ n: 1 }], '?create=true')).status).toBe(200)
    const answer = await live.query('SELECT n FROM "acme/lab"', { include: ['Proof'] })
    expect(answer.at('output.data')).toEqual([[1]])
    expect((await live.call('/info')).at('log')).toMatchObject({ kind: 'memory', partitions: 3, caution: 'toys break' })
  } finally {
    await live.stop()
  }
})

it('has its schemes, and a text in the help', async () => {
  const { loadConfig, optionTable } = await import('../../src/app/config.ts')
  expect(() => loadConfig({ store: 'barn://toys' })).toThrow('expected a directory, or s3://…, box://…')
  expect(() => loadConfig({ log: 'ball' })).toThrow("'log' is 'ball'; expected file, or kafka://…, or toy://…")
  expect(optionTable.find(({ name }) => name === 'log')?.text).toContain('or a toy, toy://PARTS')
})
