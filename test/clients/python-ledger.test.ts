// The Python client and the reader example say of every file of evidence what our library says, with the same lines: of one file of each
// kind, and of thousands that are changed.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import type { Vector } from '../../scripts/ledger-vectors/model.ts'
import { told } from '../../src/cli/judged.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { equalBytes, utf8 } from '../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../src/libraries/base/errors.ts'
import { canonicalBytes } from '../../src/libraries/base/json/canonical.ts'
import { fromPlain, jsonText, parseJson } from '../../src/libraries/base/json/json.ts'
import type { JsonValue } from '../../src/libraries/base/json/value.ts'
import { objectOf } from '../../src/libraries/base/json/members.ts'
import { judgeEvidence } from '../../src/libraries/evidence/judge.ts'
import { reportLines } from '../../src/libraries/evidence/layout.ts'
import { verdictCodes } from '../../src/libraries/evidence/report.ts'
import { witnessedText } from '../../src/libraries/ledger/open-head.ts'
import { judgeFile } from '../../src/libraries/ledger/judge-file.ts'
import { besideOf } from '../../src/libraries/ledger/judge-receipt.ts'
import { parsePolicy, type Policy } from '../../src/libraries/ledger/policy.ts'
import { tlogProofText } from '../../src/libraries/ledger/tlog-proof.ts'
import { run } from '../examples/run.ts'
import { randomOf } from '../history/load.ts'
import { keyText, signedHead, twoOfThree } from '../libraries/ledger/keys.ts'
import { kinds, SmallLedger } from '../libraries/ledger/proofs.ts'
import { changed, changedPolicy, edges, files, ledger, node, otherOrigin, otherPolicies } from './ledger-files.ts'

const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
const someMs = Date.parse('2026-06-01T00:00:00Z')
const unknown = `log ${keyText('other.example', 1, 1)}\nquorum none\n`

interface Case {
  readonly name: string
  readonly file: Uint8Array
  readonly beside?: readonly Uint8Array[]
  readonly policy?: Uint8Array
  readonly signer?: string
  readonly nowMs?: number
}

const vectors = (JSON.parse(readFileSync('test/fixtures/ledger/vectors.json', 'utf8')) as readonly Vector[]).map(
  ({ name, files, policy, signer, now }): Case => {
    const [file = new Uint8Array(), ...beside] = files.map(({ text }) => utf8(text))
    const trust = { ...(policy !== undefined && { policy: utf8(policy) }), ...(signer !== undefined && { signer }) }
    return { name, file, beside, nowMs: Date.parse(now), ...trust }
  },
)

/** What both say of cases, a line of JSON each. Checks of signatures are kept: most changes leave the head as it was. */
const judge = `
import datetime, functools, json, sys, proofstream
from proofstream import _ed25519
sys.path.insert(0, 'examples/reader')
import ask
_ed25519.is_signed = functools.lru_cache(None)(_ed25519.is_signed)
ask.verify = _ed25519.is_signed # Its own is looked at in test/examples/reader.test.ts.
begun = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
def told(file, beside, policy, signer, now):
    try:
        found = proofstream.verify(file, signer, policy=policy, beside=beside, now=now)
    except proofstream.ProofError as error:
        return ['altered'] if error.kind in ('Altered', 'OtherSigner') else ['other']
    except ValueError:
        return ['no policy']
    if isinstance(found, proofstream.Checked): return ['other']
    return [found.kind, found.verdict, found.missing, found.facts]
def reported(file, beside, policy, signer, now):
    try: found = proofstream.report([file, *beside], signer=signer, policy=policy, now=now)[0]
    except ValueError: return 'no policy'
    return [found.code, found.lines(verbose=True)]
def asked(file, beside, policy, signer, now):
    try: trusted = None if policy is None else ask.read_policy(policy)
    except ValueError: return 'no policy'
    found = ask.reports([file, *beside], trusted, signer, now)[0]
    return [found.code, found.lines(verbose=True)]
for line in sys.stdin:
    case = json.loads(line)
    file, beside = bytes.fromhex(case['file']), [bytes.fromhex(one) for one in case['beside']]
    policy, signer, now = bytes.fromhex(case['policy']) if 'policy' in case else None, case.get('signer'), case['now']
    at = begun + datetime.timedelta(milliseconds=now)
    trust = file, beside, policy, signer
    print(json.dumps([told(*trust, at), reported(*trust, at), asked(*trust, now)]))
`

type Said = readonly [told: unknown, reported: Reported, asked: Reported]
type Reported = 'no policy' | readonly [code: number, lines: readonly string[]]

async function inPython(cases: readonly Case[]): Promise<Said[]> {
  const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')
  const input = cases.map(({ file, beside = [], policy, signer, nowMs = someMs }) =>
    JSON.stringify({ file: hex(file), beside: beside.map(hex), policy: hex(policy), signer, now: nowMs }),
  )
  const { code, stdout, stderr } = await run('python3', ['-c', judge], { input: `${input.join('\n')}\n`, env })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line, printed) as Said)
}

const expectations = new WeakMap<Case, unknown[]>()
function expected(one: Case): unknown[] {
  const known = expectations.get(one) ?? judgedHere(one)
  expectations.set(one, known)
  return known
}

function judgedHere({ file, beside = [], policy: text, signer, nowMs = someMs }: Case): unknown[] {
  let policy: Policy | undefined
  try {
    policy = text && parsePolicy(text)
  } catch (error) {
    if (error instanceof DecodeError) return ['no policy']
    throw error
  }
  const judged = judgeFile(file, { policy, signer, nowMs }, { beside: besideOf(beside, policy) })
  if (judged.kind === 'other') return ['other']
  if (judged.verdict === 'altered') return ['altered']
  const { missing = '', ...facts } = told(judged).facts ?? {}
  return [judged.kind, judged.verdict, missing, JSON.parse(jsonText(objectOf(facts)))]
}

/** Times of witnesses as the command prints them. */
function printed(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('at' in value && 'name' in value)) return value
  return { ...value, at: witnessedText({ name: '', at: Number(value.at) }) }
}

/** The report of our library on the first file. */
function reportedHere({ file, beside = [], policy: text, signer, nowMs = someMs }: Case): Reported {
  try {
    const policy = text && parsePolicy(text)
    const [first] = judgeEvidence([file, ...beside], { policy, signer, nowMs })
    const { report } = must(first, 'a file with a report')
    return [verdictCodes[report.verdict], reportLines(report, { verbose: true })]
  } catch (error) {
    if (error instanceof DecodeError) return 'no policy'
    throw error
  }
}

/**
 * Of what is wrong the programs say the same in one sentence, and then each what it has seen. Whether a text is no JSON or no answer
 * depends on what a program looks at first.
 */
function alike(said: Reported): Reported {
  if (said === 'no policy') return said
  const [code, lines] = said
  const same = lines[1] === '  no evidence that is known here' ? 2 : [5, 10, 11].includes(code) ? 3 : lines.length
  return [code, lines.slice(0, same)]
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

async function differing(cases: readonly Case[]): Promise<unknown[]> {
  const atOnce = 5000
  if (cases.length > atOnce)
    return [...(await differing(cases.slice(0, atOnce))), ...(await differing(cases.slice(atOnce)))]
  const found = await inPython(cases)
  return cases.flatMap((one, at) => {
    const report = alike(reportedHere(one))
    const [told, reported, asked] = must(found[at], 'a line for each case')
    const [ours, theirs] = [
      [expected(one), report, report],
      [told, alike(reported), alike(asked)],
    ]
    const { name, file } = one
    return isDeepStrictEqual(ours, theirs) ? [] : [{ name, file: latin1(file), ours, theirs }]
  })
}

test('it says of every vector what our library says, with all facts, whom ever one trusts', async () => {
  const trusts: readonly Partial<Case>[] = [
    {},
    { policy: utf8(twoOfThree), signer: node.did },
    { policy: utf8(unknown), nowMs: Date.parse('2026-05-01T00:00:00Z') },
  ]
  const alone = vectors.map(({ name, file, beside = [] }) => ({ name, file, beside }))
  const cases = [...vectors, ...trusts.flatMap((trust) => alone.map((one) => ({ ...one, ...trust })))]
  expect(await differing(cases)).toEqual([])
})

test('it says the same of files at the edge of what is taken', async () => {
  const policy = utf8(`log ${keyText(otherOrigin, 2, 1)}\n${twoOfThree}`)
  const cases = Object.entries(edges).map(([name, file]) => ({ name, file, policy, signer: node.did }))
  expect(await differing(cases)).toEqual([])
  expect(Object.fromEntries(cases.map((one) => [one.name, expected(one).slice(0, 2).join(': ')]))).toEqual({
    'an extra line with "v":1.0': 'altered',
    'an extra line with "v":1e+0': 'altered',
    'an extra line with "index":1.0': 'altered',
    'an extra line with "index":1e+0': 'altered',
    'an extra line with "count":2.0': 'altered',
    'an extra line with "count":2e+0': 'altered',
    'an extra line of 44900 bytes': 'proof: impossible',
    'an extra line of 45100 bytes': 'altered',
    'a head with 97 strangers': 'head: signed',
    'a head with 98 strangers': 'altered',
    'a time stamp of another ledger': 'altered',
  })
})

test('it takes proofs at any place of a tree', async () => {
  const tree = new SmallLedger(599)
  const cases = [0, 1, 5, 255, 256, 301, 511, 512, 598].flatMap((index) =>
    kinds.map((kind) => ({
      name: `${kind} ${index}`,
      file: tree.text(index, 599, kind, { stranger: true }),
      policy: utf8(twoOfThree),
    })),
  )
  expect(await differing(cases)).toEqual([])
  expect(cases.every((one) => expected(one).includes('included'))).toBe(true)
})

test('it says the same of proofs with any value of JSON in the place of any other', async () => {
  const others = [null, true, false, 0, 1, -1, 1.5, 2 ** 53, '', 'x', [], [null], {}, { a: 1 }].map(fromPlain)
  const cases = kinds.flatMap((kind) => {
    const proof = ledger.proof(5, 9, kind)
    const whole = parseJson(proof.extra ?? '')
    return placesOf(whole).flatMap((place) =>
      others.map((other) => ({
        name: `${kind} ${place.join('.')} ${jsonText(other)}`,
        file: must(tlogProofText({ ...proof, extra: canonicalBytes(put(whole, place, other)) }), 'a proof'),
        policy: utf8(twoOfThree),
      })),
    )
  })
  expect(cases.length).toBeGreaterThan(500)
  expect(await differing(cases)).toEqual([])
  const good = cases.filter((one) => expected(one).includes('included'))
  expect(good.every(({ file }) => kinds.some((kind) => equalBytes(file, ledger.text(5, 9, kind))))).toBe(true)
})

/** Ways to all values within one. */
function placesOf(value: JsonValue): readonly (readonly string[])[] {
  if (!(value instanceof Map)) return [[]]
  return [[], ...[...value].flatMap(([name, member]) => placesOf(member).map((place) => [name, ...place]))]
}

function put(value: JsonValue, [name, ...place]: readonly string[], other: JsonValue): JsonValue {
  if (name === undefined || !(value instanceof Map)) return other
  return new Map([...value, [name, put(value.get(name) ?? null, place, other)]])
}

/** By hand: CHANGED_FILES=100000. */
const changedFiles = Number(process.env['CHANGED_FILES'] ?? 2000)

test('it says the same of thousands of files that are changed', async () => {
  const random = randomOf(20_261_127)
  const trust = { policy: utf8(twoOfThree), signer: node.did }
  const more = Object.entries(files).map(([name, file]): Case => ({ name, file, ...trust }))
  const all = [...vectors.filter((one) => expected(one)[0] !== 'no policy'), ...more, ...more, ...more]
  const cases = Array.from({ length: changedFiles }, (_, at): Case => {
    const one = all[at % all.length]!
    const { file, beside = [] } = one
    const place = random.between(-1 - beside.length, beside.length - 1)
    if (place < 0) return { ...one, file: changed(file, random) }
    return { ...one, beside: beside.with(place, changed(beside[place]!, random)) }
  })
  expect(await differing(cases)).toEqual([])
  const count = (word: string): number => cases.filter((one) => expected(one).includes(word)).length
  for (const word of ['altered', 'other', 'signed', 'included', 'not judged']) expect(count(word)).toBeGreaterThan(20)
}, 7_200_000)

test('it reads policies as our library does, and refuses those that it refuses', async () => {
  const random = randomOf(7)
  const file = signedHead({ size: 9, root: ledger.root(9) })
  const nested = `${twoOfThree.replace('quorum G\n', '')}witness x\u00fc ${keyText('x\u00fc', 20)}\ngroup H any G x\u00fc\nquorum H\n`
  const policies = Array.from({ length: 1000 }, (_, at) =>
    changedPolicy(utf8(at % 2 === 0 ? twoOfThree : nested), random),
  )
  const cases = [...policies, ...otherPolicies(twoOfThree)].map((policy) => ({
    name: Buffer.from(policy).toString('latin1'),
    file,
    policy,
  }))
  expect(await differing(cases)).toEqual([])
  expect(cases.filter((one) => expected(one)[0] === 'head').length).toBeGreaterThan(100)
})
