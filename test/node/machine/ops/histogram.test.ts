// Our histogram writes what prom-client's own writes of the same observations.

import { Histogram as Reference, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { Histogram } from '../../../../src/node/machine/ops/histogram.ts'

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const seconds = [0, 0.001, 0.0010001, 0.3, 0.3, 29.9, 30, 31, 1e6]

/** Lines of a text, in an order of their own. */
function linesOf(text: string): string[] {
  return text.split('\n').toSorted()
}

test.each([undefined, 'route'])('it is written as that of prom-client is (label: %s)', async (label) => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const name = 'taken_seconds'
  const help = 'Time taken.'
  const histogram = new Histogram({ name, help, registry: ours, ...(label === undefined ? {} : { label }) })
  const labelNames = label === undefined ? [] : [label]
  const reference = new Reference({ name, help, labelNames, buckets, registers: [theirs] })
  for (const of of label === undefined ? [''] : ['/a', '/b/:id']) {
    for (const one of seconds) {
      histogram.observe(one, of)
      if (label === undefined) reference.observe(one)
      else reference.observe({ [label]: of }, one)
    }
  }
  expect(linesOf(await ours.metrics())).toEqual(linesOf(await theirs.metrics()))
})

test('without observations one series is there at zero', async () => {
  const registry = new Registry()
  const histogram = new Histogram({ name: 'taken_seconds', help: 'Time taken.', registry })
  expect(await registry.metrics()).toMatch(/^taken_seconds_count 0$/m)
  histogram.observe(2)
  expect(await registry.metrics()).toMatch(/^taken_seconds_sum 2$/m)
})
