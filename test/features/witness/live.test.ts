// A real node as a witness: open to everyone, each status code of the specification, one key that no backup has, and none at all
// over a store that was put back.

import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { cosignaturesIn } from '../../../src/libraries/ledger/witness.ts'
import { parseVerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import { type Answer, type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { runCommand, type ServedNode, serveNode } from '../../helpers/run-node.ts'
import { Branch, foreignHash, foreignPolicy, noisy, refused } from './ledgers.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-witness-'))
const policy = join(folder, 'policy')
await writeFile(policy, foreignPolicy)
const live = await startLiveNode({
  'ledger-origin': 'own.example/ledger',
  'ledger-policy': policy,
  'anonymous-read': false,
})
afterAll(async () => {
  await live.stop()
  await rm(folder, { recursive: true })
})
const honest = new Branch('a', 64)
const fork = new Branch('b', 3)
const headPath = `/ledger/witness/${foreignHash}/checkpoint`

const add = (body: Uint8Array | string, chunked = false): Promise<Answer> =>
  live.call('/ledger/witness/add-checkpoint', { method: 'POST', token: null, body, chunked })

const witnessKey = async (node: LiveNode): Promise<string> =>
  String((await node.call('/ledger', { token: null })).at('witness'))

test.each(refused)('%s is refused with %i', async (_, status, body) => {
  for (const chunked of [false, true]) expect((await add(body, chunked)).status).toBe(status)
  expect((await live.call(headPath, { token: null })).status).toBe(404)
})

test('bodies that do not come to an end keep nobody out, not even from the same address', async () => {
  const { hostname, port } = new URL(live.node.url)
  const slow = await Promise.all(
    Array.from({ length: 80 }, async () => {
      const socket = connect(Number(port), hostname).on('error', () => {})
      socket.write('POST /ledger/witness/add-checkpoint HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nold')
      await once(socket, 'connect')
      return socket
    }),
  )
  // What is sent after it is read: those before are being read, too.
  expect((await add('x')).status).toBe(400)
  expect((await add('x')).status).toBe(400)
  for (const socket of slow) socket.destroy()
})

test('of several requests at once with one old size one is answered, and all learn the new one', async () => {
  const answers = await Promise.all(
    [noisy, honest.body(0, 5), fork.body(0, 5), honest.body(0, 5)].map((body) => add(body)),
  )
  const [first, ...others] = answers.toSorted((a, b) => a.status - b.status)
  expect(first).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } })
  for (const other of others) {
    expect(other).toMatchObject({ status: 409, text: '5\n', headers: { 'content-type': 'text/x.tlog.size' } })
  }
})

test('a head that goes on is cosigned with the key that the ledger of the node tells, and shown to everyone', async () => {
  const size = Number((await live.call(headPath, { token: null })).text.split('\n')[1])
  const tree = (await add(honest.body(size, 20))).status === 200 ? honest : fork
  const answer = tree === honest ? await add(honest.body(20, 21)) : await add(fork.body(5, 21))
  const key = await witnessKey(live)
  expect(key).toMatch(/^own\.example\/ledger\/witness\+/)
  expect(cosignaturesIn(answer.bytes, tree.note(21).text, parseVerifierKey(key))).toHaveLength(1)
  const shown = await live.call(headPath, { token: null, headers: { origin: 'http://localhost:3000' } })
  expect(shown).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': 'http://localhost:3000' } })
  const readers = parsePolicy(utf8(`${foreignPolicy.replace('quorum none\n', '')}witness w ${key}\nquorum w\n`))
  expect(openHead(shown.bytes, readers)).toMatchObject({ ok: true, head: { size: 21 }, quorum: 'met' })
  // Two heads of one size.
  const [other] = [honest, fork].filter((branch) => branch !== tree)
  expect((await add(other?.body(21, 21) ?? '')).status).toBe(422)
  const evidence = join(live.dataDir, 'store', 'ledger', 'witness', foreignHash, 'evidence')
  expect((await readdir(evidence)).length).toBeGreaterThan(0)
})

test('a backup has neither its key nor its records, and a node made of it is another witness', async () => {
  const copy = join(folder, 'copy')
  const restored = join(folder, 'restored')
  expect((await runCommand(['backup', copy, '--data', live.dataDir], {})).code).toBe(0)
  expect(await readdir(join(copy, 'keys'))).not.toContain('witness.json')
  expect(await readdir(join(copy, 'store', 'ledger'))).not.toContain('witness')
  expect((await runCommand(['restore', copy, '--data', restored], {})).code).toBe(0)
  const keyOf = async ({ url }: ServedNode): Promise<string | undefined> =>
    ((await (await fetch(`${url}/ledger`)).json()) as { witness?: string }).witness // as the route answers
  const first = await serveNode(restored, ['--ledger-policy', policy])
  await expect.poll(() => keyOf(first)).toMatch(/^own\.example\/ledger\/witness\+/)
  const key = await keyOf(first)
  expect(key).not.toBe(await witnessKey(live))
  await first.end('SIGKILL')
  const again = await serveNode(restored, ['--ledger-policy', policy])
  await expect.poll(() => keyOf(again)).toBe(key)
  expect(
    (await fetch(`${again.url}/ledger/witness/add-checkpoint`, { method: 'POST', body: Buffer.from(fork.body(0, 9)) }))
      .status,
  ).toBe(200)
  await again.end('SIGTERM')
  // A store that was put back, under a key that has signed.
  await rm(join(restored, 'store', 'ledger', 'witness'), { recursive: true })
  const putBack = await serveNode(restored, ['--ledger-policy', policy])
  expect(
    (
      await fetch(`${putBack.url}/ledger/witness/add-checkpoint`, {
        method: 'POST',
        body: Buffer.from(honest.body(0, 9)),
      })
    ).status,
  ).toBe(404)
  expect(putBack.log()).toContain('another store')
  expect(await keyOf(putBack)).toBeUndefined()
  await putBack.end('SIGTERM')
})

test('fsck finds what is damaged of it', async () => {
  const check = async (): Promise<string> => {
    const { stdout, stderr } = await runCommand(['fsck', live.dataDir, '-o', 'json'], {})
    return stdout + stderr
  }
  expect(await check()).not.toContain('ledger/witness')
  await writeFile(join(live.dataDir, 'store', 'ledger', 'witness', foreignHash, '99'), 'x')
  expect(await check()).toContain(`ledger/witness/${foreignHash}/99`)
})
