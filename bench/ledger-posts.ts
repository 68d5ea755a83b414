// What the ledger costs posts: two nodes, one without it, on the same core and in turns, with durable one-row posts on 64
// connections. Each pair runs on, off, off, on, so that a machine that gets slower counts for both.

import { type BenchNode, rawPost, runLoad, startBenchNode } from './machine.ts'
import { type Measure, median } from './measure.ts'

const rowBody = '{"device":"d-17","temp":21.5,"k":12345,"at":"2026-03-01T10:00:00Z"}\n'

interface Seen {
  readonly perSecond: number
  readonly micros: number
}

export async function measureLedgerPosts(pairs = 8): Promise<Measure[]> {
  const on = await startBenchNode({}, { pinned: true })
  const off = await startBenchNode({ without: ['ledger'] }, { pinned: true })
  for (const node of [on, off]) {
    await node.post('acme/t', rowBody, { query: '?create=true' })
    // Code is compiled while it warms up.
    for (let i = 0; i < 2; i++) await seen(node)
  }
  const ratios: { rate: number; micros: number }[] = []
  for (let i = 0; i < pairs; i++) {
    const turns = [await seen(on), await seen(off), await seen(off), await seen(on)] as const
    const sum = (of: keyof Seen, [a, b]: readonly [Seen, Seen]): number => a[of] + b[of]
    const [ours, theirs] = [[turns[0], turns[3]] as const, [turns[1], turns[2]] as const]
    ratios.push({
      rate: sum('perSecond', ours) / sum('perSecond', theirs),
      micros: sum('micros', theirs) / sum('micros', ours),
    })
  }
  await on.remove()
  await off.remove()
  const rates = ratios.map(({ rate }) => rate)
  const costs = ratios.map(({ micros }) => micros)
  return [
    { name: 'durable posts, ledger on / off, by rate', value: median(rates), unit: '×', bar: { least: 0.98 } },
    { name: 'the same, by CPU', value: median(costs), unit: '×', bar: { least: 0.98 } },
    { name: 'the same, by rate: least of the pairs', value: Math.min(...rates), unit: '×' },
    { name: 'the same, by rate: most of the pairs', value: Math.max(...rates), unit: '×' },
    { name: 'the same, by CPU: least of the pairs', value: Math.min(...costs), unit: '×' },
    { name: 'the same, by CPU: most of the pairs', value: Math.max(...costs), unit: '×' },
  ]
}

async function seen(node: BenchNode): Promise<Seen> {
  const parts = { token: node.token, prefer: 'respond-async', body: rowBody }
  const { perSecond, microsPerAnswer, statuses } = await runLoad(node.pid, rawPost(node.url, '/acme/t/ingest', parts))
  if (Object.keys(statuses).join() !== '202') throw new Error(`answers other than 202: ${JSON.stringify(statuses)}`)
  return { perSecond, micros: microsPerAnswer }
}
