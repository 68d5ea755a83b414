// What becomes of a message in a gateway with a real builder: stored, in quarantine, or tried again.

import { expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { bodyOf } from '../../../src/node/gateway/read-body.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { parseAlias, parseAliasText } from '../../../src/libraries/model/names.ts'
import { Intake, type IntakeDeps } from '../../../src/features/mqtt/intake.ts'
import { quarantineSchema } from '../../../src/features/mqtt/quarantine.ts'
import { routeOf } from '../../../src/features/mqtt/route.ts'
import type { Publish } from '../../../src/features/mqtt/window.ts'
import { Metrics } from '../../../src/node/machine/ops/metrics.ts'
import { until } from '../../helpers/until.ts'
import { type Rig, rigOf } from '../../node/gateway/support.ts'

const limits = { mqttMessageBytes: 1_000, recordBytes: 16 * 1024 * 1024 }
const never = new AbortController().signal

const message = (payload: string, topic = 'a/b', lostBytes = 0): Publish => ({
  id: 1,
  isDup: false,
  topic,
  payload: Buffer.from(payload),
  lostBytes,
})

function intakeOf(rig: Rig, query: Record<string, string> = {}, more: Partial<IntakeDeps> = {}): Intake {
  const route = routeOf({ filter: 'a/+', alias: parseAliasText('a/b'), query }, 'x')
  const deps = { gateway: rig.gateway, catalog: rig.catalog, metrics: new Metrics(), limits, logger: silentLogger }
  return new Intake({ ...deps, clock: systemClock, ...more }, route)
}

/** Rows of a dataset, once so many are there. */
async function rowsOf(rig: Rig, alias: string, count: number): Promise<number> {
  let rows = 0
  await until(`${alias} has ${count} rows`, async () => {
    const chain = await rig.catalog.byAlias(alias)
    if (chain !== undefined) await rig.catalog.refresh(chain)
    rows = (chain?.slices.at(-1)?.end ?? -1) + 1
    return rows >= count
  })
  return rows
}

test('messages that come together are one batch, in which a bad one spoils no other', async () => {
  const rig = await rigOf().build()
  const intake = intakeOf(rig, { create: 'true', unknownFields: 'reject' })
  expect(await intake.take(message('{"n":0}'), never)).toBe('stored')
  const batches = async (): Promise<number> => (await rig.headers()).filter(({ kind }) => kind === 'rows').length
  const before = await batches()
  const payloads = Array.from({ length: 50 }, (_, n) => `{"n":${n}}`)
  const outcomes = await Promise.all(payloads.map((payload) => intake.take(message(payload), never)))
  expect(new Set(outcomes)).toEqual(new Set(['stored']))
  expect(await batches()).toBe(before + 1)
  const mixed = ['{"n":1}', '{"n":"x', '"}', '{"n":2}', '{"m":1}', '[{"n":3},\n{"n":4}]', '']
  expect(await Promise.all(mixed.map((payload) => intake.take(message(payload), never)))).toEqual([
    'stored',
    'quarantined',
    'quarantined',
    'stored',
    'quarantined',
    'stored',
    'stored',
  ])
})

test('with dedupe=body the same message is stored once, and the same bytes of another topic are another', async () => {
  const rig = await rigOf().build()
  const intake = intakeOf(rig, { create: 'true', dedupe: 'body' })
  const payload = '{"event_time":"2026-01-31T12:00:00Z","n":1}'
  for (const topic of ['a/1', 'a/1', 'a/2', 'a/1', 'a/2']) {
    expect(await intake.take(message(payload, topic), never)).toBe('stored')
  }
  // Without an event time a repeat cannot be told from an equal reading.
  expect(await intake.take(message('{"n":1}'), never)).toBe('quarantined')
  const keyed = (await rig.headers()).flatMap((header) => (header.kind === 'rows' ? (header.batches ?? []) : []))
  expect(new Set(keyed.flatMap(({ key }) => key ?? [])).size).toBe(2)
  expect(keyed.filter(({ key }) => key !== undefined).length).toBe(2)
})

test('what cannot be stored now is tried again until it can', async () => {
  const rig = await rigOf().build()
  const kinds = ['Saturated', 'StorageFull', 'LogUnavailable', 'OutcomeUnknown', 'Draining'] as const
  let tries = 0
  const gateway: IntakeDeps['gateway'] = {
    create: (dataset) => rig.gateway.create(dataset),
    change: (chain, change) => rig.gateway.change(chain, change),
    ingest: (request) => {
      const kind = kinds[tries++]
      return kind === undefined ? rig.gateway.ingest(request) : Promise.reject(new NodeError(kind, 'Not now.'))
    },
  }
  const intake = intakeOf(rig, { create: 'true' }, { gateway })
  const taken = intake.take(message('{"n":1}'), never)
  await until('it says why it waits', async () => intake.fault === 'Not now.')
  expect([await taken, tries, intake.fault]).toEqual(['stored', kinds.length + 1, undefined])
})

test('a long message that was read and could not be stored is tried again as it came', async () => {
  const rig = await rigOf().build()
  const time = '"event_time":"2026-01-31T12:00:00Z"'
  await rig.post('a/b', utf8(`{${time},"n":0,"text":""}\n`), { query: { create: 'true' } })
  let tries = 0
  const gateway: IntakeDeps['gateway'] = {
    create: (dataset) => rig.gateway.create(dataset),
    change: (chain, change) => rig.gateway.change(chain, change),
    ingest: async (request) => {
      if (tries++ > 0) return rig.gateway.ingest(request)
      await rig.gateway.ingest({ ...request, controls: { ...request.controls, dryRun: true } })
      throw new NodeError('LogUnavailable', 'Not now.')
    },
  }
  const more = { gateway, limits: { ...limits, mqttMessageBytes: 1_000_000 } }
  const intake = intakeOf(rig, { dedupe: 'body' }, more)
  const taken = await intake.take(message(`{${time},"n":1,"text":"${'x'.repeat(100_000)}"}`), never)
  expect([taken, tries]).toEqual(['stored', 2])
  expect(await rowsOf(rig, 'a/b', 2)).toBe(2)
})

test('it ends when the node stops', async () => {
  const rig = rigOf()
  const { gateway: real } = rig
  const gateway = {
    create: real.create,
    change: real.change,
    ingest: () => Promise.reject(new NodeError('Saturated', 'Full.')),
  }
  const stop = new AbortController()
  const taken = intakeOf(rig, { create: 'true' }, { gateway }).take(message('{"n":1}'), stop.signal)
  setTimeout(() => stop.abort(new NodeError('Draining', 'It stops.')), 20)
  await expect(taken).rejects.toThrow('It stops.')
})

test('what is refused for good, and what the node itself fails at, is in quarantine; what is too large with its beginning', async () => {
  const rig = await rigOf().build()
  // No dataset, and no leave to make one.
  expect(await intakeOf(rig).take(message('{"n":1}'), never)).toBe('quarantined')
  const intake = intakeOf(rig, { create: 'true' })
  expect(await intake.take(message('{"n":1}'), never)).toBe('stored')
  expect(await intake.take(message('{"n":1', 'a/b', 999), never)).toBe('quarantined')
  expect(await intake.take(message(`{"n":1,"text":"${'x'.repeat(1_000)}"}`), never)).toBe('quarantined')
  const gateway: IntakeDeps['gateway'] = {
    create: (dataset) => rig.gateway.create(dataset),
    change: (chain, change) => rig.gateway.change(chain, change),
    ingest: (request) => {
      if (request.alias.dataset === 'quarantine') return rig.gateway.ingest(request)
      return Promise.reject(new TypeError('a fault of ours'))
    },
  }
  expect(await intakeOf(rig, {}, { gateway }).take(message('{"n":1}'), never)).toBe('quarantined')
  const chain = await rig.catalog.byAlias('a/quarantine')
  expect(chain?.name.visibility).toBe('private')
  expect(await rowsOf(rig, 'a/quarantine', 4)).toBe(4)
})

test('a quarantine that was made public is private before a message is in it', async () => {
  const rig = await rigOf().build()
  const alias = parseAlias('a', 'quarantine')
  await rig.gateway.create({ alias, visibility: 'public', schema: quarantineSchema })
  expect(await intakeOf(rig).take(message('{"n":1}'), never)).toBe('quarantined')
  expect((await rig.catalog.byAlias('a/quarantine'))?.name.visibility).toBe('private')
  expect(await rowsOf(rig, 'a/quarantine', 1)).toBe(1)
})

test('a quarantine that takes no rows holds the message back', async () => {
  const rig = await rigOf().build()
  await rig.post('a/quarantine', utf8('{"mine":1}\n'), { query: { create: 'true' } })
  const stop = new AbortController()
  const intake = intakeOf(rig)
  const taken = intake.take(message('{"n":1}'), stop.signal)
  await until('it says why', async () => intake.fault !== undefined)
  stop.abort(new NodeError('Draining', 'It stops.'))
  await expect(taken).rejects.toThrow('It stops.')
})

/** A gateway on which a batch takes the longer the earlier it came, and which notes the bodies in the order they got their places. */
function unevenGateway(
  rig: Rig,
  placed: string[],
  refuses: (body: string) => boolean = () => false,
): IntakeDeps['gateway'] {
  let begun = 0
  return {
    create: (dataset) => rig.gateway.create(dataset),
    change: (chain, change) => rig.gateway.change(chain, change),
    ingest: async (request) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of request.body) chunks.push(chunk as Uint8Array)
      const body = Buffer.concat(chunks).toString('utf8')
      await systemClock.sleep(Math.max(0, 40 - 10 * begun++))
      if (refuses(body)) throw new NodeError('RecordsDoNotFit', 'It does not fit.')
      placed.push(...body.trim().split('\n'))
      return rig.gateway.ingest({ ...request, body: bodyOf(utf8(body)) })
    },
  }
}

test.each([
  ['each in a batch of its own', { dedupe: 'body' }],
  ['together', {}],
])('rows of a topic come in the order of its messages: %s', async (_how, query) => {
  const rig = await rigOf().build()
  const row = (device: number, n: number): string => `{"event_time":"2026-01-31T12:00:00Z","d":${device},"n":${n}}`
  await rig.post('a/b', utf8(row(0, 0)), { query: { create: 'true' } })
  const placed: string[] = []
  // A batch of several is refused: what was in it, and what waits behind it, keeps its order.
  const gateway = unevenGateway(rig, placed, (body) => body.includes('"n":3') && body.trim().includes('\n'))
  const intake = intakeOf(rig, query, { gateway })
  const taken: Promise<string>[] = []
  for (let n = 1; n <= 12; n++) {
    for (const device of [1, 2]) taken.push(intake.take(message(row(device, n), `a/${device}`), never))
    if (n % 4 === 0) await systemClock.sleep(15)
  }
  expect(new Set(await Promise.all(taken))).toEqual(new Set(['stored']))
  for (const device of [1, 2]) {
    const own = placed.map((text) => JSON.parse(text) as { d: number; n: number }).filter(({ d }) => d === device)
    expect(own.map(({ n }) => n)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
  }
})

test('a bare number is a record', async () => {
  const rig = await rigOf().build()
  const intake = intakeOf(rig, { create: 'true', topic: 'topic' })
  for (const payload of ['21.5', '22']) expect(await intake.take(message(payload, 'a/1'), never)).toBe('stored')
  expect(await intake.take(message('[1', 'a/1'), never)).toBe('quarantined')
  expect(await rowsOf(rig, 'a/b', 2)).toBe(2)
  // The first value made a column of numbers; where the body is the key, a record needs a time.
  expect(await intake.take(message('ON', 'a/1'), never)).toBe('quarantined')
  const byBody = intakeOf(rig, { create: 'true', dedupe: 'body' })
  expect(await byBody.take(message('23', 'a/1'), never)).toBe('quarantined')
})
