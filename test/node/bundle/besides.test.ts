// What a bundle holds beside proof, blocks and slices: the engine that its query needs, and proofs of a ledger. What was
// changed, swapped or forged is told.

import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { concatBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { signatureTypes } from '../../../src/libraries/ledger/verifier-key.ts'
import { BundleFault } from '../../../src/libraries/proof/bundle/manifest.ts'
import { readBundle } from '../../../src/libraries/proof/bundle/read-bundle.ts'
import { loadConfig } from '../../../src/app/config.ts'
import { knownEngines } from '../../../src/node/engine/known-engines.ts'
import { dialect } from '../../../src/node/engine/messages.ts'
import { neededEngine } from '../../../src/node/engine/needed-engine.ts'
import { verifyBundle } from '../../../src/app/verify-bundle.ts'
import { ledgerOptions, runsWith } from '../../helpers/features.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { keyText, witnessName } from '../../libraries/ledger/keys.ts'
import {
  bundleOf,
  command,
  type File,
  filesOf,
  isGnuTar,
  isPython,
  newPath,
  packed,
  packedByTar,
  readByPython,
  repacked,
  savedProof,
  signedByStranger,
} from './support.ts'

const live = await liveNode(ledgerOptions('data.example/ledger', '1s'))
const { limits } = loadConfig({})
const none: File = { path: '', bytes: new Uint8Array() }
const sql = 'select name, sum(n) as total from "acme/a" group by name'
let proof = ''
const receipts: string[] = []

beforeAll(async () => {
  for (const alias of ['acme/a', 'acme/b']) {
    for (let block = 0; block < 2; block++) {
      const answer = await live.ingest(alias, [{ name: alias, n: block }], '?create=true&integers=int64')
      receipts.push(String(answer.at('receiptId')))
    }
  }
  proof = (await live.query(sql, { include: ['Proof'] })).text
})

/** Outcome and words of the fault; or how a run ended. */
async function told(path: string): Promise<string> {
  const found = await verifyBundle(path, { limits })
  if (found.outcome === 'bundle') return `${found.fault.outcome}: ${found.fault.sentence}`
  return found.outcome === 'proof' ? found.verdict.kind : (found.failure?.error.kind ?? 'passed')
}

describe('engine.json', () => {
  const [known] = knownEngines

  it('is a function of the dialect: the libraries of its engine on every platform, or that it is not known', () => {
    expect(neededEngine(dialect)).toEqual({
      dialect,
      engine: { name: 'duckdb', version: known?.version },
      forms: expect.arrayContaining([
        {
          form: 'native',
          package: `@duckdb/node-api@${known?.packageVersion}`,
          libraries: expect.objectContaining({ 'linux-x64': known?.platforms['linux-x64']?.library }),
        },
      ]),
      needs: `To run this query again takes DuckDB ${known?.version}: proofstream engine add ${known?.version}`,
    })
    expect(neededEngine('SqlDuckDb/1.4.3-2')).toEqual({
      dialect: 'SqlDuckDb/1.4.3-2',
      engine: { name: 'duckdb', version: '1.4.3' },
      forms: [],
      needs: 'To run this query again takes DuckDB 1.4.3, which the release that says so does not know.',
    })
    for (const other of [
      'SqlDataFusion',
      'SqlDuckDb/1.5.6',
      'SqlDuckDb/1.5.6-99',
      'SqlDuckDb/9.9.9-3',
      'SqlDuckDb/..-3',
    ]) {
      expect(neededEngine(other)).toMatchObject({ forms: [], needs: expect.stringContaining('an engine') })
      expect(neededEngine(other)).not.toHaveProperty('engine')
    }
  })

  it('of another dialect, of another shape or spelling, too large, missing or twice is refused', async () => {
    const files = await filesOf(await bundleOf(live, proof))
    const [first = none, saved = none, engine = none, ...objects] = files
    const text = Buffer.from(engine.bytes).toString()
    expect(JSON.parse(text)).toEqual(neededEngine(dialect))
    const of = async (bytes: Uint8Array | string): Promise<string> =>
      await told(
        await repacked([
          first,
          saved,
          { ...engine, bytes: typeof bytes === 'string' ? utf8(bytes) : bytes },
          ...objects,
        ]),
      )
    const plain = (value: object): Uint8Array => canonicalBytes(fromPlain(value))
    const needed = neededEngine(dialect)
    expect(await of(text)).toBe('passed')
    expect(await of(plain({ ...needed, forms: [], needs: 'Nothing.' })), 'a hint decides nothing').toBe('passed')
    expect(await of(plain(neededEngine('SqlDuckDb/1.5.5-3')))).toBe(
      'failed: engine.json is about another dialect than the proof.',
    )
    const shapes = [
      `${text}\n`,
      text.replace('{', '{ '),
      '{}',
      '[]',
      'x',
      plain({ ...needed, more: 1 }),
      plain({ ...needed, needs: '' }),
      plain({ ...needed, needs: 'two\nlines' }),
      plain({ ...needed, needs: 'red \u001b[31m' }),
      plain({ ...needed, forms: [{ form: 'native', package: 'x', libraries: {} }] }),
      plain({ ...needed, forms: [{ form: 'native', package: 'x', libraries: { 'linux-x64': 'AB' } }] }),
      plain({ ...needed, forms: [{ form: 'native', package: 'x', libraries: { 'linux-x64': ['a'.repeat(64)] } }] }),
      plain({ ...needed, forms: [{ form: 'native', package: 'x', libraries: { '../x': 'a'.repeat(64) } }] }),
      plain({ ...needed, engine: { name: 'duckdb' } }),
    ]
    for (const bytes of shapes) expect(await of(bytes)).toMatch(/^failed: The engine is not said as a bundle says it: /)
    const twice = await packed([first, saved, engine, engine, ...objects])
    expect(await told(twice)).toMatch(/^failed: Where datasets\/.* must come stands "engine\.json"/)
    expect(await of(new Uint8Array(64 * 1024 + 1))).toBe('impossible: engine.json has more than 65536 bytes.')
    expect(await told(await repacked([first, saved, ...objects]))).toMatch(/^noBundle: .*engine is missing/)
    const entry = (JSON.parse(Buffer.from(first.bytes).toString()) as { engine: [string, number] }).engine
    const missing = await repacked([first, saved, ...objects], (manifest) =>
      Object.assign(manifest, { engine: entry, ledger: [] }),
    )
    expect(await told(missing)).toMatch(/^failed: Where engine\.json must come stands "datasets/)
  })

  it('is told where the query cannot be run for want of the engine', async () => {
    const changes = { input: { queryDialect: 'SqlDuckDb/1.4.3-2' }, output: { data: [['x', 1]] } }
    const path = await bundleOf(live, signedByStranger(proof, changes))
    const { code, stderr } = await command(live, ['verify', '--bundle', path])
    expect({ code, stderr }).toMatchObject({
      code: 11,
      stderr: expect.stringContaining('The bundle says: To run this query again takes DuckDB 1.4.3, which'),
    })
  })
})

describe.runIf(runsWith('ledger'))('a bundle with proofs of the ledger', () => {
  let bundle = ''
  let files: File[] = []
  let key = ''
  let [single, needy, other] = ['', '', '']

  const saved = async (text: string): Promise<string> => {
    const path = newPath('txt')
    await writeFile(path, text)
    return path
  }
  const proofAt = async (path: string): Promise<Uint8Array> =>
    await until('an entry', async () => {
      const answer = await live.call(path)
      return answer.status === 200 ? answer.bytes : undefined
    })
  /** The bundle with another text in the place of the first proof of the ledger. */
  const withProof = async (bytes: Uint8Array): Promise<string> =>
    await repacked(files.map((file, at) => (at === 3 ? { ...file, bytes } : file)))
  const verified = async (path: string, ...more: readonly string[]) => {
    const { code, stdout, stderr } = await command(live, ['verify', '--bundle', path, ...more])
    const said = JSON.parse(stdout || '{}') as { bundle?: { ledger: { verdict: string }[] } }
    return { code, said, stderr, verdicts: said.bundle?.ledger.map(({ verdict }) => verdict) }
  }

  beforeAll(async () => {
    key = await until('a ledger', async () => (await live.call('/ledger')).at('keys.0') as string | undefined)
    single = await saved(`log ${key}\nquorum none\n`)
    needy = await saved(`log ${key}\nwitness W ${keyText(witnessName(1), 11)}\nquorum W\n`)
    other = await saved(`log ${keyText('other.example', 1, signatureTypes.ed25519)}\nquorum none\n`)
    for (const alias of ['acme/a', 'acme/b']) await proofAt(`/${alias}/blocks/${await live.head(alias)}/proof`)
    bundle = await bundleOf(live, proof, '--ledger')
    files = await filesOf(bundle)
  })

  it('holds that of each pinned block behind engine.json, by the id of its dataset', async () => {
    const id = String((await live.call('/acme/a')).at('id'))
    expect(files.slice(0, 4).map(({ path }) => path)).toEqual([
      'manifest.json',
      'proof.json',
      'engine.json',
      `ledger/${id.slice(8)}/${await live.head('acme/a')}.tlog-proof`,
    ])
    expect(readFileSync(await repacked(files)).equals(readFileSync(bundle))).toBe(true)
    const joined = await live.query('select count(*) from "acme/a", "acme/b"', { include: ['Proof'] })
    const both = await bundleOf(live, joined.text, '--ledger')
    expect((await verified(both, '--policy', single)).verdicts).toEqual(['included', 'included'])
    const swapped = await repacked(await filesOf(both), (manifest) => manifest.ledger?.reverse())
    expect(await told(swapped)).toMatch(/^noBundle: .*ledger are not in the order of their ids/)
  })

  it.skipIf(!isGnuTar || !isPython)('has the form that GNU tar gives its files, and Python reads it', () => {
    expect(packedByTar(bundle).equals(readFileSync(bundle))).toBe(true)
    expect(readByPython(bundle)).toBe(files.length - 1)
  })

  it('is judged by a policy, and by none it says so: the worst code wins', async () => {
    const good = await verified(bundle, '--policy', single)
    expect(good).toMatchObject({
      code: 0,
      stderr: '',
      said: {
        ok: true,
        bundle: {
          ledger: [
            {
              dataset: (await live.call('/acme/a')).at('id'),
              block: await live.head('acme/a'),
              verdict: 'included',
              ledger: { origin: 'data.example/ledger' },
              witnessed: [],
            },
          ],
        },
      },
    })
    const open = await verified(bundle)
    expect(open).toMatchObject({ code: 0, verdicts: ['not judged'], said: { ok: true } })
    expect(open.stderr).toContain('--policy FILE judges')
    expect(await verified(bundle, '--policy', needy)).toMatchObject({
      code: 13,
      verdicts: ['witness quorum not met'],
      said: { ok: false, checks: { reproduction: 'passed' } },
    })
    expect(await verified(bundle, '--policy', other)).toMatchObject({ code: 14, verdicts: ['not judged'] })
    expect((await verified(bundle, '--policy', bundle)).code).toBe(5)
    const wrong = signedByStranger(proof, { output: { data: [['x', 1]] } })
    const lie = await repacked(files.map((file, at) => (at === 1 ? { ...file, bytes: utf8(wrong) } : file)))
    expect((await verified(lie, '--policy', single)).code).toBe(10)
    const both = await verified(lie, '--policy', needy)
    expect(both).toMatchObject({ code: 10, said: { checks: { reproduction: 'failed' } } })
    expect(both.stderr).toContain('Running the query again gave another output')
    const many = await command(live, ['verify', bundle, bundle, '--policy', needy])
    expect([many.code, many.stdout]).toEqual([13, expect.stringContaining('"verdict":"witness quorum not met"')])
    const unjudged = await command(live, ['verify', bundle, lie, '-o', 'ndjson'])
    expect(
      unjudged.stdout
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toMatchObject([
      { verdict: 'verified', reason: expect.stringContaining('ledger in the bundle: 1; --policy FILE') },
      { verdict: 'altered', bundle: { ledger: [{ verdict: 'not judged' }] } },
    ])
    const table = await command(live, ['verify', bundle, bundle, '-o', 'table'])
    expect(table.stdout.match(/the bundle holds 1 proof of that\. Name the policy/g)).toHaveLength(2)
  })

  it('is altered where a proof is of another block or dataset, of a batch, cut or changed', async () => {
    const own = files[3]?.bytes ?? new Uint8Array()
    const text = Buffer.from(own).toString()
    const blocks = (await live.call('/acme/a/blocks')).at('blocks') as { hash: string }[]
    const index = /^index (\d+)$/m.exec(text)?.[1]
    const foreign = {
      block: await proofAt(`/acme/a/blocks/${blocks[1]?.hash}/proof`),
      dataset: await proofAt(`/acme/b/blocks/${await live.head('acme/b')}/proof`),
      batch: await proofAt(`/receipts/${receipts[1]}/proof`),
      json: await proofAt(`/acme/a/blocks/${await live.head('acme/a')}/proof?format=json`),
      cut: own.subarray(0, own.length >> 1),
      empty: new Uint8Array(),
      place: utf8(text.replace(`index ${index}`, `index ${Number(index) - 1}`)),
      extra: utf8(text.replace(/^extra .*\n/m, '')),
    }
    for (const [name, bytes] of Object.entries(foreign)) {
      const path = await withProof(bytes)
      for (const options of [{}, { policy: parsePolicy(readFileSync(single)) }]) {
        const found = await verifyBundle(path, { limits, ...options })
        expect({ name, found }).toMatchObject({ name, found: { outcome: 'run', ledger: [{ verdict: 'altered' }] } })
      }
    }
    expect(await verified(await withProof(foreign.block))).toMatchObject({ code: 10, verdicts: ['altered'] })
    // What only a key tells is told with a policy.
    const resigned = text.replace(
      /(— \S+ \S{20})(\S)/,
      (_, start: string, one: string) => start + (one === 'A' ? 'B' : 'A'),
    )
    const forged = await withProof(utf8(resigned))
    expect(await verified(forged)).toMatchObject({ code: 0, verdicts: ['not judged'] })
    expect(await verified(forged, '--policy', single)).toMatchObject({ code: 10, verdicts: ['altered'] })
  })

  it('is refused where a proof is of a block that is not pinned, twice, too large or not there', async () => {
    const [first = none, saved = none, engine = none, own = none, ...objects] = files
    const earlier =
      objects
        .filter(({ path }) => path.includes('/blocks/'))
        .at(-2)
        ?.path.split('/')[3] ?? ''
    const path = own.path.replace(/f1620\w+/, earlier)
    expect(await told(await repacked([first, saved, engine, { ...own, path }, ...objects]))).toMatch(
      /^failed: It has a ledger proof of block f1620\w+ of did:odf:\w+, which the proof does not name/,
    )
    expect(await told(await repacked([first, saved, engine, own, own, ...objects]))).toMatch(
      /^noBundle: .*are not in the order of their ids/,
    )
    const large = { ...own, bytes: concatBytes([own.bytes, new Uint8Array(256 * 1024)]) }
    expect(await told(await repacked([first, saved, engine, large, ...objects]))).toMatch(
      /^impossible: ledger\/.* has more/,
    )
    const missing = await repacked([first, saved, engine, ...objects], (manifest) => {
      const { ledger } = JSON.parse(Buffer.from(first.bytes).toString()) as { ledger: [] }
      manifest.ledger = ledger
    })
    expect(await told(missing)).toMatch(/^failed: Where ledger\/.* must come stands "datasets/)
  })

  it('with any byte changed never passes', async () => {
    const whole = readFileSync(bundle)
    const { input } = JSON.parse(proof) as { input: { datasets: { id: string; blockHash: string }[] } }
    const pins = new Map(input.datasets.map(({ id, blockHash }) => [id, new Set([blockHash])]))
    const read = async (bytes: Uint8Array): Promise<unknown> => {
      const chunks = (async function* () {
        for (let at = 0; at < bytes.length; at += 4099) yield bytes.subarray(at, at + 4099)
      })()
      const asked = { pins, dialect }
      const taker = { proof: async () => asked, ledgerProof: () => {}, block: () => {}, slice: async () => {} }
      return await readBundle(chunks, taker)
    }
    await expect(read(whole)).resolves.toMatchObject({ rows: 2, engine: neededEngine(dialect) })
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const bytes = new Uint8Array(whole)
        bytes[at] = (bytes[at] ?? 0) ^ bits
        await expect(read(bytes)).rejects.toBeInstanceOf(BundleFault)
      }),
      { numRuns: 400 },
    )
  })
})

describe.runIf(runsWith('ledger'))('where the ledger has not entered a block yet', async () => {
  const late = await liveNode(ledgerOptions('late.example/ledger', '1h'))

  it('the command says until when, as ledger prove does, and writes nothing', async () => {
    await late.ingest('acme/a', [{ n: 1 }], '?create=true')
    const text = (await late.query('select n from "acme/a"', { include: ['Proof'] })).text
    const path = newPath('tar')
    const bundled = await command(late, ['bundle', await savedProof(text), '--ledger', '-o', path])
    const proved = await command(late, ['ledger', 'prove', `acme/a@${await late.head('acme/a')}`])
    expect(bundled).toMatchObject({ code: 8, stdout: '', stderr: expect.stringContaining('It is due at 20') })
    expect({ code: bundled.code, stderr: bundled.stderr }).toEqual({ code: proved.code, stderr: proved.stderr })
    expect(existsSync(path)).toBe(false)
    await late.call('/acme/own', { method: 'PUT', json: { visibility: 'private' } })
    await late.ingest('acme/own', [{ n: 1 }])
    const hidden = (await late.query('select n from "acme/own"', { include: ['Proof'] })).text
    const never = await command(late, ['bundle', await savedProof(hidden), '--ledger', '-o', path])
    expect(never).toMatchObject({ code: 3, stderr: expect.stringContaining('NoSuchProof') })
  })
})
