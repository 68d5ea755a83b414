// Evidence packs in Python: of a pack that a node made, and of what was made of it, the client and the reader example say what
// `npx proofstream-verify` says, but for what they do not check. Each byte that is another is found.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { crc32 } from '../../src/libraries/base/crc32.ts'
import { PackMaker } from '../../src/libraries/evidence/pack/make-pack.ts'
import { readZip, zipEnd, zipHeader } from '../../src/libraries/evidence/pack/zip.ts'
import { runsWith } from '../helpers/features.ts'
import { liveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand, runFile } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'
import { until } from '../helpers/until.ts'
import { randomOf } from '../history/load.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-packs-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
const env = { PYTHONPATH: join(repository, 'clients/python/src'), PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' }
const inFolder = (name: string): string => join(folder, name)
let pack = Buffer.alloc(0)

/** Of Python: with 500 MB of address space, so that what a header says costs nothing. */
const limited = ['-c', 'ulimit -v 500000 && exec python3 "$@"', 'python3']
const npx = (...args: readonly string[]): Promise<Finished> =>
  runFile(process.execPath, [join(repository, 'src/cli/evidence.ts'), ...args], { cwd: folder })
const client = (...args: readonly string[]): Promise<Finished> =>
  runFile('bash', [...limited, '-m', 'proofstream', ...args], { cwd: folder, env })
const reader = (...args: readonly string[]): Promise<Finished> =>
  runFile('bash', [...limited, join(repository, 'examples/reader/ask.py'), '--check', ...args], { cwd: folder, env })
const programs = [npx, client, reader]

async function proofstream(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runCommand(args, {
    cwd: folder,
    env: { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken },
  })
  if (code !== 0) throw new Error(stderr)
}

beforeAll(async () => {
  if (!runsWith('ledger')) return
  let receipt = ''
  for (const level of [4.25, 4.5, 3.75]) {
    const rows = [{ event_time: '2026-01-01T00:00:00Z', harbour: '<Ostend> & "Nieuport\'s"', level }]
    for (const alias of ['acme/ships', 'acme/tides']) {
      receipt = String((await live.ingest(alias, rows, '?create=true')).at('receiptId'))
      await until('a proof', async () => (await live.call(`/receipts/${receipt}/proof`)).status === 200)
    }
  }
  await writeFile(inFolder('policy.txt'), (await live.call('/ledger/policy')).text)
  await writeFile(inFolder('high.sql'), `select max(level) as "<highest>"\nfrom acme.tides`)
  await proofstream('query', 'select harbour, level from acme.tides', '--proof', 'answer.json')
  const of = ['--query', 'answer.json', '--query', 'high.sql', '--receipt', receipt, '--from', '0']
  await proofstream('pack-evidence', 'acme/tides', 'acme/ships', ...of, '-o', 'pack.zip')
  pack = await readFile(inFolder('pack.zip'))
}, 120_000)

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** The saved answer in a bundle: its second file. */
function proofIn(tar: Buffer): Buffer {
  const sizeAt = (at: number): number => parseInt(tar.subarray(at + 124, at + 135).toString('latin1'), 8)
  const at = 512 + 512 * Math.ceil(sizeAt(0) / 512)
  return tar.subarray(at + 512, at + 512 + sizeAt(at))
}

/** Zip and page made anew around what `change` leaves of the files, by their names. */
async function remade(name: string, change: (files: Map<string, Buffer>) => void): Promise<string> {
  const files = new Map<string, Buffer>()
  await readZip(piecesOf(pack), async ({ name }, pieces) => {
    const all: Uint8Array[] = []
    for await (const piece of pieces) all.push(piece.slice())
    files.set(name, Buffer.concat(all))
  })
  files.delete('READ-ME-FIRST.html')
  change(files)
  const maker = new PackMaker()
  for (const [path, bytes] of files) {
    const shelf = { write: async () => {}, read: () => piecesOf(bytes) }
    const make = async (write: (bytes: Uint8Array) => Promise<void>): Promise<void> => await write(bytes)
    if (path.endsWith('.tar')) await maker.addBundle(path, { proof: proofIn(bytes), shelf, make })
    else maker.add(path, bytes)
  }
  const all: Uint8Array[] = []
  await maker.write(async (bytes) => void all.push(bytes))
  await writeFile(inFolder(name), Buffer.concat(all))
  return name
}

const elsewhere = 'python -m proofstream FILE, or npx proofstream-verify FILE.'
const rules =
  '  - Whether each event in the blocks keeps the rules of chains, as those of schemas and sources: proofstream verify --bundle FILE.'

/** The same in the words of the client, which does not look at the rules of events. */
function byClient(text: string): string {
  return text.replace(
    /in a bundle that is whole(.*?\n {2}- That what was recorded[^\n]*)/gs,
    `in a bundle with all its blocks and rows$1\n${rules}`,
  )
}

/** The same in the words of the reader example, which of a bundle reads the answer alone. */
function byReader(text: string): string {
  const blocks = `  - The blocks and rows of bundles, and whether the proofs are of these blocks: ${elsewhere}`
  return text
    .replace('each file is as it was signed', 'each file is as it was signed, as far as this program reads it')
    .replace(
      'each block is in its bundle, and',
      'each has the dataset of its bundle and the number of its name, and is',
    )
    .replace(/verify --bundle bundles\/\*\.tar\.\n/, `$&${blocks}\n`)
    .replace(/, in a bundle that is whole(\n[^\n]*in a bundle), with all its blocks and rows/g, '$1')
    .replace(
      /\n {2}- The bundle has the [^\n]*(.*?\n {2}- That what was recorded[^\n]*)/gs,
      `$1\n  - The blocks and rows of the bundle: ${elsewhere}`,
    )
}

/** First lines of reports: a mark and a headline. */
const headlines = ({ stdout }: Finished): string[] => stdout.split('\n').filter((line) => /^[✓✗?] /u.test(line))

/** The three programs find fault with each of the files, and say the same of it. Returns the headlines. */
async function refused(files: readonly string[]): Promise<string[]> {
  const said = await Promise.all(programs.map(async (program) => await program(...files, '--policy', 'policy.txt')))
  const [first, ...others] = said.map(headlines)
  for (const other of others) expect(other).toEqual(first)
  expect(first?.filter((line) => !/^✗ |^\? (?:No evidence|Cannot be judged here)/u.test(line))).toEqual([])
  expect(said.map(({ code }) => code)).toEqual(said.map(() => said[0]?.code))
  return first ?? []
}

describe.runIf(runsWith('ledger'))('of an evidence pack Python', () => {
  test.each([
    ['by a policy', ['--policy', 'policy.txt'], 0],
    ['by a policy, with hashes', ['--policy', 'policy.txt', '--verbose'], 0],
    ['by nobody', ['--verbose'], 14],
    ['by the signer', ['--signer', live.node.did, '--policy', 'policy.txt'], 0],
  ])('says what the command says, %s', async (_, trust, code) => {
    const said = await Promise.all(programs.map(async (program) => await program('pack.zip', ...trust)))
    expect(said.map((one) => [one.code, one.stderr])).toEqual(said.map(() => [code, '']))
    const [text, ofClient, ofReader] = said.map(({ stdout }) => stdout)
    for (const name of ['answers/002.json', 'receipts/001.json', 'statement.json', 'bundles/002.tar'])
      expect(text).toContain(`/${name}: a `)
    expect(ofClient).toBe(byClient(text ?? ''))
    expect(ofReader).toBe(byReader(text ?? ''))
  })

  test('does not judge a pack with a file by a key that nobody has named, whatever lies beside it', async () => {
    const stranger = await readFile(join(repository, 'test/fixtures/answers/join.json'))
    const mixed = await remade('mixed.zip', (files) => files.set('answers/002.json', stranger))
    const unstated = await remade('unstated.zip', (files) => files.delete('statement.json'))
    const bare = await remade('bare.zip', (files) => {
      for (const name of files.keys()) if (/^(?:ledger|receipts|statement)/.test(name)) files.delete(name)
    })
    const said = async (name: string, ...trust: readonly string[]): Promise<readonly unknown[]> => {
      const all = await Promise.all(programs.map(async (program) => await program(name, ...trust)))
      const [text = '', ofClient, ofReader] = all.map(({ stdout }) => stdout)
      expect([ofClient, ofReader]).toEqual([byClient(text), byReader(text)])
      return [...new Set(all.map(({ code }) => code)), text.split('\n')[2]]
    }
    const by = ['--policy', 'policy.txt']
    const named = (name: string): string =>
      `  ${name} is signed by a key that neither you nor a ledger of your policy has named.`
    expect(await said(mixed, ...by)).toEqual([14, named('answers/002.json')])
    expect(await said(unstated, ...by)).toEqual([14, named('answers/001.json')])
    expect(await said(bare)).toEqual([14, named('answers/001.json')])
    expect(await said(bare, '--signer', live.node.did)).toEqual([0, ''])
    const all = await Promise.all(programs.map(async (one) => await one(mixed, ...by, '--signer', live.node.did)))
    const why = '  answers/002.json: Do not trust this file.'
    expect(all.map(({ code, stdout }) => [code, stdout.split('\n')[2]])).toEqual(programs.map(() => [10, why]))
  })

  test('finds each of 300 bytes that are others, and where it is cut or goes on', async () => {
    const random = randomOf(51)
    const all = Array.from({ length: 300 }, () => {
      const changed = Buffer.from(pack)
      const at = random.between(0, pack.length - 1)
      changed[at] = (changed[at] ?? 0) ^ random.between(1, 255)
      return changed
    })
    const cuts = [25, 60, 5_000, pack.length - 1].map((end) => pack.subarray(0, end))
    all.push(...cuts, Buffer.concat([pack, Buffer.alloc(1)]))
    const names = all.map((_, at) => `changed-${at}.zip`)
    for (const [at, bytes] of all.entries()) await writeFile(inFolder(names[at] ?? ''), bytes)
    expect(await refused(names)).toHaveLength(names.length)
  })

  test('finds what somebody has made anew around a forged file, a proof of another block, a file in a foreign folder', async () => {
    const replace = (files: Map<string, Buffer>, path: string, [from, to]: readonly [string, string]): void => {
      const text = files.get(path)?.toString('latin1') ?? ''
      expect(text).toContain(from)
      files.set(path, Buffer.from(text.replace(from, to), 'latin1'))
    }
    const move = (files: Map<string, Buffer>, from: string, to: string): void =>
      void files.set(to, files.get(from) ?? Buffer.alloc(0))
    const [third, fourth] = ['ledger/001/000000003.json', 'ledger/001/000000004.json']
    const first = 'answers/001.json'
    const forged = [
      await remade('value.zip', (files) => replace(files, first, ['4.25', '9.25'])),
      await remade('receipt.zip', (files) => replace(files, 'receipts/001.json', ['"committed"', '"rejected"'])),
      await remade('proof.zip', (files) => replace(files, third, ['"index":', '"index":1'])),
      await remade('other-block.zip', (files) => move(files, third, fourth)),
      await remade('wrapped.zip', (files) =>
        files.set(fourth, Buffer.from(`{"evidence":${files.get(fourth)?.toString()}}`)),
      ),
      await remade('question.zip', (files) => replace(files, 'bundles/001.tar', ['SELECT count', 'SELECT COUNT'])),
      await remade('foreign.zip', (files) => move(files, first, 'receipts/001.json')),
      await remade('statement.zip', (files) => move(files, third, 'statement.json')),
      await remade('stated.zip', (files) => replace(files, 'statement.json', ['"version":"', '"version":"1'])),
      await remade('none.zip', (files) => files.set('answers/002.json', Buffer.from('{"a":"\\u0001\\u2028\'"}'))),
    ]
    for (const name of forged) {
      const said = await Promise.all(programs.map(async (one) => await one(name, '--policy', 'policy.txt')))
      expect([name, ...said.map((one) => [one.code, headlines(one)[0]])]).toEqual([
        name,
        ...said.map(() => [10, '✗ Do not trust this pack']),
      ])
    }
    const block = await remade('block.zip', (files) => {
      const tar = files.get('bundles/001.tar') ?? Buffer.alloc(0)
      tar[tar.length >> 1] = (tar[tar.length >> 1] ?? 0) ^ 1
    })
    expect([(await npx(block)).code, (await client(block)).code]).toEqual([10, 10])
    expect((await reader(block)).stdout).toContain(`The blocks and rows of the bundle: ${elsewhere}`)
    // One that is altered is not hidden by one that is not judged.
    for (const program of programs) expect((await program('pack.zip', 'value.zip')).code).toBe(10)
  })
})

test('Python refuses a zip that is none of a pack, in the memory that its bytes take', async () => {
  const file = (name: string, sizeBytes = 2, sum = crc32(utf8('{}'))) => ({ name, sizeBytes, crc32: sum })
  const bytesOf = (...names: readonly string[]): Buffer => {
    const files = ['READ-ME-FIRST.html', ...names].map((name) => file(name))
    return Buffer.concat([...files.flatMap((one) => [zipHeader(one), utf8('{}')]), zipEnd(files)])
  }
  const page = bytesOf().subarray(0, 30 + 18 + 2)
  const many = Array.from({ length: 65_001 }, (_, at) => `ledger/001/${String(at).padStart(9, '0')}.json`)
  const zips: readonly (readonly [code: number, bytes: Uint8Array])[] = [
    [10, bytesOf()],
    [10, bytesOf('READ-ME-FIRST.html')],
    [10, bytesOf('answers/001.json', 'answers/001.json')],
    [10, bytesOf('answers/../answers/001.json')],
    [10, bytesOf('../answers/001.json')],
    [10, bytesOf('answers/000.json')],
    [10, bytesOf('answers/002.json')],
    [10, bytesOf('ledger/001/000000000.json')],
    [10, bytesOf('keys/did.json', 'answers/001.json')],
    [10, bytesOf('a'.repeat(199))],
    [10, bytesOf('answers/001.json')],
    [11, zipHeader(file('READ-ME-FIRST.html', 0xffff_0000))],
    [11, Buffer.concat([page, zipHeader(file('answers/001.json', 0xffff_ffff))])],
    [10, Buffer.concat([page, zipHeader(file('bundles/001.tar', 0xffff_ffff)), Buffer.alloc(600)])],
    [
      11,
      Buffer.concat(
        [page, ...['bundles/001.tar', ...many].flatMap((name) => [zipHeader(file(name)), utf8('{}')])].map((one) =>
          Buffer.from(one),
        ),
      ),
    ],
  ]
  for (const [at, [code, bytes]] of zips.entries()) {
    const name = `hostile-${at}.zip`
    await writeFile(inFolder(name), bytes)
    const said = await Promise.all(programs.map(async (program) => await program(name)))
    expect([name, said.map((one) => [one.code, one.stderr])]).toEqual([name, said.map(() => [code, ''])])
    expect(new Set(said.map((one) => headlines(one).join())).size).toBe(1)
  }
})
