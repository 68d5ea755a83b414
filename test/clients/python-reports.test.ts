// Reports in Python: the client and the reader example print of every file of the golden file what all programs print, with its code,
// and of answers that are changed what our library says. As commands they print one report after another, and end with the worst code.

import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Vector } from '../../scripts/ledger-vectors/model.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { judgeEvidence } from '../../src/libraries/evidence/judge.ts'
import { reportLines } from '../../src/libraries/evidence/layout.ts'
import { verdictCodes } from '../../src/libraries/evidence/report.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { type Ended, run } from '../examples/run.ts'
import { randomOf } from '../history/load.ts'
import { printed, printedOtherwise, saved } from '../libraries/proof/saved-answers.ts'
import type { Given } from '../../scripts/evidence-reports.ts'
import { changed } from './ledger-files.ts'

interface Said {
  readonly code: number
  readonly lines: readonly string[]
}
interface Golden {
  readonly vectors: Readonly<Record<string, Said | null>>
  readonly extras: readonly (Given & { readonly reports: readonly Said[] | null })[]
}

const read = (path: string): string => readFileSync(join('test/fixtures', path), 'utf8')
const vectors = JSON.parse(read('ledger/vectors.json')) as readonly (Vector & Given)[]
const golden = JSON.parse(read('evidence/reports.json')) as Golden
const python = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
/** Of a machine whose terminal is none of UTF-8. */
const env = { ...python, PYTHONUTF8: '0', PYTHONCOERCECLOCALE: '0', LC_ALL: 'C' }

/** Cases, a line of JSON each, to what both programs say: a list of reports, or null for a policy that is none. */
const program = `
import base64, datetime, functools, json, sys, tempfile, os, proofstream
from proofstream import _ed25519
sys.path.insert(0, 'examples/reader')
import ask
_ed25519.is_signed = ask.verify = functools.lru_cache(None)(_ed25519.is_signed) # Slow, and looked at in test/examples/reader.test.ts.
os.chdir(tempfile.mkdtemp())
def client(files, policy, signer, now):
    for name, data in files:
        with open(name, 'wb') as file: file.write(data)
    try: found = proofstream.report([name for name, _ in files], policy=policy, signer=signer, now=now)
    except ValueError: return None
    return [{'code': one.code, 'lines': one.lines(verbose=True)} for one in found]
def reader(files, policy, signer, now):
    try: trusted = None if policy is None else ask.read_policy(policy.encode())
    except ValueError: return None
    found = ask.reports([data for _, data in files], trusted, signer, round(now.timestamp() * 1000))
    return [{'code': one.code, 'lines': one.lines(name, verbose=True)} for (name, _), one in zip(files, found)]
for line in sys.stdin:
    case = json.loads(line)
    files = [(one['name'], base64.b64decode(one['base64']) if 'base64' in one else one['text'].encode()) for one in case['files']]
    now = datetime.datetime.fromisoformat(case['now'].replace('Z', '+00:00'))
    print(json.dumps([judge(files, case.get('policy'), case.get('signer'), now) for judge in (client, reader)]))
`

type Reports = readonly Said[] | null

async function inPython(cases: readonly Given[]): Promise<(readonly [client: Reports, reader: Reports])[]> {
  const input = cases.map((one) => `${JSON.stringify(one)}\n`).join('')
  const { code, stdout, stderr } = await run('python3', ['-c', program], { input, env: { ...python, PYTHONUTF8: '1' } })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as readonly [Reports, Reports])
}

/** Of what is wrong all say the same in the first sentence, and then each what it has seen. */
const alike = ({ code, lines }: Said): Said => {
  // A key that is not the policy's is told with the same words by all.
  const alikeLines = lines[3]?.includes('In the name of') === true ? 4 : 3
  return { code, lines: [5, 10, 11].includes(code) ? lines.slice(0, alikeLines) : lines }
}
const isNull = (reports: Reports): reports is null => reports === null

test('all vectors have the reports of the golden file', async () => {
  const said = await inPython(vectors)
  for (const [at, { name }] of vectors.entries()) {
    const expected = golden.vectors[name]
    const firsts = must(said[at], 'a line for each vector').map((one) =>
      isNull(one) ? null : alike(must(one[0], 'a report')),
    )
    expect({ name, firsts }).toEqual({ name, firsts: Array(2).fill(expected ? alike(expected) : null) })
  }
})

test('two histories of one ledger are told on both files', async () => {
  const name = 'receipt with its entry in one head and another block in another'
  const found = must(
    vectors.find((one) => one.name === name),
    name,
  )
  const policy = parsePolicy(utf8(found.policy ?? ''))
  const files = found.files.map(({ text }) => utf8(text))
  const said = judgeEvidence(files, { policy, nowMs: Date.parse(found.now) }).map((one, at) => {
    const { report } = must(one, 'a report')
    const lines = reportLines(report, { file: found.files[at]?.name ?? '', verbose: true })
    return { code: verdictCodes[report.verdict], lines }
  })
  expect(said.filter(({ lines }) => lines.join().includes('It has shown two histories')).length).toBeGreaterThan(1)
  expect(await inPython([found])).toEqual([[said, said]])
})

test('so have files of every kind as mail and editors leave them, answers, and what is no evidence', async () => {
  const said = await inPython(golden.extras)
  for (const [at, { name, reports }] of golden.extras.entries()) {
    const both = must(said[at], 'a line for each file').map((one) => one?.map(alike) ?? null)
    expect({ name, both }).toEqual({ name, both: Array(2).fill(reports?.map(alike) ?? null) })
  }
})

const now = '2026-06-01T00:00:00Z'
const alone = (name: string, data: Uint8Array): Given => ({
  name,
  files: [{ name: 'file', base64: Buffer.from(data).toString('base64') }],
  now,
})

/** Of an answer, by our library. */
function expected({ files: [file] }: Given): { readonly said: Said; readonly isReprinted: boolean } {
  const [judged] = judgeEvidence([Buffer.from(file?.base64 ?? '', 'base64')], { nowMs: Date.parse(now) })
  const { report } = must(judged, 'a report')
  const lines = reportLines(report, { file: 'file', verbose: true })
  return {
    said: { code: verdictCodes[report.verdict], lines },
    isReprinted: report.why[0]?.startsWith('Read as doubles') === true,
  }
}

/** Which of two sentences is said of a text that is no answer depends on what a program looks at first. */
const ofAnswer = (said: Said): Said =>
  said.lines[1] === '  file: no evidence that is known here' ? { ...said, lines: said.lines.slice(0, 2) } : alike(said)

test('answers that are changed, and answers of all layouts, have the reports of our library', async () => {
  const random = randomOf(11)
  const answers = [read('answers/join.json'), ...printedOtherwise.map(([, data]) => saved(data))]
  const some = Array.from({ length: 400 }, (_, at) => changed(utf8(answers[at % answers.length] ?? ''), random))
  const cases = [...answers.map(utf8), ...answers.map((text) => utf8(printed(text))), ...some].map((data, at) =>
    alone(`${at}`, data),
  )
  const found = await inPython(cases)
  const codes = new Set<number>()
  for (const [at, one] of cases.entries()) {
    const { said, isReprinted } = expected(one)
    codes.add(said.code)
    const [client, reader] = must(found[at], 'a line for each answer')
    const file = Buffer.from(one.files[0]?.base64 ?? '', 'base64').toString()
    // The reader does not look for what a JSON library may have printed otherwise: its first sentence names both.
    const byReader = isReprinted && reader?.[0]?.code === 10 ? [said] : reader
    const both = { client: client?.map(ofAnswer), reader: byReader?.map(ofAnswer) }
    expect({ file, ...both }).toEqual({ file, client: [ofAnswer(said)], reader: [ofAnswer(said)] })
  }
  expect(codes).toEqual(new Set([0, 5, 10, 11]))
})

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofstream-reports-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe.each<[string, (args: readonly string[]) => Promise<Ended>]>([
  ['python -m proofstream', (args) => run('python3', ['-m', 'proofstream', ...args], { env })],
  ['ask.py --check', (args) => run('python3', ['examples/reader/ask.py', '--check', ...args], { env })],
])('%s', (_, judge) => {
  /** The files of a vector, and the options of its reader. */
  const given = async (name: string): Promise<string[]> => {
    const { files, policy = '' } = must(
      vectors.find((one) => one.name === name),
      name,
    )
    const paths = files.map((file) => join(folder, file.name))
    for (const [at, file] of files.entries()) await writeFile(must(paths[at], 'a path'), file.text)
    await writeFile(join(folder, 'policy'), policy)
    return [...paths, '--policy', join(folder, 'policy')]
  }

  test('prints one report after another, and ends with the worst code', async () => {
    const args = await given('receipt with the proof of its batch')
    const { code, stdout, stderr } = await judge([...args, '--verbose'])
    const lines = must(golden.vectors['receipt with the proof of its batch'] ?? undefined, 'a report').lines
    const [first = '', ...others] = stdout.split('\n\n✓ ')
    expect([code, stderr, others.length]).toEqual([0, '', 2])
    expect(first.split('\n')).toEqual(lines.map((line) => line.replace('  1.json: ', `  ${folder}/1.json: `)))
    const short = await judge(args)
    expect(short.stdout).not.toContain('\nHashes\n')
    await writeFile(join(folder, 'page'), '<html>')
    const mixed = await judge([join(folder, 'page'), ...args])
    expect([mixed.code, mixed.stdout]).toEqual([5, expect.stringContaining('/page: a page in HTML or XML\n')])
    const [few, broken] = [await given('head of one witness'), await given('broken promise')]
    expect((await judge(few)).code).toBe(13)
    expect((await judge([must(broken[0], 'a path'), ...few])).code).toBe(12)
    const altered = await given('proof with another index')
    expect((await judge([must(broken[0], 'a path'), must(few[0], 'a path'), ...altered])).code).toBe(10)
  })

  test('says which key must have signed, what is wrong with a policy, and which file is not there', async () => {
    const args = await given('refusal')
    const [file = ''] = args
    const other = 'did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH'
    expect((await judge([file])).code).toBe(0)
    expect((await judge([file, '--signer', other])).code).toBe(10)
    const none = await judge([file, '--signer', 'did:key:z6Mkother'])
    expect(none).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('which is no key such as') })
    await writeFile(join(folder, 'policy'), '# mine\nquorum all\n')
    const refused = await judge(args)
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      5,
      '',
      expect.stringContaining('line 2 of the policy'),
    ])
    const absent = await judge([join(folder, 'absent')])
    expect([absent.code, absent.stdout, absent.stderr]).toEqual([
      3,
      '',
      expect.stringContaining('absent cannot be read'),
    ])
    expect(await judge([])).toMatchObject({ code: 2, stdout: '' })
  })
})

test.each(['-m proofstream', 'examples/reader/ask.py --check'])(
  'python3 %s ends with the code of its verdict though nobody reads what it prints',
  async (command) => {
    await writeFile(join(folder, 'forged'), read('answers/join.json').replace('"data":[[', '"data":[["x"],['))
    const line = `python3 ${command} '${join(folder, 'forged')}' | true`
    const { code, stderr } = await run('bash', ['-o', 'pipefail', '-c', line], { env })
    expect([code, stderr]).toEqual([10, ''])
  },
)

test('the command prints a line of JSON for each file, too', async () => {
  await writeFile(join(folder, 'answer.json'), read('answers/join.json'))
  await writeFile(join(folder, 'empty'), '')
  const paths = ['answer.json', 'empty'].map((name) => join(folder, name))
  const { code, stdout } = await run('python3', ['-m', 'proofstream', ...paths, '--json'], { env })
  const [answer, empty] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(code).toBe(5)
  expect(answer).toMatchObject({
    file: paths[0],
    code: 0,
    verdict: 'verified',
    what: 'a saved answer',
    rows: { total: 4 },
  })
  expect(empty).toMatchObject({
    file: paths[1],
    code: 5,
    verdict: 'no evidence',
    why: ['It has no byte. Was it saved whole?'],
  })
})

test('both explain each of their options', async () => {
  const client = await run('python3', ['-m', 'proofstream', '--help'], { env })
  const reader = await run('python3', ['examples/reader/ask.py', '--help'], { env })
  for (const { code, stdout } of [client, reader]) {
    expect(code).toBe(0)
    const options = stdout.split(/\n {2}(?=-)/).slice(1)
    expect(options.length).toBeGreaterThan(4)
    for (const option of options) expect(option).toMatch(/^-\S.*?\s{2,}\w/s)
    expect(stdout).toContain('docs/spec/ledger.md#verdicts')
  }
})
