// collectd as docs/devices.md configures it: what it sends, once, with the times of its values; what a node did not take is
// lost with it, because collectd repeats nothing. Skipped, loudly, where it is not installed.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { until } from '../helpers/until.ts'
import { blockOf } from '../helpers/page-blocks.ts'
import { ProducerNode, runProducer } from '../helpers/producer-node.ts'

const isThere = spawnSync('collectd', ['-h']).error === undefined
if (!isThere && process.env['CI'] === 'true') throw new Error('collectd is not there: apt-get install collectd-core')
if (!isThere) console.warn('NOT RUN: the test of collectd needs collectd (apt-get install collectd-core)')

/** Says something to collectd's socket. */
async function tell(socketPath: string, command: string): Promise<string> {
  const socket = connect(socketPath)
  await once(socket, 'connect')
  socket.write(`${command}\n`)
  const [line] = (await once(createInterface({ input: socket }), 'line')) as [string]
  socket.destroy()
  return line
}

test.skipIf(!isThere)('its values become rows, and a body whose answer is lost stays one', async () => {
  const node = await ProducerNode.start(
    (before) => (['passed', 'lost', 'passed', 'refused'] as const)[before] ?? 'passed',
  )
  const plugin = node.configuration(blockOf('docs/devices.md', 'LoadPlugin write_http'))
  const at = (name: string): string => join(node.directory, name)
  await writeFile(
    at('collectd.conf'),
    `Hostname "pump-7"\nFQDNLookup false\nBaseDir "${node.directory}"\nPIDFile "${at('pid')}"
TypesDB "/usr/share/collectd/types.db"
LoadPlugin unixsock
<Plugin unixsock>
  SocketFile "${at('socket')}"
</Plugin>
${plugin}`,
  )
  runProducer('collectd', ['-f', '-C', at('collectd.conf')], node.directory)
  await until('collectd listens', () =>
    tell(at('socket'), 'LISTVAL').then(
      () => true,
      () => false,
    ),
  )
  const values = ['pump-7/host/load 1:0.5:U', 'pump-7/boiler/temperature-inlet 20', '… 21', '… 22']
  for (const [n, text] of values.entries()) {
    const [name = '', value] = text.replace('…', 'pump-7/boiler/temperature-inlet').split(' ')
    const put = `PUTVAL "${name}" interval=1 ${1_769_860_800.25 + n}:${value}`
    expect(await tell(at('socket'), put)).toMatch(/^0/)
    await until('a body came', async () => {
      await tell(at('socket'), 'FLUSH')
      // libcurl sends again when a connection that it has used before ends without an answer.
      return node.line.requests > (n === 0 ? 0 : n + 1)
    })
  }
  // The second was sent twice, the third refused.
  await node.becomes(
    `select epoch_ms("time"), host, plugin, type, type_instance, "values"->>0, "values"->>2, dsnames
     from "acme/collectd" order by offset`,
    [
      [1_769_860_800_250, 'pump-7', 'host', 'load', '', '1', null, '["shortterm","midterm","longterm"]'],
      [1_769_860_801_250, 'pump-7', 'boiler', 'temperature', 'inlet', '20', null, '["value"]'],
      [1_769_860_803_250, 'pump-7', 'boiler', 'temperature', 'inlet', '22', null, '["value"]'],
    ],
  )
})
