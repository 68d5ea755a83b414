// Large files to each judge of what strangers send, in little memory: what is none of ours takes no more than some times its
// bytes, and the largest of ours is judged.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { verifyPage } from '../../scripts/build-pages.ts'
import { parseJson } from '../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../src/libraries/base/json/value.ts'
import { proofJsonText } from '../../src/libraries/ledger/proof-document.ts'
import { run } from '../examples/run.ts'
import { chromium, startChromium } from '../helpers/chromium.ts'
import { verdictOn } from '../features/console/driver.ts'
import { patienceMs } from '../helpers/until.ts'
import { twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
import { saved } from '../libraries/proof/saved-answers.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython && process.env['CI'] === 'true') throw new Error('two of the judges need python3')
const home = mkdtempSync(join(tmpdir(), 'proofstream-large-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const size = 60_000_000
const numbers = `[${'1,'.repeat(size / 2)}1]`
/** As many values as a record of 16 MiB has room for. */
const row = parseJson(`{"offset":0,"list":[${'1,'.repeat(8_000_000)}1]}`) as JsonObject
const ledger = new SmallLedger(3, row)

/** Name, text, exit code of the command: 0 is good, 5 no proof, 11 impossible to judge. */
const files: readonly (readonly [name: string, text: () => string, code: number])[] = [
  ['numbers', () => numbers, 5],
  ['numbers of an object', () => `{"a":${numbers}}`, 5],
  ['numbers of what begins as an answer', () => `{"output":{"data":${numbers}}}`, 5],
  ['numbers of what looks like a proof', () => `{"entry":"","ledger":{},"a":${numbers}}`, 11],
  ['arrays in arrays', () => '['.repeat(size), 5],
  ['objects in objects', () => '{"a":'.repeat(size / 5), 5],
  ['a text', () => `"${'a'.repeat(size)}"`, 5],
  ['escapes', () => `{"a":"${String.raw`\n`.repeat(size / 2)}"}`, 5],
  ['an answer', () => saved(`[${`["${'x'.repeat(996)}"],`.repeat(size / 1000)}[""]]`), 0],
  ['a proof of the largest row', () => proofJsonText(ledger.blocks[2]!.documents.row, ledger.proof(2, 3, 'row')), 0],
]
const pathOf = (name: string): string => join(home, `${name}.json`)
const policy = join(home, 'policy.txt')
writeFileSync(policy, twoOfThree)
for (const [name, text] of files) writeFileSync(pathOf(name), text())
const isRow = (name: string): boolean => name === 'a proof of the largest row'

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
    sys.argv = ['ask.py', '--check', file]
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
  // It judges answers; a .tlog-proof has no room for so much.
  expect(await judged('ask')).toBe(name === 'an answer' ? 0 : 2)
})

test.skipIf(chromium === undefined)('the verify page judges all of them', { timeout: 4 * patienceMs }, async () => {
  const browser = await startChromium()
  const page = await browser.page()
  const path = join(home, 'verify.html')
  writeFileSync(path, await verifyPage())
  await page.open(pathToFileURL(path).href)
  await page.evaluate(`document.querySelector('#policy').value = ${JSON.stringify(twoOfThree)}`)
  for (const [name, , code] of files) {
    await page.evaluate("document.querySelector('#result').replaceChildren()")
    await page.choose('#file', [pathOf(name)])
    const { tone } = await verdictOn(page)
    expect([name, tone]).toEqual([name, code === 0 ? 'good' : 'unjudged'])
  }
  expect(page.faults()).toEqual([])
  await browser.close()
})
