// Heads that witnesses cosign: nobody is waited for longer than the time says, lines that come late are added, and a head whose
// quorum is met is found.

import { describe, expect, test } from 'vitest'
import { readHeads } from '../../../src/features/ledger/stored-ledger.ts'
import { until } from '../../helpers/until.ts'
import {
  clock,
  grow,
  logKey,
  policy,
  publisher,
  settled,
  showing,
  shown,
  states,
  store,
  witnesses,
} from './publishing.ts'
import type { Manner } from './small-witness.ts'

describe('a head', () => {
  test('is shown with the lines of all witnesses, and the next one goes on from it', async () => {
    const publishing = publisher()
    await publishing.offer(await grow(3))
    await showing(publishing, 3, ['W1', 'W2', 'W3'])
    for (const size of [4, 255, 256, 257, 300]) {
      await publishing.offer(await grow(size))
      await showing(publishing, size, ['W1', 'W2', 'W3'])
    }
    expect(states(publishing)).toEqual(['cosigned', 'cosigned', 'cosigned'])
    expect(publishing.isConfirmed).toBe(true)
  })

  test('goes on from whatever each witness has, and needs nobody who has nothing', async () => {
    const first = publisher()
    for (const size of [5, 7, 9]) {
      await first.offer(await grow(size))
      await showing(first, size, ['W1', 'W2', 'W3'])
    }
    await first.close()
    const second = publisher()
    await second.offer(await grow(280))
    await showing(second, 280, ['W1', 'W2', 'W3'])
    expect(witnesses.map(({ last }) => last.size)).toEqual([280, 280, 280])
  })

  test('without a quorum is shown after the wait, and gets lines that come later', async () => {
    for (const witness of witnesses.slice(0, 2)) witness.logKey = undefined
    const publishing = publisher()
    await publishing.offer(await grow(5))
    await settled(publishing)
    clock.aheadMs += 29_000
    await publishing.tick()
    await settled(publishing)
    expect([states(publishing), await shown()]).toEqual([['unknown', 'unknown', 'cosigned'], undefined])
    clock.aheadMs += 1_100
    await showing(publishing, 5, ['W3'])
    for (const witness of witnesses) witness.logKey = logKey
    clock.aheadMs += 60_000
    await showing(publishing, 5, ['W1', 'W2', 'W3'])
  })

  test('without a quorum is never shown where the wait is never', async () => {
    for (const witness of witnesses.slice(0, 2)) witness.logKey = undefined
    const publishing = publisher({ waitMs: undefined })
    for (const size of [5, 6]) {
      await publishing.offer(await grow(size))
      clock.aheadMs += 3_600_000
      await publishing.tick()
      await settled(publishing)
      expect([await shown(), publishing.unshown.entries]).toEqual([undefined, size])
    }
    // Of the first, though a later one was signed.
    expect(clock.monotonicMs() - (publishing.unshown.sinceMs ?? 0)).toBeGreaterThanOrEqual(2 * 3_600_000)
    for (const witness of witnesses) witness.logKey = logKey
    clock.aheadMs += 60_000
    await showing(publishing, 6, ['W1', 'W2', 'W3'])
    expect(publishing.unshown).toEqual({ entries: 0, sinceMs: undefined })
    for (const witness of witnesses.slice(0, 2)) witness.logKey = undefined
    await publishing.offer(await grow(9))
    await settled(publishing)
    expect([(await shown())?.size, publishing.unshown.entries]).toEqual([6, 3])
    // The next life knows what this one has shown.
    const next = publisher({ waitMs: undefined })
    await next.offer(await grow(9))
    expect(next.unshown.entries).toBe(3)
  })

  test('is not held up by one that does not answer, and the wait is that of the first entry', async () => {
    const silent: Manner = () => new Promise(() => {})
    witnesses[0]!.manner = silent
    witnesses[1]!.manner = silent
    const publishing = publisher()
    await publishing.offer(await grow(5))
    await publishing.tick()
    clock.aheadMs += 20_000
    await publishing.offer(await grow(6))
    clock.aheadMs += 11_000
    // The one that answers was asked for the first of them, and keeps its line for the next.
    await until('the newest head', async () => {
      await publishing.tick()
      return (await shown())?.size === 6 ? true : undefined
    })
    witnesses[0]!.manner = undefined
    await showing(publishing, 6, ['W1', 'W3'])
  })

  test('whose quorum is met is found when the next one has none', async () => {
    const publishing = publisher()
    await publishing.offer(await grow(5))
    await showing(publishing, 5, ['W1', 'W2', 'W3'])
    for (const witness of witnesses) witness.logKey = undefined
    await publishing.offer(await grow(6))
    clock.aheadMs += 31_000
    await showing(publishing, 6, [])
    const heads = await readHeads({ store, ledger: 1, policy: policy() })
    expect([heads.shown?.head.size, heads.met?.head.size, heads.met?.lines.size]).toEqual([6, 5, 3])
    for (const witness of witnesses) witness.logKey = logKey
    await publishing.offer(await grow(7))
    await showing(publishing, 7, ['W1', 'W2', 'W3'])
    const again = await readHeads({ store, ledger: 1, policy: policy() })
    expect(again.met?.head.size).toBe(7)
  })

  test('is cosigned again once an hour when nothing came', async () => {
    const publishing = publisher()
    await publishing.offer(await grow(5))
    await showing(publishing, 5, ['W1', 'W2', 'W3'])
    const asked = witnesses.map((witness) => witness.asked)
    for (const witness of witnesses) witness.seconds += 3_600
    clock.aheadMs += 3_590_000
    await publishing.tick()
    await settled(publishing)
    expect(witnesses.map((witness) => witness.asked)).toEqual(asked)
    clock.aheadMs += 11_000
    await until('newer lines', async () => {
      await publishing.tick()
      const heads = await readHeads({ store, ledger: 1, policy: policy() })
      return [...heads.met!.lines.values()].every(({ at }) => at === 1_790_003_600) ? true : undefined
    })
  })

  test('of several keepers has the lines of all of them, and none goes back', async () => {
    const [one, two] = [publisher(), publisher()]
    const [small, large] = [await grow(5), await grow(9)]
    await one.offer(large)
    await showing(one, 9, ['W1', 'W2', 'W3'])
    await two.offer(small)
    await settled(two)
    expect([(await shown())?.size, states(two)]).toEqual([9, ['ahead', 'ahead', 'ahead']])
    // What was seen is the head of the other keeper, which the batches show when they are read.
    const seen: number[] = []
    await expect.poll(() => seen.push(...two.takeSeen().map(({ head }) => head.size))).toBe(3)
    expect(seen).toEqual([9, 9, 9])
    await two.offer(large)
    await settled(two)
    expect([states(two), two.isConfirmed]).toEqual([['cosigned', 'cosigned', 'cosigned'], true])
  })
})
