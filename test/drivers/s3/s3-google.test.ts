// Signatures for Google: under Amazon's names those of the examples that AWS publishes, and of requests that botocore has
// signed (`test/fixtures/s3/make.py`); under Google's without a name of Amazon.

import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sha256Hex } from '../../../src/libraries/base/ids/native-crypto.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { googleNames, signedHeaders, type Signing, type UnsignedRequest } from '../../../src/drivers/s3/google.ts'
import { startS3Stub } from '../../adapters/s3-stub.ts'
import { amazonNames } from '../../helpers/amazon-names.ts'
import { testBucket, testStore } from '../../helpers/buckets.ts'

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const example: Signing = {
  names: amazonNames,
  credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  region: 'us-east-1',
  timeMs: Date.UTC(2013, 4, 24),
}
const host = 'examplebucket.s3.amazonaws.com'
const none = sha256Hex(new Uint8Array(0))

const published: readonly (readonly [name: string, request: UnsignedRequest, signature: string])[] = [
  [
    'GET of a range',
    { method: 'GET', path: '/test.txt', query: [], headers: { host, range: 'bytes=0-9' }, bodySha256: none },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'PUT',
    {
      method: 'PUT',
      path: '/test%24file.text',
      query: [],
      headers: { host, date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      bodySha256: sha256Hex(utf8('Welcome to Amazon S3.')),
    },
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'GET of a rule of a bucket',
    { method: 'GET', path: '/', query: [['lifecycle', '']], headers: { host }, bodySha256: none },
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'GET of a listing',
    {
      method: 'GET',
      path: '/',
      query: [
        ['prefix', 'J'],
        ['max-keys', '2'],
      ],
      headers: { host },
      bodySha256: none,
    },
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
]

test.each(published)('a %s is signed as AWS shows it', (_, request, signature) => {
  expect(signedHeaders(request, example)['authorization']).toMatch(new RegExp(`Signature=${signature}$`))
})

interface Case extends UnsignedRequest, Omit<Signing, 'names'> {
  readonly authorization: string
}

function encoded(path: string): string {
  const hex = (sign: string): string => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, hex)
}

describe('botocore and we', () => {
  const cases = JSON.parse(
    readFileSync(new URL('../../fixtures/s3/signatures.json', import.meta.url), 'utf8'),
  ) as readonly Case[]

  test('sign the same', () => {
    expect(cases.length).toBe(40)
    for (const { path, credentials, region, timeMs, authorization, ...request } of cases) {
      const signing: Signing = { names: amazonNames, credentials, region, timeMs }
      const headers = signedHeaders({ ...request, path: encoded(path) }, signing)
      expect(headers['authorization']?.replaceAll(/,(?=S)/g, ', ')).toBe(authorization)
    }
  })
})

test('a request to Google has no name of Amazon in it, and another key', () => {
  const request = { method: 'PUT', path: '/b/k', query: [], headers: { host: 'h' }, bodySha256: none }
  const [amazon, google] = [signedHeaders(request, example), signedHeaders(request, { ...example, names: googleNames })]
  expect(Object.keys(google).sort()).toEqual(['authorization', 'host', 'x-goog-content-sha256', 'x-goog-date'])
  expect(google['authorization']).toMatch(
    /^GOOG4-HMAC-SHA256 Credential=[A-Z0-9]+\/20130524\/us-east-1\/storage\/goog4_request,/,
  )
  expect(google['authorization']?.slice(-64)).not.toBe(amazon['authorization']?.slice(-64))
})

test('of what the SDK would send nothing speaks of Amazon', async () => {
  const stub = await startS3Stub()
  onTestFinished(() => stub.close())
  const store = await testStore(testBucket({ url: stub.url, dialect: 'gcs' }))
  expect(await store.put('a', utf8('mine'))).toBe('stored')
  expect(await store.get('a')).toEqual(utf8('mine'))
  await store.delete('a')
  expect(stub.requests.map(({ method }) => method)).toEqual(['PUT', 'GET', 'DELETE'])
  expect(stub.requests.map(({ query }) => String(query))).toEqual(['', '', ''])
  const names = stub.requests.flatMap(({ headers }) => Object.keys(headers))
  expect(names.filter((name) => /amz|agent|if-none/.test(name))).toEqual([])
  expect(stub.requests[0]?.headers['x-goog-if-generation-match']).toBe('0')
})
