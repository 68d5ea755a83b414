// What an operator is told of a ledger that is not kept up, at every door, and that it goes on without a restart: slices that
// are away, a file in the place of a folder of the tree, witnesses that are away where heads wait for them.

import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand, type ServedNode, serveNode } from '../../helpers/run-node.ts'
import { until } from '../../helpers/until.ts'
import { SmallWitness } from './small-witness.ts'

interface About {
  readonly state: string
  readonly size: number
  readonly reason?: string
  readonly behind: { readonly blocks: number }
  readonly aside?: { readonly datasets: number }
}

interface Doors {
  readonly about: About
  readonly ready: { readonly ok: boolean; readonly ledger: About }
  readonly late: number
  readonly aside: number
}

const folder = async (): Promise<string> => await mkdtemp(join(tmpdir(), 'proofstream-aside-'))
const origin = ['--ledger-origin', 'data.example/ledger']

class Node {
  readonly #data: string
  readonly #served: ServedNode
  readonly #token: string

  private constructor(data: string, served: ServedNode, token: string) {
    this.#data = data
    this.#served = served
    this.#token = token
  }

  static async start(data: string, args: readonly string[]): Promise<Node> {
    const served = await serveNode(data, [...origin, ...args])
    return new Node(data, served, (await readFile(join(data, 'token'), 'utf8')).trim())
  }

  async call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}`, ...(init.headers as object) } // as given below
    return await fetch(`${this.#served.url}${path}`, { ...init, headers })
  }

  async post(
    alias: string,
    rows: readonly object[],
  ): Promise<{ readonly receiptId: string; readonly dataset: { id: string } }> {
    const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
    const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    const answer = await this.call(`/${alias}/ingest?create=true`, { method: 'POST', headers, body })
    if (answer.status !== 200) throw new Error(await answer.text())
    return (await answer.json()) as never // as the route answers
  }

  async doors(): Promise<Doors> {
    const about = (await (await this.call('/ledger')).json()) as About // as the routes answer
    const ready = (await (await this.call('/readyz')).json()) as Doors['ready']
    const metrics = await (await this.call('/metrics')).text()
    const of = (name: string): number => Number(new RegExp(`^proofstream_${name} (\\d+)`, 'm').exec(metrics)?.[1])
    return { about, ready, late: of('ledger_late'), aside: of('ledger_aside_datasets') }
  }

  async doctor(): Promise<string> {
    const { stdout } = await runCommand(['doctor', '--data', this.#data])
    return stdout
  }

  get log(): string {
    return this.#served.log()
  }

  async end(): Promise<void> {
    await this.#served.end('SIGTERM')
  }
}

test('slices that were away at a start set their dataset aside, which is told, and are entered when they are back', async () => {
  const data = await folder()
  // Steps are so far apart that the block is not entered before the node ends.
  let node = await Node.start(data, ['--ledger-delay', '1h'])
  const put = { method: 'PUT', headers: { 'content-type': 'application/json' } }
  await node.call('/acme/rows', { ...put, body: '{"visibility":"public","proofs":"rows"}' })
  const { dataset } = await node.post('acme/rows', [{ a: 1 }])
  await node.end()
  const slices = join(data, 'store', 'datasets', dataset.id.slice('did:odf:'.length), 'data')
  expect(await readdir(slices)).toHaveLength(1)
  await rename(slices, `${slices}-away`)
  node = await Node.start(data, ['--ledger-delay', '1s'])
  const beside = await node.post('acme/beside', [{ a: 1 }])
  await until('a proof', async () => (await node.call(`/receipts/${beside.receiptId}/proof`)).ok || undefined)
  const told = await until('a dataset that is set aside', async () => {
    const doors = await node.doors()
    return doors.aside > 0 && doors.about.aside !== undefined ? doors : undefined
  })
  const about = { state: 'running', aside: { datasets: 1 }, reason: expect.stringContaining('cannot be entered') }
  expect(told).toMatchObject({ about, ready: { ok: true, ledger: about }, late: 0, aside: 1 })
  expect(node.log).toContain('acme/rows')
  await rename(`${slices}-away`, slices)
  const proof = await until('a proof of the row', async () => {
    const answer = await node.call('/acme/rows/rows/0/proof')
    return answer.ok ? answer : undefined
  })
  expect(proof.status).toBe(200)
  expect((await node.doors()).about.aside).toBeUndefined()
  await node.end()
  await rm(data, { recursive: true })
})

test('a file in the place of a folder of the tree makes the ledger late, and nothing else', async () => {
  const data = await folder()
  await mkdir(join(data, 'store', 'ledger'), { recursive: true })
  const node = await Node.start(data, ['--ledger-delay', '1s'])
  await until('a head', async () => ((await node.doors()).about.size > 0 ? true : undefined))
  const place = join(data, 'store', 'ledger', 'tile', 'entries')
  await rename(place, `${place}-away`)
  await writeFile(place, 'a file')
  await node.post('acme/weather', [{ a: 1 }])
  const late = { state: 'late', reason: expect.stringContaining('the log of the node says why') }
  const told = await until('a ledger that is late', async () => {
    const doors = await node.doors()
    return doors.late === 1 && doors.about.state === 'late' ? doors : undefined
  })
  expect(told).toMatchObject({ about: late, ready: { ok: true, ledger: late } })
  expect(await node.doctor()).toMatch(/The head of the ledger that is shown has \d+ of \d+ entries/)
  await rm(place)
  await rename(`${place}-away`, place)
  await until('a ledger that goes on', async () => ((await node.doors()).late === 0 ? true : undefined))
  await node.end()
  await rm(data, { recursive: true })
})

test('a witness that is away where heads wait for it for ever makes the ledger late', async () => {
  const data = await folder()
  const policy = join(data, '..', `${data.split('/').at(-1)}.policy`)
  // It says that it knows no such ledger, so that nothing is held against the store.
  const witness = await SmallWitness.start(1, '')
  witness.logKey = undefined
  await writeFile(policy, `${witness.line}\nquorum W1\n`)
  const node = await Node.start(data, ['--ledger-delay', '1s', '--ledger-wait', 'never', '--ledger-policy', policy])
  const { receiptId } = await node.post('acme/weather', [{ a: 1 }])
  const told = await until('a ledger that is late', async () => {
    const doors = await node.doors()
    return doors.late === 1 && doors.about.state === 'late' && doors.about.behind.blocks > 0 ? doors : undefined
  })
  const late = { state: 'late', behind: { blocks: expect.any(Number) } }
  expect(told).toMatchObject({ about: late, ready: { ok: true, ledger: late } })
  expect((await node.call(`/receipts/${receiptId}/proof`)).status).toBe(409)
  await node.end()
  await witness.close()
  await rm(policy)
  await rm(data, { recursive: true })
})
