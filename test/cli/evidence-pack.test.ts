// Evidence packs of a real node: what they hold, that the same makes the same bytes, that other programs read the zip, and that each
// byte which is another is found, in process and by command.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crc32 } from '../../src/libraries/base/crc32.ts'
import { PackMaker } from '../../src/libraries/evidence/pack/make-pack.ts'
import { type JudgedPack, judgePack } from '../../src/libraries/evidence/pack/judge-pack.ts'
import { readPack } from '../../src/libraries/evidence/pack/read-pack.ts'
import { readZip, zipEnd, zipHeader } from '../../src/libraries/evidence/pack/zip.ts'
import { parsePolicy, type Policy } from '../../src/libraries/ledger/policy.ts'
import { runsWith } from '../helpers/features.ts'
import { liveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand, runShell } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'
import { until } from '../helpers/until.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-pack-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
let [pack, policy, receiptId]: [Uint8Array, Policy | undefined, string] = [new Uint8Array(), undefined, '']

async function run(...args: string[]): Promise<Finished> {
  const env = { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken }
  return await runCommand(args, { cwd: folder, env })
}

/** The same numbers each time, from 0 to 1. */
function random(from: number): () => number {
  let state = from
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** The saved answer in a bundle: its second file. */
function proofIn(tar: Uint8Array): Uint8Array {
  const sizeAt = (at: number): number => parseInt(Buffer.from(tar.subarray(at + 124, at + 135)).toString('latin1'), 8)
  const at = 512 + 512 * Math.ceil(sizeAt(0) / 512)
  return tar.subarray(at + 512, at + 512 + sizeAt(at))
}

async function* inPieces(bytes: Uint8Array, pieceBytes = 7_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

type Change = (path: string, text: string) => readonly [path: string, text: string] | undefined

/** The pack with other files, zip and page made anew. */
async function remade(change: Change): Promise<Uint8Array> {
  const maker = new PackMaker()
  await readZip(inPieces(pack), async ({ name }, pieces) => {
    const all: Uint8Array[] = []
    for await (const piece of pieces) all.push(piece.slice())
    const bytes = Buffer.concat(all)
    if (name.startsWith('bundles')) {
      const shelf = { write: async () => {}, read: () => inPieces(bytes) }
      const make = async (write: (bytes: Uint8Array) => Promise<void>): Promise<void> => await write(bytes)
      await maker.addBundle(name, { proof: proofIn(bytes), shelf, make })
    } else if (name !== 'READ-ME-FIRST.html') {
      const [path, text] = change(name, bytes.toString('latin1')) ?? []
      if (path !== undefined && text !== undefined) maker.add(path, Buffer.from(text, 'latin1'))
    }
  })
  const all: Uint8Array[] = []
  await maker.write(async (bytes) => void all.push(bytes))
  return Buffer.concat(all)
}

const judge = async (bytes: Uint8Array, by: Policy | undefined = policy): Promise<JudgedPack> =>
  await judgePack(inPieces(bytes), { policy: by, nowMs: Date.parse('2027-01-01T00:00:00Z') })

const files = [
  'acme/tides',
  '--query',
  'answer.json',
  '--query',
  'warm.sql',
  '--receipt',
  'receipt.json',
  '--from',
  '0',
]

beforeAll(async () => {
  if (!runsWith('ledger')) return
  await live.call('/acme/tides', { method: 'PUT', json: { proofs: 'rows' } })
  for (const level of [4.25, 4.5, 3.75]) {
    const posted = await live.ingest('acme/tides', [{ event_time: '2026-01-01T00:00:00Z', harbour: 'Ostend', level }])
    receiptId = String(posted.at('receiptId'))
    const path = `/receipts/${receiptId}/proof`
    await until('a proof', async () => ((await live.call(path)).status === 200 ? true : undefined))
  }
  await writeFile(join(folder, 'warm.sql'), 'select max(level) as highest from acme.tides')
  await writeFile(join(folder, 'policy.txt'), (await live.call('/ledger/policy')).text)
  policy = parsePolicy(await readFile(join(folder, 'policy.txt')))
  for (const made of [
    ['query', 'select harbour, level from acme.tides', '--proof', 'answer.json'],
    ['receipt', receiptId, '--signed', '-o', 'receipt.json'],
    ['pack-evidence', ...files, '-o', 'pack.zip'],
  ]) {
    const { code, stderr } = await run(...made)
    if (code !== 0) throw new Error(stderr)
  }
  pack = new Uint8Array(await readFile(join(folder, 'pack.zip')))
}, 120_000)

describe.runIf(runsWith('ledger'))('an evidence pack', () => {
  test('holds what it was asked for, and nothing of it is found fault with', async () => {
    const { report, parts } = await judge(pack)
    expect([report.verdict, report.headline]).toEqual(['verified', 'Whole, and each file is as it was signed'])
    const names = ['answers/001.json', 'answers/002.json', 'receipts/001.json', 'statement.json', 'bundles/001.tar']
    expect(parts.map(({ path, report: { verdict } }) => [path, verdict])).toEqual(
      names.map((name) => [name, /^[rs]/.test(name) ? 'included' : 'verified']),
    )
    const { files: held } = await readPack(inPieces(pack), { policy })
    expect(held.filter(({ path }) => path.startsWith('ledger/'))).toHaveLength(7)
  })

  test('is judged by nobody whom the reader has not named', async () => {
    const { report } = await judgePack(inPieces(pack), { policy: undefined, nowMs: 0 })
    expect(report.verdict).toBe('not judged')
    const other = await run(
      'verify',
      'pack.zip',
      '--signer',
      'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    )
    expect(other.code).toBe(10)
  })

  test('has the same bytes again, in whichever pieces it is read', async () => {
    expect((await run('pack-evidence', ...files, '-o', 'again.zip')).stderr).toContain('can read all rows')
    expect(Buffer.compare(await readFile(join(folder, 'again.zip')), pack)).toBe(0)
    for (const pieceBytes of [1, 29, 1_000_000]) {
      const { report } = await judgePack(inPieces(pack, pieceBytes), { policy, nowMs: Date.now() })
      expect(report.verdict).toBe('verified')
    }
  })

  test('is a zip for others', async () => {
    const python = `python3 -c "import zipfile; z = zipfile.ZipFile('pack.zip'); assert z.testzip() is None; print(*z.namelist(), sep='\\n')"`
    const { stdout, code } = await runShell(python, { cwd: folder })
    expect(code).toBe(0)
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'READ-ME-FIRST.html',
      'answers/001.json',
      'answers/002.json',
      'bundles/001.tar',
    ])
  })

  test('shows each of 1,000 changed bytes, wherever it is', { timeout: 300_000 }, async () => {
    const next = random(47)
    const passed: number[] = []
    for (let tries = 0; tries < 1_000; tries++) {
      const at = Math.floor(next() * pack.length)
      const changed = pack.slice()
      changed[at] = (changed[at] ?? 0) ^ (1 + Math.floor(next() * 255))
      const { verdict } = (await judge(changed)).report
      if (verdict !== 'altered' && verdict !== 'no evidence') passed.push(at)
    }
    expect(passed).toEqual([])
  })

  test('is refused where it is cut, or goes on', async () => {
    for (const end of [20, 60, 5_000, pack.length - 1]) {
      expect((await judge(pack.subarray(0, end))).report.verdict).not.toBe('verified')
    }
    expect((await judge(new Uint8Array([...pack, 0]))).report.verdict).toBe('altered')
  })

  test('shows 60 changed files to the command, and a forged one among good ones', { timeout: 120_000 }, async () => {
    const next = random(48)
    const names = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const changed = pack.slice()
        const place = 4 + Math.floor(next() * (changed.length - 4))
        changed[place] = (changed[place] ?? 0) ^ 0x20
        await writeFile(join(folder, `changed-${at}.zip`), changed)
        return `changed-${at}.zip`
      }),
    )
    const { code, stdout } = await run('verify', 'pack.zip', ...names, '--policy', 'policy.txt', '-o', 'ndjson')
    const verdicts = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { verdict: string })
    expect(code).toBe(10)
    expect(verdicts.map(({ verdict }) => verdict)).toEqual([
      'verified',
      ...names.map((_, at) => (verdicts[at + 1]?.verdict === 'no evidence' ? 'no evidence' : 'altered')),
    ])
    // A reader that stops early changes no verdict.
    const program = join(repository, 'src/cli/evidence.ts')
    const piped = `node ${program} ${names.join(' ')} | head -1 > /dev/null; exit \${PIPESTATUS[0]}`
    expect((await runShell(`bash -c '${piped}'`, { cwd: folder })).code).toBe(10)
    // Without a policy the good ones are not judged (14): that hides no forgery.
    expect((await run('verify', 'pack.zip', 'changed-0.zip', 'changed-1.zip', '-o', 'ndjson')).code).toBe(10)
  })

  test('with a file by a key that nobody has named is not judged, whatever lies beside it', async () => {
    const stranger = await readFile('test/fixtures/answers/join.json', 'latin1')
    const mixed = await remade((path, text) => [path, path === 'answers/002.json' ? stranger : text])
    const { report } = await judge(mixed)
    expect([report.verdict, report.why[0]]).toEqual([
      'not judged',
      'answers/002.json is signed by a key that neither you nor a ledger of your policy has named.',
    ])
    const bare = await remade((path, text) => (/^(?:ledger|receipts|statement)/.test(path) ? undefined : [path, text]))
    expect((await judge(bare)).report.verdict).toBe('not judged')
    const signer = String(JSON.parse(await readFile(join(folder, 'answer.json'), 'utf8')).proof.verificationMethod)
    expect((await judgePack(inPieces(bare), { signer, nowMs: 0 })).report.verdict).toBe('verified')
    expect((await judgePack(inPieces(mixed), { signer, policy, nowMs: 0 })).report.verdict).toBe('altered')
  })

  test('made anew around a forged answer is altered, and so is one whose proofs are of other blocks', async () => {
    const made = async (change: Change): Promise<string> => (await judge(await remade(change))).report.verdict
    expect(await made((path, text) => [path, text])).toBe('verified')
    expect(await made((path, text) => [path, text.replace('"Ostend",4.25', '"Ostend",9.25')])).toBe('altered')
    const swapped: Readonly<Record<string, string>> = { 3: '4', 4: '3' }
    const swap = (path: string): string => path.replace(/[34](?=\.json)/, (digit) => swapped[digit] ?? digit)
    expect(await made((path, text) => [path.startsWith('ledger') ? swap(path) : path, text])).toBe('altered')
    // A receipt in the place of an answer.
    const receipt = await readFile(join(folder, 'receipt.json'), 'latin1')
    expect(await made((path, text) => [path, path === 'answers/001.json' ? receipt : text])).toBe('altered')
  })
})

test('a zip that is no pack is told as such, and sizes that lie cost nothing', async () => {
  const page = { name: 'READ-ME-FIRST.html', sizeBytes: 0xffff_0000, crc32: 0 }
  expect((await judge(zipHeader(page), undefined)).report.verdict).toBe('impossible')
  const other = { name: 'READ-ME-FIRST.html', sizeBytes: 0, crc32: crc32(new Uint8Array()) }
  const empty = Buffer.concat([zipHeader(other), zipEnd([other])])
  expect((await judge(empty, undefined)).report.why).toContain('It has neither an answer nor a receipt.')
  const twice = Buffer.concat([zipHeader(other), zipHeader(other), zipEnd([other, other])])
  expect((await judge(twice, undefined)).report.verdict).toBe('altered')
  for (const name of [
    'answers/002.json',
    '../answers/001.json',
    'answers/1.json',
    'ledger/001/000000000.json',
    'keys/other',
  ]) {
    const file = { name, sizeBytes: 0, crc32: 0 }
    const bytes = Buffer.concat([zipHeader(other), zipHeader(file), zipEnd([other, file])])
    expect((await judge(bytes, undefined)).report.verdict).toBe('altered')
  }
})
