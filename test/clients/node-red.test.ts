// Node-RED with the flow of examples/node-red: over a line that loses answers, and while the node is killed, each record once, with
// its own time. Skipped, loudly, where it is not installed (npm install -g node-red).

import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { until } from '../helpers/until.ts'
import { freePort } from '../helpers/free-port.ts'
import { ProducerNode, runProducer } from '../helpers/producer-node.ts'

const isThere = spawnSync('node-red', ['--help']).error === undefined
if (!isThere) console.warn('NOT RUN: the test of Node-RED needs node-red (npm install -g node-red)')

test.skipIf(!isThere)(
  'its records are there once',
  async () => {
    const node = await ProducerNode.start((before) => (before % 3 === 1 && before < 30 ? 'lost' : 'passed'))
    const flow = await readFile('examples/node-red/flow.json', 'utf8')
    // Sooner than people need it.
    const soon = node
      .configuration(flow)
      .replace('"repeat": "1"', '"repeat": "0.05"')
      .replace('"timeout": "5"', '"timeout": "0.2"')
    await writeFile(join(node.directory, 'flow.json'), soon)
    const startMs = Date.now()
    runProducer('node-red', ['-u', node.directory, '-p', String(await freePort()), 'flow.json'], node.directory)
    await until('requests came', () => node.line.requests > 20)
    await node.stop('SIGKILL')
    const before = node.line.requests
    await until('the node was missed', () => node.line.requests > before + 5)
    await node.restart()
    // From then on it is in step but for what is on its way.
    await node.becomes(
      `select count(*) = max(n), count(*) = count(distinct n), min(n), min(epoch_ms("time")) >= ${startMs}, count(distinct "time") = count(*)
     from "acme/kitchen" having max(n) > 100`,
      [[true, true, 1, true, true]],
    )
  },
  180_000,
)
