// The token that the command line finds by itself goes to the node of that data directory, and to nobody else who
// listens on a port of this machine.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generateNodeKey, nodeKeyToJson } from '../../src/proof/sign.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'
import { type Replies, startStub, type StubNode } from './stub-node.ts'

const data = await mkdtemp(join(tmpdir(), 'proofstream-own-'))
const key = generateNodeKey()
const tokenFile = join(data, 'token')
const token = `pst_${'a'.repeat(38)}`
await mkdir(join(data, 'keys'))
await writeFile(join(data, 'keys', 'node.json'), nodeKeyToJson(key))
await writeFile(tokenFile, `${token}\n`)

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
    await using stub = await startStub({ ...listed, 'GET /info': { body: { did: key.did } } })
    expect((await list(stub)).code).toBe(0)
    expect(stub.of('GET', '/datasets')[0]?.headers.authorization).toBe(`Bearer ${token}`)
    expect(stub.of('GET', '/info')[0]?.headers.authorization).toBeUndefined()
  })

  test.each([
    ['another node', { status: 200, body: { did: generateNodeKey().did } }],
    ['a server that has no such route', { status: 404, body: {} }],
    ['a server that says something else', { status: 200, body: ['hello'] }],
  ])('is not sent to %s', async (_, info) => {
    await using stub = await startStub({ ...listed, 'GET /info': info })
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

  test('is sent where the person names its file', async () => {
    await using stub = await startStub(listed)
    expect((await list(stub, '--token-file', tokenFile)).code).toBe(0)
    expect(stub.of('GET', '/datasets')[0]?.headers.authorization).toBe(`Bearer ${token}`)
  })

  test('gives way to that of the environment, and both to that of a file', async () => {
    await using stub = await startStub({ ...listed, 'GET /info': { body: { did: key.did } } })
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
