// `ledger prove`, `status` and `statements` against what a node says: where proofs are asked for, what is saved of them, and what is
// told where there is none yet.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jsonText } from '../../src/libraries/base/json/json.ts'
import { proofJsonText } from '../../src/libraries/ledger/proof-document.ts'
import { blockOf } from '../helpers/page-blocks.ts'
import { runCommand, runShell } from '../helpers/run-node.ts'
import { origin, twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
import { nodeKey, signedReceipt } from '../libraries/ledger/receipts.ts'
import { serve, type Served, servedLedger } from './served-ledger.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-prove-'))
await writeFile(join(folder, 'policy.txt'), twoOfThree)
const ledger = new SmallLedger(9)
const hash = `f1620${'a'.repeat(64)}`
const [text, json] = [
  ledger.text(5, 9, 'batch'),
  proofJsonText(ledger.blocks[5]!.documents.batch, ledger.proof(5, 9, 'batch')),
]

/** What a node serves that has a proof at each of these paths. */
function withProofs(...paths: readonly string[]): Served {
  const { files } = servedLedger(ledger.blocks.map(({ entry }) => entry))
  for (const path of paths) {
    files.set(path, (response, url) => {
      const body = url.searchParams.get('format') === 'json' ? json : text
      response.writeHead(200, { 'ledger-quorum': 'met' }).end(body)
    })
  }
  files.set('/datasets', JSON.stringify({ datasets: [{ alias: 'me/lab' }, { alias: 'me/other' }] }))
  return files
}

async function run(files: Served, ...args: string[]) {
  await using node = await serve(files)
  const finished = await runCommand([...args, '--server', node.url], { cwd: folder })
  return { ...finished, asked: node.asked }
}

describe.concurrent('ledger prove', () => {
  test.each([
    ['a receipt', 'Ae0Bjb', '/receipts/Ae0Bjb/proof'],
    ['a row', 'me/lab@17', '/me/lab/rows/17/proof'],
    ['a block of a dataset', `me/lab@${hash}`, `/me/lab/blocks/${hash}/proof`],
    ['a block of any dataset', hash, `/me/other/blocks/${hash}/proof`],
  ])('takes %s, and prints the proof', async (_, what, path) => {
    const { code, stdout, stderr } = await run(withProofs(path), 'ledger', 'prove', what)
    expect([code, stdout]).toEqual([0, Buffer.from(text).toString()])
    expect(stderr).toContain('proofstream verify FILE --policy FILE; witness quorum: met')
  })

  test('saves it in the form that the name of the file says', async () => {
    const files = (): Served => withProofs('/receipts/R/proof')
    const saved = async (name: string): Promise<string> => await readFile(join(folder, name), 'utf8')
    for (const [name, content] of [
      ['a.tlog-proof', Buffer.from(text).toString()],
      ['a.json', json],
    ] as const) {
      const { code, stdout, stderr } = await run(files(), 'ledger', 'prove', 'R', '-o', name)
      expect([code, stdout, await saved(name)]).toEqual([0, '', content])
      expect(stderr).toContain(`saved ${name}`)
    }
    expect((await run(files(), 'ledger', 'prove', 'R', '-o', 'json')).stdout).toBe(json)
    for (const name of ['a.csv', 'a.tar']) expect((await run(files(), 'ledger', 'prove', 'R', '-o', name)).code).toBe(2)
    expect((await run(files(), 'ledger', 'status', '-o', 'a.tlog-proof')).code).toBe(2)
  })

  test('says when to try again, why there is none, and what it does not take', async () => {
    const refusing = (
      status: number,
      kind: string,
      headers: Record<string, string> = {},
      path = '/receipts/R/proof',
    ): Served =>
      withProofs().set(path, (response) => {
        const body = { status, message: 'It is so.', error: { kind, message: 'It is so.' } }
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      })
    const young = await run(
      refusing(409, 'NotYetInLedger', { 'retry-after': '45' }),
      'ledger',
      'prove',
      'R',
      '-o',
      'b.json',
    )
    expect([young.code, young.stderr]).toEqual([8, expect.stringContaining('hint: Try again in 45 s.')])
    await expect(readFile(join(folder, 'b.json'))).rejects.toThrow('ENOENT')
    const none = await run(refusing(404, 'NoSuchProof'), 'ledger', 'prove', 'R')
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('(404 NoSuchProof)')])
    // One dataset has the block, and no proof of it: the others do not hide that.
    const kept = refusing(404, 'NoSuchProof', {}, `/me/lab/blocks/${hash}/proof`)
    const without = await run(kept, 'ledger', 'prove', hash)
    expect([without.code, without.stderr]).toEqual([3, expect.stringContaining('(404 NoSuchProof)')])
    const unknown = await run(withProofs(), 'ledger', 'prove', hash)
    expect([unknown.code, unknown.asked.filter((path) => path.includes(hash)).length]).toEqual([3, 2])
    expect((await run(withProofs(), 'ledger', 'prove', 'me/lab@first')).code).toBe(2)
    const whole = await run(withProofs(), 'ledger', 'prove', 'me/lab')
    expect([whole.code, whole.stderr]).toEqual([2, expect.stringContaining('account/dataset@offset')])
  })

  test('and what follows on the page that tells of it', async () => {
    const files = withProofs('/receipts/R/proof')
    files.set('/receipts/R', jsonText(signedReceipt(ledger, 5, { by: '2026-05-01T00:00:00.000Z' })))
    await using node = await serve(files)
    const script = blockOf('docs/ledger.md', 'proofstream ledger prove').replaceAll(
      'https://data.example.org',
      node.url,
    )
    const { code, stdout } = await runShell(script, { cwd: folder, env: { RECEIPT: 'R', TOKEN: 'T' } })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect([code, lines]).toEqual([
      0,
      [
        expect.objectContaining({ file: 'batch.tlog-proof', verdict: 'included', kind: 'batch' }),
        expect.objectContaining({ file: 'receipt.json', verdict: 'included', signer: nodeKey.did }),
      ],
    ])
  })
})

test('ledger status says what the node says', async () => {
  const { files } = servedLedger(ledger.blocks.map(({ entry }) => entry))
  files.set('/ledger', JSON.stringify({ origin, size: 10, root: 'AAAA', head: 'a\n1\n', state: 'running' }))
  const status = await run(files, 'ledger', 'status', '-o', 'table')
  expect([status.code, status.stdout]).toEqual([0, `origin  ${origin}\nsize    10\nstate   running\n`])
  expect(JSON.parse((await run(files, 'ledger', 'status')).stdout)).toMatchObject({ root: 'AAAA', head: 'a\n1\n' })
  files.delete('/ledger')
  expect((await run(files, 'ledger', 'status')).code).toBe(3)
})
