// The ledger of a real node at sizes beyond those at which it changes its way: row roots in threads, slices in pieces, trees of rows
// of several tiles. docs/decisions/sizes.md lists these sizes.

import { describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { toPlain } from '../../../src/libraries/base/json/json.ts'
import { judgeProof } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })

/** Rows that no codec makes small: each with 30 digits. */
function wideRows(count: number, seed: number): { readonly text: string }[] {
  let state = seed
  const digit = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * 10)
  }
  return Array.from({ length: count }, () => ({ text: Array.from({ length: 30 }, digit).join('') }))
}

async function entered(path: string): Promise<Answer> {
  return await until('an entry', async () => {
    const answer = await live.call(path)
    return answer.refusal === '409 NotYetInLedger' ? undefined : answer
  })
}

async function shownRow(alias: string, offset: number): Promise<unknown> {
  const { bytes, text } = await entered(`/${alias}/rows/${offset}/proof?format=json`)
  const verdict = judgeProof(
    bytes,
    parsePolicy(utf8(`log ${String((await live.call('/ledger')).at('keys.0'))}\nquorum none\n`)),
  )
  if (verdict.verdict !== 'included' || verdict.facts.kind !== 'row')
    throw new Error(`${text} ${JSON.stringify(verdict)}`)
  return verdict.facts.record && toPlain(verdict.facts.record.value)
}

describe('blocks with roots of rows', () => {
  test('of a slice above every limit are entered one after the other, with all others, and each row has its proof', async () => {
    const put = await live.call('/acme/rows', { method: 'PUT', json: { visibility: 'public', proofs: 'rows' } })
    expect(put.status).toBe(201)
    const blocks = [wideRows(400, 1), wideRows(12_000, 2), wideRows(1, 3), wideRows(600, 4)]
    for (const rows of blocks) expect((await live.ingest('acme/rows', rows)).at('status')).toBe('committed')
    const beside = await live.ingest('acme/beside', [{ a: 1 }], '?create=true')
    const rows = blocks.flat()
    for (const offset of [0, 399, 400, 400 + 255, 400 + 256, 12_399, 12_400, 12_401, rows.length - 1])
      expect([offset, await shownRow('acme/rows', offset)]).toMatchObject([offset, rows[offset] ?? {}])
    expect((await entered(`/receipts/${String(beside.at('receiptId'))}/proof`)).status).toBe(200)
    expect((await live.call('/ledger')).json).toMatchObject({ state: 'running', behind: { blocks: 0, seconds: 0 } })
  })
})
