// Five judges, one verdict: the library, the command, the verify page in Chromium, the Python client and the reader example say of
// every vector what it says of itself. A vector is a file with what lies beside it, what the reader trusts, and the time.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { verifyPage } from '../../scripts/build-pages.ts'
import type { Vector } from '../../scripts/ledger-vectors/model.ts'
import { told } from '../../src/cli/judged.ts'
import { runCommandLine } from '../../src/cli/program.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../src/libraries/base/errors.ts'
import { kindOfFile } from '../../src/libraries/ledger/file-kind.ts'
import { judgeFile } from '../../src/libraries/ledger/judge-file.ts'
import { besideOf } from '../../src/libraries/ledger/judge-receipt.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { clientEnvironment, loadConfig, optionTable } from '../../src/app/config.ts'
import { defined } from '../../src/libraries/base/collections.ts'
import { run } from '../examples/run.ts'
import { chromium, startChromium } from '../helpers/chromium.ts'
import { verdictOn } from '../features/console/driver.ts'
import { patienceMs } from '../helpers/until.ts'

const vectors = JSON.parse(readFileSync('test/fixtures/ledger/vectors.json', 'utf8')) as readonly Vector[]
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython && process.env['CI'] === 'true') throw new Error('two of five judges need python3')
if (!hasPython) console.warn('NOT RUN: two of five judges need python3')

const home = mkdtempSync(join(tmpdir(), 'proofstream-judges-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
afterEach(() => vi.restoreAllMocks())

/** Saves a vector: the paths of its policy and of its files. */
const saved = ({ files, policy = '' }: Vector, at: number): readonly string[] =>
  [{ name: 'policy', text: policy }, ...files].map(({ name, text }) => {
    const path = join(home, `${at}-${name}`)
    writeFileSync(path, text)
    return path
  })
const timeOf = ({ now }: Vector): number => Date.parse(now)
const said = vectors.map(({ name, verdict, code, missing, boundBy, retired, shown }) =>
  defined({ name, verdict, code, missing, boundBy, retired, shown }),
)
const verdicts = vectors.map(({ name, verdict, code }) => ({ name, verdict, code }))

test('the library', () => {
  const judged = vectors.map((vector) => {
    const { name, files, policy: text, signer } = vector
    const [bytes = utf8(''), ...beside] = files.map((file) => utf8(file.text))
    try {
      const policy = text === undefined ? undefined : parsePolicy(utf8(text))
      const verdict = judgeFile(bytes, { policy, signer, nowMs: timeOf(vector) }, { beside: besideOf(beside, policy) })
      if (verdict.kind === 'other') return { name, verdict: 'other' }
      return { name, ...('facts' in verdict && verdict.facts), ...verdict, ...told(verdict) }
    } catch (error) {
      if (error instanceof DecodeError) return { name, verdict: 'policy refused', code: 5 }
      throw error
    }
  })
  expect(judged).toMatchObject(said)
})

test('the command', async () => {
  const judged: unknown[] = []
  for (const [at, vector] of vectors.entries()) {
    const { name, policy, signer } = vector
    const [policyFile = '', ...paths] = saved(vector, at)
    const trust = [...(policy === undefined ? [] : ['--policy', policyFile]), ...(signer ? ['--signer', signer] : [])]
    const lines: string[] = []
    vi.spyOn(Date, 'now').mockReturnValue(timeOf(vector))
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
    const entry = { clientEnvironment, loadConfig, optionTable }
    const code = await runCommandLine(['verify', ...paths, ...trust, '--offline', '-o', 'ndjson'], entry)
    vi.restoreAllMocks()
    const [line] = lines.join('').split('\n')
    judged.push({ name, missing: 'policy', ...(line ? JSON.parse(line) : { verdict: 'policy refused', code }) })
  }
  expect(judged).toMatchObject(said)
})

test.skipIf(!hasPython)('the Python client and the reader example', async () => {
  const program = `
import datetime, json, sys, proofstream
sys.path.insert(0, 'examples/reader')
import ask
codes = {'signed': 0, 'promised, not yet due': 0, 'promise broken': 12, **ask.CODES}
begun = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
def client(first, *beside, policy=None, signer=None, now=0):
    at = begun + datetime.timedelta(milliseconds=now)
    try:
        found = proofstream.verify(first, signer, policy=policy, beside=beside, now=at)
    except proofstream.ProofError as error:
        return {'verdict': 'altered', 'code': 10, 'kind': error.kind}
    except ValueError:
        return {'verdict': 'policy refused', 'code': 5}
    return {**found.facts, 'verdict': found.verdict, 'code': codes[found.verdict], 'missing': found.missing}
def reader(first, policy):
    try: trusted = ask.read_policy(policy.encode())
    except ValueError: return {'verdict': 'policy refused', 'code': 5}
    verdict = ask.judge(first.encode(), trusted)[0]
    return {'verdict': verdict, 'code': codes[verdict]}
for line in sys.stdin:
    one = json.loads(line)
    by_client = client(*one['files'], policy=one.get('policy'), signer=one.get('signer'), now=one['now'])
    print(json.dumps([by_client, reader(one['files'][0], one['policy']) if 'policy' in one else None]))
`
  const input = vectors.map((vector) => {
    const { files, policy, signer } = vector
    return `${JSON.stringify({ files: files.map(({ text }) => text), policy, signer, now: timeOf(vector) })}\n`
  })
  const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
  const { code, stdout, stderr } = await run('python3', ['-c', program], { input: input.join(''), env })
  expect([code, stderr]).toEqual([0, ''])
  const judged = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as readonly [object, object | null])
  expect(judged.map(([client], at) => ({ name: vectors[at]?.name, ...client }))).toMatchObject(said)
  // What it does not judge it does not call good: all but a .tlog-proof. Without a policy it does nothing.
  const byReader = verdicts.flatMap(({ name, verdict, code }, at) => {
    const [{ text } = { text: '' }] = vectors[at]?.files ?? []
    const isJudged = verdict === 'policy refused' || (kindOfFile(utf8(text)).kind === 'proof' && !text.startsWith('{'))
    return vectors[at]?.policy === undefined
      ? []
      : [{ name, ...(isJudged ? { verdict, code } : { verdict: 'impossible', code: 11 }) }]
  })
  const reader = judged.flatMap(([, one], at) => (one === null ? [] : [{ name: vectors[at]?.name, ...one }]))
  expect(reader).toEqual(byReader)
})

describe.skipIf(chromium === undefined)('in Chromium', () => {
  test('the verify page', { timeout: 2 * patienceMs }, async () => {
    const browser = await startChromium()
    const page = await browser.page()
    const path = join(home, 'verify.html')
    writeFileSync(path, await verifyPage())
    await page.open(pathToFileURL(path).href)
    const judged: unknown[] = []
    for (const [at, vector] of vectors.entries()) {
      const [, ...paths] = saved(vector, vectors.length + at)
      const { policy = '', signer = '' } = vector
      await page.evaluate(`Date.now = () => ${timeOf(vector)};
        document.querySelector('#result').replaceChildren();
        document.querySelector('#policy').value = ${JSON.stringify(policy)};
        document.querySelector('#signer').value = ${JSON.stringify(signer)}`)
      await page.choose('#file', paths)
      const { tone } = await verdictOn(page)
      judged.push({ name: vector.name, tone })
    }
    const tone = (code: number): string => (code === 0 ? 'good' : code === 10 || code === 12 ? 'bad' : 'unjudged')
    expect(judged).toEqual(verdicts.map(({ name, code }) => ({ name, tone: tone(code) })))
    expect(page.faults()).toEqual([])
    await browser.close()
  })
})
