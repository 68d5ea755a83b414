// SCRAM by the vectors of RFC 7677, by the keys that a server of PostgreSQL stores, by its client, and by messages that break the rules.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import {
  challengeOf,
  judgeClientFinal,
  readClientFirst,
  type ScramChallenged,
  type ScramOffer,
  verifierOf,
} from '../../../src/libraries/pgwire/scram.ts'
import { hasPostgres, psqlPath, startPostgres } from './postgres.ts'
import { startScramServer } from './scram-server.ts'

const plain: ScramOffer = { mechanism: 'SCRAM-SHA-256', binding: undefined }
const plus: ScramOffer = { mechanism: 'SCRAM-SHA-256-PLUS', binding: Buffer.alloc(32, 7) }
const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
const vector = {
  first: 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
  nonce: '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0',
  challenge: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  final: 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
  end: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
}
const keys = verifierOf('pencil', salt, 4096)

function challenged(first = vector.first, offer = plain): ScramChallenged {
  const begun = readClientFirst(utf8(first), offer)
  if (begun.state === 'failed') throw new Error(begun.reason)
  return challengeOf(begun, { nonce: vector.nonce, salt, iterations: 4096 })
}

test('the exchange of RFC 7677', () => {
  const challenge = challenged()
  expect(Buffer.from(challenge.message).toString()).toBe(vector.challenge)
  const end = judgeClientFinal(challenge, utf8(vector.final), keys)
  expect(end).toEqual({ state: 'verified', message: utf8(vector.end) })
})

test.each([
  ['n,', plain],
  ['', plain],
  ['n,,n=user', plain],
  ['n,,r=nonce,n=user', plain],
  ['n,,n=user,r=', plain],
  ['n,,n=user,r=no nonce', plain],
  ['n,,n=user,r=nönce', plain],
  ['n,,n=user,r=nonce,r=nonce', plain],
  ['n,,n=user,n=other,r=nonce', plain],
  ['n,,m=x,n=user,r=nonce', plain],
  ['n,,n=user,r=nonce,m=x', plain],
  ['n,,n=user,r=nonce,', plain],
  ['n,a=other,n=user,r=nonce', plain],
  ['n,,n=us\0er,r=nonce', plain],
  ['x,,n=user,r=nonce', plain],
  ['p=tls-server-end-point,,n=user,r=nonce', plain],
  ['p=tls-server-end-point,,n=user,r=nonce', { ...plus, mechanism: 'SCRAM-SHA-256' }],
  ['p=tls-server-end-point,,n=user,r=nonce', { ...plus, binding: undefined }],
  ['p=tls-unique,,n=user,r=nonce', plus],
  ['n,,n=user,r=nonce', plus],
  ['y,,n=user,r=nonce', plus],
  // Who takes the offer of channel binding out of the way is found out.
  ['y,,n=user,r=nonce', { ...plus, mechanism: 'SCRAM-SHA-256' }],
  [`n,,n=${'u'.repeat(5000)},r=nonce`, plain],
] satisfies [string, ScramOffer][])('the first message %j is refused', (first, offer) => {
  expect(readClientFirst(utf8(first), offer)).toMatchObject({ state: 'failed', by: 'protocol' })
})

test('bytes that are no text are refused', () => {
  const bytes = Buffer.from('n,,n=\xff,r=nonce', 'latin1')
  expect(readClientFirst(bytes, plain)).toMatchObject({ state: 'failed', by: 'protocol' })
  expect(judgeClientFinal(challenged(), Buffer.from(`${vector.final}\xff`, 'latin1'), keys)).toMatchObject({
    state: 'failed',
  })
})

test.each(['n,,n=,r=nonce', 'y,,n=*,r=nonce', 'n,,n=user,r=nonce,x=an extension'])(
  'the first message %j is taken',
  (first) => {
    expect(readClientFirst(utf8(first), plain)).toMatchObject({ state: 'begun', nonce: 'nonce' })
  },
)

const nonce = /r=([^,]*)/.exec(vector.final)?.[0] ?? ''

test.each([
  ['', 'protocol'],
  ['p=', 'protocol'],
  [vector.final.replace('p=d', 'p=e'), 'password'],
  [vector.final.replace('c=biws', 'c=eSws'), 'protocol'],
  [vector.final.replace('c=biws', 'c=biw'), 'protocol'],
  [vector.final.replace('$k0', '$k1'), 'protocol'],
  [vector.final.replace(nonce, 'r=rOprNGfwEbeRWgbNEkqO'), 'protocol'],
  [vector.final.replace('biws,', 'biws,m=x,'), 'protocol'],
  [vector.final.replace(',p=', ',m=x,p='), 'protocol'],
  // What is signed is what was sent.
  [vector.final.replace(',p=', ',x=y,p='), 'password'],
  [`${vector.final},x=y`, 'protocol'],
  [`${vector.final.replace(',p=', `,${nonce},p=`)}`, 'protocol'],
  [vector.final.replace(/p=.*/, 'p=AAAA'), 'protocol'],
  [vector.final.slice(0, -1), 'protocol'],
  [`${vector.final}${'='.repeat(5000)}`, 'protocol'],
] as const)('the last message %j is refused', (final, by) => {
  expect(judgeClientFinal(challenged(), utf8(final), keys)).toMatchObject({ state: 'failed', by })
})

test('the proof of another channel, and of another password, is refused', () => {
  const first = `p=tls-server-end-point,,${vector.first.slice(3)}`
  const other = Buffer.concat([Buffer.from('p=tls-server-end-point,,'), Buffer.alloc(32, 8)]).toString('base64')
  const answer = vector.final.replace('biws', other)
  expect(judgeClientFinal(challenged(first, plus), utf8(answer), keys)).toMatchObject({
    state: 'failed',
    by: 'protocol',
  })
  const others = verifierOf('pencil ', salt, 4096)
  expect(judgeClientFinal(challenged(), utf8(vector.final), others)).toMatchObject({ state: 'failed', by: 'password' })
})

test.each(['', 'pässword', 'tab\t', 'x'.repeat(1025)])('the password %j is refused', (password) => {
  expect(() => verifierOf(password, salt, 4096)).toThrow(expect.objectContaining({ kind: 'InvalidRequest' }))
})

const passwords = ['pencil', ' !~', 'x'.repeat(64), 'y'.repeat(65), 'z'.repeat(1000)]

describe.skipIf(!hasPostgres)('PostgreSQL', () => {
  let folder: string
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'scram-'))))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('stores the same keys of the same passwords', async () => {
    const server = await startPostgres()
    try {
      for (const password of passwords) {
        server.run(`DROP ROLE IF EXISTS r; CREATE ROLE r PASSWORD '${password}'`)
        const stored = server.run("COPY (SELECT rolpassword FROM pg_authid WHERE rolname = 'r') TO STDOUT").toString()
        const [, rounds = '', theirSalt = '', storedKey, serverKey] = stored.trim().split(/[$:]/)
        const own = verifierOf(password, Buffer.from(theirSalt, 'base64'), Number(rounds))
        expect(Buffer.from(own.storedKey).toString('base64')).toBe(storedKey)
        expect(Buffer.from(own.serverKey).toString('base64')).toBe(serverKey)
      }
    } finally {
      await server.stop()
    }
  })

  /** What psql, which logs in and asks nothing, says before it ends. */
  async function logIn(port: number, password: string, options: string): Promise<string> {
    const at = `host=127.0.0.1 port=${port} user=u dbname=d ${options}`
    const client = spawn(psqlPath, ['-X', '-w', '-c', 'select 1', at], { env: { PGPASSWORD: password } })
    let said = ''
    client.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    await once(client, 'close')
    return said
  }

  test('logs in with its client', async () => {
    const server = await startScramServer({ password: 'pencil' })
    // It checks the proof of the server too.
    expect(await logIn(server.port, 'pencil', 'sslmode=disable')).not.toMatch(/SCRAM|signature/)
    await logIn(server.port, 'pen', 'sslmode=disable')
    expect(server.ends).toEqual(['verified', 'the proof is wrong'])
    server.close()
  })

  test('logs in with its client bound to the certificate', async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=localhost',
      '-keyout',
      key,
      '-out',
      cert,
    ]
    execFileSync('openssl', made, { stdio: 'pipe' })
    const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    const server = await startScramServer({ password: 'pencil', tls })
    expect(await logIn(server.port, 'pencil', 'sslmode=require channel_binding=require')).not.toMatch(/SCRAM|signature/)
    await logIn(server.port, 'pencil', 'sslmode=require channel_binding=disable')
    await logIn(server.port, 'pen', 'sslmode=require channel_binding=require')
    expect(server.ends).toEqual(['verified', 'verified', 'the proof is wrong'])
    expect(server.chosen).toEqual(['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256', 'SCRAM-SHA-256-PLUS'])
    server.close()
  })
})
