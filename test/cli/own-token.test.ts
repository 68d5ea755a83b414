// The token that the command line finds by itself goes to the node of that data directory, which proves that it has the key and
// answers at that address, and to nobody else who listens on a port of this machine: not to who says its DID, repeats an older
// signature, or passes on what it is asked.

import { createPrivateKey, sign } from 'node:crypto'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generateNodeKey, nodeKeyToJson } from '../../src/libraries/proof/sign.ts'
import { liveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'
import { type Asked, type Replies, type Reply, startStub, type StubNode } from './stub-node.ts'

const data = await mkdtemp(join(tmpdir(), 'proofstream-own-'))
const key = generateNodeKey()
const tokenFile = join(data, 'token')
const token = `pst_${'a'.repeat(38)}`
await mkdir(join(data, 'keys'))
await writeFile(join(data, 'keys', 'node.json'), nodeKeyToJson(key))
await writeFile(tokenFile, `${token}\n`)

/** PKCS #8 of an Ed25519 seed (RFC 8410). */
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), key.seed]),
  format: 'der',
  type: 'pkcs8',
})
const signed = (address: string, nonce: string): string =>
  `u${sign(null, Buffer.from(`proofstream-node-possession-v1\n${address}\n${nonce}\n`), privateKey).toString('base64url')}`
const nonceOf = ({ query }: Asked): string => query.get('nonce') ?? ''
const hostOf = ({ headers }: Asked): string => headers.host ?? ''
/** What a node with the key answers at the address where it was asked. */
const proven = (asked: Asked): Reply => ({ body: { did: key.did, signature: signed(hostOf(asked), nonceOf(asked)) } })

const listed = { 'GET /datasets': { body: { datasets: [] } } } satisfies Replies

function list(stub: StubNode, ...args: readonly string[]): Promise<Finished> {
  return listWith({}, stub, ...args)
}

function listWith(
  more: Readonly<Record<string, string>>,
  stub: StubNode,
  ...args: readonly string[]
): Promise<Finished> {
  const env = { PROOFSTREAM_DATA: data, PROOFSTREAM_SERVER: stub.url, ...more }
  return runCommand(['dataset', 'list', ...args], { env })
}

describe.concurrent('the token of a data directory', () => {
  test('goes to the node that its key names', async () => {
    await using stub = await startStub({ ...listed, 'GET /possession': proven })
    expect((await list(stub)).code).toBe(0)
    expect(stub.of('GET', '/datasets')[0]?.headers.authorization).toBe(`Bearer ${token}`)
    expect(stub.of('GET', '/possession')[0]?.headers.authorization).toBeUndefined()
    expect(stub.of('GET', '/possession')[0]?.query.get('nonce')).toMatch(/^[0-9a-f]{64}$/)
  })

  test.each([
    ['another node', () => ({ body: { did: generateNodeKey().did } })],
    ['a server that has no such route', () => ({ status: 404, body: {} })],
    ['a server that says something else', () => ({ body: ['hello'] })],
    ['a server that says the DID of the node', () => ({ body: { did: key.did } })],
    ['a server that says no signature', () => ({ body: { did: key.did, signature: 'u' } })],
    ['a server that says another text', () => ({ body: { did: key.did, signature: '\u001b[2J' } })],
    [
      'a server that repeats an older signature',
      (asked: Asked) => ({ body: { did: key.did, signature: signed(hostOf(asked), '00'.repeat(32)) } }),
    ],
    [
      'a server with a signature for another port',
      (asked: Asked) => ({ body: { did: key.did, signature: signed('127.0.0.1:8080', nonceOf(asked)) } }),
    ],
  ] satisfies [string, (asked: Asked) => Reply][])('is not sent to %s', async (_, possession) => {
    await using stub = await startStub({
      ...listed,
      'GET /info': { body: { did: key.did } },
      'GET /possession': possession,
    })
    const { code, stderr } = await list(stub)
    expect(code).toBe(4)
    expect(stderr).toContain(`--token-file ${tokenFile}`)
    expect(stub.asked.every(({ headers }) => headers.authorization === undefined)).toBe(true)
  })

  test.each([301, 302, 307, 308])('is not sent where a node sends on to another origin (%i)', async (status) => {
    await using other = await startStub(listed)
    const on = { status, headers: { location: `${other.url}/datasets` } }
    await using stub = await startStub({ 'GET /datasets': on, 'GET /a/b/tail': { ...on } })
    expect((await list(stub, '--token-file', tokenFile)).code).not.toBe(0)
    expect(other.asked).toEqual([])
  })

  test('is taken by a node that runs, and not sent to who passes all that it is asked on to it', async () => {
    const live = await liveNode()
    const env = { PROOFSTREAM_DATA: live.dataDir }
    const direct = await runCommand(['dataset', 'list', '--server', live.node.url], { env })
    expect(direct).toMatchObject({ code: 0, stderr: '' })
    const byName = live.node.url.replace('127.0.0.1', 'localhost')
    expect((await runCommand(['dataset', 'list', '--server', byName], { env })).code).toBe(0)
    const heard: IncomingMessage[] = []
    const relay = createServer((request, response) => {
      heard.push(request)
      const { host } = new URL(live.node.url)
      void fetch(new URL(request.url ?? '/', live.node.url), { headers: { 'x-forwarded-host': host } }).then(
        async (answer) =>
          response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
      )
    })
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
    const { port } = relay.address() as AddressInfo
    const refused = await runCommand(['dataset', 'list', '--server', `http://127.0.0.1:${port}`], { env })
    relay.closeAllConnections()
    relay.close()
    expect([refused.code, refused.stderr.includes('does not prove it')]).toEqual([4, true])
    expect(heard.map(({ url, headers }) => [url?.replace(/\?.*/, ''), headers.authorization])).toEqual([
      ['/possession', undefined],
    ])
  })

  test('is asked for again before each request: the port may be another program by then', async () => {
    let asked = 0
    await using stub = await startStub({
      'GET /datasets': () => ({ body: { datasets: [{ alias: 'a/b' }], next: 'a/b' } }),
      'GET /possession': (one) => (++asked === 1 ? proven(one) : { body: { did: key.did } }),
    })
    expect((await list(stub)).code).toBe(4)
    expect([stub.of('GET', '/possession').length, stub.of('GET', '/datasets').length]).toEqual([2, 1])
  })

  test('is sent where the person names its file', async () => {
    await using stub = await startStub(listed)
    expect((await list(stub, '--token-file', tokenFile)).code).toBe(0)
    expect(stub.of('GET', '/datasets')[0]?.headers.authorization).toBe(`Bearer ${token}`)
  })

  test('gives way to that of the environment, and both to that of a file', async () => {
    await using stub = await startStub({ ...listed, 'GET /possession': proven })
    const other = join(data, 'other')
    await writeFile(other, 'pst_file\n')
    const fromEnvironment = { PROOFSTREAM_TOKEN: 'pst_environment' }
    await list(stub)
    await listWith(fromEnvironment, stub)
    await listWith(fromEnvironment, stub, '--token-file', other)
    await runCommand(['dataset', 'list', '--server', stub.url], {
      cwd: data,
      env: { PROOFSTREAM_DATA: join(data, 'none') },
    })
    const sent = stub.of('GET', '/datasets').map(({ headers }) => headers.authorization)
    expect(sent).toEqual([`Bearer ${token}`, 'Bearer pst_environment', 'Bearer pst_file', undefined])
  })

  test('is refused where its file holds none, before anything is sent', async () => {
    await using stub = await startStub(listed)
    const blank = join(data, 'blank')
    await writeFile(blank, '\n')
    const { code } = await list(stub, '--token-file', blank)
    expect({ code, asked: stub.asked.length }).toEqual({ code: 2, asked: 0 })
  })
})
