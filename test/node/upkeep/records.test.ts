import { describe, expect, test } from 'vitest'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import type { ProblemKind } from '../../../src/node/upkeep/report.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { logKey, nameKey, progressKey } from '../../../src/node/store/layout.ts'
import { putName } from '../../../src/node/store/names.ts'
import { putLowWaterMark } from '../../../src/node/store/records.ts'
import { anchorAt, log, type Made, made } from '../store/make-store.ts'

describe('names, logs and floors', () => {
  const cases: [string, (made: Made) => Promise<unknown>, ProblemKind[]][] = [
    [
      'a name of a dataset that is not stored',
      ({ store, good }) =>
        putName(store, { id: good.id.replace(/01$/, '09'), alias: 'a/b', log, partition: 0, visibility: 'public' }),
      ['ObjectMissing'],
    ],
    [
      'two names of one dataset',
      ({ store, good }) => putName(store, { id: good.id, alias: 'a/b', log, partition: 0, visibility: 'public' }),
      ['RecordDisagrees'],
    ],
    [
      'a name of a partition that the log has not',
      ({ store, good }) =>
        store
          .delete(nameKey('acme/set-0'))
          .then(() => putName(store, { id: good.id, alias: 'a/b', log, partition: 1, visibility: 'public' })),
      ['RecordDisagrees'],
    ],
    [
      'a name of another',
      async ({ store }) => store.put('names/acme/stolen', must(await store.get(nameKey('acme/set-0')), 'name')),
      ['Malformed'],
    ],
    ['a name that is no record', ({ store }) => store.put('names/acme/x', utf8('{}')), ['Malformed']],
    [
      'a log that is not declared',
      ({ store }) => store.delete(logKey(log)),
      ['RecordDisagrees', 'RecordDisagrees', 'RecordDisagrees'],
    ],
    [
      'a log under another id',
      async ({ store }) => store.put(logKey('log-2'), must(await store.get(logKey(log)), 'log')),
      ['RecordDisagrees'],
    ],
    ['a floor that is no record', ({ store }) => store.put(progressKey(log, 0, 99), utf8('{}')), ['Malformed']],
    [
      'a floor of a partition that the log has not',
      ({ store }) => putLowWaterMark(store, { log, partition: 7, position: 0, halted: [] }),
      ['UnknownObject'],
    ],
    [
      'a floor whose anchor is not that of the chains',
      ({ store }) =>
        store
          .delete(progressKey(log, 0, 8))
          .then(() => putLowWaterMark(store, { log, partition: 0, position: 8, anchor: anchorAt(9), halted: [] })),
      ['RecordDisagrees', 'RecordDisagrees'],
    ],
    [
      'a floor that halts a dataset that is not stored',
      ({ store, good }) =>
        putLowWaterMark(store, {
          log,
          partition: 0,
          position: 9,
          anchor: anchorAt(9),
          halted: [{ dataset: good.id.replace(/01$/, '09'), position: 1, reason: 'PoisonBlock' }],
        }),
      ['RecordDisagrees'],
    ],
    ['a folder that is no dataset', ({ store }) => store.put('datasets/x/y', utf8('')), ['UnknownObject']],
  ]

  test.each(cases)('%s: found', async (_, change, expected) => {
    const all = await made()
    await change(all)
    const report = await fsck(all.store)
    expect(report.ok).toBe(false)
    expect(report.problems.map(({ kind }) => kind)).toEqual(expected)
    expect(report.datasets.every(({ ok }) => ok)).toBe(true)
  })
})
