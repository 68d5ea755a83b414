// The reader example: rows that check out are printed, and whatever part was changed is found, without a line of our code.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { jsonText } from '../../src/libraries/base/json/json.ts'
import { headText } from '../../src/libraries/ledger/head.ts'
import { noteOf, signNote } from '../../src/libraries/ledger/note.ts'
import { commit } from '../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../src/libraries/proof/sign.ts'
import { tlogProofText } from '../../src/libraries/ledger/tlog-proof.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { origin, smallOrderSigner, twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
import { signedReceipt } from '../libraries/ledger/receipts.ts'
import { type Ended, run } from './run.ts'

let live: LiveNode
let dir: string

const ask = (...args: string[]): Promise<Ended> => run('python3', [join('examples', 'reader', 'ask.py'), ...args])

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-reader-'))
  live = await startLiveNode()
  const rows = [
    { city: 'Tromsø "north"', size: 1.5e300, n: 9007199254740993n },
    { city: 'Rome, }{][', size: 0.1, n: 2 },
  ]
  const body = rows.map((row) => `{"city":${JSON.stringify(row.city)},"size":${row.size},"n":${row.n}}\n`).join('')
  await live.call('/acme/cities/ingest?create=true&integers=int64', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
    body,
  })
})
afterAll(async () => {
  await live.stop()
  await rm(dir, { recursive: true })
})

describe('the reader example', () => {
  it('prints the rows of an answer that it has checked, and saves it', async () => {
    const file = join(dir, 'answer.json')
    const query = 'select city, size, n from acme.cities order by n'
    const { code, stdout, stderr } = await ask(query, '--server', live.node.url, '--save', file)
    expect([code, stdout]).toEqual([0, 'Rome, }{][\t0.1\t2\nTromsø "north"\t1.5e+300\t9007199254740993\n'])
    expect(stderr).toContain(`signed by ${live.node.did}`)
    expect(stderr).toContain(`asked: "${query}"\nof: acme/cities at block f1620`)
    expect(stderr).toContain('answer: 2 rows, none left out\n')
    expect((await ask('--check', file, '--signer', live.node.did)).code).toBe(0)
    const stranger = await ask('--check', file, '--signer', 'did:key:z6Mkother')
    expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining('it is signed by')])
  })

  it.each([
    ['a row', /Rome/, 'Roma', 'output does not hash to outputHash'],
    ['a number by a digit that a double has not', /9007199254740993/, '9007199254740992', 'output does not hash'],
    ['the statement', /select city/, 'select  city', 'input does not hash to inputHash'],
    ['the block', /"blockHash":"f1620./, '"blockHash":"f1620_', 'input does not hash to inputHash'],
    ['the sub-queries', /"subQueries":\[\]/, '"subQueries":[1]', 'subQueries does not hash'],
    ['a hash of the commitment', /"outputHash":"f1620./, '"outputHash":"f1620_', 'output does not hash'],
    ['the signature', /"proofValue":"u.{4}/, '"proofValue":"uAAAA', 'the signature is not of this key'],
  ])('finds that %s was changed', async (_, from, to, reason) => {
    const answer = await live.query('select city, size, n from acme.cities', { include: ['Proof'] })
    const file = join(dir, 'changed.json')
    await writeFile(file, answer.text.replace(from, to))
    expect(await readFile(file, 'utf8')).not.toBe(answer.text)
    const { code, stdout, stderr } = await ask('--check', file)
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(reason)])
  })

  it('takes the proofs of every signer', async () => {
    const signed = Array.from({ length: 30 }, (_, seed) => {
      const { commitment, proof } = signProof(
        commit({ input: new Map(), output: new Map() }),
        nodeKeyFromSeed(new Uint8Array(32).fill(seed)),
      )
      return JSON.stringify({ commitment, input: {}, output: {}, proof, subQueries: [] })
    })
    const program = `
import sys
sys.path.insert(0, "examples/reader")
import ask
for line in sys.stdin: print(ask.check(line.strip())[2])
`
    const { stdout, stderr } = await run('python3', ['-B', '-c', program], { input: signed.join('\n') })
    expect([stdout.split('\n').slice(0, -1), stderr]).toEqual([
      signed.map((text) => JSON.parse(text).proof.verificationMethod),
      '',
    ])
  })

  it('asks with values for parameters, and says which were signed', async () => {
    const sql = 'select city from acme.cities where n = $n and city <> $not'
    const server = ['--server', live.node.url]
    const { code, stdout, stderr } = await ask(sql, '--param', 'n=2', '--param', 'not=a=b', ...server)
    expect([code, stdout]).toEqual([0, 'Rome, }{][\n'])
    expect(stderr).toContain('with: {"n": "2", "not": "a=b"}\n')
    expect((await ask(sql, '--param', 'n', ...server)).code).toBe(2)
  })

  it.each(['JsonAoa', 'JsonAos', 'JsonSoa'])('says that rows were left out of an answer in %s', async (dataFormat) => {
    const file = join(dir, 'cut.json')
    const asked = { include: ['Proof'], dataFormat, limit: 1 }
    await writeFile(file, (await live.query('select city from acme.cities order by n', asked)).text)
    const { code, stdout, stderr } = await ask('--check', file)
    expect([code, stdout]).toEqual([0, 'Rome, }{][\n'])
    expect(stderr).toContain('answer: 1 row, cut by limit 1\n')
  })

  it.each<[string, string, (text: string) => string]>([
    ['a mark of byte order', 'checked', (text) => `\ufeff${text}\n`],
    ['line ends and indentation', 'checked', (text) => text.replaceAll('","', '",\r\n\t "')],
    ['its escapes undone', 'checked', (text) => text.replaceAll('\\u00f8', 'ø')],
    ['white space in a row', 'It was reformatted', (text) => text.replace('Rome, ', 'Rome,').replace('","', '", "')],
    ['an end that is missing', 'No answer that could be checked', (text) => text.slice(0, 90)],
    ['another form', 'it is not a JSON object', () => '[1]'],
    ['no proof', 'it is not an answer with rows and their proof', () => '{"output": {}}'],
    ['members of other types', 'No answer that could be checked', (text) => text.replace(/"did:key:[^"]*"/, '7')],
    [
      'a key of any length',
      'No answer that could be checked',
      (text) => text.replace('did:key:z', `did:key:z${'z'.repeat(99)}`),
    ],
  ])('reads a file with %s, or says what is wrong with it', async (_, said, change) => {
    const answer = await live.query('select city, size, n from acme.cities', { include: ['Proof'] })
    const file = join(dir, 'reformatted.json')
    await writeFile(file, change(answer.text))
    const { code, stderr } = await ask('--check', file)
    expect([code === 0, stderr]).toEqual([said === 'checked', expect.stringContaining(said)])
    expect(stderr).not.toContain('Traceback')
  })

  it('has the node run it again, and prints what it explains', async () => {
    const file = join(dir, 'again.json')
    const server = ['--server', live.node.url]
    const { stderr } = await ask('select city from acme.cities order by n', '--save', file, ...server)
    expect(stderr).toContain('not checked: that the rows follow from those blocks')
    const again = await ask('--check', file, '--again', ...server)
    expect(again.code).toBe(0)
    expect(again.stderr).toMatch(/^again: dataset: "acme\/cities \(.*\) up to block f1620\w+, made 20.*Z"$/m)
    expect(again.stderr).toMatch(/^again: answer: "2 rows, none left out"$/m)
    expect(again.stderr).not.toMatch(/^not checked/m)
    const elsewhere = await ask('--check', file, '--again', '--server', 'http://127.0.0.1:9')
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('No answer')])
  })

  it('says what the node says when there is no answer', async () => {
    const { code, stderr } = await ask('select * from acme.nothing', '--server', live.node.url)
    expect([code, stderr]).toEqual([2, expect.stringContaining('acme/nothing')])
  })
})

describe('the reader example with a proof of the ledger', () => {
  const ledger = new SmallLedger(600)
  it('prints what it shows, and of whom it is', async () => {
    const [file, policyFile] = [join(dir, 'row.tlog-proof'), join(dir, 'policy')]
    await writeFile(file, ledger.text(301, 600, 'row'))
    await writeFile(policyFile, twoOfThree)
    const { code, stdout, stderr } = await ask('--proof', file, '--policy', policyFile)
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ kind: 'row', offset: 1000 })])
    expect(stderr).toMatch(
      /^of: did:odf:fed01\w{64}, block 100 of its chain\nledger: node.example\/ledger, entry 301 of 600\n/,
    )
    expect(stderr).toContain('witness: W3 at 1780000003 s since 1970')
    expect((await ask('--proof', file)).code).toBe(2)
    const others = [
      twoOfThree.replace('node.example', 'other.example'),
      twoOfThree.replace('quorum G', 'quorum H'),
      twoOfThree.replace('G 2', 'G 4'),
      twoOfThree.replace(/^witness W2/m, 'witness W1'),
      twoOfThree.replace(/^quorum.*/m, ''),
    ]
    for (const text of others) {
      await writeFile(policyFile, text)
      const { code, stderr } = await ask('--proof', file, '--policy', policyFile)
      expect([text, code, stderr]).toEqual([text, 2, expect.stringContaining('This cannot be judged')])
    }
    await writeFile(policyFile, twoOfThree.replace('quorum G', 'quorum none').replaceAll(' ', '  '))
    expect((await ask('--proof', file, '--policy', policyFile)).code).toBe(0)
    // Readers differ in what they take of such a signature, so none counts.
    const text = headText({ origin, size: 600, root: ledger.root(600) })
    const head = utf8(noteOf({ text, signatures: [signNote(text, origin, smallOrderSigner(1))] }))
    await writeFile(file, must(tlogProofText({ ...ledger.proof(301, 600, 'row'), head }), 'a proof'))
    expect((await ask('--proof', file, '--policy', policyFile)).code).toBe(10)
  })

  it('says of other files, also of a receipt that nobody is bound to, that another program judges them', async () => {
    const [file, policyFile] = [join(dir, 'receipt.json'), join(dir, 'policy')]
    await writeFile(policyFile, twoOfThree)
    for (const text of [jsonText(signedReceipt(ledger, 5, { by: '2026-05-01T00:00:00Z' })), '{}', '']) {
      await writeFile(file, text)
      const { code, stdout, stderr } = await ask('--proof', file, '--policy', policyFile)
      expect([code, stdout, stderr]).toEqual([11, '', expect.stringContaining('proofstream verify judges receipts')])
    }
  })
})
