// A bundle, made and run again: by the command line, without the node, over public and private chains; its form is that of
// other tar programs; what `verify --bundle` says is what `/verify` says.

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { verifyBundle } from '../../../src/app/verify-bundle.ts'
import { randomStatement } from '../engine/statement-corpus.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { runCommand } from '../../helpers/run-node.ts'
import {
  bundleOf,
  command,
  filesOf,
  folder,
  isGnuTar,
  isPython,
  newPath,
  packedByTar,
  readByPython,
  savedProof,
  signedByStranger,
} from './support.ts'

const live = await liveNode()
const { limits } = loadConfig({})
const sql = 'select g, count(*) as n, sum(k) as total from "acme/t" group by g'
let proof = ''
let bundle = ''
let middle = ''

beforeAll(async () => {
  const field = (name: string, type: unknown) => ({ name, type })
  const optional = (kind: string) => ({ kind: 'Option', inner: { kind } })
  const fields = [
    field('k', optional('Int32')),
    field('m', optional('Int64')),
    field('x', optional('Float64')),
    field('z', optional('Float64')),
    field('g', optional('String')),
    field('d', optional('Date')),
    field('p', { kind: 'Option', inner: { kind: 'Decimal', precision: 9, scale: 2 } }),
    field('b', optional('Bool')),
    field('q', optional('Int32')),
  ]
  const put = async (alias: string, body: object): Promise<unknown> =>
    await live.call(`/${alias}`, { method: 'PUT', json: body })
  await put('acme/t', { schema: { fields } })
  await put('acme/u', {
    visibility: 'private',
    schema: {
      fields: [field('k', optional('Int32')), field('name', optional('String')), field('w', optional('Float64'))],
    },
  })
  const hash = (text: string): number => createHash('sha256').update(text).digest().readUInt32LE()
  for (let block = 0; block < 7; block++) {
    const rows = Array.from({ length: 40 + 90 * block }, (_, at) => {
      const i = `${block} ${at}`
      return {
        k: hash(`k${i}`) % 7,
        m: hash(`m${i}`) % 900,
        x: hash(`n${i}`) % 9 === 0 ? null : (hash(`x${i}`) % 100000) / 7e3 - 4,
        z: hash(`z${i}`) % 2 === 0 ? 0 : -0,
        g: `g${hash(`g${i}`) % 12}`,
        d: new Date(1.7e12 + 864e5 * (hash(`d${i}`) % 400)).toISOString().slice(0, 10),
        p: ((hash(`p${i}`) % 10000) / 100).toFixed(2),
        b: hash(`b${i}`) % 2 === 0,
        q: block,
      }
    })
    await live.ingest('acme/t', rows)
    if (block === 3) middle = (await live.head('acme/t')) ?? ''
  }
  await live.ingest(
    'acme/u',
    Array.from({ length: 9 }, (_, k) => ({ k, name: `n${k}`, w: k / 3 })),
  )
  proof = (await live.query(sql, { include: ['Proof'] })).text
  bundle = await bundleOf(live, proof)
})

describe('a bundle', () => {
  it('is run again by the command line, without any node; nothing stays behind', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    const { code, stdout, stderr } = await runCommand(['verify', '--bundle', bundle], {
      cwd: empty,
      env: { PROOFSTREAM_SERVER: 'http://127.0.0.1:9', TMPDIR: empty },
    })
    expect({ code, stderr, left: readdirSync(empty) }).toEqual({ code: 0, stderr: '', left: [] })
    const said = JSON.parse(stdout) as Readonly<Record<string, unknown>>
    expect(said).toMatchObject({
      ok: true,
      checks: { signature: 'passed', outputHash: 'passed', reproduction: 'passed' },
      bundle: { rows: 2170, slices: 7, bytes: statSync(bundle).size },
      engine: { stability: 'exact' },
    })
    const texts = JSON.stringify(said['explanation'])
    expect(texts).toMatch(/acme\/t \(did:odf:\w+\) up to block f1620\w+, made 20/)
    expect(texts).not.toContain('must run the question again')
  })

  it('is known by its content', async () => {
    const { code, stdout } = await runCommand(['verify', bundle], { env: { PROOFSTREAM_SERVER: 'http://127.0.0.1:9' } })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ checks: { reproduction: 'passed' }, bundle: { rows: 2170 } })
  })

  it('leaves nothing behind where the command is stopped while it runs', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const dir = mkdtempSync(join(folder, 'stopped-'))
      const { code } = await runCommand(['verify', '--bundle', bundle], {
        cwd: dir,
        env: { TMPDIR: dir },
        onStart: (child) => {
          const timer = setInterval(() => {
            if (readdirSync(dir).length === 0) return
            clearInterval(timer)
            child.kill(signal)
          }, 5)
        },
      })
      expect({ code, left: readdirSync(dir) }).toEqual({ code: 130, left: [] })
    }
  })

  it('is said to hold all rows before it is written, and can be written once', async () => {
    const path = newPath('tar')
    const saved = await savedProof(proof)
    const made = await command(live, ['bundle', saved, '-o', path])
    expect(made.stderr).toMatch(
      /^the bundle holds all 2170 rows of \d+ blocks, \d+ bytes. Anyone who has the file can read them\n$/,
    )
    expect(JSON.parse(made.stdout)).toMatchObject({ bundle: path, rows: 2170, slices: 7, bytes: statSync(path).size })
    expect(await readFile(path), 'the same proof gives the same bytes').toEqual(await readFile(bundle))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const beside = await command(live, ['bundle', saved])
    expect(beside.code).toBe(0)
    expect(readdirSync(folder)).toContain(saved.slice(folder.length + 1).replace('.json', '.tar'))
  })

  it('of a proof at an earlier block, under several names, and over private rows, is run again', async () => {
    const id = (JSON.parse(proof) as { input: { datasets: { id: string }[] } }).input.datasets[0]?.id ?? ''
    const older = { id, alias: 'older', blockHash: middle }
    const both = await live.query(
      'select (select count(*) from older) as a, (select count(*) from t) as b, max(name) from u',
      {
        include: ['Proof'],
        datasets: [older, { id, alias: 't' }, { id: (await idOf('acme/u')) ?? '', alias: 'u' }],
      },
    )
    expect(both.at('output.data')).toEqual([[700, 2170, 'n8']])
    const path = await bundleOf(live, both.text)
    expect(await verdictOf(path)).toBe('passed')
    const old = await live.query('select count(*) from older', { include: ['Proof'], datasets: [older] })
    const small = await bundleOf(live, old.text)
    expect(await verdictOf(small)).toBe('passed')
    expect((await filesOf(small)).filter(({ path }) => path.includes('/data/'))).toHaveLength(4)
    const none = await live.query('select 6 * 7 as answer', { include: ['Proof'] })
    const bare = await bundleOf(live, none.text)
    expect((await filesOf(bare)).map(({ path }) => path)).toEqual(['manifest.json', 'proof.json', 'engine.json'])
    expect(await verdictOf(bare)).toBe('passed')
  })

  it('is made only of a good proof, of datasets that the caller may read', async () => {
    const forged = await command(live, ['bundle', await savedProof(proof.replace('"g0"', '"gX"'))])
    expect(forged).toMatchObject({ code: 10, stdout: '' })
    const other = await command(live, ['bundle', bundle])
    expect(other.code).toBe(5)
    expect(other.stderr).toContain('it is a bundle, which holds one')
    const hidden = await live.query('select count(*) from "acme/u"', { include: ['Proof'] })
    const saved = await savedProof(hidden.text)
    const anonymous = await runCommand(['bundle', saved], { cwd: folder, env: { PROOFSTREAM_SERVER: live.node.url } })
    expect(anonymous).toMatchObject({ code: 3, stdout: '' })
    expect(anonymous.stderr).toContain('DatasetNotFound')
  })
})

async function idOf(alias: string): Promise<string | undefined> {
  const answer = await live.call(`/${alias}/metadata`)
  return answer.at('output.seed.datasetId') as string | undefined
}

/** `passed`, or the kind of the failure. */
async function verdictOf(path: string): Promise<string> {
  const found = await verifyBundle(path, { limits })
  if (found.outcome === 'proof') return found.verdict.kind
  if (found.outcome === 'bundle') return found.fault.sentence
  return found.failure === undefined ? 'passed' : found.failure.error.kind
}

describe('the form of a bundle', () => {
  it.skipIf(!isGnuTar)('is that which GNU tar gives the same files', async () => {
    expect(packedByTar(bundle).equals(readFileSync(bundle))).toBe(true)
  })

  it.skipIf(!isPython)('is read by tarfile of Python, whose hashlib gives the hashes that the manifest has', () => {
    expect(readByPython(bundle)).toBeGreaterThan(15)
  })

  it('is in canonical JSON, its slices are those that the node serves', async () => {
    const [manifest, saved, , ...objects] = await filesOf(bundle)
    expect(Buffer.from(saved?.bytes ?? []).toString()).toBe(proof)
    const text = Buffer.from(manifest?.bytes ?? []).toString()
    expect(text).toMatch(
      /^\{"datasets":\[\{"blocks":\[\["f1620[0-9a-f]{64}",\d+\],.*\],"engine":\["f1620[0-9a-f]{64}",\d+\],"kind":"proofstream-bundle","ledger":\[\],"proof":\["f1620[0-9a-f]{64}",\d+\],"version":1\}$/,
    )
    for (const { path, bytes } of objects) {
      const [kind, hash] = path.split('/').slice(2)
      const served = await live.call(`/acme/t/${kind}/${hash}`, { headers: { accept: 'application/octet-stream' } })
      expect(Buffer.from(bytes).equals(served.bytes)).toBe(true)
    }
  })
})

describe('a proof that is well signed', () => {
  it('and wrong is told as /verify tells it', async () => {
    const { input } = JSON.parse(proof) as { input: { queryDialect: string; query: string } }
    const wrong = {
      rows: { output: { data: [['g0', 1, 2]] } },
      engine: { input: { queryDialect: 'SqlDuckDb/1.4.3-2' }, output: { data: [['g0', 1, 2]] } },
      dialect: { input: { queryDialect: 'SqlDataFusion' } },
      none: { input: { queryDialect: 'SqlDuckDb/9.9.9-3' } },
      clock: { input: { query: `${input.query} having now() is not null` } },
      refused: { input: { query: 'select * from read_csv(\'/etc/passwd\'), "acme/t"' } },
      unpinned: { input: { query: 'select count(*) from "acme/t", "acme/u"' } },
      syntax: { input: { query: 'selec' } },
    }
    const kinds: Record<string, string> = {}
    for (const [name, changes] of Object.entries(wrong)) {
      const text = signedByStranger(proof, changes)
      const told = await live.call('/verify', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text,
      })
      const path = await bundleOf(live, text)
      const kind = await verdictOf(path)
      expect({ name, kind }).toEqual({ name, kind: told.at('error.kind') })
      kinds[name] = kind
    }
    expect(kinds).toEqual({
      rows: 'VerificationFailed::OutputMismatch',
      engine: 'VerificationInconclusive::EngineUnavailable',
      dialect: 'UnsupportedDialect',
      none: 'UnsupportedDialect',
      clock: 'VerificationFailed::NotReproducible',
      refused: 'QueryNotAllowed',
      unpinned: 'InvalidRequest::UnpinnedDataset',
      syntax: 'SqlSyntax',
    })
  })

  it('ends the command with the codes of its documentation', async () => {
    const run = async (changes: object, ...more: string[]): Promise<unknown> => {
      const { code, stdout } = await command(live, [
        'verify',
        '--bundle',
        await bundleOf(live, signedByStranger(proof, changes)),
        ...more,
      ])
      const said = stdout === '' ? {} : (JSON.parse(stdout) as { ok: boolean; checks: { reproduction: string } })
      return [code, said]
    }
    const rows = { output: { data: [['g0', 1, 2]] } }
    expect(await run(rows)).toMatchObject([10, { ok: false, checks: { reproduction: 'failed' } }])
    const engine = { ...rows, input: { queryDialect: 'SqlDuckDb/1.4.3-2' } }
    expect(await run(engine)).toMatchObject([11, { ok: false, checks: { reproduction: 'absent' } }])
    expect(await run({}, '--signer', live.node.did)).toMatchObject([10, { ok: false }])
    expect(await run({}, '--offline')).toMatchObject([2, {}])
  })

  it('is known for one without the option, alone and among other files', async () => {
    const [bundle, answer] = [await bundleOf(live, proof), await savedProof(proof)]
    const alone = await command(live, ['verify', bundle])
    expect(alone).toEqual(await command(live, ['verify', '--bundle', bundle]))
    expect(alone.code).toBe(0)
    expect((await command(live, ['verify', bundle, answer])).code).toBe(0)
  })

  it('gets the same verdict from its bundle as from /verify, whatever it asks', async () => {
    const [t, u] = [await idOf('acme/t'), await idOf('acme/u')]
    const blocks = (await live.call('/acme/t/blocks?limit=6')).at('blocks') as { hash: string }[]
    await fc.assert(
      fc.asyncProperty(randomStatement, fc.constantFrom(...blocks), fc.boolean(), async (query, { hash }, isForged) => {
        const datasets = [
          { id: t, alias: 't', blockHash: hash },
          { id: u, alias: 'u' },
        ]
        const answer = await live.query(query, { include: ['Proof', 'Schema'], datasets, limit: 1000 })
        fc.pre(answer.status === 200)
        const text = isForged ? signedByStranger(answer.text, { output: { truncated: true } }) : answer.text
        const told = await live.call('/verify', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: text,
        })
        const kind = told.status === 200 ? 'passed' : told.at('error.kind')
        expect({ query, kind: await verdictOf(await bundleOf(live, text)) }).toEqual({ query, kind })
      }),
      { numRuns: Number(process.env['BUNDLE_RUNS'] ?? 12) },
    )
  })
})
