// Receipts and refusals that the node signs on request, with no ledger about: whom they are by, what they say, and where none is
// given.

import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../../src/libraries/base/ids/native-crypto.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { receiptDomain, refusalDomain, signerOf } from '../../../src/libraries/ledger/signed-document.ts'
import { runsWith } from '../../helpers/features.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'

const live = await liveNode()
const ndjson = 'application/x-ndjson'

const objectOf = (value: unknown): JsonObject => {
  const object = fromPlain(value)
  if (!(object instanceof Map)) throw new Error('no object')
  return object
}

const post = async (alias: string, body: string, { query = '', ...headers }: Record<string, string> = {}) =>
  await live.call(`/acme/${alias}/ingest${query}`, {
    method: 'POST',
    headers: { 'content-type': ndjson, prefer: 'receipt=signed, wait=20', ...headers },
    body,
  })

const refusalOf = (answer: Answer): Record<string, unknown> => {
  const refusal = answer.at('refusal')
  expect(signerOf(refusalDomain, objectOf(refusal))).toBe(live.node.did)
  return refusal as Record<string, unknown> // an object, as it is signed
}

const hashOf = (body: string): string => `f1220${sha256Hex(Buffer.from(body))}`

describe('a receipt', () => {
  test('is signed where that is asked for, and is else as it was', async () => {
    const posted = await live.ingest('acme/signed', [{ a: 1 }], '?create=true')
    const path = `/receipts/${String(posted.at('receiptId'))}`
    if (runsWith('ledger')) await until('a ledger', async () => (await live.call('/ledger')).at('state') === 'running')
    const [plain, signed] = [await live.call(path), await live.call(`${path}?include=signature`)]
    expect(signerOf(receiptDomain, objectOf(signed.json))).toBe(live.node.did)
    const { proof, promise, time, batchId, ...receipt } = signed.json as Record<string, unknown>
    expect({ receipt, proof }).toEqual({ receipt: plain.json, proof: expect.anything() })
    expect([time, batchId]).toEqual([expect.stringMatching(/Z$/), expect.stringMatching(/^[\w-]{43}$/)])
    const salt = expect.stringMatching(/^[0-9a-f]{64}$/)
    const ledger = expect.stringMatching(/^ledger-/)
    const promised = { ledger, by: expect.any(String), datasetSalt: salt, blockSalt: salt }
    expect(promise).toEqual(runsWith('ledger') ? promised : undefined)
    expect(signed.headers['cache-control']).toBe('no-cache')
    expect((await live.call(`${path}?include=ledger`)).refusal).toBe('400 InvalidParameter')
    for (const name of ['time', 'batchId', ...Object.keys(receipt)]) {
      const changed = objectOf({ ...(signed.json as object), [name]: 'another' })
      expect(() => signerOf(receiptDomain, changed)).toThrow('not satisfied')
    }
  })

  test('is shown to nobody else because it is signed', async () => {
    await live.call('/acme/hidden', { method: 'PUT', json: { visibility: 'private' } })
    const posted = await live.ingest('acme/hidden', [{ a: 1 }], '?create=true')
    const path = `/receipts/${String(posted.at('receiptId'))}?include=signature`
    expect((await live.call(path, { token: null })).status).toBe(404)
  })
})

describe('a refusal', () => {
  test('names the body, the dataset, the kind and the first faults', async () => {
    await live.ingest('acme/typed', [{ a: 1 }], '?create=true')
    const body = Array.from({ length: 12 }, (_, i) => `{"a":"x${i}"}\n`).join('')
    const refused = await post('typed', body)
    const id = (await live.call('/acme/typed')).at('id')
    const { proof: _, ...refusal } = refusalOf(refused)
    expect(refusal).toEqual({
      dataset: { id, alias: 'acme/typed' },
      bodyHash: hashOf(body),
      kind: 'RecordsDoNotFit',
      errors: (refused.at('errors') as unknown[]).slice(0, 10),
      time: expect.stringMatching(/Z$/),
    })
    expect(refused.at('errorsTotal')).toBe(12)
  })

  test('is given of whatever is wrong with a body that was read to its end, however it came', async () => {
    const row = '{"a":1}\n'
    const head = String(await live.head('acme/typed'))
    await live.ingest('acme/typed', [{ a: 2 }])
    const cases: [string, string, Record<string, string>, string][] = [
      ['typed', row, { 'if-match': head }, 'HeadMoved'],
      ['typed', '{"a":', {}, 'RecordsDoNotFit'],
      ['typed', '{"b":1}', {}, 'RecordsDoNotFit'],
      ['made', '', { query: '?create=true' }, 'NothingToInfer'],
      ['made', '{"_x":', { query: '?create=true' }, 'RecordsDoNotFit'],
      ['typed', '{"a":"x"}'.padEnd(200_000), {}, 'RecordsDoNotFit'],
      ['typed', '[{"a":"x"}]', { 'content-type': 'application/json' }, 'RecordsDoNotFit'],
    ]
    for (const [alias, body, headers, kind] of cases) {
      const answer = await post(alias, body, headers)
      expect(refusalOf(answer)).toMatchObject({ kind, bodyHash: hashOf(body), dataset: { alias: `acme/${alias}` } })
    }
    const sent = { 'idempotency-key': 'once' }
    await post('typed', row, sent)
    expect(refusalOf(await post('typed', `${row}${row}`, sent))).toMatchObject({ kind: 'IdempotencyKeyReused' })
  })

  test('is not given unasked, nor of a body that was not read to its end', async () => {
    expect((await post('typed', '{"a":"x"}', { prefer: 'wait=1' })).at('refusal')).toBeUndefined()
    const unread: [Record<string, string>, number][] = [
      [{ 'content-type': 'text/unknown' }, 415],
      [{ query: '?timeZone=Mars' }, 400],
      [{ 'content-encoding': 'gzip' }, 400],
    ]
    for (const [headers, status] of unread) {
      const answer = await post('typed', '{"a":1}', headers)
      expect([answer.status, answer.at('refusal')]).toEqual([status, undefined])
    }
    expect((await post('nowhere', '{"a":1}')).at('refusal')).toBeUndefined()
    const taken = await post('typed', '{"a":1}')
    expect([taken.status, taken.at('refusal'), taken.at('proof')]).toEqual([200, undefined, undefined])
  })
})
