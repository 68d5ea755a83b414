// `ledger audit` of ledgers that are as they were signed, and of those that are not: changed, shorter, without end, of another
// key, split between two audits, out of order, or of other blocks than the chains that the auditor may read.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { toHex, utf8 } from '../../src/libraries/base/bytes.ts'
import { blockTag, datasetTag, entryBytes, noRoot } from '../../src/libraries/ledger/entry.ts'
import {
  allSecrets,
  blockSalt,
  datasetSaltOf,
  secretOf,
  secretsToJson,
  secretsUpTo,
} from '../../src/libraries/ledger/secrets.ts'
import { statementBytes, statementEntry } from '../../src/libraries/ledger/statement.ts'
import { runCommand } from '../helpers/run-node.ts'
import { keyText, origin, twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
import { nodeKey } from '../libraries/ledger/receipts.ts'
import { sha256 } from '../libraries/ledger/rfc6962.ts'
import { headOf, serve, type Served, servedLedger } from './served-ledger.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-audit-'))
const ledger = new SmallLedger(800)
const policy = join(folder, 'policy')
await writeFile(policy, twoOfThree)

const blocks = (count: number): Uint8Array[] => ledger.blocks.slice(0, count).map(({ entry }) => entry)

async function audit(files: Served, ...args: string[]) {
  files.set('/datasets', files.get('/datasets') ?? '{"datasets":[]}')
  await using node = await serve(files)
  const { code, stdout, stderr } = await runCommand(['ledger', 'audit', node.url, '--policy', policy, ...args], {
    cwd: folder,
  })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { code, findings: told.slice(0, -1), summary: told.at(-1) ?? {}, stderr, asked: node.asked, url: node.url }
}

describe.concurrent('an audit', () => {
  test('recomputes tiles and root, and says who has witnessed the head', async () => {
    const { code, summary, asked, url, stderr } = await audit(servedLedger(blocks(700)).files)
    expect({ code, summary, stderr }).toEqual({
      code: 0,
      stderr: '',
      summary: {
        verdict: 'consistent',
        code: 0,
        ledger: { origin, size: 701, root: expect.any(String), address: `${url}/ledger` },
        headAt: '2026-05-28T20:26:43.000Z',
        ageSeconds: expect.any(Number),
        quorum: 'met',
        witnessed: [expect.objectContaining({ name: 'W1' }), expect.objectContaining({ name: 'W3' })],
        policy,
        findings: 0,
        entered: 3,
        statements: [{ index: 0, time: expect.any(String), version: '0.3.0', node: nodeKey.did }],
        compared: { datasets: 0, blocks: 0, recomputed: 0, waiting: 0, unknown: 0, outside: 0 },
      },
    })
    const tiles = ['000', '001', '002.p/189'].flatMap((name) => [`tile/entries/${name}`, `tile/0/${name}`])
    expect(asked.filter((path) => path.includes('/tile/')).sort()).toEqual(
      [...tiles, 'tile/1/000.p/2'].map((name) => `/ledger/${name}`).sort(),
    )
    expect((await audit(servedLedger(blocks(9), [2]).files)).code).toBe(13)
  })

  test('takes the policy of the node where it is given none, and the address of the ledger itself', async () => {
    const { files } = servedLedger(blocks(9))
    files.set('/datasets', '{"datasets":[]}')
    await using node = await serve(files)
    const { code, stdout } = await runCommand(['ledger', 'audit', `${node.url}/ledger/`], { cwd: folder })
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ policy: `of ${node.url}` })])
    files.delete('/ledger/policy')
    expect((await runCommand(['ledger', 'audit', node.url], { cwd: folder })).code).toBe(14)
    expect((await runCommand(['ledger', 'audit', 'here'], { cwd: folder })).code).toBe(2)
    const { stdout: table } = await runCommand(['ledger', 'audit', node.url, '--policy', policy, '-o', 'table'])
    expect(table).toMatch(/^verdict +consistent$/m)
  })

  test('goes on from the head that it kept, and says where the ledger does not', async () => {
    const state = join(folder, 'state')
    const audited = async (files: Served) => audit(files, '--state', state)
    expect((await audited(servedLedger(blocks(300)).files)).code).toBe(0)
    const kept = await readFile(state, 'utf8')
    expect(kept).toContain(`${origin}\n301\n`)
    expect((await audited(servedLedger(blocks(300)).files)).summary).toMatchObject({ code: 0, since: 301 })
    expect((await audited(servedLedger(blocks(700)).files)).summary).toMatchObject({ code: 0, since: 301 })
    const newer = await readFile(state, 'utf8')

    const shorter = await audited(servedLedger(blocks(500)).files)
    expect([shorter.code, shorter.summary]).toEqual([
      10,
      expect.objectContaining({ verdict: 'altered', heads: [newer, expect.stringContaining('\n501\n')] }),
    ])
    expect(shorter.stderr).toContain('it had 701 entries before, and shows 501 now')
    await writeFile(state, kept)
    const split = blocks(700)
    ;[split[20], split[21]] = [split[21]!, split[20]!]
    const other = await audited(servedLedger(split).files)
    expect([other.code, other.stderr]).toEqual([10, expect.stringContaining('its first 301 entries are others')])
    expect(await readFile(state, 'utf8')).toBe(kept)
    await writeFile(state, 'nothing')
    expect((await audited(servedLedger(blocks(300)).files)).stderr).toContain('has no head of this ledger')
  })

  test('finds what was changed, left out or made endless', async () => {
    const changed = async (change: (files: Served) => void) => {
      const { files } = servedLedger(blocks(700))
      change(files)
      return (await audit(files)).code
    }
    const flip = (path: string, at: number) => (files: Served) => {
      const bytes = Uint8Array.from(files.get(path) as Uint8Array)
      bytes[at]! ^= 1
      files.set(path, bytes)
    }
    const endless = (path: string) => (files: Served) =>
      files.set(path, (response) => {
        response.writeHead(200)
        const more = (): void => {
          while (response.write(new Uint8Array(65_536)));
          response.once('drain', more)
        }
        more()
      })
    expect({
      'a hash of a full tile': await changed(flip('/ledger/tile/0/001', 5)),
      'a hash of the last tile': await changed(flip('/ledger/tile/0/002.p/189', 32 * 188)),
      'a hash of a higher level': await changed(flip('/ledger/tile/1/000.p/2', 5)),
      'an entry': await changed(flip('/ledger/tile/entries/001', 100)),
      'the kind of an entry': await changed(flip('/ledger/tile/entries/001', 2)),
      'a head by another key': await changed((files) => {
        const head = Buffer.from(files.get('/ledger/checkpoint') as Uint8Array).toString()
        files.set('/ledger/checkpoint', head.replace(/^(— node\S+ .{20})./m, '$1/'))
      }),
      'a larger head over the same tiles': await changed((files) =>
        files.set('/ledger/checkpoint', headOf([...blocks(700), ...blocks(3)])),
      ),
      'a tile without end': await changed(endless('/ledger/tile/0/000')),
      'entries without end': await changed(endless('/ledger/tile/entries/002.p/189')),
      'no head': await changed((files) => files.delete('/ledger/checkpoint')),
      'no tile': await changed((files) => files.delete('/ledger/tile/1/000.p/2')),
      'no statement': await changed((files) => {
        for (const path of files.keys()) if (path.includes('/statements/')) files.delete(path)
      }),
    }).toEqual({
      'a hash of a full tile': 10,
      'a hash of the last tile': 10,
      'a hash of a higher level': 10,
      'an entry': 10,
      'the kind of an entry': 11,
      'a head by another key': 10,
      'a larger head over the same tiles': 11,
      'a tile without end': 10,
      'entries without end': 10,
      'no head': 14,
      'no tile': 11,
      'no statement': 11,
    })
  })

  test('reads a tile that has become full since', async () => {
    const { files, entries } = servedLedger(blocks(700))
    files.set('/ledger/checkpoint', headOf(entries.slice(0, 600)))
    const full = servedLedger(blocks(767)).files
    for (const name of ['entries', '0']) files.set(`/ledger/tile/${name}/002`, full.get(`/ledger/tile/${name}/002`)!)
    expect((await audit(files)).code).toBe(0)
  })

  test('finds sequences that come twice, are missing, or begin late', async () => {
    const all = blocks(12)
    // Dataset 0 has the entries 0, 3, 6, 9; dataset 1 begins with its second.
    const entries = [all[0]!, all[3]!, all[3]!, all[9]!, all[4]!]
    const { code, findings, summary } = await audit(servedLedger(entries).files)
    expect([code, findings, summary]).toEqual([
      10,
      [
        expect.objectContaining({ finding: 'twice', sequence: 1, index: 3 }),
        expect.objectContaining({ finding: 'missing', sequence: 3, index: 4 }),
        expect.objectContaining({ finding: 'missing', sequence: 1, index: 5 }),
      ],
      expect.objectContaining({ verdict: 'contradicted', findings: 3 }),
    ])
  })

  test('finds a statement of another ledger, and a ledger that does not begin with one', async () => {
    const foreign = statementBytes(
      {
        ledger: { origin: 'other.example', keys: [keyText('other.example', 1, 1)] },
        version: '1',
        engines: [],
        retired: [],
        time: '2026-05-01T00:00:00Z',
      },
      nodeKey,
    )
    const entry = statementEntry(foreign)
    const { files } = servedLedger([entryBytes(entry)])
    files.set(`/ledger/statements/${toHex(entry.hash)}`, foreign)
    expect((await audit(files)).findings).toEqual([expect.objectContaining({ finding: 'another ledger', index: 1 })])
  })
})

describe.concurrent('an audit by somebody who may read datasets', () => {
  const id = `did:odf:fed01${'ab'.repeat(32)}`
  const key = sha256(utf8('a ledger key'))
  const salt = datasetSaltOf(key)
  const hashOf = (sequence: number): string => `f1620${toHex(sha256(utf8(`block ${sequence}`)))}`
  const entryOf = (sequence: number, hash = hashOf(sequence), batchRoot = noRoot): Uint8Array =>
    entryBytes({
      kind: 'block',
      datasetTag: datasetTag(salt, id),
      sequence,
      blockTag: blockTag(blockSalt(secretOf(allSecrets(key), sequence)!), hash),
      batchRoot,
      rowRoot: noRoot,
    })

  /** A chain of `length` blocks, whose ledger has these entries. */
  async function audited(
    entries: readonly Uint8Array[],
    length: number,
    {
      systemTime = '2026-05-01T00:00:00.000Z',
      first = {},
      list = [],
      hidden = [],
      more = {},
      args = [],
    }: {
      systemTime?: string
      first?: object
      list?: readonly object[]
      hidden?: readonly number[]
      more?: Record<string, Parameters<Served['set']>[1]>
      args?: readonly string[]
    } = {},
  ) {
    const { files } = servedLedger(entries)
    const listed = Array.from({ length }, (_, i) => ({
      hash: hashOf(length - 1 - i),
      sequence: length - 1 - i,
      systemTime,
      event: {},
      ...(i === 0 ? first : {}),
    })).filter(({ sequence }) => !hidden.includes(sequence))
    const keys = secretsToJson(secretsUpTo(allSecrets(key), length - 1))
    const others = [{ id: `did:odf:fed01${'cd'.repeat(32)}`, alias: 'me/private' }]
    files.set('/datasets', JSON.stringify({ datasets: [{ id, alias: 'me/lab' }, ...others, ...list] }))
    files.set('/me/lab/metadata', JSON.stringify({ output: { ledger: { salt: toHex(salt), keys } } }))
    files.set('/me/private/metadata', JSON.stringify({ output: {} }))
    files.set('/me/late/metadata', JSON.stringify({ output: {} }))
    files.set('/me/late/blocks', JSON.stringify({ blocks: listed.slice(-1) }))
    files.set('/ledger', JSON.stringify({ origin, state: 'late', behind: { blocks: 3, seconds: 900 } }))
    files.set('/me/lab/blocks', JSON.stringify({ blocks: listed }))
    for (const [path, file] of Object.entries(more)) files.set(path, file)
    return await audit(files, ...args)
  }
  const entries = (count: number): Uint8Array[] => Array.from({ length: count }, (_, i) => entryOf(i))

  test('finds all blocks in their places', async () => {
    const { code, summary } = await audited(entries(9), 9)
    expect([code, summary['compared']]).toEqual([
      0,
      { datasets: 1, blocks: 9, recomputed: 0, waiting: 0, unknown: 0, outside: 1 },
    ])
  })

  test('finds a block that is missing, unless it is young', async () => {
    const { code, findings } = await audited(entries(8), 9)
    expect([code, findings]).toEqual([
      10,
      [expect.objectContaining({ finding: 'missing', dataset: 'me/lab', sequence: 8 })],
    ])
    const young = await audited(entries(8), 9, { systemTime: new Date(Date.now() + 60_000).toISOString() })
    expect([young.code, young.summary['compared']]).toEqual([0, expect.objectContaining({ waiting: 1 })])
  })

  test('finds a dataset of which the ledger should have blocks and has none, and says what the node says', async () => {
    const late = { id: `did:odf:fed01${'ef'.repeat(32)}`, alias: 'me/late', ledger: true }
    const found = await audited(entries(9), 9, { list: [late] })
    expect([found.code, found.findings]).toEqual([
      10,
      [expect.objectContaining({ finding: 'missing', dataset: 'me/late', sequence: 0 })],
    ])
    expect(found.summary).toMatchObject({ state: 'late', behind: { blocks: 3, seconds: 900 } })
    const young = await audited(entries(9), 9, {
      list: [late],
      systemTime: new Date(Date.now() + 60_000).toISOString(),
    })
    expect([young.code, young.summary['compared']]).toEqual([0, expect.objectContaining({ waiting: 1, outside: 1 })])
    expect((await audited(entries(9), 9, { list: [{ ...late, ledger: false }] })).code).toBe(0)
  })

  test('finds an entry of another block, and one that the chain does not have', async () => {
    const swapped = entries(9)
    swapped[4] = entryOf(4, hashOf(77))
    const { code, findings } = await audited(swapped, 9)
    expect([code, findings]).toEqual([
      10,
      [expect.objectContaining({ finding: 'another block', dataset: 'me/lab', sequence: 4 })],
    ])
    expect((await audited(entries(9), 7)).findings).toEqual([
      expect.objectContaining({ finding: 'not in the chain', dataset: 'me/lab', sequence: 7 }),
    ])
  })

  test('finds blocks that the chain leaves out of its list', async () => {
    const found = async (...hidden: number[]) => (await audited(entries(9), 9, { hidden })).findings
    const not = (sequence: number) => [
      expect.objectContaining({ finding: 'not in the chain', dataset: 'me/lab', sequence }),
    ]
    expect(await found(4)).toEqual(not(4))
    expect(await found(3, 4)).toEqual(not(4))
    expect(await found(0)).toEqual(not(0))
    expect(await found(8)).toEqual(not(8))
    const twice = await audited(entries(9), 9, { hidden: [7], first: { sequence: 8 }, list: [] })
    expect(twice.findings).toEqual(not(7))
  })

  test('takes no word of a node that a block may wait for longer than a day', async () => {
    const told = (systemTime: string) => {
      const more = { '/ledger': JSON.stringify({ origin, state: 'running', delay: '87600h' }) }
      return audited(entries(8), 9, { systemTime, more })
    }
    const before = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
    expect((await told(before(23))).code).toBe(0)
    expect((await told(before(25))).findings).toEqual([expect.objectContaining({ finding: 'missing', sequence: 8 })])
  })

  test('recomputes roots until they were read and are right, also where it broke off', async () => {
    const args = ['--state', join(folder, 'roots')]
    const one = [...entries(8), entryOf(8, hashOf(8), new Uint8Array(32).fill(7))]
    const path = `/me/lab/blocks/${hashOf(8)}`
    const codes: (number | null)[] = []
    const audits = async (more: Record<string, Parameters<Served['set']>[1]>) =>
      codes.push((await audited(one, 9, { args, more })).code)
    await audits({ [path]: (response) => response.writeHead(400).end() })
    await audits({ [path]: 'other bytes' })
    await audits({ [path]: 'other bytes' })
    expect(codes).toEqual([5, 10, 10])
    expect(await readFile(join(folder, 'roots.unchecked'), 'utf8')).toBe('0')
    // No object of it is there any more: that is no fault, and looked for again.
    await audits({})
    expect(codes.at(-1)).toBe(0)
    expect(await readFile(join(folder, 'roots.unchecked'), 'utf8')).toBe('0')
  })

  test('counts each block of which an object is gone, in every audit', async () => {
    const args = ['--state', join(folder, 'gone')]
    const root = new Uint8Array(32).fill(7)
    const all = Array.from({ length: 9 }, (_, i) => entryOf(i, hashOf(i), i < 7 ? root : noRoot))
    for (let audits = 0; audits < 2; audits++) {
      const { code, summary } = await audited(all, 9, { args })
      expect([code, summary['compared']]).toEqual([0, expect.objectContaining({ blocks: 9, unknown: 7 })])
    }
  })

  test('bears a node that says what no node says', async () => {
    for (const sequence of [-1, 1.5, 1e300, 'x', null]) {
      expect([sequence, (await audited(entries(9), 9, { first: { sequence } })).code]).toEqual([sequence, 1])
    }
    const nameless = await audited(entries(9), 9, { first: { hash: 'x' } })
    expect(nameless.findings).toEqual([expect.objectContaining({ finding: 'another block', sequence: 8 })])
    const far = [...entries(2), entryOf(2 ** 39), entryOf(2 ** 39 + 1)]
    const { code, findings } = await audited(far, 2)
    expect([code, findings.map(({ finding, index }) => [finding, index])]).toEqual([
      10,
      [
        ['missing', 3],
        ['missing', 4],
      ],
    ])
  })

  test('names the dataset whose entries come twice', async () => {
    const { findings } = await audited([...entries(9), entryOf(3, hashOf(99))], 9)
    expect(findings).toEqual([expect.objectContaining({ finding: 'twice', dataset: 'me/lab', sequence: 3, index: 10 })])
  })
})
