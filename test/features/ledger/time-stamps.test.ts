// A real node whose heads an authority of OpenSSL stamps: what it stores and shows, and what becomes of it where the authority fails.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { askAuthority } from '../../../src/features/ledger/time-stamps.ts'
import { parseHead } from '../../../src/libraries/ledger/head.ts'
import { parseNote } from '../../../src/libraries/ledger/note.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { blockOf } from '../../helpers/page-blocks.ts'
import { runCommand, runShell } from '../../helpers/run-node.ts'
import { OpensslAuthority } from '../../helpers/openssl-authority.ts'

const authority = new OpensslAuthority()
const stranger = new OpensslAuthority()
afterAll(() => [authority, stranger].map((one) => one.remove()))
/** Certificates beside its own, made before any time stamp. */
const others = ['critical,timeStamping', 'timeStamping', 'critical,timeStamping,serverAuth'].map(
  (purpose) => [purpose, authority.another([`extendedKeyUsage=${purpose}`])] as const,
)
const address = new URL(await authority.serve())
address.username = 'node'
address.password = 's3cret%25'
// As docs/ledger.md has it, but for the address and the pace.
const flags = blockOf('docs/ledger.md', 'proofstream serve --tsa').trim()
const [, tsa = '', every = ''] = /^proofstream serve --(\S+) https:\/\/tsa.example --(\S+) 1h$/.exec(flags) ?? []
const live = await liveNode({
  'ledger-origin': 'data.example/ledger',
  'ledger-delay': '1s',
  [tsa]: address.href,
  [every]: '1s',
})

interface Stamp {
  readonly size: number
  readonly at: string
}

const stamps = async (): Promise<Stamp[]> => (await live.call('/ledger', { token: null })).at('timestamps') as Stamp[] // as it answers
const metric = async (name: string): Promise<number> =>
  Number(new RegExp(`^proofstream_${name} (\\d+)$`, 'm').exec((await live.call('/metrics')).text)?.[1])

test('a published head is stamped, and OpenSSL takes what the node shows', async () => {
  await live.ingest('acme/weather', [{ city: 'Oslo' }], '?create=true')
  const length = Number((await live.call('/acme/weather')).at('blocks'))
  await expect.poll(async () => (await stamps()).at(-1)?.size).toBe(length + 1)
  for (const { size, at } of await stamps()) {
    const head = await live.call(`/ledger/timestamps/${size}.head`, { token: null })
    const response = await live.call(`/ledger/timestamps/${size}.tsr`, { token: null })
    expect([head.status, head.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/timestamp-reply'])
    expect([head, response].map(({ headers }) => headers['cache-control'])).toEqual(
      Array(2).fill('public, max-age=31536000, immutable'),
    )
    const { text } = parseNote(head.bytes)
    expect(parseHead(text)).toMatchObject({ origin: 'data.example/ledger', size })
    expect(authority.takes(response.bytes, text)).toBe(true)
    expect(authority.takes(response.bytes, text.replace('ledger', 'ledges'))).toBe(false)
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(600_000)
    const stored = join(live.dataDir, 'store/ledger/timestamps')
    expect(new Uint8Array(await readFile(join(stored, `${size}.tsr`)))).toEqual(new Uint8Array(response.bytes))
  }
  expect(authority.asked[0]?.headers).toMatchObject({
    'content-type': 'application/timestamp-query',
    authorization: `Basic ${Buffer.from('node:s3cret%').toString('base64')}`,
  })
})

test('a proof in JSON has a time that is checked offline, and is refused with a stamp of another', async () => {
  const hash = String(await live.head('acme/weather'))
  const proof = await live.call(`/acme/weather/blocks/${hash}/proof?format=json`)
  const { index, timestamp } = proof.at('ledger') as { index: number; timestamp: { size: number; head: string } } // as it answers
  expect(timestamp.size).toBe(Math.min(...(await stamps()).map(({ size }) => size).filter((size) => size > index)))
  const folder = authority.folder
  const key = String((await live.call('/ledger', { token: null })).at('keys.0'))
  await writeFile(join(folder, 'policy'), `log ${key}\nquorum none\n`)
  await writeFile(join(folder, 'proof.json'), proof.text)
  const verify = async (file: string, ...more: string[]) => {
    const { code, stdout } = await runCommand(['verify', file, '--policy', 'policy', ...more], { cwd: folder })
    return { code, ...(JSON.parse(stdout) as Record<string, unknown>) }
  }
  const by = ['--tsa-ca', 'ca.pem']
  expect(await verify('proof.json', ...by)).toMatchObject({
    code: 0,
    verdict: 'included',
    timestamp: { authority: 'O=Proofstream, CN=An authority' },
  })
  const unchecked = await verify('proof.json')
  expect([unchecked.code, unchecked]).toEqual([0, expect.not.objectContaining({ timestamp: expect.anything() })])
  await writeFile(join(folder, 'bad.json'), proof.text.replace('"token":"', '"token":"A'))
  expect((await verify('bad.json', ...by)).code).toBe(10)
  const { token } = proof.at('ledger.timestamp') as { readonly token: string } // as it answers
  for (const [purpose, name] of others) {
    const anew = authority.signedAnew(Buffer.from(token, 'base64'), name)
    await writeFile(join(folder, 'anew.json'), proof.text.replace(token, Buffer.from(anew).toString('base64')))
    const isRight = purpose === 'critical,timeStamping'
    const refused = {
      code: 10,
      reason: expect.stringContaining('is of a certificate that is not for time stamps alone'),
    }
    expect([purpose, await verify('anew.json', ...by)]).toMatchObject([purpose, isRight ? { code: 0 } : refused])
  }
  // Of whom it is cannot be told by the CA of another.
  await writeFile(join(folder, 'another-ca.pem'), stranger.file('ca.pem'))
  expect(await verify('proof.json', '--tsa-ca', 'another-ca.pem')).toMatchObject({
    code: 14,
    verdict: 'not judged',
    reason: 'Its time stamp is of an authority that no certificate of another-ca.pem vouches for.',
  })
  // What a person reads says the same as the exit code.
  const told = async (file: string, ca: string) => {
    const args = ['verify', file, '--policy', 'policy', '--tsa-ca', ca, '-o', 'table']
    const { code, stdout } = await runCommand(args, { cwd: folder })
    return [code, stdout.split('\n')[0]]
  }
  const [code, headline] = await told('proof.json', 'another-ca.pem')
  expect([code, headline]).toEqual([14, '? Not judged: whether its time stamp counts is yours to say'])
  expect(await told('anew.json', 'ca.pem')).toEqual([10, '✗ Do not trust this file'])
  // As docs/ledger.md has it.
  const size = String(timestamp.size)
  await writeFile(join(folder, 'policy.txt'), `log ${key}\nquorum none\n`)
  await writeFile(join(folder, 'block.json'), proof.text)
  for (const kind of ['head', 'tsr']) {
    const file = await live.call(`/ledger/timestamps/${size}.${kind}`)
    await writeFile(join(folder, `${size}.${kind}`), file.bytes)
  }
  const blocks = ['proofstream verify block.json', 'sed'].map((start) => blockOf('docs/ledger.md', start))
  const typed = await runShell(blocks.join('\n').replaceAll('42.', `${size}.`), { cwd: folder })
  expect([typed.code, typed.stdout]).toEqual([0, expect.stringMatching(/"timestamp":[^]*Verification: OK/)])
  const none = await runCommand(['verify', 'proof.json', '--policy', 'policy', '--tsa-ca', 'policy'], { cwd: folder })
  expect(none.code).toBe(2)
})

test('what is no time stamp is not there', async () => {
  const names = ['9999.tsr', '0.tsr', '01.tsr', '1.tsx', '..%2fcheckpoint', '1.head.tsr', 'x'.repeat(90)]
  for (const name of names) {
    expect((await live.call(`/ledger/timestamps/${name}`, { token: null })).refusal).toBe('404 ObjectNotFound')
  }
  expect((await live.call('/ledger/2/timestamps/1.tsr', { token: null })).status).toBe(404)
})

test('a head is stamped once, and no other is while the ledger does not grow', async () => {
  const before = await stamps()
  const asked = authority.asked.length
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect([await stamps(), authority.asked.length]).toEqual([before, asked])
  expect(await metric('ledger_timestamps_total')).toBe(before.length)
  const names = await readdir(join(live.dataDir, 'store/ledger/timestamps'))
  expect(names.sort()).toEqual(before.flatMap(({ size }) => [`${size}.head`, `${size}.tsr`]).sort())
})

test('an answer that leads elsewhere, is too long or breaks off is none', async () => {
  const other = await authority.serve()
  const ask = async (manner: OpensslAuthority['manner']): Promise<unknown> => {
    authority.manner = manner
    return await askAuthority({ url: other, authorization: undefined }, 'a head', new AbortController().signal)
  }
  const type = { 'content-type': 'application/timestamp-reply' }
  const failed = (reason: string): object => expect.objectContaining({ kind: 'failed', reason })
  expect(await ask((_, response) => void response.writeHead(302, { location: live.node.url }).end())).toEqual(
    failed('it answered 302'),
  )
  const tooLong = 'its answer is too long, or broke off'
  expect(await ask((_, response) => void response.writeHead(200, type).end(new Uint8Array(70_000)))).toEqual(
    failed(tooLong),
  )
  const endless = Readable.from(forever())
  expect(await ask((_, response) => void endless.pipe(response.writeHead(200, type)))).toEqual(failed(tooLong))
  const cut = { ...type, 'content-length': '1000' }
  expect(
    await ask((_, response) => {
      response.writeHead(200, cut).write('begun', () => response.destroy())
    }),
  ).toEqual(failed(tooLong))
  expect(await ask((request) => void request.socket.destroy())).toEqual(failed('it gave no answer in time'))
  authority.manner = undefined
})

function* forever(): Generator<Uint8Array> {
  for (;;) yield new Uint8Array(1000)
}

test('an authority that fails is told of, and stops nothing', async () => {
  authority.manner = (_request, response) => void response.writeHead(503).end('node:s3cret%')
  await live.ingest('acme/weather', [{ city: 'Bergen' }])
  const ready = async (): Promise<unknown> => (await live.call('/readyz', { token: null })).at('ledger.timestamps')
  await expect.poll(ready).toEqual({ state: 'failing', reason: 'it answered 503' })
  expect(await metric('ledger_timestamp_failures_total')).toBeGreaterThan(0)
  const told = await live.call('/ledger', { token: null })
  expect([told.at('state'), (await live.call('/readyz', { token: null })).status]).toEqual(['running', 200])
  await live.ingest('acme/weather', [{ city: 'Athens' }])
  await expect
    .poll(async () => (await live.call('/ledger', { token: null })).at('size'))
    .toBe(Number((await live.call('/acme/weather')).at('blocks')) + 1)
})
