// Bundles in the Python client: it says of each what our library says, and does not call whole what it has not checked. What was
// changed, left out, doubled or swapped in one is found.

import { createReadStream, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { bundleReport, checkBundle } from '../../src/libraries/evidence/bundle.ts'
import { reportLines } from '../../src/libraries/evidence/layout.ts'
import { verdictCodes } from '../../src/libraries/evidence/report.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { run } from '../examples/run.ts'
import { ledgerOptions, runsWith } from '../helpers/features.ts'
import { liveNode } from '../helpers/live-node.ts'
import { until } from '../helpers/until.ts'
import { randomOf } from '../history/load.ts'
import { keyText } from '../libraries/ledger/keys.ts'
import { bundleOf, type File, filesOf, newPath, packed, repacked, signedByStranger } from '../node/bundle/support.ts'

const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
const live = await liveNode(ledgerOptions('data.example/ledger', '1s'))
let bundle = ''
let files: File[] = []
let others: File[] = []
let policy = ''

beforeAll(async () => {
  const receipts: string[] = []
  for (const alias of ['acme/a', 'acme/b']) {
    for (let block = 0; block < 3; block++) {
      const rows = Array.from({ length: 20 }, (_, n) => ({ name: `${alias} ${block}`, n }))
      const answer = await live.ingest(alias, rows, '?create=true&integers=int64')
      receipts.push(String(answer.at('receiptId')))
    }
  }
  const of = async (alias: string, ...more: readonly string[]): Promise<string> => {
    const sql = `select name, sum(n) as total from "${alias}" group by name order by name`
    return await bundleOf(live, (await live.query(sql, { include: ['Proof'] })).text, ...more)
  }
  if (runsWith('ledger')) {
    for (const id of receipts)
      await until(`the proof of ${id}`, async () => (await live.call(`/receipts/${id}/proof`)).status === 200)
    policy = (await live.call('/ledger/policy')).text
    bundle = await of('acme/a', '--ledger')
  } else {
    bundle = await of('acme/a')
  }
  files = await filesOf(bundle)
  others = await filesOf(await of('acme/b'))
})

interface Said {
  readonly code: number
  readonly lines: readonly string[]
}
interface Trust {
  readonly policy?: string | undefined
  readonly signer?: string
}

async function here(path: string, { policy: text, signer }: Trust): Promise<Said> {
  const known = text === undefined ? undefined : parsePolicy(utf8(text))
  const found = await checkBundle(createReadStream(path), { ...(signer !== undefined && { signer }), policy: known })
  const lack = known === undefined ? 'Name the policy to judge them by: --policy FILE.' : undefined
  const report = bundleReport(found, { isNamed: signer !== undefined, lack })
  return { code: verdictCodes[report.verdict], lines: reportLines(report, { verbose: true }) }
}

const program = `
import json, sys, proofstream
for line in sys.stdin:
    path, trust = json.loads(line)
    [found] = proofstream.report([path], **trust)
    lines = found.lines(verbose=True)
    lines[1] = lines[1].replace(f'{path}: ', '')
    print(json.dumps({'code': found.code, 'lines': lines}))
`

async function inPython(paths: readonly string[], trust: Trust = {}): Promise<Said[]> {
  const input = paths.map((path) => `${JSON.stringify([path, trust])}\n`).join('')
  const { code, stdout, stderr } = await run('python3', ['-c', program], { input, env })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Said)
}

const rules =
  '  - Whether each event in the blocks keeps the rules of chains, as those of schemas and sources: proofstream verify --bundle FILE.'

test('it says what our library says, but for what it has not checked, by each reader', async () => {
  const stranger = policy.replace(/^log .*$/m, `log ${keyText('other.example', 1, 1)}`)
  const trusts: readonly Trust[] = [
    {},
    { signer: live.node.did },
    ...(policy === '' ? [] : [{ policy }, { policy: stranger }]),
  ]
  const codes: number[] = []
  for (const trust of trusts) {
    const [said] = await inPython([bundle], trust)
    const { code, lines } = must(said, 'a report')
    expect(lines).toContain(rules)
    expect(lines.join('\n')).not.toMatch(/\bwhole\b/)
    const theirs = await here(bundle, trust)
    const same = lines
      .filter((line) => line !== rules)
      .map((line) => line.replace('in a bundle with all its blocks and rows', 'in a bundle that is whole'))
    expect({ code, lines: same.with(0, same[0] ?? '') }).toEqual(theirs)
    codes.push(code)
  }
  expect(codes).toEqual(policy === '' ? [0, 0] : [0, 0, 0, 14])
})

test('it finds what was changed, left out, doubled, swapped or put in, as our library does', async () => {
  const changed = ({ path, bytes }: File, at = bytes.length >> 1): File => {
    const copy = bytes.slice()
    copy[at] = (copy[at] ?? 0) ^ 1
    return { path, bytes: copy }
  }
  const paths: string[] = []
  const [random, places] = [randomOf(3), files.map((_, at) => at)]
  for (const place of places) {
    const edits = [
      files.map((file, at) => (at === place ? changed(file, random.between(0, file.bytes.length - 1)) : file)),
      files.filter((_, at) => at !== place),
      files.flatMap((file, at) => (at === place ? [file, file] : [file])),
      files.map((file, at) => (at === place ? must(files[(place + 1) % files.length], 'a file') : file)),
      files.map((file, at) => (at === place ? (others[place] ?? file) : file)),
    ]
    for (const edit of edits) paths.push(await packed(edit), ...(place > 0 ? [await repacked(edit)] : []))
  }
  const whole = readFileSync(bundle)
  const cuts = [whole.subarray(0, 20), whole.subarray(0, whole.length - 512), Buffer.concat([whole, Buffer.alloc(1)])]
  const flips = Array.from({ length: 60 }, () => {
    const copy = Buffer.from(whole)
    copy[random.between(14, copy.length - 1)]! ^= 1 << random.between(0, 7)
    return copy
  })
  for (const bytes of [...cuts, ...flips]) {
    const path = newPath('tar')
    await writeFile(path, bytes)
    paths.push(path)
  }
  const trust = policy === '' ? {} : { policy }
  const said = await inPython(paths, trust)
  let bad = 0
  for (const [at, path] of paths.entries()) {
    const [theirs, ours] = [await here(path, trust), must(said[at], 'a report')]
    const first = ({ code, lines }: Said) => ({
      path,
      code,
      what: lines[1],
      headline: lines[0]?.replace(/, in a bundle (that is whole|with all its blocks and rows)/, ''),
    })
    expect(first(ours)).toEqual(first(theirs))
    bad += ours.code === 0 ? 0 : 1
  }
  expect(bad).toBeGreaterThan(paths.length * 0.9)
})

describe('a bundle by a liar', () => {
  test('is found where blocks do not follow one another, and where a block is no block', async () => {
    const isBlock = ({ path }: File): boolean => path.includes('/blocks/')
    const blocks = files.filter(isBlock)
    const swapped = files.map((file) =>
      file === blocks[1] ? must(blocks[2], 'a block') : file === blocks[2] ? must(blocks[1], 'a block') : file,
    )
    const path = await repacked(swapped)
    const [said] = await inPython([path])
    expect(said?.lines.slice(0, 3)).toEqual([
      '✗ Do not trust this bundle',
      '  a bundle',
      expect.stringMatching(/chain of did:odf:\w+ breaks: block 1 .* does not follow/),
    ])
    expect((await here(path, {})).code).toBe(10)
    const forged = files.map((file) =>
      file.path === 'proof.json'
        ? { ...file, bytes: utf8(signedByStranger(Buffer.from(file.bytes).toString(), {})) }
        : file,
    )
    expect((await inPython([await repacked(forged)], { signer: live.node.did })).map(({ code }) => code)).toEqual([10])
  })
})

test('verify() says what it was given', async () => {
  const verify = `
import sys, proofstream
try: proofstream.verify(open(sys.argv[1], 'rb').read())
except proofstream.ProofError as error: print(error.outcome, error)
`
  const { stdout } = await run('python3', ['-c', verify, bundle], { env })
  expect(stdout).toBe('noProof this is no saved answer: it is a bundle, which holds one: python -m proofstream FILE\n')
  const reader = await run('python3', ['examples/reader/ask.py', '--check', bundle])
  expect([reader.code, reader.stdout]).toEqual([
    11,
    expect.stringContaining('This program reads no bundles: proofstream verify'),
  ])
})
