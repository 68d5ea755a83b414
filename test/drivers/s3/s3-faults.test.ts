// The store in a bucket when requests fail: each put ends as what is stored says, or is refused; nothing is guessed.

import { afterEach, describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { type Fault, startS3Stub, type S3Stub, type StubOptions, type StubRequest } from '../../adapters/s3-stub.ts'
import { type TestBucket, testBucket, testKeys, testStore } from '../../helpers/buckets.ts'

let stub: S3Stub | undefined
afterEach(() => stub?.close())

async function storeWith(options: StubOptions, bucket: Partial<TestBucket> = {}): Promise<ObjectStore> {
  stub = await startS3Stub(options)
  return testStore(testBucket({ url: stub.url, prefix: 'p', ...bucket }))
}

/** Each request of a method gets the next of `faults`, and after them none. */
function inTurn(method: string, ...faults: (Fault | undefined)[]): (request: StubRequest) => Fault | undefined {
  return (request) => (request.method === method ? faults.shift() : undefined)
}

function methods(): string {
  return (stub?.requests ?? []).map(({ method }) => method).join(' ')
}

const slowDown: Fault = { status: 503, code: 'SlowDown' }

describe('a put', () => {
  test('is one request where nothing fails', async () => {
    const store = await storeWith({})
    expect(await store.put('a', utf8('mine'))).toBe('stored')
    expect(await store.put('a', utf8('mine'))).toBe('exists')
    expect(methods()).toBe('PUT PUT')
  })

  test('whose answer was lost is found to be ours', async () => {
    const store = await storeWith({ fault: inTurn('PUT', 'lost') })
    expect(await store.put('a', utf8('mine'))).toBe('stored')
    expect(methods()).toBe('PUT GET')
  })

  test('is ours when an error hid that it was stored, and a repeat finds something there', async () => {
    const after = { status: 500, code: 'InternalError', after: true }
    const store = await storeWith({ fault: (r) => inTurnOnce(r, after) })
    expect(await store.put('a', utf8('mine'))).toBe('stored')
    let reads = 0
    // The object is not seen at the first look.
    stub = await startS3Stub({
      fault: (r) => {
        if (r.method === 'PUT') return r.number === 0 ? 'lost' : undefined
        return r.method === 'GET' && reads++ === 0 ? { status: 404, code: 'NoSuchKey' } : undefined
      },
    })
    const late = await testStore(testBucket({ url: stub.url }))
    expect(await late.put('a', utf8('mine'))).toBe('stored')
    expect(methods()).toBe('PUT GET PUT GET')
  })

  test('that never arrived is sent again', async () => {
    const store = await storeWith({ fault: inTurn('PUT', 'refused', 'refused') })
    expect(await store.put('a', utf8('mine'))).toBe('stored')
    expect(methods()).toBe('PUT GET PUT GET PUT')
  })

  test.each([
    ['an answer was lost', 'refused'],
    ['there was a conflict', { status: 409, code: 'ConditionalRequestConflict' }],
    ['the store wanted peace', slowDown],
    ['its body was damaged on the way', { status: 400, code: 'BadDigest' }],
  ] satisfies [string, Fault][])('has lost against other bytes that came while %s', async (_, fault) => {
    const store = await storeWith({
      fault: (request) => {
        if (request.method !== 'PUT') return undefined
        stub?.objects.set('p/a', utf8('theirs'))
        return fault
      },
    })
    expect(await store.put('a', utf8('mine'))).toBe('exists')
    expect(stub?.objects.get('p/a')).toEqual(utf8('theirs'))
  })

  test.each([
    ['409', { status: 409, code: 'ConditionalRequestConflict' }],
    ['429', { status: 429 }],
    ['503', slowDown],
    ['408 as 400', { status: 400, code: 'RequestTimeout' }],
  ] satisfies [string, Fault][])('is repeated after %s', async (_, fault) => {
    const store = await storeWith({ fault: inTurn('PUT', fault, fault) })
    expect(await store.put('a', utf8('mine'))).toBe('stored')
    expect(methods()).toBe('PUT GET PUT GET PUT')
  })

  test('after a conflict with the same bytes of another is not said to be ours', async () => {
    const store = await storeWith({
      fault: (request) => {
        if (request.method !== 'PUT') return undefined
        stub?.objects.set('p/a', utf8('same'))
        return { status: 409, code: 'ConditionalRequestConflict' }
      },
    })
    expect(await store.put('a', utf8('same'))).toBe('exists')
  })

  test('that has no outcome for long is refused in bounded time', async () => {
    const store = await storeWith({ fault: ({ method }) => (method === 'PUT' ? slowDown : undefined) })
    await expect(store.put('a', utf8('mine'))).rejects.toMatchObject({
      kind: 'StoreUnavailable',
      message: 'The store refused PUT a: SlowDown: as asked for.',
    })
    expect(methods()).toBe(Array.from({ length: 6 }, () => 'PUT GET').join(' '))
  })

  test('to a store that is silent ends by its time', async () => {
    const store = await storeWith({ fault: () => 'hang' }, { answerMs: 40 })
    await expect(store.put('a', utf8('mine'))).rejects.toMatchObject({
      kind: 'StoreUnavailable',
      message: 'The store did not answer GET a: it took longer than 40 ms.',
    })
  })

  test.each([
    [403, 'AccessDenied', /rights/],
    [404, 'NoSuchBucket', /--store/],
    [301, 'PermanentRedirect', /in --store with region=eu-central-1$/],
    [501, 'NotImplemented', /conditional/],
    [409, 'ObjectParentIsFile', /Check endpoint/],
  ])('is refused at once for %d %s', async (status, code, hint) => {
    const headers = { 'x-amz-bucket-region': 'eu-central-1' }
    const fault = { status, code, ...(status === 301 ? { headers } : {}) }
    const store = await storeWith({ fault: () => fault })
    await expect(store.put('a', utf8('mine'))).rejects.toMatchObject({
      kind: 'StoreUnavailable',
      details: { hint: expect.stringMatching(hint) },
    })
    expect(methods()).toBe('PUT')
  })

  test('is not taken for done where an error stands under 200', async () => {
    const fault = { status: 200, code: 'InternalError', end: '\n' }
    const store = await storeWith({ fault: inTurn('PUT', fault) })
    expect(await store.put('a', utf8('mine'))).toBe('stored')
    expect(methods()).toBe('PUT GET PUT')
  })

  test('says that the bucket is full', async () => {
    const store = await storeWith({ fault: () => ({ status: 403, code: 'QuotaExceeded' }) })
    await expect(store.put('a', utf8('mine'))).rejects.toMatchObject({ kind: 'StorageFull' })
  })
})

function inTurnOnce({ method, number }: StubRequest, fault: Fault): Fault | undefined {
  return method === 'PUT' && number === 0 ? fault : undefined
}

describe('an upload in parts', () => {
  const chunks = Array.from({ length: 65 }, (_, i) => new Uint8Array(1024 * 1024).fill(i))
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield* chunks
  }
  const isEnd = ({ method, query }: StubRequest): boolean => method === 'POST' && query.has('uploadId')

  test.each([
    ['is ours when the answer to its end was lost', 'lost', 'stored'],
    ['is made again when its end failed under 200', { status: 200, code: 'InternalError' }, 'stored'],
    [
      'is made again when its end failed under 200 and blanks',
      { status: 200, code: 'InternalError', end: '\r\n' },
      'stored',
    ],
    ['is repeated in part when a part fails', slowDown, 'stored'],
  ] satisfies [string, Fault, string][])('%s', async (what, fault, outcome) => {
    let isFirst = true
    const store = await storeWith({
      fault: (request) => {
        const isIt = what.includes('a part') ? request.query.get('partNumber') === '2' : isEnd(request)
        if (!isIt || !isFirst) return undefined
        isFirst = false
        return fault
      },
    })
    expect(await store.putStream(stream(), () => 'large')).toBe(outcome)
    expect(stub?.objects.get('p/large')?.length).toBe(65 * 1024 * 1024)
  })

  const [oneMost, threeMost] = [64 * 1024 * 1024, 96 * 1024 * 1024]
  test.each([
    ['aws', oneMost - 1, 'PUT'],
    ['aws', oneMost, 'PUT'],
    ['aws', oneMost + 1, 'POST PUT PUT PUT POST DELETE'],
    ['aws', threeMost, 'POST PUT PUT PUT POST DELETE'],
    ['aws', threeMost + 1, 'POST PUT PUT PUT PUT POST DELETE'],
    ['gcs', oneMost + 1, 'PUT'],
  ] as const)('to %s, or one request, is how an object of %i bytes is sent', async (dialect, size, requests) => {
    const store = await storeWith({}, { dialect })
    const bytes = Buffer.alloc(size, 'some bytes')
    expect([await store.put('large', bytes), methods()]).toEqual(['stored', requests])
    expect(bytes.equals(stub?.objects.get('p/large') ?? new Uint8Array())).toBe(true)
  })

  test('leaves what is there, and no parts behind', async () => {
    const store = await storeWith({})
    stub?.objects.set('p/large', utf8('theirs'))
    expect(await store.putStream(stream(), () => 'large')).toBe('exists')
    expect(stub?.requests.at(-1)).toMatchObject({ method: 'DELETE' })
    expect(stub?.objects.get('p/large')).toEqual(utf8('theirs'))
  })
})

describe('reading', () => {
  test.each([['cut'], ['lost'], ['refused'], [slowDown], [{ status: 500 }]] satisfies [Fault][])(
    'is repeated after %j',
    async (fault) => {
      const store = await storeWith({ fault: inTurn('GET', fault, fault) })
      await store.put('a/b', utf8('0123456789'))
      expect(await store.get('a/b')).toEqual(utf8('0123456789'))
      const next = await storeWith({ fault: inTurn('GET', fault, fault) })
      await next.put('a/b', utf8('0123456789'))
      expect(await next.getRange('a/b', 2, 4)).toEqual(utf8('23'))
      expect(await next.list('a')).toEqual(['b'])
    },
  )

  test('never takes the page of a proxy or a missing bucket for a missing object', async () => {
    const page = await storeWith({ fault: () => ({ status: 404 }) })
    await expect(page.get('a')).rejects.toMatchObject({ kind: 'StoreUnavailable' })
    const bucket = await storeWith({ fault: () => ({ status: 404, code: 'NoSuchBucket' }) })
    await expect(bucket.get('a')).rejects.toMatchObject({ kind: 'StoreUnavailable' })
    await expect(bucket.list('a')).rejects.toMatchObject({ kind: 'StoreUnavailable' })
  })

  test('of a listing that is none is refused', async () => {
    const store = await storeWith({ fault: () => ({ status: 200 }) })
    await expect(store.list('a')).rejects.toMatchObject({ kind: 'StoreUnavailable', message: /cannot be read/ })
  })

  test('is not tried again when credentials are refused', async () => {
    const store = await storeWith({ secretOf: () => undefined })
    await expect(store.get('a')).rejects.toMatchObject({ message: /InvalidAccessKeyId/ })
    expect(methods()).toBe('GET')
  })
})

describe('a head that is replaced more often than Google takes it', () => {
  // Pauses of the tests are a twentieth.
  const everyMs = 40
  const limit = (): { readonly fault: (r: StubRequest) => Fault | undefined; refused: number } => {
    const last = new Map<string, number>()
    const counts = {
      refused: 0,
      fault: ({ method, key }: StubRequest): Fault | undefined => {
        if (method !== 'PUT') return undefined
        const isEarly = performance.now() - (last.get(key) ?? Number.NEGATIVE_INFINITY) < everyMs
        if (isEarly) counts.refused++
        else last.set(key, performance.now())
        return isEarly ? { status: 429, code: 'SlowDown' } : undefined
      },
    }
    return counts
  }

  test('waits, and ends as the last one said; other objects do not', async () => {
    const limited = limit()
    const store = await storeWith({ fault: limited.fault }, { dialect: 'gcs' })
    const heads = ['1', '2', '3', '4'].map((head) => store.replace('refs/head', utf8(head)))
    await Promise.all([...heads, ...['a', 'b', 'c'].map((key) => store.put(key, utf8(key)))])
    expect(await store.get('refs/head')).toEqual(utf8('4'))
    expect(limited.refused).toBe(0)
    expect(
      methods()
        .split(' ')
        .filter((method) => method === 'PUT'),
    ).toHaveLength(7)
  })

  test('is repeated when another process replaced it just before', async () => {
    const early: Fault = { status: 429, code: 'SlowDown' }
    const store = await storeWith({ fault: inTurn('PUT', early, early) }, { dialect: 'gcs' })
    await store.replace('refs/head', utf8('ours'))
    expect(methods()).toBe('PUT PUT PUT')
    expect(await store.get('refs/head')).toEqual(utf8('ours'))
  })

  test('goes on after one that failed', async () => {
    const store = await storeWith({ fault: inTurn('PUT', { status: 403, code: 'AccessDenied' }) }, { dialect: 'gcs' })
    await expect(store.replace('refs/head', utf8('1'))).rejects.toMatchObject({ kind: 'StoreUnavailable' })
    await store.replace('refs/head', utf8('2'))
    expect(await store.get('refs/head')).toEqual(utf8('2'))
  })
})

describe('clocks and keys', () => {
  test.each([60, -60])('requests go by the clock of a store that is off by %d minutes', async (minutes) => {
    const store = await storeWith({ skewMs: minutes * 60_000 })
    expect(await store.put('a', utf8('mine'))).toBe('stored')
    expect(await store.get('a')).toEqual(utf8('mine'))
    expect(methods()).toBe('PUT PUT GET')
  })

  test('keys that were replaced are asked for again, once for all requests that they failed', async () => {
    let [now, asked] = ['old', 0]
    const keys = async () => {
      asked++
      return { ...testKeys, accessKeyId: now, secretAccessKey: now }
    }
    const store = await storeWith({ secretOf: (id) => (id === now ? now : undefined) }, { keys })
    await store.put('a', utf8('1'))
    now = 'new'
    await Promise.all(['b', 'c', 'd'].map((key) => store.put(key, utf8(key))))
    expect([...(stub?.objects.keys() ?? [])].sort()).toEqual(['p/a', 'p/b', 'p/c', 'p/d'])
    expect(asked).toBeLessThan(6)
  })
})
