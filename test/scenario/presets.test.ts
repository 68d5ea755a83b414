// Each preset with a body as its producer's documentation shows it: rows, columns, times, and a repeat that stores nothing.

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type Preset, presetNames, presets } from '../../src/libraries/formats/presets.ts'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode()
const { post, rowsOf, columnsOf } = datasetCalls(() => live)

/** Milliseconds of the event times, some columns, and a row of their values. */
const expected: Readonly<Record<keyof typeof presets, readonly [readonly string[], string, readonly unknown[]]>> = {
  telegraf: [
    ['2016-03-17T15:39:00Z', '2016-03-17T15:39:10Z'],
    'name, tags_host, fields_field_1, fields_n_images',
    ['docker', 'raynor', 30, 660],
  ],
  ttn: [
    ['2020-02-12T15:15:45.787Z'],
    'end_device_ids_device_id, uplink_message_f_cnt, uplink_message_decoded_payload_temperature, uplink_message_settings_data_rate_lora_bandwidth',
    ['dev1', 1, 1, 125000],
  ],
  chirpstack: [
    ['2022-07-18T09:34:15.775Z'],
    '"deviceInfo_devEui", "deviceInfo_tags_key", "txInfo_frequency", json_extract("rxInfo", \'$[0].rssi\')::int',
    ['0101010101010101', 'value', 867100000, -36],
  ],
  owntracks: [['2017-06-15T06:37:31Z'], '_type, tid, lat, lon', ['location', 'jj', 48.85833, 2.29513]],
  'fluent-bit': [['2020-04-29T19:23:51.164Z', '2020-04-29T19:23:52.164Z'], 'cpu_p, log_level', [1.5, 'info']],
  vector: [['2020-11-19T18:31:27.783Z'], 'host, message, procid', ['worf.io', 'We are not safe', 5031]],
  'home-assistant': [
    ['2026-01-31T12:00:00Z'],
    'entity_id, state, attributes_unit_of_measurement, epoch_ms(last_changed)',
    ['sensor.kitchen_temperature', '21.4', '°C', 1769860683101],
  ],
  collectd: [
    ['2009-08-29T08:08:19.265Z'],
    'host, plugin, plugin_instance, type, "values"->>1, dsnames->>1',
    ['leeloo.lan.home.verplant.org', 'disk', 'sda', 'disk_octets', '175136768', 'write'],
  ],
  'otlp-logs': [
    ['2018-12-13T14:51:00.300Z'],
    'body, severity_text, "resource_service.name", "attributes_int.attribute", trace_id',
    ['Example log record', 'Information', 'my.service', 10, '5b8efff798038103d269b633813fc60c'],
  ],
  cloudevents: [['2018-04-05T17:31:00Z'], 'id, source, "data_appinfoB"', ['C234-1234-1234', '/mycontext', 123]],
}

test.each(presetNames)('%s makes rows of what its producer sends, once', async (name) => {
  const { example, mediaType, parameters }: Preset = presets[name]
  const time = parameters['eventTime'] ?? 'event_time'
  const [times, columns, first] = expected[name]
  const send = () => post(`sent/${name}`, example, { 'content-type': mediaType }, `?create=true&preset=${name}`)
  const answer = await send()
  expect([answer.status, answer.at('records.received'), answer.at('eventTime.from')]).toEqual([
    200,
    times.length,
    'field',
  ])
  expect((await send()).headers['idempotent-replayed']).toBe('true')
  expect(await rowsOf(`sent/${name}`, `epoch_ms("${time}")`)).toEqual(times.map((text) => [Date.parse(text)]))
  expect(((await rowsOf(`sent/${name}`, columns)) as unknown[])[0]).toEqual(first)
  expect((await columnsOf(`sent/${name}`)).join()).not.toMatch(
    /\b(?:timestamp|received_at|time|tst|date|last_updated):/,
  )
})

test('what is given beside a preset counts', async () => {
  const { example } = presets.telegraf
  const send = (query: string, headers = {}) =>
    post(
      'sent/own',
      example,
      { 'content-type': 'application/json', ...headers },
      `?create=true&preset=telegraf${query}`,
    )
  expect((await send('&flatten=false&dedupe=name')).at('idempotencyKey')).toBe('docker')
  expect(await columnsOf('sent/own')).toEqual(['fields: String?', 'name: String?', 'tags: String?'])
  expect((await send('&flatten=false', { 'idempotency-key': 'mine' })).at('idempotencyKey')).toBe('mine')
  expect((await send('&preset=ttn')).refusal).toBe('400 InvalidParameter')
  const unknown = await post('sent/own', '{}', {}, '?preset=telegraff')
  expect([unknown.refusal, unknown.at('candidates')]).toEqual(['400 InvalidParameter', [...presetNames]])
})

test('GET /presets tells them, and the page of devices has each', async () => {
  expect((await live.call('/presets', { token: null })).at('presets')).toEqual(JSON.parse(JSON.stringify(presets)))
  const page = await readFile('docs/devices.md', 'utf8')
  for (const name of presetNames) expect(page).toContain(`preset=${name}`)
})

test('two sources of CloudEvents may use the same id', async () => {
  const event = (source: string, value: number): string =>
    JSON.stringify({ ...(JSON.parse(presets.cloudevents.example) as object), source, comexampleothervalue: value })
  const send = (source: string, value: number) =>
    post(
      'sent/events',
      event(source, value),
      { 'content-type': presets.cloudevents.mediaType },
      '?create=true&preset=cloudevents',
    )
  expect([(await send('/one', 1)).status, (await send('/two', 2)).status]).toEqual([200, 200])
  expect((await send('/two', 2)).headers['idempotent-replayed']).toBe('true')
  expect((await send('/two', 3)).refusal).toBe('409 IdempotencyKeyReused')
  expect(await rowsOf('sent/events', 'source')).toEqual([['/one'], ['/two']])
})
