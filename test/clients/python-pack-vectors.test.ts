// Evidence packs made of the vectors of ledgers: whose keys they are, by the statement in a pack, is what our library says, in the client
// and in the reader example, line by line.

import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Given } from '../../scripts/evidence-reports.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../src/libraries/base/errors.ts'
import { jsonText } from '../../src/libraries/base/json/json.ts'
import { reportLines } from '../../src/libraries/evidence/layout.ts'
import { judgePack } from '../../src/libraries/evidence/pack/judge-pack.ts'
import { PackMaker } from '../../src/libraries/evidence/pack/make-pack.ts'
import { PackFault } from '../../src/libraries/evidence/pack/zip.ts'
import { verdictCodes } from '../../src/libraries/evidence/report.ts'
import { readProof } from '../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { proofJson } from '../../src/libraries/ledger/proof-document.ts'
import { run } from '../examples/run.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-pack-vectors-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const read = (path: string): string => readFileSync(join('test/fixtures', path), 'utf8')
const answer = read('answers/join.json')
const signer = String(JSON.parse(answer).proof.verificationMethod)
const vectors = (JSON.parse(read('ledger/vectors.json')) as readonly Given[]).filter(({ policy }) => isPolicy(policy))

function isPolicy(text: string | undefined): boolean {
  try {
    return text === undefined || parsePolicy(utf8(text)).logs.length > 0
  } catch (error) {
    if (error instanceof DecodeError) return false
    throw error
  }
}

/** A proof in JSON, and its kind; undefined of what is none. */
function asJson(text: string): { readonly kind: string; readonly json: string } | undefined {
  try {
    const { document, proof, timestamp } = readProof(utf8(text))
    if (document === undefined || document.kind === 'newer') return undefined
    return { kind: document.kind, json: jsonText(proofJson(document, proof, timestamp)) }
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

interface Case extends Pick<Given, 'policy' | 'signer' | 'now'> {
  readonly name: string
  readonly path: string
}

/** Writes a pack of these files; undefined where they make none. */
async function written(files: Readonly<Record<string, string | undefined>>, path: string): Promise<boolean> {
  const maker = new PackMaker()
  const all: Uint8Array[] = []
  try {
    for (const [name, text] of Object.entries(files)) if (text !== undefined) maker.add(name, utf8(text))
    await maker.write(async (bytes) => void all.push(bytes))
  } catch (error) {
    if (error instanceof PackFault) return false
    throw error
  }
  await writeFile(path, Buffer.concat(all))
  return true
}

/** The first file with the proofs beside it in one, and a statement among them as that of the pack. */
function receiptOf({ files: [first, ...others] }: Given): { readonly receipt: string; readonly statements: string[] } {
  const proofs = others.flatMap(({ text = '' }) => asJson(text) ?? [])
  const text = first?.text ?? ''
  const isBare = text.includes('"receiptId"') && !text.includes('"proofs"')
  const of = proofs.filter(({ kind }) => kind !== 'statement').map(({ json }) => json)
  const own = asJson(text)
  return {
    receipt: isBare
      ? `{"type":"proofstream/receipt-with-proofs/1","receipt":${text},"proofs":[${of.join()}]}`
      : (own?.json ?? text),
    statements: [...proofs, ...(own === undefined ? [] : [own])].flatMap(({ kind, json }) =>
      kind === 'statement' ? [json] : [],
    ),
  }
}

async function casesOf(vector: Given, at: number): Promise<Case[]> {
  const { receipt, statements } = receiptOf(vector)
  const { receipt: next } = receiptOf(vectors[at + 1] ?? vector)
  const { name, policy, now } = vector
  const [receipts, both] = [
    { 'receipts/001.json': receipt },
    { 'receipts/001.json': receipt, 'receipts/002.json': next },
  ]
  const last = statements.at(-1)
  const tried: readonly (readonly [files: Record<string, string | undefined>, signer?: string | undefined])[] = [
    [receipts, vector.signer],
    [{ ...receipts, 'statement.json': last }, vector.signer],
    [{ ...receipts, 'statement.json': statements[0] }, signer],
    [{ ...both, 'statement.json': last }],
    [{ 'answers/001.json': answer, ...receipts, 'statement.json': last }],
    [{ 'answers/001.json': answer, 'statement.json': last ?? receipt }],
  ]
  const cases = tried.map(async ([files, by], number): Promise<Case[]> => {
    const path = join(folder, `${at}-${number}.zip`)
    return (await written(files, path))
      ? [{ name, path, now, ...(policy && { policy }), ...(by && { signer: by }) }]
      : []
  })
  return (await Promise.all(cases)).flat()
}

type Said = readonly (readonly [code: number, lines: readonly string[]])[]

async function byLibrary({ path, policy, signer, now }: Case): Promise<Said> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield readFileSync(path)
  }
  const by = policy === undefined ? undefined : parsePolicy(utf8(policy))
  const { report, parts } = await judgePack(pieces(), { policy: by, signer, nowMs: Date.parse(now) })
  const all = [{ file: path, report }, ...parts.map((one) => ({ file: `${path}/${one.path}`, report: one.report }))]
  return all.map(({ file, report }) => [verdictCodes[report.verdict], reportLines(report, { file, verbose: true })])
}

/** Cases, a line of JSON each, to what the client and the reader example say. */
const program = `
import datetime, functools, json, sys, proofstream
from proofstream import _ed25519
sys.path.insert(0, 'examples/reader')
import ask
_ed25519.is_signed = ask.verify = functools.lru_cache(None)(_ed25519.is_signed)
for line in sys.stdin:
    case = json.loads(line)
    path, policy, signer = case['path'], case.get('policy'), case.get('signer')
    now = datetime.datetime.fromisoformat(case['now'].replace('Z', '+00:00'))
    client = [[one.code, one.lines(verbose=True)] for one in proofstream.report([path], policy=policy, signer=signer, now=now)]
    trust = {'policy': policy and ask.read_policy(policy.encode()), 'signer': signer, 'now': round(now.timestamp() * 1000)}
    print(json.dumps([client, [[one.code, one.lines(name, verbose=True)] for name, one in ask.pack_reports(path, trust)]]))
`

/** Of what is altered or unknown each program says what it has seen. */
const alike = (said: Said): Said =>
  said.map(([code, lines]) => [code, [5, 10, 11].includes(code) ? lines.slice(0, 3) : lines])

test('packs of receipts, answers and statements of all vectors have the reports of our library', async () => {
  const cases = (await Promise.all(vectors.map(casesOf))).flat()
  const input = cases.map((one) => `${JSON.stringify(one)}\n`).join('')
  const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' }
  const { code, stdout, stderr } = await run('python3', ['-c', program], { input, env })
  expect([code, stderr]).toEqual([0, ''])
  const said = stdout.trimEnd().split('\n')
  const texts: string[] = []
  for (const [at, one] of cases.entries()) {
    const expected = alike(await byLibrary(one))
    const [client = [], reader = []] = JSON.parse(said[at] ?? '[]') as Said[]
    expect({ ...one, client: alike(client), reader: alike(reader) }).toEqual({
      ...one,
      client: expected,
      reader: expected,
    })
    texts.push(...expected.flatMap(([, lines]) => lines))
  }
  for (const one of [
    /^ {2}receipts\/001\.json is signed by a key that neither you/,
    /^ {2}whose +the \d+\w\w entry of node\.example\/ledger names it as a former key of its node, until /,
    /^ {2}- Another of these files has another root /,
    /^ {2}receipts\/001\.json: The promise was broken\.$/,
    /\/receipts\/001\.json: a receipt with what shows that its promise was broken$/,
  ])
    expect([String(one), texts.some((line) => one.test(line))]).toEqual([String(one), true])
  expect(cases.length).toBeGreaterThan(500)
})
