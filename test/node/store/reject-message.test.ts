// What an operator may reject: the message that a floor names, or one that lies above all floors; nothing else.

import { beforeEach, describe, expect, test } from 'vitest'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { rejectKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { putName } from '../../../src/node/store/names.ts'
import { putAdoption, putLog, putLowWaterMark } from '../../../src/node/store/records.ts'
import { rejectHalted, rejectUnreadable } from '../../../src/node/store/reject-message.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'

const id = `did:odf:fed01${'0'.repeat(63)}1`
const other = `did:odf:fed01${'0'.repeat(63)}2`
const anchor = `f1620${'a'.repeat(64)}`
const word = { reason: 'it cannot be written', by: 'ada', at: '2026-03-02T00:00:00.000Z' }
let store: ObjectStore

beforeEach(async () => {
  store = openMemoryStore()
  await putLog(store, { id: 'log-1', kind: 'memory', partitions: 2 })
  await putName(store, { id, alias: 'acme/a', log: 'log-1', partition: 1, visibility: 'public' })
  await putLowWaterMark(store, {
    log: 'log-1',
    partition: 1,
    position: 20,
    anchor,
    halted: [
      { dataset: id, position: 7, reason: 'PoisonBlock', message: 9 },
      { dataset: other, position: 7, reason: 'LogReplaced' },
    ],
  })
})

const rejected = (): Promise<readonly string[]> => store.list('rejects/log-1/1')

describe('the message that halts a dataset', () => {
  test.each(['acme/a', 'ACME/a', id])('is rejected by name or id, once: %s', async (dataset) => {
    const place = { log: 'log-1', partition: 1, position: 9 }
    const record = { dataset: id, ...word }
    expect(await rejectHalted(store, { dataset, position: 9 }, word)).toEqual({ ...place, outcome: 'rejected', record })
    const again = await rejectHalted(store, { dataset, position: 9 }, { ...word, by: 'bob' })
    expect(again).toEqual({ ...place, outcome: 'was rejected before', record })
    expect(await rejected()).toEqual(['9'])
  })

  const refusals: readonly (readonly [
    what: string,
    dataset: string,
    position: number,
    reason: string,
    hint: RegExp,
  ])[] = [
    ['another position', 'acme/a', 7, 'why', /--position 9$/],
    ['a halt that is not the fault of one message', other, 7, 'why', /halts\.md/],
    ['a dataset that is not halted', `did:odf:fed01${'0'.repeat(64)}`, 9, 'why', /doctor/],
    ['a name that nobody has', 'acme/b', 9, 'why', /id \(did:odf/],
    ['no reason', 'acme/a', 9, '', /1 to 500/],
    ['a reason of many lines', 'acme/a', 9, 'one\ntwo', /one line/],
  ]

  test.each(refusals)('is refused: %s', async (_, dataset, position, reason, hint) => {
    const refused = rejectHalted(store, { dataset, position }, { ...word, reason })
    await expect(refused).rejects.toMatchObject({ details: { hint: expect.stringMatching(hint) as string } })
    expect(await rejected()).toEqual([])
  })

  test('is none in a log that was given up', async () => {
    await putLog(store, { id: 'log-2', kind: 'memory', partitions: 1 })
    const partitions = [{ floor: 0 }, { floor: 20 }]
    await putAdoption(store, { old: 'log-1', new: 'log-2', partitions, halted: [], begin: [0] })
    await expect(rejectHalted(store, { dataset: id, position: 9 }, word)).rejects.toMatchObject({
      kind: 'InvalidParameter',
    })
  })
})

describe('a message that cannot be read', () => {
  test('is rejected without a dataset, in the one log in force', async () => {
    const done = await rejectUnreadable(store, { partition: 1, position: 20 }, word)
    expect(done).toEqual({ log: 'log-1', partition: 1, position: 20, outcome: 'rejected', record: word })
  })

  const refusals: readonly (readonly [string, { log?: string; partition: number; position: number }, RegExp])[] = [
    ['one below the floor', { partition: 1, position: 19 }, /below 20/],
    ['one of a partition that there is not', { partition: 2, position: 30 }, /It has 2/],
    ['one of another log', { log: 'log-9', partition: 1, position: 30 }, /log-1/],
  ]

  test.each(refusals)('is refused: %s', async (_, at, hint) => {
    await expect(rejectUnreadable(store, at, word)).rejects.toMatchObject({
      kind: 'InvalidParameter',
      details: { hint: expect.stringMatching(hint) as string },
    })
  })

  test('needs the log where there are two', async () => {
    await putLog(store, { id: 'log-2', kind: 'memory', partitions: 1 })
    await expect(rejectUnreadable(store, { partition: 0, position: 3 }, word)).rejects.toMatchObject({
      details: { candidates: ['log-1', 'log-2'] },
    })
    await rejectUnreadable(store, { log: 'log-2', partition: 0, position: 3 }, word)
  })
})

describe('fsck of rejections', () => {
  const problems = async (): Promise<string[]> =>
    (await fsck(store)).problems.map(({ kind }) => kind).filter((kind) => kind !== 'ObjectMissing')

  test('finds nothing wrong with those that were made so', async () => {
    const before = await problems()
    await rejectHalted(store, { dataset: id, position: 9 }, word)
    await rejectUnreadable(store, { partition: 0, position: 3 }, word)
    expect(await problems()).toEqual(before)
  })

  test.each([
    ['a record that is none', rejectKey('log-1', 0, 3), 'Malformed'],
    ['a log that is not declared', rejectKey('log-7', 0, 3), 'RecordDisagrees'],
    ['a partition that the log has not', rejectKey('log-1', 7, 3), 'UnknownObject'],
    ['a name that is no position', `${rejectKey('log-1', 0, 3)}x`, 'UnknownObject'],
  ])('finds %s', async (_, key, kind) => {
    await rejectUnreadable(store, { partition: 0, position: 4 }, word)
    const good = await store.get(rejectKey('log-1', 0, 4))
    const before = await problems()
    await store.put(key, kind === 'Malformed' ? new TextEncoder().encode('{}') : (good ?? new Uint8Array(0)))
    expect(await problems()).toEqual([kind, ...before])
  })
})
