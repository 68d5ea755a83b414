// What a process tells of its runtime: nothing is sampled before somebody reads, and the first reading is sound.

import { expect, test } from 'vitest'
import { Metrics } from '../../../../src/node/machine/ops/metrics.ts'

test('the first reading has all of the CPU time, and delays that were measured', async () => {
  const { user, system } = process.cpuUsage()
  const text = await new Metrics().text()
  const valueOf = (name: string): number => Number(new RegExp(`^proofstream_${name} (\\S+)$`, 'm').exec(text)?.[1])
  expect(valueOf('process_cpu_seconds_total')).toBeGreaterThanOrEqual((user + system) / 1e6)
  expect(valueOf('process_cpu_user_seconds_total')).toBeGreaterThanOrEqual(user / 1e6)
  expect(valueOf('nodejs_eventloop_lag_min_seconds')).toBeLessThan(60)
  expect(valueOf('nodejs_eventloop_lag_mean_seconds')).toBeGreaterThan(0)
})

test('readers at the same time find the same metrics, each once', async () => {
  const metrics = new Metrics()
  const texts = await Promise.all([metrics.text(), metrics.text()])
  const namesOf = (text: string): string[] => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
  expect(namesOf(texts[0])).toEqual(namesOf(texts[1]))
  expect(new Set(namesOf(texts[0])).size).toBe(namesOf(texts[0]).length)
})
