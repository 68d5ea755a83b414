// deploy/compose.yaml against the code and against the specification of Compose. It runs in test/kafka/cluster-compose.test.ts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { kafkaOptions } from '../../src/drivers/kafka/options.ts'
import { settingsOf } from '../../src/node/options.ts'
import { loadConfig, optionTable } from '../../src/app/config.ts'
import { roles } from '../../src/libraries/model/names.ts'
import { readCompose, type Service } from '../helpers/compose.ts'
import { repository } from '../helpers/sources.ts'
import { pythonJudge } from './python-judge.ts'

const path = 'deploy/compose.yaml'
const { services, volumes, networks } = readCompose(path)
const named = (pattern: RegExp): [string, Service][] => Object.entries(services).filter(([name]) => pattern.test(name))
const brokers = named(/^kafka-/)
const nodes = named(/^(?:gateway|builder|replica)-/)
const { s3 } = services

/** Values by option name; variables of other programs are left out. */
function optionsOf({ command = [], environment = {} }: Service): Record<string, string> {
  expect(command.length).toBe(3)
  const [word, flag = '', value = ''] = command
  expect(word).toBe('serve')
  const set = Object.entries(environment).flatMap(([name, text]) => {
    const option = /^PROOFSTREAM_([A-Z0-9_]+)$/.exec(name)?.[1]
    return option === undefined ? [] : [[option.toLowerCase().replaceAll('_', '-'), text] as const]
  })
  return { ...Object.fromEntries(set), [flag.slice(2)]: value }
}

describe('the compose file of a cluster', () => {
  it('gives each process options that exist, and two of each role', () => {
    const seen = nodes.map(([name, node]) => {
      const options = optionsOf(node)
      expect(Object.keys(options).filter((one) => !optionTable.some((row) => row.name === one))).toEqual([])
      const config = loadConfig(options)
      expect(config.listenPort).toBe(8080)
      expect(name.replace(/-\d$/, '')).toBe(config.roles.join())
      return name
    })
    expect(seen.toSorted()).toEqual(roles.flatMap((role) => [`${role}-1`, `${role}-2`]).toSorted())
  })

  it('has three brokers that know one another, keep three copies, and make no topics by themselves', () => {
    const voters = brokers.map(([name], at) => `${at + 1}@${name}:9093`).join()
    for (const [at, [name, { environment = {}, volumes: mounts, image }]] of brokers.entries()) {
      expect(environment).toMatchObject({
        KAFKA_NODE_ID: String(at + 1),
        KAFKA_CONTROLLER_QUORUM_VOTERS: voters,
        KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${name}:9092`,
        KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
        KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '3',
      })
      expect(mounts).toEqual([`${name}:${environment['KAFKA_LOG_DIRS']}`])
      expect(image).toBe(readCompose().services['kafka']?.image)
    }
    expect(brokers.length).toBe(3)
    for (const [, node] of nodes) {
      const kafka = settingsOf(loadConfig(optionsOf(node)).settings, kafkaOptions)
      expect(kafka?.brokers).toEqual(brokers.map(([name]) => `${name}:9092`))
      expect(Object.keys(node.depends_on ?? {})).toEqual([...brokers.map(([name]) => name), 's3'])
    }
  })

  it('makes the bucket that processes name, at the place and with the keys that they name', () => {
    for (const [, { environment = {} }] of nodes) {
      const { host: bucket, searchParams } = new URL(environment['PROOFSTREAM_STORE'] ?? '')
      expect(String(s3?.['entrypoint'])).toContain(`mkdir -p /buckets/${bucket} `)
      const { host } = new URL(searchParams.get('endpoint') ?? '')
      expect(String(s3?.['entrypoint'])).toContain(`--port ${host.replace('s3', '')} `)
      expect(environment['AWS_ACCESS_KEY_ID']).toBe(s3?.environment?.['ROOT_ACCESS_KEY'])
      expect(environment['AWS_SECRET_ACCESS_KEY']).toBe(s3?.environment?.['ROOT_SECRET_KEY'])
    }
    expect(s3?.environment?.['ROOT_SECRET_KEY']).toMatch(/^\$\{\w+:\?/)
  })

  it('lets processes of two roles meet in the log and in the bucket alone, and share nothing but the key', () => {
    const mounted: string[] = []
    for (const [name, node] of nodes) {
      expect(node.networks).toEqual([`${name.replace(/-\d$/, '')}s`, 'log', 'store'])
      expect([node['read_only'], node['cap_drop']]).toEqual(['true', ['ALL']])
      const [data, keys] = node.volumes ?? []
      expect([data, keys, node.volumes?.length]).toEqual([`${name}:/data`, 'keys:/keys', 2])
      expect(loadConfig(optionsOf(node)).nodeKeyFile).toBe('/keys/node.json')
      mounted.push(name)
    }
    const published = nodes.flatMap(([, { ports = [] }]) => ports)
    expect(published).toEqual(['8080:8080', '8081:8080', '8082:8080', '8083:8080'])
    const ofServices = Object.values(services).flatMap(({ networks: joined = [] }) => joined)
    expect(new Set(ofServices)).toEqual(new Set(Object.keys(networks ?? {})))
    const inside = Object.entries(networks ?? {}).filter(([, network]) => network?.internal === 'true')
    expect(inside.map(([name]) => name).toSorted()).toEqual(['builders', 'log', 'store'])
    const kept = [...mounted, ...brokers.map(([name]) => name), 'buckets', 'keys']
    expect(Object.keys(volumes).toSorted()).toEqual(kept.toSorted())
  })
})

const judge = pythonJudge(
  'compose_spec, yaml',
  'compose-spec pyyaml',
  `
import json, sys, yaml, compose_spec
print(json.dumps([compose_spec.PyCompose.from_json(json.dumps(yaml.safe_load(text))).service_names() for text in json.load(sys.stdin)]))
`,
)

it.runIf(judge.isHere)('both compose files are such by the specification', () => {
  const read = (name: string): string => readFileSync(join(repository, name), 'utf8')
  const files = [path, 'docker-compose.yml']
  const told = judge.ask(JSON.stringify(files.map(read))) as string[][]
  expect(told.map((names) => names.toSorted())).toEqual(
    files.map((file) => Object.keys(readCompose(file).services).toSorted()),
  )
  const broken = read(path).replace('restart: unless-stopped', 'restarts: unless-stopped')
  expect(() => judge.ask(JSON.stringify([broken]))).toThrow('restarts')
})
