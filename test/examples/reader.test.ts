// The reader example: rows that check out are printed, and whatever part was changed is found, without a line of our code.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Vector } from '../../scripts/ledger-vectors/model.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { headText } from '../../src/libraries/ledger/head.ts'
import { noteOf, signNote } from '../../src/libraries/ledger/note.ts'
import { commit } from '../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../src/libraries/proof/sign.ts'
import { tlogProofText } from '../../src/libraries/ledger/tlog-proof.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { origin, smallOrderSigner, twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
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
    expect(stderr).toContain(`  key    ${live.node.did}\n`)
    expect(stderr).toMatch(new RegExp(`  question    ${query}\n.*\n  dataset     acme/cities \\(did:odf:`))
    expect(stderr).toContain('answer      2 rows, none left out\n')
    const checked = await ask('--check', file, '--signer', live.node.did, '--verbose')
    expect([checked.code, checked.stderr]).toEqual([0, ''])
    expect(checked.stdout).toContain('✓ Unchanged since it was signed by the key that you named\n')
    expect(checked.stdout).toMatch(/^ {2}Tromsø "north" {2}1\.5e\+300 {2}9007199254740993$/m)
    expect(checked.stdout).toMatch(/^ {2}block of acme\/cities +f1620\w{64}$/m)
    const stranger = await ask('--check', file, '--signer', 'did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH')
    expect([stranger.code, stranger.stdout]).toEqual([
      10,
      expect.stringContaining('the key is not the one that you named'),
    ])
  })

  it.each([
    ['a row', /Rome/, 'Roma', 'The rows are not those that were signed.'],
    ['a number by a digit that a double has not', /9007199254740993/, '9007199254740992', 'The rows are not'],
    ['the statement', /select city/, 'select  city', 'The query, its parameters or the named blocks are not'],
    [
      'the block',
      /"blockHash":"f1620./,
      '"blockHash":"f1620_',
      'The query, its parameters or the named blocks are not',
    ],
    ['the sub-queries', /"subQueriesHash":"f1620./, '"subQueriesHash":"f1620_', 'A saved answer has'],
    ['a hash of the commitment', /"outputHash":"f1620(.)/, '"outputHash":"f1621$1', 'A saved answer has'],
    ['the signature', /"proofValue":"u.{4}/, '"proofValue":"uAAAA', 'The key that the file names did not sign this.'],
  ])('finds that %s was changed', async (_, from, to, reason) => {
    const answer = await live.query('select city, size, n from acme.cities', { include: ['Proof'] })
    const file = join(dir, 'changed.json')
    await writeFile(file, answer.text.replace(from, to))
    expect(await readFile(file, 'utf8')).not.toBe(answer.text)
    const { code, stdout, stderr } = await ask('--check', file)
    const isAnswer = !reason.startsWith('A saved answer has')
    expect([code, stdout, stderr]).toEqual([isAnswer ? 10 : 5, expect.stringContaining(reason), ''])
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
for line in sys.stdin: print(ask.check_answer(line.encode())['proof']['verificationMethod'])
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
    expect(stderr).toContain('  parameters  {"n":"2","not":"a=b"}\n')
    expect((await ask(sql, '--param', 'n', ...server)).code).toBe(2)
  })

  it.each(['JsonAoa', 'JsonAos', 'JsonSoa'])('says that rows were left out of an answer in %s', async (dataFormat) => {
    const file = join(dir, 'cut.json')
    const asked = { include: ['Proof'], dataFormat, limit: 1 }
    await writeFile(file, (await live.query('select city from acme.cities order by n', asked)).text)
    const { code, stdout } = await ask('--check', file)
    expect([code, stdout]).toEqual([0, expect.stringContaining('Rows (1)\n  city\n  Rome, }{][\n')])
    expect(stdout).toContain('answer      1 row, cut by limit 1\n')
  })

  it.each<[what: string, code: number, said: string, change: (text: string) => string]>([
    ['line ends and indentation', 0, '? Unchanged', (text) => text.replaceAll('","', '",\r\n\t "')],
    ['its escapes undone', 0, '? Unchanged', (text) => text.replaceAll('\\u00f8', 'ø')],
    ['white space in a row', 10, 'The rows are not', (text) => text.replace('Rome, ', 'Rome,').replace('","', '", "')],
    ['a mark of byte order', 5, 'one JSON object', (text) => `\ufeff${text}\n`],
    ['an end that is missing', 5, 'one JSON object', (text) => text.slice(0, 90)],
    ['another form', 5, 'A saved answer has input', () => '[1]'],
    ['no proof', 5, 'A saved answer has input', () => '{"output": {}}'],
    ['members of other types', 5, 'A saved answer has input', (text) => text.replace(/"did:key:[^"]*"/, '7')],
    [
      'a key of any length',
      5,
      'A saved answer has input',
      (text) => text.replace('did:key:z', `did:key:z${'z'.repeat(99)}`),
    ],
  ])('reads a file with %s, or says what is wrong with it', async (_, expected, said, change) => {
    const answer = await live.query('select city, size, n from acme.cities', { include: ['Proof'] })
    const file = join(dir, 'reformatted.json')
    await writeFile(file, change(answer.text))
    const { code, stdout, stderr } = await ask('--check', file)
    expect([code, stdout, stderr]).toEqual([expected, expect.stringContaining(said), ''])
  })

  it('has the node run it again, and prints what it explains', async () => {
    const file = join(dir, 'again.json')
    const server = ['--server', live.node.url]
    const { stderr } = await ask('select city from acme.cities order by n', '--save', file, ...server)
    expect(stderr).toContain(
      '  - That these rows follow from those blocks: a node that holds them must run the question again.\n',
    )
    const again = await ask('--check', file, '--again', ...server)
    expect(again.code).toBe(0)
    expect(again.stderr).toMatch(/^again: dataset: "acme\/cities \(.*\) up to block f1620\w+, made 20.*Z"$/m)
    expect(again.stderr).toMatch(/^again: answer: "2 rows, none left out"$/m)
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
  it('prints what it shows, and of whom it is, by the policy of its reader', async () => {
    const [file, policyFile] = [join(dir, 'row.tlog-proof'), join(dir, 'policy')]
    await writeFile(file, ledger.text(301, 600, 'row'))
    await writeFile(policyFile, twoOfThree)
    const { code, stdout, stderr } = await ask('--proof', file, '--policy', policyFile)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('✓ Included in the ledger, as its witnesses saw it\n')
    expect(stdout).toMatch(/^ {2}dataset {2}did:odf:fed01\w{64}\n {2}block {4}sequence 100 of its chain\n/m)
    expect(stdout).toMatch(/^ {2}entry {4}the 302nd of 600 entries of node.example\/ledger$/m)
    expect(stdout).toMatch(/^ {2}witness W3 {2}2026-05-28T20:26:43.000Z$/m)
    expect((await ask('--proof', file)).code).toBe(14)
    const others = [
      twoOfThree.replace('quorum G', 'quorum H'),
      twoOfThree.replace('G 2', 'G 4'),
      twoOfThree.replace(/^witness W2/m, 'witness W1'),
      twoOfThree.replace(/^quorum.*/m, ''),
    ]
    for (const text of others) {
      await writeFile(policyFile, text)
      const { code, stderr } = await ask('--proof', file, '--policy', policyFile)
      expect([text, code, stderr]).toEqual([text, 5, expect.stringContaining('is no policy')])
    }
    await writeFile(policyFile, twoOfThree.replace('quorum G', 'quorum none').replaceAll(' ', '  '))
    expect((await ask('--proof', file, '--policy', policyFile)).code).toBe(0)
    // Readers differ in what they take of such a signature, so none counts.
    const text = headText({ origin, size: 600, root: ledger.root(600) })
    const head = utf8(noteOf({ text, signatures: [signNote(text, origin, smallOrderSigner(1))] }))
    await writeFile(file, must(tlogProofText({ ...ledger.proof(301, 600, 'row'), head }), 'a proof'))
    expect((await ask('--proof', file, '--policy', policyFile)).code).toBe(10)
  })

  it('settles a receipt by the proof of its batch that lies beside it', async () => {
    const vectors = JSON.parse(await readFile('test/fixtures/ledger/vectors.json', 'utf8')) as readonly Vector[]
    const name = 'receipt whose signer nobody names, with the proof of its batch'
    const { files, policy = '' } = must(
      vectors.find((one) => one.name === name),
      name,
    )
    const policyFile = join(dir, 'policy')
    await writeFile(policyFile, policy)
    const paths = files.map((file) => join(dir, file.name))
    for (const [at, file] of files.entries()) await writeFile(must(paths[at], 'a path'), file.text)
    const [receipt = ''] = paths
    expect((await ask('--check', receipt)).code).toBe(14)
    const alone = await ask('--check', receipt, '--policy', policyFile)
    expect([alone.code, alone.stdout]).toEqual([
      14,
      expect.stringContaining('give the proof of a statement of that ledger'),
    ])
    const both = await ask('--check', ...paths, '--policy', policyFile)
    expect([both.code, both.stdout]).toEqual([0, expect.stringContaining('✓ The promised block is in the ledger\n')])
  })
})
