// A ledger that takes another's place, by the commands alone: proofs of both, of a rejected batch too, judged by the policy of each;
// audits of both, and time stamps of the new one.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { OpensslAuthority } from '../../helpers/openssl-authority.ts'
import { runCommand, type ServedNode, serveNode } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-renewed-'))
const authority = new OpensslAuthority()
afterAll(async () => {
  await authority.remove()
  await rm(folder, { recursive: true })
})
const data = join(folder, 'node')
const flags = ['--ledger-origin', 'data.example/ledger', '--ledger-delay', '1s']
flags.push('--tsa', await authority.serve(), '--tsa-interval', '1s')

type Headers = Readonly<Record<string, string>>

async function call(
  node: ServedNode,
  path: string,
  asked: Omit<RequestInit, 'headers'> & { readonly headers?: Headers } = {},
) {
  const authorization = `Bearer ${(await readFile(join(data, 'token'), 'utf8')).trim()}`
  const answer = await fetch(node.url + path, { ...asked, headers: { authorization, ...asked.headers } })
  const text = await answer.text()
  const json = (): Record<string, unknown> => JSON.parse(text) as Record<string, unknown> // as it answers
  return { status: answer.status, text, json }
}

const post = async (node: ServedNode, body: object, headers: Headers = {}, dataset = 'weather') =>
  await call(node, `/acme/${dataset}/ingest?create=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=30', ...headers },
    body: `${JSON.stringify(body)}\n`,
  })

/** The receipt of one of two batches for the same head, of which the second is rejected in its turn. */
async function rejected(node: ServedNode): Promise<string> {
  return await until('a batch that is rejected', async () => {
    const { text: head } = await call(node, '/acme/weather/refs/head')
    const same = { 'if-match': head, prefer: 'respond-async' }
    const posted = await Promise.all([1, 2, 3].map((t) => post(node, { t }, same)))
    for (const id of posted.flatMap(({ json }) => (json()['receiptId'] as string | undefined) ?? [])) {
      // where it was taken
      const receipt = await until('its outcome', async () => {
        const { json } = await call(node, `/receipts/${id}`)
        return json()['status'] === 'accepted' ? undefined : json()
      })
      if (receipt['status'] === 'rejected') return id
    }
    return undefined
  })
}

/** What a command prints, with its exit code. */
async function run(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand(args, { cwd: folder })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return { code, stderr, ...(JSON.parse(lines.at(-1) ?? '{}') as object) }
}

/** As a user does who waits until the ledger has it. */
async function prove(node: ServedNode, of: string, file: string): Promise<void> {
  const named = ['--server', node.url, '--token-file', join(data, 'token'), '-o', file]
  await until(`a proof in ${file}`, async () => {
    const { code } = await run('ledger', 'prove', of, ...named)
    if (code !== 0 && code !== 8) throw new Error(`prove ended with ${String(code)}`)
    return code === 0
  })
}

async function policyOf(node: ServedNode, file: string): Promise<void> {
  await writeFile(join(folder, file), (await call(node, '/ledger/policy')).text)
}

test('a rejected batch has a proof, and proofs and audits go on where a ledger is renewed', async () => {
  const first = await serveNode(data, flags)
  try {
    await post(first, { t: 0 })
    const id = await rejected(first)
    await writeFile(join(folder, 'receipt.json'), (await call(first, `/receipts/${id}?include=signature`)).text)
    await prove(first, id, 'rejected.tlog-proof')
    await prove(first, (await call(first, '/acme/weather/refs/head')).text, 'old.tlog-proof')
    await policyOf(first, 'old.policy')
    for (const file of ['rejected.tlog-proof', 'old.tlog-proof']) {
      expect(await run('verify', file, '--policy', 'old.policy')).toMatchObject({ code: 0, verdict: 'included' })
    }
    expect(await run('verify', 'rejected.tlog-proof', '--policy', 'old.policy')).toMatchObject({
      record: { value: { status: 'rejected', error: 'HeadMoved' } },
    })
    const both = ['verify', 'rejected.tlog-proof', 'receipt.json', '--policy', 'old.policy', '--server', first.url]
    expect(await run(...both)).toMatchObject({ code: 0, file: 'receipt.json' })
    expect(await run('ledger', 'audit', first.url, '--policy', 'old.policy', '--state', 'old.state')).toMatchObject({
      code: 0,
      verdict: 'consistent',
    })
    // One that is hidden stays entered, in every ledger.
    await post(first, { t: 0 }, {}, 'hidden')
    await prove(first, (await call(first, '/acme/hidden/refs/head')).text, 'shown.tlog-proof')
    const hide = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"visibility":"private"}' }
    expect((await call(first, '/acme/hidden', hide)).json()).toMatchObject({ visibility: 'private', ledger: true })
  } finally {
    await first.end('SIGTERM')
  }
  expect(await run('ledger', 'renew', '--reason', 'a test', '--data', data)).toMatchObject({ code: 0 })
  const next = await serveNode(data, flags)
  try {
    const id = String((await post(next, { t: 9 })).json()['receiptId'])
    const head = (await call(next, '/acme/weather/refs/head')).text
    await prove(next, head, 'new.tlog-proof')
    await policyOf(next, 'new.policy')
    expect((await call(next, '/ledger')).json()['path']).toBe('/ledger/2')
    await prove(next, (await call(next, '/acme/hidden/refs/head')).text, 'hidden.tlog-proof')
    expect((await run('verify', 'hidden.tlog-proof', '--policy', 'new.policy'))['verdict']).toBe('included')
    const verdicts = async (file: string): Promise<unknown[]> => [
      (await run('verify', file, '--policy', 'old.policy'))['verdict'],
      (await run('verify', file, '--policy', 'new.policy'))['verdict'],
    ]
    expect(await verdicts('new.tlog-proof')).toEqual(['not judged', 'included'])
    expect(await verdicts('rejected.tlog-proof')).toEqual(['included', 'not judged'])
    expect(await verdicts('old.tlog-proof')).toEqual(['included', 'not judged'])
    const stamped = await until('a time stamp', async () => {
      const { text } = await call(next, `/acme/weather/blocks/${head}/proof?format=json`)
      return text.includes('"timestamp"') ? text : undefined
    })
    await writeFile(join(folder, 'new.json'), stamped)
    expect(await run('verify', 'new.json', '--policy', 'new.policy', '--tsa-ca', authority.caFile)).toMatchObject({
      code: 0,
      timestamp: { authority: 'O=Proofstream, CN=An authority' },
    })
    // The newest ledger that the policy names, wherever the node shows it.
    const audit = async (address: string, ...more: string[]): Promise<unknown[]> => {
      const { code, verdict, ledger } = await run('ledger', 'audit', next.url + address, ...more)
      return [code, verdict, (ledger as { readonly origin: string } | undefined)?.origin] // as it prints
    }
    const [old, renewed] = ['data.example/ledger', 'data.example/ledger/2'].map((origin) => [0, 'consistent', origin])
    expect({
      'by the policy of the node': await audit(''),
      'by the new policy': await audit('', '--policy', 'new.policy'),
      'by the old policy': await audit('', '--policy', 'old.policy'),
      'of the new ledger': await audit('/ledger/2', '--policy', 'new.policy'),
      'of the old ledger': await audit('/ledger', '--policy', 'old.policy', '--state', 'old.state'),
    }).toEqual({
      'by the policy of the node': renewed,
      'by the new policy': renewed,
      'by the old policy': old,
      'of the new ledger': renewed,
      'of the old ledger': old,
    })
    expect(await run('ledger', 'audit', next.url, '--policy', 'old.policy')).toMatchObject({
      successor: 'data.example/ledger/2',
      stderr: expect.stringContaining('data.example/ledger/2 took its place'),
    })
    await writeFile(join(folder, 'late.json'), (await call(next, `/receipts/${id}?include=signature`)).text)
    const kept = await run('verify', 'late.json', '--policy', 'new.policy', '--server', next.url)
    expect(kept).toMatchObject({ code: 0, verdict: 'included' })
  } finally {
    await next.end('SIGTERM')
  }
})
