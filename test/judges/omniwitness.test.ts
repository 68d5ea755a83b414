// A real node whose heads the witness of transparency-dev cosigns, over two lives of both. Put back to an older copy the node enters
// nothing; where it is shown what the witness holds, its ledger halts.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as sendOn, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { ensureLedgerKey, ledgerVerifierKey } from '../../src/features/ledger/identity.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { openHead } from '../../src/libraries/ledger/open-head.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { freePort } from '../helpers/free-port.ts'
import { type ServedNode, serveNode } from '../helpers/run-node.ts'
import { until } from '../helpers/until.ts'
import { buildJudges, buildOmniwitness, hasGo, run } from './go.ts'

const origin = 'data.example/ledger'
const home = mkdtempSync(join(tmpdir(), 'proofstream-omniwitness-'))
const at = (name: string): string => join(home, name)
const children: ChildProcess[] = []
const monitor = createServer()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  monitor.close()
  rmSync(home, { recursive: true, force: true })
})

/** What the witness holds of the ledger, as it wrote it down. */
function heldNote(): Uint8Array {
  const database = new DatabaseSync(at('db'), { readOnly: true })
  const held = 'SELECT chkpt FROM chkpts WHERE logID = (SELECT logID FROM logs WHERE origin = ?)'
  const row = database.prepare(held).get(origin)
  database.close()
  return row?.['chkpt'] as Uint8Array // a blob by its table
}

/** Stands before the witness and shows what that holds, for which it has no address itself. */
async function startMonitor(port: number): Promise<string> {
  monitor.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') return response.end(heldNote())
    const { method, url: path, headers } = request
    const passed = sendOn({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers))
    })
    return request.pipe(passed)
  })
  await new Promise<void>((resolve) => monitor.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(monitor.address() as AddressInfo).port}` // it listens on a port
}

async function startWitness(program: string, port: number): Promise<ChildProcess> {
  const address = ['--listen', `127.0.0.1:${port}`, '--metrics_listen', '']
  const files = ['--private_key_path', at('key'), '--db_file', at('db'), '--additional_logs', at('logs.yaml')]
  const child = spawn(program, [...address, ...files], { stdio: 'ignore' })
  children.push(child)
  await until('its port', async () => await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))
  return child
}

interface About {
  readonly state: string
  readonly size: number
  readonly reason?: string
  readonly quorum: string
  readonly witnesses: readonly { readonly state: string }[]
}

const about = async ({ url }: ServedNode): Promise<About> => (await (await fetch(`${url}/ledger`)).json()) as About // as it answers

/** A block of one row; gives its hash. */
async function post({ url }: ServedNode, data: string): Promise<string> {
  const headers = { authorization: `Bearer ${readFileSync(join(data, 'token'), 'utf8').trim()}` }
  const ndjson = { ...headers, 'content-type': 'application/x-ndjson', prefer: 'wait=30' }
  const posted = { method: 'POST', headers: ndjson, body: '{"city":"Oslo"}\n' }
  await fetch(`${url}/acme/weather/ingest?create=true`, posted)
  return await (await fetch(`${url}/acme/weather/refs/head`, { headers })).text()
}

async function live(data: string, policy: string, act: (node: ServedNode) => Promise<void>): Promise<void> {
  const flags = ['--ledger-origin', origin, '--ledger-delay', '1s', '--ledger-wait', 'never']
  const node = await serveNode(data, [...flags, '--ledger-policy', policy])
  try {
    await act(node)
  } finally {
    await node.end('SIGTERM')
  }
}

describe.skipIf(!hasGo)('the witness of transparency-dev', () => {
  test('cosigns a ledger over two lives, and a node that was put back signs nothing more', async () => {
    const { omniwitness, generateKeys } = buildOmniwitness(home)
    const { judge } = buildJudges(home)
    const made = spawnSync(generateKeys, [
      '--origin',
      'omni.example',
      '--out_priv',
      at('key'),
      '--out_pub',
      at('key.pub'),
    ])
    expect(made.status).toBe(0)
    mkdirSync(join(home, 'node', 'keys'), { recursive: true })
    const key = ledgerVerifierKey(origin, await ensureLedgerKey(join(home, 'node', 'keys', 'ledger.json')))
    writeFileSync(at('logs.yaml'), `Logs:\n  - Origin: ${origin}\n    PublicKey: ${key}\n`)
    const port = await freePort()
    const policyText = (url: string): string =>
      `log ${key}\nwitness omni ${readFileSync(at('key.pub'), 'utf8')} ${url}\nquorum omni\n`
    const policy = policyText(`http://127.0.0.1:${port}`)
    writeFileSync(at('policy'), policy)
    const cosigned = async (node: ServedNode, blocks: number): Promise<number> => {
      await expect.poll(async () => (await about(node)).size).toBeGreaterThan(blocks)
      await expect.poll(async () => (await about(node)).quorum).toBe('met')
      const head = await (await fetch(`${node.url}/ledger/checkpoint`)).text()
      const opened = openHead(utf8(head), parsePolicy(utf8(policy)))
      expect(opened).toMatchObject({ ok: true, quorum: 'met', witnessed: [{ name: 'omni' }] })
      return (await about(node)).size
    }

    let witness = await startWitness(omniwitness, port)
    await live(at('node'), at('policy'), async (node) => {
      const hash = await post(node, at('node'))
      await cosigned(node, 1)
      const proof = await until('a proof', async () => {
        const headers = { authorization: `Bearer ${readFileSync(at('node/token'), 'utf8').trim()}` }
        const answer = await fetch(`${node.url}/acme/weather/blocks/${hash}/proof`, { headers })
        return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : undefined
      })
      const question = { proof: proof.toString('base64'), policy: Buffer.from(policy).toString('base64'), key }
      const { stdout, stderr } = run(judge, [], { input: JSON.stringify(question) })
      expect([JSON.parse(stdout), stderr]).toEqual([{ torchwood: '', formats: '', sumdb: '' }, ''])
    })
    cpSync(at('node'), at('older'), { recursive: true })

    witness.kill()
    await once(witness, 'exit')
    witness = await startWitness(omniwitness, port)
    let size = 0
    await live(at('node'), at('policy'), async (node) => {
      const before = (await about(node)).size
      await post(node, at('node'))
      size = await cosigned(node, before)
    })

    await live(at('older'), at('policy'), async (node) => {
      await post(node, at('older'))
      await expect.poll(async () => (await about(node)).witnesses[0]?.state).toBe('ahead')
      expect(await about(node)).toMatchObject({ state: 'late' })
      expect((await about(node)).size).toBeLessThan(size)
    })

    writeFileSync(at('shown'), policyText(await startMonitor(port)))
    await live(at('older'), at('shown'), async (node) => {
      await expect.poll(async () => (await about(node)).state).toBe('halted')
      expect((await about(node)).reason).toContain(`LedgerRegressed: omni has a head of ${size} entries`)
    })
    expect(readdirSync(at('older/store/ledger-evidence'), { recursive: true })).toHaveLength(2)
  })
})
