// What goes into a pack, asked of nodes that say other things than they were asked, of lists that do not end, and by bounds that are
// none: nothing of it is guessed, and nothing is left out in silence.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import type { Get } from '../../../src/libraries/evidence/pack/anchor.ts'
import { gatherPack, type PackNode } from '../../../src/libraries/evidence/pack/gather.ts'
import { historiesIn } from '../../../src/libraries/evidence/pack/pack-histories.ts'
import type { HeldBundle } from '../../../src/libraries/evidence/pack/read-pack.ts'
import { proofsOfBlocks, shownChain } from '../../../src/libraries/evidence/pack/shown-blocks.ts'

const time = (sequence: number): string => new Date(Date.UTC(2026, 2, 1, 12, 0, sequence, 500)).toISOString()
const block = (sequence: number): string =>
  JSON.stringify({ hash: `h${sequence}`, sequence, systemTime: time(sequence) })

/** A chain of `length` blocks in pages of four, of which the ledger holds all but the newest `behind`. */
function chainOf(length: number, { behind = 0, status = 200 } = {}): Get {
  const answer = (body: string, of = 200): { status: number; bytes: Uint8Array } => ({ status: of, bytes: utf8(body) })
  return async (path) => {
    if (path === '/a/d') return answer('{"id":"did:odf:x"}')
    const [, of] = /^\/a\/d\/blocks\/h(\d+)\/proof/.exec(path) ?? []
    if (of !== undefined) return Number(of) >= length - behind ? answer('{}', 409) : answer(`{"of":${of}}`, status)
    const [, before] = /before=h(\d+)/.exec(path) ?? []
    const from = (before === undefined ? length : Number(before)) - 1
    const listed = [from, from - 1, from - 2, from - 3].filter((one) => one >= 0)
    const next = from > 3 ? `,"next":"h${from - 3}"` : ''
    return answer(`{"blocks":[${listed.map(block).join(',')}]${next}}`)
  }
}

async function proven(get: Get, bounds: { from?: string; to?: string }): Promise<number[]> {
  const chain = await shownChain('a/d', get)
  return (await proofsOfBlocks(chain, bounds, { get, onProof: () => {} })).map(({ sequence }) => sequence)
}

describe('blocks whose proofs are asked for', () => {
  test.each([
    [{}, [9]],
    [{ from: '7' }, [7, 8, 9]],
    [{ to: '1' }, [0, 1]],
    [{ from: '2', to: '4' }, [2, 3, 4]],
    [{ from: '2026-03-01', to: '2026-03-01' }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [{ from: '2026-03-01T12:00:07Z' }, [7, 8, 9]],
    [{ from: '2026-03-01T13:00:07+01:00', to: '2026-03-01T12:00:08.500Z' }, [7, 8]],
  ])('are those of %j', async (bounds, expected) => {
    expect(await proven(chainOf(10), bounds)).toEqual(expected)
  })

  test('begin with the newest that the ledger holds', async () => {
    expect(await proven(chainOf(10, { behind: 3 }), { from: '5' })).toEqual([5, 6])
    await expect(proven(chainOf(3, { behind: 3 }), {})).rejects.toThrow('does not hold the newest blocks of a/d yet')
  })

  test.each([
    [{ from: 'nonsense' }, "'nonsense' is neither the number of a block nor a time"],
    [{ to: '2026-03' }, "'2026-03' is neither"],
    [{ from: '2026-03-01T12:00:07' }, 'is neither'],
    [{ from: '8', to: '5' }, 'a/d has no block between those bounds'],
    [{ from: '2099-01-01' }, 'a/d has no block between those bounds'],
  ])('are refused of %j', async (bounds, why) => {
    await expect(proven(chainOf(10), bounds)).rejects.toThrow(why)
  })

  test('are refused where no ledger has the dataset, and bounds ask for proofs', async () => {
    expect(await proven(chainOf(10, { status: 404 }), {})).toEqual([])
    await expect(proven(chainOf(10, { status: 404 }), { from: '0' })).rejects.toThrow(
      'No ledger of the node has blocks of a/d',
    )
  })

  test('are refused of a list that is no chain, and of one without end', async () => {
    const good = chainOf(10)
    const again: Get = async (path) => await good(path.replace(/before=h\d+/, 'before=h9'))
    await expect(proven(again, { from: '0' })).rejects.toThrow('lists no chain of blocks')
    const empty: Get = async (path) =>
      path.includes('before=') ? { status: 200, bytes: utf8('{"blocks":[],"next":"h0"}') } : await good(path)
    expect(await proven(empty, { from: '0' })).toEqual([9])
  })
})

describe('a node that says something else', () => {
  const answer = readFileSync('test/fixtures/answers/join.json')
  const none: Omit<PackNode, 'get'> = {
    source: { chain: async () => [], object: async () => {} },
    ask: async () => answer,
    engineOf: () => {
      throw new TypeError('nothing is planned')
    },
    shelf: async () => ({ write: async () => {}, read: async function* () {} }),
    say: () => {},
  }
  const asked = { datasets: [], answers: [], receipts: [] }

  test('is not believed: another dataset, statement or receipt', async () => {
    const node = { ...none, get: chainOf(10) }
    await expect(gatherPack({ ...asked, datasets: ['a/d'] }, node)).rejects.toThrow(
      'The node answers another question than that about a/d',
    )
    await expect(gatherPack({ ...asked, answers: ['select 1'] }, node)).rejects.toThrow(
      'another question than statement 1',
    )
    const receipt: Get = async (path) => ({
      status: path.startsWith('/receipts/') ? 200 : 404,
      bytes: utf8('{"receiptId":"other"}'),
    })
    await expect(gatherPack({ ...asked, receipts: ['mine'] }, { ...none, get: receipt })).rejects.toThrow(
      'another receipt than mine',
    )
    await expect(gatherPack({ ...asked, receipts: [utf8('no JSON')] }, node)).rejects.toThrow(
      'There is no JSON in saved receipt 1',
    )
    await expect(gatherPack({ ...asked, answers: [utf8('{}')] }, node)).rejects.toThrow(
      'Answer 1 is not to be handed on',
    )
  })
})

test('two bundles of one dataset are held against one another', () => {
  const bundle = (path: string, ...hashes: readonly string[]): HeldBundle => ({
    path,
    found: { kind: 'whole' } as HeldBundle['found'],
    blocks: new Map(hashes.map((hash, number) => [number, { id: 'x', hash }])),
  })
  expect(historiesIn([], [bundle('one', 'a', 'b', 'c'), bundle('two', 'a', 'b')])).toEqual([])
  expect(historiesIn([], [bundle('one', 'a', 'b', 'c'), bundle('two', 'a', 'd', 'e')])).toEqual([
    'one and two have different blocks 1 of one dataset: there are two histories of it.',
  ])
})
