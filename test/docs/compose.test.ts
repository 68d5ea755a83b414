// docker-compose.yml and Dockerfile against the code: every flag, variable, port, topic and volume is one that exists.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { kafkaOptions } from '../../src/drivers/kafka/options.ts'
import { settingsOf } from '../../src/node/options.ts'
import { loadConfig, optionTable } from '../../src/app/config.ts'
import { topicNames } from '../../src/drivers/kafka/topics.ts'
import { roles } from '../../src/libraries/model/names.ts'
import { readCompose, type Service } from '../helpers/compose.ts'
import { repository } from '../helpers/sources.ts'

const { services, volumes } = readCompose()
const { kafka, ...nodes } = services
const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')

/** Values by option name, as the process gets them; a flag stands before a variable. */
function optionsOf({ command = [], environment = {} }: Service): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    expect(name).toMatch(/^PROOFSTREAM_[A-Z_]+$/)
    values[name.slice('PROOFSTREAM_'.length).toLowerCase().replaceAll('_', '-')] = value
  }
  expect(command[0]).toBe('serve')
  for (let at = 1; at < command.length; at += 2) {
    expect(command[at]).toMatch(/^--[a-z-]+$/)
    values[command[at]?.slice(2) ?? ''] = command[at + 1] ?? ''
  }
  return values
}

describe('docker-compose.yml', () => {
  it('gives each process options that exist, with values that are taken', () => {
    for (const node of Object.values(nodes)) {
      const options = optionsOf(node)
      const unknown = Object.keys(options).filter((name) => !optionTable.some((row) => row.name === name))
      expect(unknown).toEqual([])
      expect(loadConfig(options).listenPort).toBe(8080)
    }
  })

  it('has two processes of each role, and one with all roles that is asked for by name', () => {
    const count: Record<string, number> = {}
    for (const [name, node] of Object.entries(nodes)) {
      const config = loadConfig(optionsOf(node))
      const role = config.roles.join('+')
      count[role] = (count[role] ?? 0) + 1
      expect(name).toBe(config.roles.length === 1 ? `${role}-${count[role]}` : 'all-in-one')
      expect(node.profiles).toEqual(config.roles.length === 1 ? undefined : ['all-in-one'])
    }
    // A witness is of ledgers elsewhere.
    const own = roles.filter((role) => role !== 'witness')
    expect(count).toEqual({ ...Object.fromEntries(own.map((role) => [role, 2])), [own.join('+')]: 1 })
  })

  it('publishes the port that a process listens on, each under a port of its own', () => {
    const published = Object.values(nodes).flatMap((node) => {
      const { listenHost, listenPort } = loadConfig(optionsOf(node))
      expect(listenHost).toBe('0.0.0.0')
      return (node.ports ?? []).map((mapping) => {
        const [outside, inside] = mapping.split(':')
        expect(Number(inside)).toBe(listenPort)
        return outside
      })
    })
    expect(new Set(published).size).toBe(published.length)
    expect(published.length).toBe(5)
  })

  it('gives each process a data directory of its own, and those of one installation one store and one log', () => {
    const own: string[] = []
    for (const node of Object.values(nodes)) {
      const config = loadConfig(optionsOf(node))
      const mounts = new Map((node.volumes ?? []).map((text) => [text.split(':')[1], text.split(':')]))
      for (const [volume] of mounts.values()) expect(Object.keys(volumes)).toContain(volume)
      own.push(mounts.get(config.dataDir)?.[0] ?? '')
      const log = settingsOf(config.settings, kafkaOptions)
      if (log === undefined) continue
      const onlyReads = config.roles.every((role) => role === 'replica')
      expect(mounts.get(config.storeDir ?? '')).toEqual(['store', '/store', ...(onlyReads ? ['ro'] : [])])
      // All of an installation sign with one key.
      expect(mounts.get('/keys')).toEqual(['keys', '/keys'])
      expect(config.nodeKeyFile).toBe('/keys/node.json')
      expect(kafka?.environment?.['KAFKA_ADVERTISED_LISTENERS']).toBe(`PLAINTEXT://${log.brokers.join()}`)
      expect(topicNames(log.topicPrefix)).toEqual({
        records: 'proofstream.records.v1',
        commits: 'proofstream.commits.v1',
      })
    }
    expect(new Set(own).size).toBe(Object.keys(nodes).length)
    expect(own).not.toContain('')
  })

  it('lets nothing be written but the volumes, and waits for what a process needs', () => {
    for (const [name, node] of Object.entries(nodes)) {
      expect([node['read_only'], node['cap_drop']]).toEqual(['true', ['ALL']])
      const needs = name.startsWith('replica') ? 'gateway-1' : name === 'all-in-one' ? undefined : 'kafka'
      expect(Object.keys(node.depends_on ?? {})[0]).toBe(needs)
      for (const other of Object.keys(node.depends_on ?? {})) expect(Object.keys(services)).toContain(other)
    }
  })

  it('uses the Kafka that the tests use, which makes no topics by itself and keeps its data in a volume', () => {
    const pom = readFileSync(join(repository, 'test', 'kafka', 'pom.xml'), 'utf8')
    const version = kafka?.image?.split(':')[1] ?? 'none'
    expect(pom).toContain(`<version>${version}</version>`)
    expect(kafka?.environment?.['KAFKA_AUTO_CREATE_TOPICS_ENABLE']).toBe('false')
    expect(kafka?.volumes).toEqual([`kafka:${kafka?.environment?.['KAFKA_LOG_DIRS']}`])
  })
})

describe('the Dockerfile', () => {
  it('runs with options that exist, and makes the check that compose makes', () => {
    const command = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]'
    const options = optionsOf({ ...nodes['all-in-one'], command: JSON.parse(command) as string[] } as Service)
    expect(loadConfig(options).dataDir).toBe('/data')
    const check = nodes['gateway-1']?.healthcheck.test.slice(1).map((word) => JSON.stringify(word))
    expect(dockerfile).toContain(`CMD [${check?.join(', ')}]`)
  })

  it('has all that the package has, and the command on its path', () => {
    const { files, bin } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      readonly files: readonly string[]
      readonly bin: Readonly<Record<string, string>>
    }
    const [, second = ''] = dockerfile.split(/^FROM node.*\n(?=WORKDIR \/app\n(?:#.*\n)?ENV)/m)
    const ignored = readFileSync(join(repository, '.dockerignore'), 'utf8').split('\n')
    for (const name of files) expect(second).toMatch(new RegExp(`^COPY .*${name} \\./${name}$`, 'm'))
    // The build is made in the image.
    expect(files.filter((name) => !ignored.includes(`!${name}`))).toEqual(['dist'])
    for (const [name, path] of Object.entries(bin)) expect(second).toContain(`/app/${path} /usr/local/bin/${name}`)
  })
})
