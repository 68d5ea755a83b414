// The Python client with a node that keeps a ledger: a receipt that is signed, a proof, and the verdict on both by the node's policy;
// a byte that is changed raises.

import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../examples/run.ts'
import { runsWith } from '../helpers/features.ts'
import { liveNode } from '../helpers/live-node.ts'

describe.runIf(runsWith('ledger'))('the Python client, with a node that keeps a ledger,', async () => {
  const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-python-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const env = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
  const python = async (program: string): Promise<string[]> => {
    const setup = `import os, proofstream\nnode = proofstream.Node("${live.node.url}", "${live.adminToken}")\n`
    const { code, stdout, stderr } = await run('python3', ['-c', setup + program], { env })
    expect([code, stderr]).toEqual([0, ''])
    return stdout.trimEnd().split('\n')
  }

  test('has a signed receipt and proofs of a batch, a block and a row, and judges them by its policy', async () => {
    await live.call('/acme/lab', { method: 'PUT', json: { visibility: 'public', proofs: 'rows' } })
    const program = `
receipt = node.ingest('acme/lab', [{'sensor': 's1', 'celsius': 21.5}, {'sensor': 's2', 'celsius': 19.0}], create=True)
told = node.receipt(receipt['receiptId'])
print(told['status'], type(node.receipt(receipt['receiptId'], signed=True)).__name__)
policy = node.policy()
def judged(file, **more):
    found = proofstream.verify(file, policy=policy, **more)
    print(found.kind, found.verdict, found.is_good, found.facts['dataset'] == told['dataset']['id'])
    return found
for of in (receipt['receiptId'], f"acme/lab@{told['block']['hash']}", 'acme/lab@1'):
    for form in ('tlog-proof', 'json'):
        found = judged(node.proof(of, form))
print(found.facts['kind'], found.facts['record']['value']['celsius'], found.facts['quorum'])
signed = node.receipt(receipt['receiptId'], signed=True)
judged(signed, signer='${live.node.did}')
for trust in ({}, {'policy': policy}):
    found = proofstream.verify(signed, **trust)
    print(found.verdict, found.missing)
found = proofstream.verify(signed, policy=policy, beside=[node.proof(receipt['receiptId']), node.statement('json')])
print(found.verdict, ','.join(found.facts['shown'][2:]), found.facts['boundBy']['index'])
head = node._call('GET', '/ledger/checkpoint', None, {'Accept': '*/*'})
print(proofstream.verify(head, policy=policy).facts['ledger']['origin'])
`
    expect(await python(program)).toEqual([
      'committed bytes',
      ...Array<string>(6).fill('proof included True True'),
      'row 19.0 none',
      'receipt promised, not yet due True True',
      'not judged policy',
      'not judged signer',
      'included bodyHash,status,offsets 0',
      'data.example/ledger',
    ])
  })

  test('does what its README shows', async () => {
    const readme = readFileSync('clients/python/README.md', 'utf8')
    const block = [...readme.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code = '']) => code)[3] ?? ''
    await live.ingest('acme/readings', [{ sensor: 's1', celsius: 21.5 }], '?create=true')
    expect(await python(`os.chdir(${JSON.stringify(folder)})\n${block}`)).toEqual([
      'receipt included ',
      'proof included ',
      'proof included',
    ])
  })
})
