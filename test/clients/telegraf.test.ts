// Telegraf as docs/devices.md configures it, by each of its three outputs: over a line that loses answers, and while the node is
// killed, each metric is stored once, with its own time. Skipped, loudly, where it is not installed: it takes long to build
// (CONTRIBUTING.md).

import { spawnSync } from 'node:child_process'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../helpers/until.ts'
import { blockOf } from '../helpers/page-blocks.ts'
import { ProducerNode, runProducer } from '../helpers/producer-node.ts'

const isThere = spawnSync('telegraf', ['--version']).error === undefined
if (!isThere) console.warn('NOT RUN: the tests of Telegraf need telegraf')

/** What an operator has beside the output: a file that grows, read from its start. */
const input = `
[agent]
  interval = "100ms"
  flush_interval = "100ms"
  omit_hostname = true
[[inputs.tail]]
  files = ["FILE"]
  initial_read_offset = "beginning"
  data_format = "influx"
`
const outputs = [
  { name: 'outputs.http', n: 'fields_n' },
  { name: 'outputs.influxdb_v2', n: 'n' },
  { name: 'outputs.influxdb', n: 'n' },
] as const
const startMs = 1_769_860_800_000

test.skipIf(!isThere).each(outputs)(
  '$name: each metric once',
  async ({ name, n }) => {
    // Every second answer is lost for a while.
    const node = await ProducerNode.start((before) => (before % 2 === 1 && before < 40 ? 'lost' : 'passed'))
    const file = join(node.directory, 'metrics.lp')
    const output = node.configuration(blockOf('docs/devices.md', `[[${name}]]`))
    await writeFile(file, '')
    await writeFile(join(node.directory, 'telegraf.conf'), input.replace('FILE', file) + output)
    runProducer('telegraf', ['--config', 'telegraf.conf'], node.directory)
    const metric = (k: number): string =>
      `pump,site=s${k % 3} n=${k}i,celsius=${20 + k / 8} ${startMs + k * 1000}000000\n`
    const add = async (from: number, to: number): Promise<void> => {
      for (let k = from; k < to; k++) {
        await appendFile(file, metric(k))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    await add(0, 50)
    await until('requests came', () => node.line.requests > 5)
    await node.stop('SIGKILL')
    await add(50, 75)
    await node.restart()
    await add(75, 100)
    const sql = `select count(*), count(distinct ${n}), sum(${n}), min(epoch_ms("timestamp") - ${n} * 1000), max(epoch_ms("timestamp") - ${n} * 1000) from "acme/metrics"`
    await node.becomes(sql, [[100, 100, 4950, startMs, startMs]])
    expect(node.line.requests).toBeGreaterThan(10)
  },
  180_000,
)
