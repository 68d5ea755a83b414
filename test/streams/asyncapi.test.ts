// The map of the streams: the form of AsyncAPI 3.1, references that lead somewhere, roles that exist, the settings
// that the log needs of a Kafka topic.

import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Json = Readonly<Record<string, unknown>>

const url = new URL('../../streams/asyncapi.json', import.meta.url)
const document: Json = JSON.parse(readFileSync(url, 'utf8'))
const roles = ['gateway', 'builder', 'replica']

function object(value: unknown): Json {
  expect(typeof value === 'object' && value !== null && !Array.isArray(value)).toBe(true)
  // `as`: the line above has just checked it.
  return value as Json
}
function at(path: string): Json {
  return path.split('/').reduce<Json>((node, name) => object(node[name]), document)
}
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : references(inner)))
}

test('has the members that AsyncAPI 3.1 asks for and no others', () => {
  expect(document['asyncapi']).toBe('3.1.0')
  expect(Object.keys(document)).toEqual([
    'asyncapi',
    'info',
    'defaultContentType',
    'channels',
    'operations',
    'components',
  ])
  expect(at('info')).toMatchObject({ title: expect.any(String), version: expect.any(String) })
  for (const channel of Object.values(at('channels'))) {
    const allowed = ['address', 'title', 'description', 'messages', 'bindings']
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(object(channel))))
    expect(object(channel)['address']).toEqual(expect.any(String))
  }
  for (const operation of Object.values(at('operations'))) {
    const allowed = ['action', 'channel', 'title', 'description', 'messages', 'bindings']
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(object(operation))))
    expect(['send', 'receive']).toContain(object(operation)['action'])
    expect(object(object(operation)['channel'])['$ref']).toMatch(/^#\/channels\//)
  }
})

test('refers only to what exists', () => {
  const all = references(document)
  expect(all.length).toBeGreaterThan(0)
  for (const reference of all.filter((one) => one.startsWith('#/'))) at(reference.slice(2))
  const files = all.filter((one) => !one.startsWith('#/'))
  expect(files.filter((one) => !existsSync(new URL(one, url)))).toEqual([])
})

test('names a role of the node in each operation, and gives each role something to do', () => {
  const named = Object.keys(at('operations')).map((name) => name.split('.')[0])
  expect(new Set(named)).toEqual(new Set(roles))
})

test('lets someone send and someone receive on each channel', () => {
  for (const name of Object.keys(at('channels'))) {
    const actions = Object.values(at('operations'))
      .map(object)
      .filter((operation) => object(operation['channel'])['$ref'] === `#/channels/${name}`)
      .map((operation) => operation['action'])
    expect(new Set(actions)).toEqual(new Set(['send', 'receive']))
  }
})

test('asks of a topic of records what the log relies on', () => {
  const kafka = at('channels/records/bindings/kafka')
  expect(kafka['bindingVersion']).toBe('0.5.0')
  const settings = object(kafka['topicConfiguration'])
  expect(settings).toMatchObject({
    'message.timestamp.type': 'LogAppendTime',
    'cleanup.policy': ['delete'],
    'retention.bytes': -1,
    'unclean.leader.election.enable': false,
    'min.insync.replicas': 2,
  })
  expect(settings['retention.ms']).toBeGreaterThanOrEqual(7 * 24 * 3600 * 1000)
  expect(settings['max.message.bytes']).toBeGreaterThanOrEqual(1_048_588)
})
