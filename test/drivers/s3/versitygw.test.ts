// The store in a bucket of a real server, and the trial of a bucket before it is used; skipped where there is no versitygw.

import dns, { type LookupOptions } from 'node:dns'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { testBucket, testKeys, testStore, testTrial } from '../../helpers/buckets.ts'
import { readCompose } from '../../helpers/compose.ts'
import { startVersitygw, versitygw, type VersityServer } from '../../helpers/versitygw.ts'
import { describeObjectStore } from '../../node/store/contract-suite.ts'

describe.skipIf(versitygw === undefined)('versitygw', () => {
  let server: VersityServer
  beforeAll(async () => {
    server = await startVersitygw()
  })
  afterAll(() => server.close())
  afterEach(() => vi.restoreAllMocks())

  describeObjectStore('versitygw', async () => testStore(testBucket({ url: server.url })))

  test('passes the trial, of writers and of readers, and nothing of it is left', async () => {
    const tried = { url: server.url, prefix: 'tried' }
    await testTrial(tried, { use: 'write' })
    await testTrial(tried, { use: 'read' })
    expect([...(await (await testBucket(tried)).names('selftest'))]).toEqual([])
  })

  test('says that it is well where deploy/compose.yaml asks it', async () => {
    const { s3 } = readCompose('deploy/compose.yaml').services
    const asked = must(s3, 'the bucket').healthcheck.test.join(' ')
    const [, path = ''] = / --health (\S+) /.exec(String(s3?.['entrypoint'])) ?? []
    expect(asked.endsWith(`:7070${path}`)).toBe(true)
    const other = await startVersitygw('--health', path)
    const { status } = await fetch(`${other.url}${path}`)
    await other.close()
    expect([path, status]).toEqual(['/health', 200])
  })

  test('is found by the name of the bucket in the host', async () => {
    // Few resolvers know that every name under localhost is this machine.
    vi.spyOn(dns, 'lookup').mockImplementation(((
      _: string,
      { all }: LookupOptions,
      done: (...answer: unknown[]) => void,
    ) => {
      done(null, all === true ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4)
    }) as typeof dns.lookup)
    const bucket = testBucket({ url: `http://${server.virtualHost}`, pathStyle: false })
    const store = await testStore(bucket)
    await store.put('a/b', new Uint8Array([1, 2, 3]))
    expect(await store.get('a/b')).toEqual(new Uint8Array([1, 2, 3]))
    expect(await store.list('a')).toEqual(['b'])
  })

  test('takes an upload in parts, once, and gives it back', async () => {
    const store = await testStore(testBucket({ url: server.url }))
    const chunks = Array.from({ length: 70 }, (_, i) => new Uint8Array(1024 * 1024 + i).fill(i + 1))
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield* chunks
    }
    expect(await store.putStream(stream(), () => 'large/one')).toBe('stored')
    expect(await store.putStream(stream(), () => 'large/one')).toBe('exists')
    expect(await store.put('large/one', chunks)).toBe('exists')
    const start = 40 * 1024 * 1024
    expect((await store.getRange('large/one', start, start + 5))?.[0]).toBe(40)
    expect(await store.size('large/one')).toBe(chunks.reduce((sum, { length }) => sum + length, 0))
  })

  test('refuses keys, buckets and names that it does not know, in words', async () => {
    const wrongSecret = async () => ({ ...testKeys, secretAccessKey: 'another' })
    const { url } = server
    await expect((await testStore(testBucket({ url, keys: wrongSecret }))).get('a')).rejects.toMatchObject({
      kind: 'StoreUnavailable',
      message: expect.stringContaining('SignatureDoesNotMatch'),
    })
    await expect((await testStore(testBucket({ url, bucket: 'nowhere' }))).get('a')).rejects.toMatchObject({
      message: expect.stringContaining('NoSuchBucket'),
    })
  })
})
