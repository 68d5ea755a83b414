// A real node whose ledger witnesses cosign: what it tells of them, the policy for its readers, options that are refused, and a
// ledger that takes another's place.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { parseStatement } from '../../../src/libraries/ledger/statement.ts'
import { loadConfig } from '../../../src/app/config.ts'
import { startNode } from '../../../src/app/node.ts'
import { blockOf } from '../../helpers/page-blocks.ts'
import { runCommand, serveNode } from '../../helpers/run-node.ts'
import { keyText, witnessName } from '../../libraries/ledger/keys.ts'
import { SmallWitness } from './small-witness.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-witnessed-'))
const origin = 'data.example/ledger'
const witnesses = await Promise.all([1, 2, 3].map((number) => SmallWitness.start(number)))
afterAll(async () => {
  await Promise.all(witnesses.map((witness) => witness.close()))
  await rm(folder, { recursive: true })
})
const page = 'docs/ledger.md'
const policyFile = join(folder, 'policy.txt')
/** The page's policy, with the witnesses where they are. */
const policyText = witnesses.reduce(
  (policy, { url }, at) => policy.replace(`https://w${at + 1}.example`, url),
  blockOf(page, 'witness'),
)
await writeFile(policyFile, policyText)
const flags = blockOf(page, 'proofstream serve --ledger-policy')
  .trim()
  .replace('policy.txt', policyFile)
  .split(' ')
  .slice(2)
  .concat('--ledger-origin', origin, '--ledger-delay', '1s', '--ledger-wait', '1s')

interface About {
  readonly origin: string
  readonly keys: string[]
  readonly size: number
  readonly state: string
  readonly reason?: string
  readonly quorum: string
  readonly behind: { readonly blocks: number }
  readonly witnesses: { name: string; state: string; at?: string }[]
  readonly former: { origin: string; size: number }[]
}

const about = async (url: string): Promise<About> => (await (await fetch(`${url}/ledger`)).json()) as About // as it answers
const text = async (url: string): Promise<string> => await (await fetch(url)).text()

test('a node tells who has cosigned, and readers judge its heads by the policy that it shows', async () => {
  const data = join(folder, 'node')
  const node = await serveNode(data, flags)
  try {
    // They know the ledger by its key, which is made at the first start; before, nobody holds a tree of it.
    await expect.poll(async () => (await about(node.url)).keys.length).toBe(1)
    for (const witness of witnesses.slice(0, 2)) witness.logKey = (await about(node.url)).keys[0]
    await expect.poll(async () => (await about(node.url)).quorum).toBe('met')
    const told = await about(node.url)
    const key = keyText(witnessName(1), 11)
    expect(told).toMatchObject({ state: 'running', former: [] })
    expect(told.witnesses[0]).toEqual({ name: 'w1', key, state: 'cosigned', at: '2026-09-21T14:13:20.000Z' })
    expect(told.witnesses[2]?.state).toBe('unknown')
    expect(told.reason).toBeUndefined()
    const shown = await text(`${node.url}/ledger/policy`)
    expect([shown.match(/^log /gm)?.length, shown.includes('http')]).toEqual([1, false])
    const opened = openHead(utf8(await text(`${node.url}/ledger/checkpoint`)), parsePolicy(utf8(shown)))
    expect(opened).toMatchObject({ ok: true, quorum: 'met', witnessed: [{ name: 'w1' }, { name: 'w2' }] })
    const ready = await fetch(`${node.url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([200, { ledger: { origin, state: 'running' } }])
    const metrics = await text(`${node.url}/metrics`)
    expect(Number(/^\w*ledger_cosignatures_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0)
    const token = (await readFile(join(data, 'token'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
    const body = { method: 'POST', headers, body: '{"a":0}\n' }
    expect((await fetch(`${node.url}/acme/weather/ingest?create=true`, body)).status).toBe(200)
  } finally {
    await node.end('SIGTERM')
  }
  // Put back to where it was before its first entry, it signs nothing more, and is still a node.
  await rm(join(data, 'store', 'ledger', 'batches'), { recursive: true })
  await rm(join(data, 'store', 'ledger', 'checkpoint'))
  const restored = await serveNode(data, flags)
  try {
    await expect.poll(async () => (await about(restored.url)).state).toBe('halted')
    expect((await about(restored.url)).reason).toMatch(/^LedgerRegressed: w\d has a head of \d+ entries/)
    const token = (await readFile(join(data, 'token'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
    const body = { method: 'POST', headers, body: '{"a":1}\n' }
    const posted = await fetch(`${restored.url}/acme/weather/ingest?create=true`, body)
    const others = ['readyz', `query?query=${encodeURIComponent('select a from "acme/weather"')}`]
    const answers = await Promise.all(others.map((path) => fetch(`${restored.url}/${path}`)))
    expect([posted, ...answers].map(({ status }) => status)).toEqual([200, 200, 200])
    // What was there at the start is not looked at while it is halted.
    expect((await about(restored.url)).behind.blocks).toBe(1)
  } finally {
    await restored.end('SIGTERM')
  }
  const doctor = await runCommand(['doctor', '--data', data], {})
  expect(doctor.stdout).toMatch(/A witness holds a head of \d+ entries of .*LedgerRegressed/)
  const renewal = blockOf(page, 'proofstream ledger renew')
    .trim()
    .replace("'entries were lost'", 'lost')
    .split(' ')
    .slice(1)
  const renewed = await runCommand([...renewal, '--data', data], {})
  expect([renewed.code, JSON.parse(renewed.stdout)]).toMatchObject([0, { origin: `${origin}/2`, previous: origin }])
  expect((await runCommand(['doctor', '--data', data], {})).stdout).not.toContain('LedgerRegressed')
  const twice = await runCommand([...renewal, '--data', data], {})
  expect([twice.code, twice.stderr]).toEqual([
    2,
    expect.stringContaining(`The renewed ledger '${origin}/2' has shown no head`),
  ])
  const next = await serveNode(data, flags)
  try {
    await expect.poll(async () => (await about(next.url)).size).toBeGreaterThan(0)
    const told = await about(next.url)
    expect(told).toMatchObject({ origin: `${origin}/2`, former: [{ origin, size: 0 }] })
    expect(
      openHead(
        utf8(await text(`${next.url}/ledger/2/checkpoint`)),
        parsePolicy(utf8(`log ${told.keys[0]}\nquorum none`)),
      ),
    ).toMatchObject({ ok: true })
    const [bundle] = [
      new Uint8Array(await (await fetch(`${next.url}/ledger/2/tile/entries/000.p/${told.size}`)).arrayBuffer()),
    ]
    const statement = Buffer.from(bundle.subarray(3, 35)).toString('hex')
    const said = parseStatement(utf8(await text(`${next.url}/ledger/2/statements/${statement}`)))
    expect(said.previous).toMatchObject({ origin, size: 0, reason: 'lost' })
    expect(said.previous?.seen).toContain(`${origin}\n`)
    // Among the libraries is that on which this node runs.
    const { engine, engines } = (await (await fetch(`${next.url}/info`)).json()) as {
      readonly engine: { readonly version: string }
      readonly engines: readonly { readonly digest: string; readonly default: boolean }[]
    }
    const { digest } = engines.find((one) => one.default) ?? {}
    expect(said.engines).toContainEqual({ name: 'duckdb', version: engine.version, sha256: digest })
    expect(said.engines.map(({ sha256 }) => sha256)).toEqual(said.engines.map(({ sha256 }) => sha256).sort())
    expect(await text(`${next.url}/ledger/policy`)).toContain(`log ${told.keys[0]}`)
    const codes = ['1/checkpoint', '02/checkpoint', '3/checkpoint', 'x/checkpoint', '2/statements/x', '2/tile/x']
    for (const name of codes) expect([name, (await fetch(`${next.url}/ledger/${name}`)).status]).toEqual([name, 404])
  } finally {
    await next.end('SIGTERM')
  }
  expect((await runCommand(['backup', join(folder, 'copy'), '--data', data], {})).code).toBe(0)
  expect((await runCommand(['restore', join(folder, 'copy'), '--data', join(folder, 'again')], {})).code).toBe(0)
  const again = await serveNode(join(folder, 'again'), flags)
  try {
    await expect.poll(async () => (await about(again.url)).state).toBe('running')
    expect((await about(again.url)).origin).toBe(`${origin}/2`)
  } finally {
    await again.end('SIGTERM')
  }
})

const bad: [string, string[], string][] = [
  ['is not there', [], 'ENOENT'],
  ['has no quorum', ['# nothing'], 'has no quorum line'],
  ['has a line that is none', ['', 'wittness x', 'quorum none'], 'line 2 begins with none of'],
  ['asks nobody who counts', [`witness A ${keyText('a.example', 2)}`, 'quorum A'], 'which nobody can ask'],
  [
    'has no address',
    [`witness A ${keyText('a.example', 2)} ftp://a.example`, 'quorum A'],
    'line 1 has ftp://a.example',
  ],
  [
    'has a secret in an address',
    [`witness A ${keyText('a.example', 2)} http://u:p@a.example`, 'quorum A'],
    'line 1 has',
  ],
  ['names the node', ['', `witness A ${keyText(`${origin}/witness`, 2)} http://a.example`, 'quorum A'], 'line 2 names'],
  [
    'names its follower',
    [`witness A ${keyText(`${origin}/follower`, 2)} http://a.example`, 'quorum A'],
    'line 1 names',
  ],
  ['is too long', ['#'.repeat(300_000), 'quorum none'], 'is longer than'],
]
test.each(bad)('a policy that %s is refused at the start', async (name, policyLines, reason) => {
  const file = join(folder, name)
  if (policyLines.length > 0) await writeFile(file, policyLines.join('\n'))
  const data = join(folder, `data ${name}`)
  const flags = { data, listen: '127.0.0.1:0', 'log-level': 'silent', 'ledger-origin': origin, 'ledger-policy': file }
  await expect(startNode(loadConfig(flags))).rejects.toMatchObject({
    kind: 'InvalidParameter',
    message: expect.stringContaining(reason),
  })
})

test('a wait that is none is refused', () => {
  for (const wait of ['soon', '-1s', '', '1e3']) {
    expect(() => loadConfig({ data: folder, 'ledger-origin': origin, 'ledger-wait': wait })).toThrow('ledger-wait')
  }
  for (const wait of ['never', '0s', '2m', '500'])
    loadConfig({ data: folder, 'ledger-origin': origin, 'ledger-wait': wait })
})
