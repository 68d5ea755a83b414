// One record of nearly 16 MiB at a time, the longest there may be: how long it holds the event loop of the node.

import { startBenchNode, watch } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const recordBytes = 16 * 1024 * 1024
const posts = 5

function bodies(): Readonly<Record<string, string>> {
  const words = Array.from({ length: 50_000 }, (_, i) => ((i * 7_919_777) % 2 ** 31).toString(36)).join(' ')
  const text = words.repeat(Math.ceil(recordBytes / words.length))
  const nested = Array.from({ length: 700_000 }, (_, i) => `{"x":${i},"y":"n"}`)
  return {
    'a text': `{"a":"${text.slice(0, recordBytes - 100)}"}`,
    'a text with escapes': `{"a":"${text.slice(0, recordBytes * 0.8).replaceAll(' ', String.raw`\n`)}"}`,
    'a nested value': `{"a":[${nested.join(',')}]}`,
  }
}

export async function measureLongRecords(): Promise<Measure[]> {
  const node = await startBenchNode()
  await node.post('acme/long', '{"a":"x"}', { query: '?create=true', prefer: 'wait=30' })
  const measures: Measure[] = []
  for (const [name, body] of Object.entries(bodies())) {
    const times: number[] = []
    const { heldMs } = await watch(node, async () => {
      for (let i = 0; i < posts; i++) {
        times.push(await timeMs(() => node.post('acme/long', body, { prefer: 'wait=30' })))
      }
    })
    measures.push(
      { name: `16 MiB of ${name} in a block`, value: median(times), unit: 'ms' },
      { name: `event loop held by 16 MiB of ${name}`, value: heldMs, unit: 'ms', bar: { most: 100 } },
    )
  }
  await node.remove()
  return measures
}
