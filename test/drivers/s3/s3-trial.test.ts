// The trial of a bucket: stores on which chains would fork are refused, in words; those that are good leave nothing behind.

import { afterEach, describe, expect, test } from 'vitest'
import { failureOf } from '../../../src/cli/failure.ts'
import { type Logger, silentLogger } from '../../../src/libraries/base/logger.ts'
import { type Fault, startS3Stub, type S3Stub, type StubOptions } from '../../adapters/s3-stub.ts'
import { testTrial } from '../../helpers/buckets.ts'

let stub: S3Stub
afterEach(() => stub.close())

const told: string[] = []
const logger: Logger = { ...silentLogger, warn: (_, message) => void told.push(message) }

async function trial(options: StubOptions, use: 'read' | 'write' = 'write'): Promise<void> {
  stub = await startS3Stub(options)
  told.length = 0
  await testTrial({ url: stub.url }, { use, logger })
}

test.each(['write', 'read'] as const)('a good store is taken to %s, and left as it was', async (use) => {
  await trial({}, use)
  expect([...stub.objects.keys()]).toEqual([])
  const wrote = stub.requests.some(({ method }) => method !== 'GET')
  expect(wrote).toBe(use === 'write')
  expect(told).toEqual([])
})

describe('refused is a store that', () => {
  test.each([
    ['ignores conditions', { conditions: 'ignored' }, /ignores the condition/],
    ['looks first and writes later', { conditions: 'racy' }, /let \d+ of 16 writers at the same time win/],
    ['has no conditions', { conditions: 'unsupported' }, /NotImplemented/],
    ['has them the other way round', { conditions: 'inverted' }, /lets none|ignores|does not have/],
    ['checks neither signatures nor bodies', { checksNothing: true }, /neither signatures nor/],
    ['lists what was', { staleLists: true }, /does not list/],
    ['hides what may not be read', { fault: () => ({ status: 403, code: 'AccessDenied' }) }, /AccessDenied/],
    ['gives whole objects for parts', { fault: (r) => void delete r.headers.range }, /parts of objects/],
  ] satisfies [string, StubOptions, RegExp][])('%s', async (_, options, message) => {
    await expect(trial(options)).rejects.toMatchObject({ kind: 'StoreUnavailable', message })
  })
})

test('a store that is busy meanwhile is taken', async () => {
  await trial({ fault: ({ number }) => (number % 7 === 3 ? { status: 503, code: 'SlowDown' } : undefined) })
})

test('a race that ends without a winner because answers were lost is held again', async () => {
  let refused = 0
  const isOfFirst = (key: string): boolean => /race-\d+-1$/.test(key)
  await trial({
    fault: ({ method, key }) => (method === 'PUT' && isOfFirst(key) && ++refused > 0 ? 'refused' : undefined),
  })
  expect(refused).toBe(128)
})

test('a conflict that a store tells the first writer, though nobody else writes, decides nothing', async () => {
  let conflicts = 0
  const conflict = { status: 409, code: 'ConditionalRequestConflict' } as const
  const isFirst = (method: string, key: string): boolean => method === 'PUT' && key.endsWith('/condition')
  await trial({ fault: ({ method, key }) => (isFirst(method, key) && ++conflicts === 1 ? conflict : undefined) })
  expect(conflicts).toBeGreaterThan(2)
})

test.each([
  'lost',
  'refused',
  'cut',
  { status: 503, code: 'SlowDown' },
  { status: 500, after: true },
] satisfies Fault[])('no single request decides by its fault: %j', async (fault) => {
  await trial({})
  const { length } = stub.requests
  expect(length).toBeGreaterThan(100)
  // All but the writers of races, whose faults are tried above.
  const single = stub.requests.filter(({ key }) => !key.includes('race'))
  for (const nth of single.keys()) {
    let seen = -1
    await stub.close()
    await trial({ fault: ({ key }) => (!key.includes('race') && ++seen === nth ? fault : undefined) })
  }
  expect(told).toEqual([])
})

test('a store that never answers in time is not said to be bad, but not to answer', async () => {
  const failed = trial({
    fault: ({ method, key }) => (method === 'PUT' && key.includes('race') ? 'refused' : undefined),
  })
  await expect(failed).rejects.toMatchObject({ message: /did not answer PUT/ })
  expect(failureOf(await failed.catch((error: unknown) => error)).message).toMatch(/^The store did not answer/)
})
