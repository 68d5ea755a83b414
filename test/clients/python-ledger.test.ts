// The Python client says of every file about a ledger what our library says: of one of each kind, and of thousands that are changed.

import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { told } from '../../src/cli/judged.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../src/libraries/base/errors.ts'
import { jsonText } from '../../src/libraries/base/json/json.ts'
import { objectOf } from '../../src/cli/json-values.ts'
import { witnessedText } from '../../src/libraries/ledger/open-head.ts'
import { judgeFile } from '../../src/libraries/ledger/judge-file.ts'
import { parsePolicy, type Policy } from '../../src/libraries/ledger/policy.ts'
import { run } from '../examples/run.ts'
import { randomOf } from '../history/load.ts'
import { keyText, twoOfThree } from '../libraries/ledger/keys.ts'
import { changed, changedPolicy, edges, files, node, otherOrigin } from './ledger-files.ts'

const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
const nowMs = Date.parse('2026-06-01T00:00:00Z')
const unknown = `log ${keyText('other.example', 1, 1)}\nquorum none\n`

interface Case {
  readonly name: string
  readonly file: Uint8Array
  readonly policy?: Uint8Array
  readonly signer?: string
}

/** Verdicts on cases, a line of JSON each. Checks of signatures are kept: most changes leave the head as it was. */
const judge = `
import datetime, functools, json, sys, proofstream
from proofstream import _ed25519
_ed25519.is_signed = functools.lru_cache(None)(_ed25519.is_signed)
now = datetime.datetime.fromtimestamp(${nowMs / 1000}, datetime.timezone.utc)
def told(case):
    policy = bytes.fromhex(case['policy']) if 'policy' in case else None
    try:
        found = proofstream.verify(bytes.fromhex(case['file']), case.get('signer'), policy=policy, now=now)
    except proofstream.ProofError as error:
        return ['altered'] if error.kind in ('Altered', 'OtherSigner') else ['other']
    except ValueError:
        return ['no policy']
    if isinstance(found, proofstream.Checked): return ['other']
    return [found.kind, found.verdict, found.facts]
for line in sys.stdin:
    print(json.dumps(told(json.loads(line))))
`

async function inPython(cases: readonly Case[]): Promise<unknown[]> {
  const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')
  const input = cases.map(({ file, policy, signer }) =>
    JSON.stringify({ file: hex(file), policy: hex(policy), signer }),
  )
  const { code, stdout, stderr } = await run('python3', ['-c', judge], { input: `${input.join('\n')}\n`, env })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line, printed) as unknown)
}

function expected({ file, policy: text, signer }: Case): unknown[] {
  let policy: Policy | undefined
  try {
    policy = text && parsePolicy(text)
  } catch (error) {
    if (error instanceof DecodeError) return ['no policy']
    throw error
  }
  const judged = judgeFile(file, { policy, signer, nowMs })
  if (judged.kind === 'other') return ['other']
  if (judged.verdict === 'altered') return ['altered']
  return [judged.kind, judged.verdict, JSON.parse(jsonText(objectOf(told(judged).facts ?? {})))]
}

/** Times of witnesses as the command prints them. */
function printed(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('at' in value && 'name' in value)) return value
  return { ...value, at: witnessedText({ name: '', at: Number(value.at) }) }
}

async function differing(cases: readonly Case[]): Promise<unknown[]> {
  const found = await inPython(cases)
  return cases.flatMap((one, at) => {
    const [ours, theirs] = [expected(one), found[at]]
    const { name, file } = one
    return isDeepStrictEqual(ours, theirs) ? [] : [{ name, file: Buffer.from(file).toString('latin1'), ours, theirs }]
  })
}

const policies: Readonly<Record<string, Partial<Case>>> = {
  'by the policy': { policy: utf8(twoOfThree) },
  'and the key of the node': { policy: utf8(twoOfThree), signer: node.did },
  'and another key': { policy: utf8(twoOfThree), signer: 'did:key:z6Mkother' },
  'without a policy': {},
  'by another policy': { policy: utf8(unknown) },
}

test('it says of one file of each kind what our library says, with all facts', async () => {
  const cases = Object.entries(policies).flatMap(([by, trust]) =>
    Object.entries(files).map(([name, file]) => ({ name: `${name} ${by}`, file, ...trust })),
  )
  expect(await differing(cases)).toEqual([])
  const verdicts = new Set(cases.map((one) => expected(one).slice(0, 2).join(': ')))
  expect([...verdicts].sort()).toEqual([
    'altered',
    'broken promise: impossible',
    'broken promise: included',
    'broken promise: promise broken',
    'head: impossible',
    'head: signed',
    'head: witness quorum not met',
    'other',
    'proof: impossible',
    'proof: included',
    'proof: witness quorum not met',
    'receipt: impossible',
    'receipt: promised, not yet due',
    'receipt: signed',
    'refusal: signed',
    'statement: signed',
  ])
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
    'the entry beside the promised one': 'altered',
  })
})

test('it says the same of 3,000 files that are changed', async () => {
  const random = randomOf(20_261_127)
  const kinds = Object.entries(files)
  const trust = { policy: utf8(twoOfThree), signer: node.did }
  const cases = Array.from({ length: 3000 }, (_, at) => {
    const [name, file] = kinds[at % kinds.length]!
    const isTrusted = Math.floor(at / kinds.length) % 3 > 0
    return { name, file: changed(file, random), ...(isTrusted && trust) }
  })
  expect(await differing(cases)).toEqual([])
  const count = (word: string): number => cases.filter((one) => expected(one).includes(word)).length
  for (const word of ['altered', 'other', 'signed', 'included', 'impossible']) expect(count(word)).toBeGreaterThan(20)
})

test('it reads policies as our library does, and refuses those that it refuses', async () => {
  const random = randomOf(7)
  const file = files['head']!
  const nested = `${twoOfThree.replace('quorum G\n', '')}witness x\u00fc ${keyText('x\u00fc', 20)}\ngroup H any G x\u00fc\nquorum H\n`
  const cases = Array.from({ length: 1000 }, (_, at) => {
    const policy = changedPolicy(utf8(at % 2 === 0 ? twoOfThree : nested), random)
    return { name: Buffer.from(policy).toString('latin1'), file, policy }
  })
  expect(await differing(cases)).toEqual([])
  expect(cases.filter((one) => expected(one)[0] === 'head').length).toBeGreaterThan(100)
})
