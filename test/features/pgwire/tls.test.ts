// The door in TLS: a certificate made by openssl, a driver that checks it, bytes that do not belong there, and options that do not go
// together.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode, startLiveNode } from '../../helpers/live-node.ts'
import { connected, errorOf } from './pg.ts'
import * as raw from './raw-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'proofstream-pg-tls-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const [cert, key, other] = ['cert.pem', 'key.pem', 'other.pem'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]
const made = ['-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
const openssl = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...made])
const isThere = openssl.status === 0
if (!isThere && process.env['CI'] === 'true') throw new Error('openssl is missing')
if (!isThere) console.warn('NOT RUN: the PostgreSQL door in TLS needs openssl')

const tls = raw.first(80_877_103)

describe.skipIf(!isThere)('a node with a certificate', async () => {
  const port = await freePort()
  const files = isThere ? { 'pg-tls-cert': cert, 'pg-tls-key': key } : {}
  const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}`, ...files })
  const ca = isThere ? readFileSync(cert, 'utf8') : ''

  /** All that comes back until the connection is closed. */
  const answered = async (...chunks: readonly Uint8Array[]): Promise<Buffer> => {
    const socket = connect(port, '127.0.0.1')
    const parts: Buffer[] = []
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('data', (part: Buffer) => parts.push(part)).on('error', () => {})
    for (const chunk of chunks) socket.write(chunk)
    await closed
    return Buffer.concat(parts)
  }

  test('a driver that checks it has answers of any size, with a token', async () => {
    const client = await connected({ port, ssl: { ca }, user: 'ann', password: live.adminToken })
    const { rows } = await client.query('select range as n from range(100000)')
    expect([rows.length, rows.at(-1)]).toEqual([100_000, { n: '99999' }])
    await client.end()
    expect((await errorOf(connected({ port, ssl: { ca: '' } }))).message).toMatch(/self-signed certificate/)
  })

  test('one that asks for none is served in the clear on this computer', async () => {
    const client = await connected({ port })
    expect((await client.query('select 1 as a')).rows).toEqual([{ a: 1 }])
    await client.end()
  })

  // Somebody between may have put them there (CVE-2021-23214).
  test('statements in the clear before TLS begins are never heard', async () => {
    const told = await answered(Buffer.concat([tls, raw.startup({ user: 'anonymous' }), raw.query('select 1')]))
    expect(told.toString()).toBe('S')
  })

  test('what is no TLS ends, and the node goes on', async () => {
    for (const letter of ['g', '\u0016\u0003\u0001', 'S']) {
      const told = await new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(tls))
        let parts = ''
        socket.on('error', () => {}).on('close', () => resolve(parts))
        socket.on('data', (part: Buffer) => {
          parts += part.toString('latin1')
          socket.end(letter.repeat(100))
        })
      })
      expect(told).toMatch(/^S/)
    }
    const client = await connected({ port, ssl: { ca } })
    expect((await client.query('select 2 as a')).rows).toEqual([{ a: 2 }])
    await client.end()
  })

  test('a key that is not its own is refused at the start', async () => {
    spawnSync('openssl', ['genrsa', '-out', other, '2048'])
    const options = { 'pg-listen': `127.0.0.1:${await freePort()}`, 'pg-tls-cert': cert, 'pg-tls-key': other }
    await expect(startLiveNode(options)).rejects.toThrow(expect.objectContaining({ kind: 'InvalidParameter' }))
    copyFileSync(key, other)
    const fine = await startLiveNode(options)
    await fine.stop()
  })
})

describe('options', () => {
  test.each<[what: string, options: Readonly<Record<string, string>>]>([
    ['an address of others without a certificate', { 'pg-listen': '0.0.0.0:5432' }],
    ['one of IPv6', { 'pg-listen': '[::]:5432' }],
    ['no port', { 'pg-listen': '127.0.0.1' }],
    ['a port that is none', { 'pg-listen': '127.0.0.1:70000' }],
    ['a certificate without a key', { 'pg-listen': '127.0.0.1:5432', 'pg-tls-cert': 'cert.pem' }],
    ['a key without an address', { 'pg-tls-key': 'key.pem' }],
  ])('that do not go together: %s', (_, options) => {
    expect(() => loadConfig({ data: folder, ...options })).toThrow(
      expect.objectContaining({ kind: 'InvalidParameter' }),
    )
  })
})
