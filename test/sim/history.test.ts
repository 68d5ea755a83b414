// The checker is checked: a history that keeps every promise has no verdict, and each planted anomaly has its own.

import { describe, expect, test } from 'vitest'
import { toHex, utf8 } from '../../src/libraries/base/bytes.ts'
import type { LedgerSeen } from '../history/ledger.ts'
import { type Answer, type BatchSent, type History, judge, type StoredRow } from '../history/history.ts'
import { verdictKinds } from '../history/verdicts.ts'
import { blockEntry, ledgerDatasets, ledgerOf, soundEntries, statementOfIt } from './sound-ledger.ts'

const block = (sequence: number, hash = `h${sequence}`) => ({ sequence, hash })

function sent(id: string, at: number, answer: Answer, more: Partial<BatchSent> = {}): BatchSent {
  const attempts = [{ sentAt: at, answeredAt: at + 1, session: 'n1', answer }]
  return { id, dataset: 'a/b', rows: 2, attempts, ...more }
}

const ok = (sequence: number, start: number): Answer => ({
  kind: 'ok',
  receiptId: 'r',
  block: block(sequence),
  offsets: { start, end: start + 1 },
})

function rowsOf(batch: string, offset: number, sequence: number): StoredRow[] {
  return [0, 1].map((number) => ({ batch, number, of: 2, offset: offset + number, sequence }))
}

/** Three batches in three blocks: one acknowledged when committed, one when logged, one of unknown outcome. */
function sound(): History {
  return {
    batches: [
      sent('one', 10, ok(1, 0)),
      sent('two', 20, { kind: 'ok', receiptId: 'r' }, { key: 'k' }),
      sent('maybe', 30, { kind: 'unknown', error: 'reset' }),
      sent('never', 40, { kind: 'unknown', error: 'reset' }),
      sent('no', 50, { kind: 'refused', error: 'RecordsDoNotFit' }),
      sent('conflict', 55, { kind: 'ok', receiptId: 'r' }),
      sent('other', 60, { kind: 'ok', receiptId: 'r' }, { dataset: 'a/c' }),
    ],
    heads: [
      { at: 12, session: 'n1', dataset: 'a/b', ...block(1) },
      { at: 35, session: 'n1', dataset: 'a/b', ...block(3) },
    ],
    proofs: [
      { at: 13, id: 'p', holds: true },
      { at: 36, id: 'p', holds: true },
    ],
    rejected: ['conflict'],
    stored: [
      {
        alias: 'a/b',
        blocks: [block(0), block(1), block(2), block(3)],
        rows: [...rowsOf('one', 0, 1), ...rowsOf('two', 2, 2), ...rowsOf('maybe', 4, 3)],
      },
      { alias: 'a/c', blocks: [block(0), block(1, 'other')], rows: rowsOf('other', 0, 1) },
    ],
    drain: { tookMs: 5, withinMs: 10 },
    held: [{ name: 'open files', before: 10, after: 11, mayGrow: 2 }],
    ledger: ledgerOf(),
  }
}

/** The sound history with something else seen of its ledger. */
function withLedger(more: Partial<LedgerSeen>, entries = soundEntries): History {
  return { ...sound(), ledger: { ...ledgerOf(entries), ...more } }
}

/** The same where everybody sees one more object. */
function withFile(name: string, bytes: Uint8Array): History {
  return withLedger({ files: new Map([...ledgerOf().files, [name, bytes]]) })
}

function without(name: string): History {
  return withLedger({ files: new Map([...ledgerOf().files].filter(([one]) => one !== name)) })
}

/** A dataset's key, as nobody may see it. */
const secret = ledgerDatasets[0]?.key ?? new Uint8Array(32)
const [first = statementOfIt, ...others] = soundEntries
const last = others.at(-1) ?? statementOfIt

/** The sound history with the rows of `a/b` replaced. */
function withRows(rows: readonly StoredRow[]): History {
  const history = sound()
  return { ...history, stored: history.stored.map((one) => (one.alias === 'a/b' ? { ...one, rows } : one)) }
}

const [one, two] = [rowsOf('one', 0, 1), rowsOf('two', 2, 2)]

const anomalies: Record<(typeof verdictKinds)[number], readonly History[]> = {
  lost: [
    withRows([...one, ...rowsOf('maybe', 2, 3)]),
    { ...sound(), stored: [] },
    withRows([...rowsOf('maybe', 0, 1), ...rowsOf('one', 2, 2), ...rowsOf('two', 4, 3)]),
    withLedger({}, soundEntries.slice(0, -1)),
    withLedger({ datasets: [...ledgerDatasets, { id: 'x', key: undefined, blocks: ['h'], isWhole: true }] }),
  ],
  duplicate: [
    withRows([...one, ...two, ...rowsOf('one', 4, 3)]),
    {
      ...withRows([...one, ...two, ...rowsOf('same', 4, 3)]),
      batches: [...sound().batches, sent('same', 70, { kind: 'unknown', error: '' }, { key: 'k' })],
    },
    withLedger({}, [...soundEntries, last]),
  ],
  torn: [
    withRows([...one, ...two.slice(0, 1)]),
    withRows([...one, { ...two[0], sequence: 2 } as StoredRow, { ...two[1], sequence: 3 } as StoredRow]),
  ],
  phantom: [
    withRows([...one, ...two, ...rowsOf('no', 4, 3)]),
    withRows([...one, ...two, ...rowsOf('whose', 4, 3)]),
    withRows([...one, ...two, ...rowsOf('conflict', 4, 3)]),
    withLedger({}, [...soundEntries.slice(0, -1), blockEntry(1, 2, ledgerDatasets[0]?.blocks[2])]),
    withLedger({ datasets: ledgerDatasets.slice(1) }),
    without([...ledgerOf().files.keys()].find((name) => name.startsWith('statements')) ?? ''),
  ],
  reorder: [
    withRows([...rowsOf('two', 0, 1), ...rowsOf('one', 2, 2)]),
    withLedger({}, [...others, first]),
    withLedger({}, [first, blockEntry(0, 1), blockEntry(0, 0)]),
  ],
  fork: [
    { ...sound(), heads: [{ at: 12, session: 'n2', dataset: 'a/b', ...block(2, 'another') }] },
    {
      ...sound(),
      batches: [...sound().batches.slice(1), sent('one', 10, { ...ok(1, 0), block: block(1, 'x') } as Answer)],
    },
  ],
  'head-rollback': [
    { ...sound(), heads: [...sound().heads, { at: 36, session: 'n1', dataset: 'a/b', ...block(2) }] },
    { ...sound(), heads: [{ at: 36, session: 'n2', dataset: 'a/b', ...block(4) }] },
  ],
  'stale-after-committed': [{ ...sound(), heads: [{ at: 12, session: 'n1', dataset: 'a/b', ...block(0) }] }],
  'proof-flip': [{ ...sound(), proofs: [...sound().proofs, { at: 37, id: 'p', holds: false }] }],
  foreign: [withRows([...one, ...two, ...rowsOf('other', 4, 3)])],
  stuck: [
    { ...sound(), drain: { tookMs: undefined, withinMs: 10 } },
    { ...sound(), drain: { tookMs: 11, withinMs: 10 } },
    without('checkpoint'),
  ],
  leak: [{ ...sound(), held: [{ name: 'open files', before: 10, after: 13, mayGrow: 2 }] }],
  'split-view': [
    withLedger({ heads: [{ size: 3, root: new Uint8Array(32) }] }),
    withLedger({ heads: [...ledgerOf().heads, { size: 8, root: new Uint8Array(32) }] }),
    withLedger({ heads: ledgerOf().heads }, [first, ...others.toReversed()]),
    withLedger({ contradicted: ['a witness holds 3 entries and refused a head of 3'] }),
  ],
  'early-head': [withLedger({ early: ['a head of 3 was signed before its batch'] })],
  'wrong-tile': [
    without('tile/0/000.p/7'),
    withFile('tile/0/000.p/3', new Uint8Array(96)),
    withFile('tile/0/000.p/8', new Uint8Array(256)),
    withFile('tile/entries/000.p/1', utf8('an entry')),
  ],
  'told-secret': [
    withFile('statements/x', secret),
    withFile('statements/x', utf8(`{"key":"${toHex(secret)}"}`)),
    withLedger({ log: [`the key is ${toHex(secret)}`] }),
  ],
}

describe('the history checker', () => {
  test('finds nothing in a history that keeps every promise', () => {
    expect(judge(sound())).toEqual([])
  })

  test.each(verdictKinds)('finds what was planted: %s', (kind) => {
    for (const history of anomalies[kind]) expect(judge(history).map((verdict) => verdict.kind)).toContain(kind)
  })

  test('holds a proof that never held against nobody', () => {
    expect(judge({ ...sound(), proofs: [{ at: 1, id: 'q', holds: false }] })).toEqual([])
  })
})
