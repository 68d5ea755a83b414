// Content-Digest: which headers are read, and that a body which differs from its digest is refused in every way that bodies
// are read, with nothing stored. The digests are those that Node.js makes.

import { createHash } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { readContentDigest } from '../../../src/node/gateway/content-digest.ts'
import { fixture } from '../../features/shapefile/reading.ts'
import { liveNode } from '../../helpers/live-node.ts'

function digestOf(algorithm: 'sha-256' | 'sha-512', body: Uint8Array): string {
  return `${algorithm}=:${createHash(algorithm.replace('-', '')).update(body).digest('base64')}:`
}

const body = Buffer.from('a,b\n1,2\n')
const sha256 = digestOf('sha-256', body)
const sha512 = digestOf('sha-512', body)

describe('the header', () => {
  test.each([
    [sha256, ['sha-256']],
    [`${sha256}, ${sha512}`, ['sha-256', 'sha-512']],
    [`  ${sha512}  ,\t${sha256};p=1 `, ['sha-512', 'sha-256']],
    [`md5=:1B2M2Y8AsgTpgAmy7PhCfg==:, ${sha256}`, ['sha-256']],
    ['unixsum=:aGVsbG8=:', []],
    [undefined, []],
  ])('%s is read', (header, expected) => {
    expect(readContentDigest(header).map(({ algorithm }) => algorithm)).toEqual(expected)
  })

  test('of RFC 9530 is read', () => {
    const [digest] = readContentDigest('sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:')
    const example = Buffer.from('{"hello": "world"}\n')
    expect(Buffer.from(digest?.digest ?? []).toString('hex')).toBe(createHash('sha256').update(example).digest('hex'))
  })

  test.each([
    '',
    'sha-256',
    'sha-256=abc',
    'sha-256=:abc',
    'sha-256=:a*c:',
    'sha-256=:AAAA:',
    `sha-512=${sha256.slice(8)}`,
    `${sha256},`,
    `SHA-256${sha256.slice(7)}`,
  ])("'%s' is refused", (header) => {
    expect(() => readContentDigest(header)).toThrow(expect.objectContaining({ kind: 'InvalidParameter' }))
  })
})

describe('a body', async () => {
  const live = await liveNode()
  const post = (headers: Record<string, string>, sent: Uint8Array, more: { chunked?: boolean; query?: string } = {}) =>
    live.call(`/acme/digests/ingest${more.query ?? '?create=true'}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', prefer: 'wait=20', ...headers },
      body: sent,
      chunked: more.chunked === true,
    })
  const zip = fixture('values.zip')
  const large = Buffer.from(`a,b\n${'1,2\n'.repeat(100_000)}`)
  const gzipped = gzipSync(large)
  const shapefile = { 'content-type': 'application/vnd.esri.shapefile' }

  const cases: readonly (readonly [string, Uint8Array, Record<string, string>])[] = [
    ['that is small', body, {}],
    ['that is large', large, {}],
    ['in gzip', gzipped, { 'content-encoding': 'gzip' }],
    ['in brotli', brotliCompressSync(body), { 'content-encoding': 'br' }],
    ...(runsWith('shapefile') ? [['in a file', zip, shapefile] as const] : []),
  ]

  test.each(cases)('%s is refused with the digest of another', async (_, sent, headers) => {
    for (const algorithm of ['sha-256', 'sha-512'] as const) {
      for (const chunked of [false, true]) {
        const wrong = digestOf(algorithm, Buffer.from('another'))
        const answer = await post({ ...headers, 'content-digest': wrong }, sent, { chunked })
        expect(answer.refusal).toBe('400 DigestMismatch')
        expect(answer.at('message')).toContain(digestOf(algorithm, sent).split('=:')[1])
      }
    }
    expect((await live.call('/acme/digests/tail')).status).toBe(404)
  })

  test.each(cases)('%s is judged with its own', async (_, sent, headers) => {
    const right = { 'content-digest': `${digestOf('sha-256', sent)}, ${digestOf('sha-512', sent)}` }
    const answer = await post({ ...headers, ...right }, sent, { query: '?create=true&dryRun=true' })
    expect([answer.status, answer.at('dryRun')]).toEqual([200, true])
  })

  test('one digest of two that differs is enough', async () => {
    const mixed = `${sha256}, ${digestOf('sha-512', large)}`
    expect((await post({ 'content-digest': mixed }, body)).refusal).toBe('400 DigestMismatch')
  })

  test('the digest is of the body as sent, not inflated', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-digest': digestOf('sha-256', large) }
    expect((await post(headers, gzipped)).refusal).toBe('400 DigestMismatch')
  })

  test('damage is told as such, not as the fault that it looks like', async () => {
    const incompressible = gzipSync(Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251)))
    const damaged = Buffer.from(incompressible)
    damaged[100] = (damaged[100] ?? 0) ^ 0xff
    const headers = { 'content-encoding': 'gzip', 'content-digest': digestOf('sha-256', incompressible) }
    expect((await post(headers, damaged)).refusal).toBe('400 DigestMismatch')
    const right = { 'content-encoding': 'gzip', 'content-digest': digestOf('sha-256', damaged) }
    expect((await post(right, damaged)).refusal).toBe('400 MalformedBody')
    const json = Buffer.from(`[${'{"a":1},'.repeat(50_000)}!`)
    const wrong = { 'content-type': 'application/json', 'content-digest': digestOf('sha-256', body) }
    expect((await post(wrong, json)).refusal).toBe('400 DigestMismatch')
  })

  test('a digest that nobody knows is no matter; a malformed one is refused', async () => {
    const dry = { query: '?create=true&dryRun=true' }
    expect((await post({ 'content-digest': 'md5=:AAAA:' }, body, dry)).status).toBe(200)
    expect((await post({ 'content-digest': 'sha-256=AAAA' }, body, dry)).refusal).toBe('400 InvalidParameter')
  })
})
