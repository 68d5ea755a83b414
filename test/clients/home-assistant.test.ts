// Home Assistant as docs/devices.md configures it: each change of a state is a row, with its own time; nothing is sent twice, and
// what a node did not take is lost with it. Skipped, loudly, where it is not installed (pip install homeassistant).

import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../helpers/until.ts'
import { freePort } from '../helpers/free-port.ts'
import { blockOf } from '../helpers/page-blocks.ts'
import { ProducerNode, runProducer } from '../helpers/producer-node.ts'

const isThere = spawnSync('hass', ['--version']).error === undefined
if (!isThere) console.warn('NOT RUN: the test of Home Assistant needs hass (pip install homeassistant)')

/** What the house has: a sensor whose state is the time at which it changed, each second. */
const house = (port: number): string => `
http:
  server_port: ${port}
template:
  - trigger:
      - platform: time_pattern
        seconds: "/1"
    sensor:
      - name: kitchen temperature
        unit_of_measurement: "°C"
        state: "{{ now().timestamp() }}"
`

test.skipIf(!isThere)(
  'its states are rows',
  async () => {
    const node = await ProducerNode.start((before) => (['passed', 'lost', 'cut'] as const)[before] ?? 'passed')
    const configuration = node.configuration(blockOf('docs/devices.md', 'rest_command:'))
    await writeFile(join(node.directory, 'configuration.yaml'), configuration + house(await freePort()))
    runProducer('hass', ['--config', node.directory], node.directory)
    await expect.poll(() => node.line.requests, { interval: 100 }).toBeGreaterThan(0)
    await until('states came', () => node.line.requests > 8)
    const rows = `select count(*) > 4, count(*) = count(distinct state), max(abs(epoch_ms(last_updated) - state::double * 1000)) < 500,
    min(entity_id), min(attributes_unit_of_measurement) from "acme/states"`
    await node.becomes(rows, [[true, true, true, 'sensor.kitchen_temperature', '°C']])
    expect(await node.query('select distinct length(context_id) from "acme/states"')).toEqual([[26]])
  },
  180_000,
)
