// The engine of another version, added with the command: proofs of its dialect run on it, on a node and over a bundle; new
// statements do not. Where its library is another one, or it was never added, the verdict says what to do.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { toHex } from '../../src/libraries/base/bytes.ts'
import { sha256 } from '../../src/libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../src/libraries/base/json/json.ts'
import { commit } from '../../src/libraries/proof/commitment.ts'
import { libraryName } from '../../src/node/engine/native-engine.ts'
import { nodeKeyFromJson, signProof } from '../../src/libraries/proof/sign.ts'
import { type Answer, liveNode, type LiveNode } from '../helpers/live-node.ts'
import { olderEngine, olderEngineEnv } from '../helpers/older-engine.ts'
import { type Finished, runCommand, runShell } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'

const older = olderEngine.version
const live = await liveNode()
const bare = await liveNode()

/** npm needs them where a proxy has a certificate of its own. */
const certificates = process.env['NODE_EXTRA_CA_CERTS']
const env = { ...olderEngineEnv, ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: certificates }) }

/** The command over the data directory of a node. */
async function engine(node: LiveNode, ...args: string[]): Promise<Finished> {
  return await runCommand(['engine', ...args, '--data', node.dataDir], { env })
}

const added = await engine(live, 'add', older)
if (added.code !== 0) {
  if (process.env['CI'] === 'true') throw new Error(added.stderr)
  console.warn(`Engines of other versions are not tried: ${added.stderr}`)
}
const isHere = added.code === 0

/** A good answer of the node, signed by its key as one of another dialect. */
async function proofOf(node: LiveNode, dialect: string, output: object = {}): Promise<string> {
  await node.ingest('acme/lab', [{ city: 'Oslo' }, { city: 'Rome' }], '?create=true')
  const answer = await node.query('SELECT DISTINCT city, upper(city) AS loud FROM "acme/lab"', { include: ['Proof'] })
  const input = { ...(answer.at('input') as object), queryDialect: dialect }
  const signed = { input, output: { ...(answer.at('output') as object), ...output }, subQueries: [] }
  const key = nodeKeyFromJson(await readFile(join(node.dataDir, 'keys', 'node.json')))
  const { subQueries, ...parts } = signed
  const bytes = {
    input: canonicalBytes(fromPlain(parts.input)),
    output: canonicalBytes(fromPlain(parts.output)),
    subQueries: canonicalBytes(fromPlain(subQueries)),
  }
  return JSON.stringify({ ...signed, ...signProof(commit(bytes), key) })
}

async function enginesOf(node: LiveNode): Promise<{ readonly version: string; readonly default: boolean }[]> {
  return (await node.call('/info')).at('engines') as { version: string; default: boolean }[]
}

async function verified(node: LiveNode, body: string): Promise<Answer> {
  return await node.call('/verify', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

/** What `doctor` says of the engine of this version. */
async function looked(node: LiveNode, version: string): Promise<{ status: string; found: string; hint?: string }> {
  const { stdout } = await runCommand(['doctor', '-o', 'ndjson', '--data', node.dataDir, '--listen', '127.0.0.1:0'], {
    env,
  })
  const line = stdout.split('\n').find((one) => one.includes('"engine"') && one.includes(version)) ?? '{}'
  return JSON.parse(line) as { status: string; found: string; hint?: string } // printed so
}

test('the command tells which engines are here, by the digest of the library', async () => {
  expect(await looked(bare, older)).toMatchObject({ status: 'ok', found: expect.stringContaining('is not on this') })
  const bindings = `node-bindings-${process.platform}-${process.arch}`
  const digest = toHex(sha256(await readFile(join(repository, 'node_modules/@duckdb', bindings, libraryName))))
  expect(await looked(bare, '1.5.6')).toMatchObject({ status: 'ok', found: expect.stringContaining(digest) })
  expect(await enginesOf(bare)).toEqual([{ version: '1.5.6', digest, default: true }])
})

test('another version, and another archive, are refused, and nothing is left', async () => {
  const unknown = await engine(bare, 'add', '1.4.0')
  expect([unknown.code, unknown.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('knows no engine DuckDB 1.4.0'),
  ])
  expect(unknown.code).not.toBe(0)
  const other = join(bare.dataDir, 'other.tgz')
  await writeFile(other, 'no archive')
  const refused = await engine(bare, 'add', older, '--file', other)
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining('is another archive')])
  // What is read twice may be two things: a pipe is no archive, and is not waited for.
  const pipe = join(bare.dataDir, 'pipe.tgz')
  if (process.platform !== 'win32') execFileSync('mkfifo', [pipe])
  const piped = await engine(bare, 'add', older, '--file', process.platform === 'win32' ? bare.dataDir : pipe)
  expect([piped.code === 0, piped.stderr]).toEqual([false, expect.stringContaining('is no archive')])
  expect(await enginesOf(bare)).toHaveLength(1)
  expect(existsSync(join(bare.dataDir, 'engines'))).toBe(false)
  const nowhere = join(bare.dataDir, 'no', 'node')
  expect((await runCommand(['engine', 'add', older, '--file', other, '--data', nowhere], { env })).code).not.toBe(0)
  expect(existsSync(dirname(nowhere))).toBe(false)
})

test.runIf(isHere)('a proof of its dialect runs on it; new statements do not', async () => {
  const proof = await proofOf(live, `SqlDuckDb/${older}-3`)
  const verdict = await verified(live, proof)
  expect([verdict.status, verdict.at('engine')]).toMatchObject([
    200,
    {
      version: older,
      dialect: `SqlDuckDb/${older}-3`,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ])
  expect((await enginesOf(live)).map(({ version, default: isDefault }) => [version, isDefault])).toEqual([
    ['1.5.6', true],
    [older, false],
  ])
  const fresh = await live.query('SELECT 1 AS one', { include: ['Proof'] })
  expect(fresh.at('input.queryDialect')).toBe('SqlDuckDb/1.5.6-3')
  // It is that engine's own answer: another one is a lie.
  const lie = await proofOf(live, `SqlDuckDb/${older}-3`, { data: [['Oslo', 'ROME']] })
  expect((await verified(live, lie)).at('error.kind')).toBe('VerificationFailed::OutputMismatch')
})

test.runIf(isHere)('so does one over a bundle, and where the library is another one nothing runs', async () => {
  const proof = join(live.dataDir, 'proof.json')
  await writeFile(proof, await proofOf(live, `SqlDuckDb/${older}-3`))
  const there = {
    PROOFSTREAM_SERVER: live.node.url,
    PROOFSTREAM_TOKEN: live.adminToken,
    PROOFSTREAM_DATA: live.dataDir,
    ...env,
  }
  const bundle = join(live.dataDir, 'bundle.tar')
  expect(await runCommand(['bundle', proof, '-o', bundle], { env: there })).toMatchObject({ code: 0 })
  const offline = await runCommand(['verify', '--bundle', bundle], { env: there })
  expect([offline.code, offline.stdout]).toEqual([0, expect.stringContaining(`"version":"${older}"`)])

  const copy = join(bare.dataDir, 'engines', older)
  await cp(join(live.dataDir, 'engines', older), copy, { recursive: true })
  const platform = `${process.platform}-${process.arch}`
  const bindings = join(copy, 'node_modules/@duckdb', `node-bindings-${platform}`)
  await writeFile(join(bindings, libraryName), 'another library', { flag: 'a' })
  const lie = await proofOf(bare, `SqlDuckDb/${older}-3`, { data: [['Oslo', 'ROME']] })
  const told = await verified(bare, lie)
  expect([told.at('error.kind'), told.text]).toEqual([
    'VerificationInconclusive::EngineUnavailable',
    expect.stringContaining(`proofstream engine add ${older}`),
  ])
  expect(await enginesOf(bare)).toHaveLength(1)
  expect(await looked(bare, older)).toMatchObject({
    status: 'fail',
    found: expect.stringMatching(/is not known: its library is [0-9a-f]{64}\./),
    hint: expect.stringContaining(`proofstream engine add ${older}`),
  })
})

const isOnPage = process.platform === 'linux' && process.arch === 'x64'

test.runIf(isHere && isOnPage)('without a registry it takes the archives as files, as the page says', async () => {
  const page = await readFile(join(repository, 'docs/engines.md'), 'utf8')
  const [, block = ''] = /```sh\n(npm pack[^]*?)```/.exec(page) ?? []
  const ran = await runShell(block, { cwd: await mkdtemp(join(live.dataDir, 'archives-')), env })
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('"version":"1.5.6"')])
})
