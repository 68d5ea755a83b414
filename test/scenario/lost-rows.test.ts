// Rows that were acknowledged and are gone with their log: their receipts say so, and never that they are committed,
// whatever is posted afterwards at the positions that they had.

import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-lost-rows-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

const quick = { cut: { waitAgeMs: 1, openAgeMs: 1 } }

interface Sent {
  readonly name: string
  readonly id: string
}

function post(live: LiveNode, n: number, headers: Readonly<Record<string, string>> = {}) {
  const all = { 'content-type': 'application/x-ndjson', prefer: 'wait=20', ...headers }
  return live.call('/acme/goods/ingest', { method: 'POST', headers: all, body: `{"n":${n}}\n` })
}

/** A numbered stream of one record; the id of its receipt. */
async function stream(live: LiveNode, producer: string, first: number): Promise<string> {
  const headers = {
    'content-type': 'application/x-ndjson',
    'producer-id': producer,
    'producer-sequence': String(first),
  }
  const answer = await live.call('/acme/goods/stream', { method: 'POST', headers, body: `{"n":${first}}\n` })
  return (JSON.parse(answer.text.split('\n')[0] ?? '') as { receiptId: string }).receiptId
}

/** Batches of each kind, which are committed. */
async function sendAll(live: LiveNode, mark: string): Promise<readonly Sent[]> {
  const sent: Sent[] = []
  for (let n = 0; n < 3; n++) {
    sent.push({ name: `${mark} plain ${n}`, id: String((await post(live, n)).at('receiptId')) })
    const keyed = await post(live, n, { 'idempotency-key': `${mark}-${n}` })
    sent.push({ name: `${mark} keyed ${n}`, id: String(keyed.at('receiptId')) })
    sent.push({ name: `${mark} stream ${n}`, id: await stream(live, `${mark}-device`, n) })
  }
  return sent
}

async function statuses(live: LiveNode, sent: readonly Sent[]): Promise<Record<string, unknown>> {
  const told: Record<string, unknown> = {}
  for (const { name, id } of sent) {
    const receipt = await live.call(`/receipts/${id}`)
    expect([name, receipt.status]).toEqual([name, 200])
    const hasBlock = String(receipt.at('block.hash')).startsWith('f1620')
    told[name] = receipt.at('status') === 'committed' && !hasBlock ? 'committed without a block' : receipt.at('status')
  }
  return told
}

function allAre(sent: readonly Sent[], status: string): Record<string, unknown> {
  return Object.fromEntries(sent.map(({ name }) => [name, status]))
}

async function givenUp(live: LiveNode, sent: readonly Sent[]): Promise<unknown> {
  return (await live.call(`/receipts/${sent[0]?.id ?? ''}`)).at('lost')
}

test('after a backup is restored', async () => {
  const [data, to, again] = [join(home, 'data'), join(home, 'backup'), join(home, 'again')]
  const live = await startLiveNode({ data }, quick)
  await live.ingest('acme/goods', [{ n: -1 }], '?create=true')
  const kept = await sendAll(live, 'kept')
  expect(await runCommand(['backup', to, '--data', data])).toMatchObject({ code: 0 })
  const lost = await sendAll(live, 'gone')
  expect(await statuses(live, lost)).toEqual(allAre(lost, 'committed'))
  await live.stop()
  const log = (await readFile(join(data, 'log', 'id'), 'utf8')).slice(0, 32)
  expect(await runCommand(['restore', to, '--data', again])).toMatchObject({ code: 0 })
  const second = await startLiveNode({ data: again }, quick)
  expect(await statuses(second, lost)).toEqual(allAre(lost, 'lost'))
  // The positions that the lost ones had come again, and a sender goes on where it was told to.
  for (let n = 0; n < 30; n++) await post(second, n)
  await stream(second, 'gone-device', 3)
  expect(await statuses(second, lost)).toEqual(allAre(lost, 'lost'))
  expect(await statuses(second, kept)).toEqual(allAre(kept, 'committed'))
  expect(await givenUp(second, lost)).toEqual({ log, partition: 0, from: expect.any(Number) })
  // A keyed batch that is sent again is committed, and both of its receipts say so.
  const repeated = await post(second, 0, { 'idempotency-key': 'gone-0' })
  expect(repeated.at('records.committed')).toBe(1)
  const [, first] = lost
  expect(await statuses(second, first === undefined ? [] : [first])).toEqual({ 'gone keyed 0': 'committed' })
  await second.stop()
})

test('after a log that is gone is given up', async () => {
  const data = join(home, 'adopted')
  const live = await startLiveNode({ data }, quick)
  await live.ingest('acme/goods', [{ n: -1 }], '?create=true')
  const kept = await sendAll(live, 'kept')
  await live.stop()
  const slow = await startLiveNode({ data }, { cut: { openAgeMs: 3_600_000, waitAgeMs: 3_600_000 } })
  const lost: Sent[] = []
  for (let n = 0; n < 3; n++) {
    const headers = { prefer: 'respond-async', ...(n === 0 ? { 'idempotency-key': 'k' } : {}) }
    lost.push({ name: `open ${n}`, id: String((await post(slow, n, headers)).at('receiptId')) })
  }
  expect(await statuses(slow, lost)).toEqual(allAre(lost, 'accepted'))
  await slow.stop()
  const log = (await readFile(join(data, 'log', 'id'), 'utf8')).slice(0, 32)
  await rm(join(data, 'log'), { recursive: true })
  expect(await runCommand(['log', 'adopt', log, 'file', '--accept-loss', '--data', data])).toMatchObject({ code: 0 })
  const next = await startLiveNode({ data }, quick)
  expect(await statuses(next, lost)).toEqual(allAre(lost, 'lost'))
  for (let n = 0; n < 30; n++) await post(next, n)
  expect(await statuses(next, lost)).toEqual(allAre(lost, 'lost'))
  expect(await statuses(next, kept)).toEqual(allAre(kept, 'committed'))
  expect(await givenUp(next, lost)).toMatchObject({ log, partition: 0 })
  const shown = await runCommand(['receipt', lost[1]?.id ?? '', '--server', next.node.url], {
    env: { PROOFSTREAM_DATA: data },
  })
  expect(shown).toMatchObject({ code: 8, stdout: expect.stringContaining('lost') })
  await next.stop()
})

test('after the whole directory was set back, so that the log has its own name still', async () => {
  const [data, copy] = [join(home, 'set-back'), join(home, 'copy')]
  const live = await startLiveNode({ data }, quick)
  await live.ingest('acme/goods', [{ n: -1 }], '?create=true')
  const kept = await sendAll(live, 'kept')
  await live.node.stop()
  await cp(data, copy, { recursive: true })
  const before = await startLiveNode({ data }, quick)
  const lost = await sendAll(before, 'gone')
  await before.stop()
  const second = await startLiveNode({ data: copy }, quick)
  for (let n = 0; n < 30; n++) await post(second, n)
  const [keyed, others] = [true, false].map((is) => lost.filter(({ name }) => name.includes('keyed') === is))
  expect(await statuses(second, others ?? [])).toEqual(allAre(others ?? [], 'lost'))
  expect(Object.values(await statuses(second, keyed ?? []))).not.toContain('committed')
  expect(await statuses(second, kept)).toEqual(allAre(kept, 'committed'))
  await second.stop()
})
