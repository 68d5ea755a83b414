// `proofstream config`: what a node would run with, and where each value comes from.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { optionTable } from '../../src/node/config.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-config-command-'))

interface Row {
  readonly option: string
  readonly value: unknown
  readonly source: string
  readonly variable: string
}

function rowsOf({ stdout }: Finished): Map<string, Row> {
  const lines = stdout.trimEnd().split('\n')
  return new Map(lines.map((line) => JSON.parse(line) as Row).map((row) => [row.option, row])) // printed so
}

describe.concurrent('config', () => {
  test('names each option once, with value and source: flag, environment, file, default', async () => {
    const file = join(folder, 'options.json')
    await writeFile(file, '{"partitions": 3, "log-level": "warn", "roles": ["replica"], "delete-grace": "2s"}')
    const args = ['config', '--config', file, '--partitions', '8', '--allowed-hosts', 'a.example,b.example']
    const done = await runCommand(args, { env: { PROOFSTREAM_LOG_LEVEL: 'debug' } })
    expect([done.code, done.stderr]).toEqual([0, ''])
    const rows = rowsOf(done)
    expect([...rows.keys()]).toEqual(optionTable.map(({ name }) => name))
    const told = (name: string): unknown[] => [rows.get(name)?.value, rows.get(name)?.source, rows.get(name)?.variable]
    expect(told('partitions')).toEqual([8, 'flag', 'PROOFSTREAM_PARTITIONS'])
    expect(told('allowed-hosts')).toEqual([['a.example', 'b.example'], 'flag', 'PROOFSTREAM_ALLOWED_HOSTS'])
    expect(told('log-level')).toEqual(['debug', 'environment', 'PROOFSTREAM_LOG_LEVEL'])
    expect(told('roles')).toEqual([['replica'], 'file', 'PROOFSTREAM_ROLES'])
    expect(told('delete-grace')).toEqual([2000, 'file', 'PROOFSTREAM_DELETE_GRACE'])
    expect(told('topic-prefix')).toEqual(['proofstream', 'default', 'PROOFSTREAM_TOPIC_PREFIX'])
  })

  test('tells what a node takes where the table has no default', async () => {
    const rows = rowsOf(await runCommand(['config', '--data', '/srv/ps', '--listen', '0.0.0.0:80']))
    const value = (name: string): unknown => rows.get(name)?.value
    expect([value('store'), value('node-key')]).toEqual(['/srv/ps/store', '/srv/ps/keys/node.json'])
    expect([value('anonymous-read'), value('cors-origins'), value('kafka-brokers')]).toEqual([false, 'any', null])
  })

  test('shows no password', async () => {
    const args = ['config', '--log', 'kafka', '--kafka-brokers', 'k:9092', '--kafka-sasl-username', 'me']
    const done = await runCommand(args, { env: { PROOFSTREAM_KAFKA_SASL_PASSWORD: 'hunter2' } })
    expect(done.code).toBe(0)
    expect(done.stdout).not.toContain('hunter2')
    expect(rowsOf(done).get('kafka-sasl-password')).toMatchObject({ value: '********', source: 'environment' })
  })

  test('is a table on demand', async () => {
    const { stdout } = await runCommand(['config', '-o', 'table', '--listen', ':9000'])
    expect(stdout).toMatch(/^option +│ value +│ source +│ variable/)
    expect(stdout).toMatch(/\nlisten +│ :9000 +│ flag +│ PROOFSTREAM_LISTEN\n/)
  })

  test.each([
    ['a malformed value', ['--partitions', '-1'], 2, "'partitions' is '-1'"],
    ['values that do not go together', ['--roles', 'builder'], 2, 'gateway and builder go together'],
    ['a config file that is not there', ['--config', join(folder, 'none.json')], 3, 'none.json'],
  ])('ends as serve would for %s', async (_, args, code, words) => {
    const done = await runCommand(['config', ...args])
    expect([done.code, done.stdout]).toEqual([code, ''])
    expect(done.stderr).toContain(words)
  })
})
