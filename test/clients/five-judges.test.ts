// Five judges, one verdict: the library, the command, the verify page in Chromium, the Python client and the reader example say of
// every vector what it says of itself. A vector is a file with what lies beside it, what the reader trusts, and the time. Of large
// files they say the same in little memory: what is none of ours takes some times its bytes, and the largest of ours is judged.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { verifyPage } from '../../scripts/build-pages.ts'
import type { Vector } from '../../scripts/ledger-vectors/model.ts'
import { told } from '../../src/cli/judged.ts'
import { runCommandLine } from '../../src/cli/program.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../src/libraries/base/errors.ts'
import { parseJson } from '../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../src/libraries/base/json/value.ts'
import { judgeFile } from '../../src/libraries/ledger/judge-file.ts'
import { besideOf } from '../../src/libraries/ledger/judge-receipt.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { proofJsonText } from '../../src/libraries/ledger/proof-document.ts'
import { clientEnvironment, loadConfig, optionTable } from '../../src/app/config.ts'
import { defined } from '../../src/libraries/base/collections.ts'
import { run } from '../examples/run.ts'
import { type Browser, chromium, type Page, startChromium } from '../helpers/chromium.ts'
import { chosenOn, verdictOn } from '../features/console/driver.ts'
import { patienceMs } from '../helpers/until.ts'
import { twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
import { saved as savedAnswer } from '../libraries/proof/saved-answers.ts'

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
begun = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
def client(first, *beside, policy=None, signer=None, now=0):
    at = begun + datetime.timedelta(milliseconds=now)
    try:
        found = proofstream.verify(first, signer, policy=policy, beside=beside, now=at)
    except proofstream.ProofError as error:
        return {'verdict': 'altered', 'code': 10, 'kind': error.kind}
    except ValueError:
        return {'verdict': 'policy refused', 'code': 5}
    return {**found.facts, 'verdict': found.verdict, 'code': ask.CODES[found.verdict], 'missing': found.missing}
def reader(files, policy=None, signer=None, now=0):
    try: trusted = None if policy is None else ask.read_policy(policy.encode())
    except ValueError: return {'verdict': 'policy refused', 'code': 5}
    found = ask.reports([file.encode() for file in files], trusted, signer, now)[0]
    return {'verdict': found.verdict, 'code': found.code}
for line in sys.stdin:
    one = json.loads(line)
    trust = {name: one[name] for name in ('policy', 'signer', 'now') if name in one}
    print(json.dumps([client(*one['files'], **trust), reader(one['files'], **trust)]))
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
    .map((line) => JSON.parse(line) as readonly [object, object])
  expect(judged.map(([client], at) => ({ name: vectors[at]?.name, ...client }))).toMatchObject(said)
  expect(judged.map(([, reader], at) => ({ name: vectors[at]?.name, ...reader }))).toEqual(verdicts)
})

/** The verify page in a browser of its own. */
async function openVerifyPage(): Promise<{ readonly browser: Browser; readonly page: Page }> {
  const browser = await startChromium()
  const page = await browser.page()
  const path = join(home, 'verify.html')
  writeFileSync(path, await verifyPage())
  await page.open(pathToFileURL(path).href)
  return { browser, page }
}

describe.skipIf(chromium === undefined)('in Chromium', () => {
  test('the verify page', { timeout: 2 * patienceMs }, async () => {
    const { browser, page } = await openVerifyPage()
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
      // Of several files a bad one speaks first: what is said of the first stands behind its name.
      const own = `[...document.querySelectorAll('h2')].find((one) => one.textContent.startsWith(${JSON.stringify(basename(paths[0] ?? ''))}))?.className`
      judged.push({ name: vector.name, tone: paths.length === 1 ? tone : await page.evaluate(own) })
    }
    const golden = JSON.parse(readFileSync('test/fixtures/evidence/reports.json', 'utf8')).vectors
    const tones: Readonly<Record<string, string>> = { '✓': 'good', '✗': 'bad' }
    const toneOf = (name: string): string => tones[golden[name]?.lines[0][0]] ?? 'unjudged'
    expect(judged).toEqual(verdicts.map(({ name }) => ({ name, tone: toneOf(name) })))
    expect(page.faults()).toEqual([])
    await browser.close()
  })
})

describe('of large files', () => {
  const size = 60_000_000
  const numbers = `[${'1,'.repeat(size / 2)}1]`
  /** As many values as a record of 16 MiB has room for. */
  const row = parseJson(`{"offset":0,"list":[${'1,'.repeat(8_000_000)}1]}`) as JsonObject
  const ledger = new SmallLedger(1, row)
  /** Name, text, exit code of the command: 0 is good, 5 no proof, 11 impossible to judge. */
  const files: readonly (readonly [name: string, text: () => string, code: number])[] = [
    ['numbers', () => numbers, 5],
    ['numbers of what begins as an answer', () => `{"output":{"data":${numbers}}}`, 5],
    ['numbers of what looks like a proof', () => `{"entry":"","ledger":{},"a":${numbers}}`, 11],
    ['arrays in arrays', () => '['.repeat(size), 5],
    ['a text', () => `"${'a'.repeat(size)}"`, 5],
    ['escapes', () => `{"a":"${String.raw`\n`.repeat(size / 2)}"}`, 5],
    ['an answer', () => savedAnswer(`[${`["${'x'.repeat(996)}"],`.repeat(size / 1000)}[""]]`), 0],
    ['a proof of the largest row', () => proofJsonText(ledger.blocks[0]!.documents.row, ledger.proof(0, 1, 'row')), 0],
  ]
  const pathOf = (name: string): string => join(home, `${name}.json`)
  const policy = join(home, 'policy.txt')
  const isRow = (name: string): boolean => name === 'a proof of the largest row'

  beforeAll(() => {
    writeFileSync(policy, twoOfThree)
    for (const [name, text] of files) writeFileSync(pathOf(name), text())
  })

  /** V8 may not end at its exit near a limit of its heap: so the peak is what is asked for. */
  const peakKiB = "process.on('exit', () => console.error('peak ' + process.resourceUsage().maxRSS))"

  test.each(files)('the command judges %s', { timeout: patienceMs }, async (name, _, code) => {
    const loaded = ['--import', `data:text/javascript,${peakKiB}`]
    const args = [...loaded, 'src/main.ts', 'verify', '--offline', '--policy', policy, pathOf(name)]
    const { code: ended, stderr } = await run('node', args)
    expect([ended, ended === code ? '' : stderr]).toEqual([code, ''])
    expect(Number(/peak (\d+)/.exec(stderr)?.[1])).toBeLessThan(isRow(name) ? 3e6 : 6e5)
  })

  const program = `
import resource, runpy, sys
policy, file, most = sys.argv[2], sys.argv[3], int(float(sys.argv[4]))
resource.setrlimit(resource.RLIMIT_AS, (most, most))
if sys.argv[1] == 'ask':
    sys.argv = ['ask.py', '--check', file, '--policy', policy]
    runpy.run_path('examples/reader/ask.py', run_name='__main__')
import proofstream
try:
    found = proofstream.verify(open(file, 'rb').read(), policy=open(policy).read())
    sys.exit(11 if getattr(found, 'verdict', '') == 'impossible' else 0 if getattr(found, 'is_good', True) else 1)
except proofstream.ProofError as error:
    sys.exit({'noProof': 5, 'impossible': 11, 'failed': 10}[error.outcome])
`

  test.skipIf(!hasPython).each(files)('Python judges %s', { timeout: patienceMs }, async (name, _, code) => {
    const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
    const judged = async (judge: string): Promise<number | null> =>
      (await run('python3', ['-c', program, judge, policy, pathOf(name), isRow(name) ? '4e9' : '6e8'], { env })).code
    expect(await judged('client')).toBe(code)
    expect(await judged('ask')).toBe(code)
  })

  test.skipIf(chromium === undefined)('the verify page judges all of them', { timeout: 4 * patienceMs }, async () => {
    const { browser, page } = await openVerifyPage()
    await page.evaluate(`document.querySelector('#policy').value = ${JSON.stringify(twoOfThree)}`)
    for (const [name] of files) {
      expect([name, (await chosenOn(page, pathOf(name))).tone]).toEqual([name, isRow(name) ? 'good' : 'unjudged'])
    }
    expect(page.faults()).toEqual([])
    await browser.close()
  })
})
