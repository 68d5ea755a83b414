// Options: who wins, what is refused and by which name.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientEnvironment, loadConfig, optionTable, readOptions, strayVariables } from '../../src/app/config.ts'
import { runsWith } from '../helpers/features.ts'
import { kafkaOptions } from '../../src/drivers/kafka/options.ts'
import { settingsOf } from '../../src/node/options.ts'
import { refuseIdleOptions } from '../../src/app/idle-options.ts'
import { limitTable } from '../../src/libraries/base/limits.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'

const folder = mkdtempSync(join(tmpdir(), 'proofstream-config-'))

function fileOf(content: string): string {
  const path = join(folder, `${content.length}-${optionTable.length}.json`)
  writeFileSync(path, content)
  return path
}

function faultOf(flags: Readonly<Record<string, unknown>>, configFile?: string): string {
  try {
    loadConfig(flags, configFile)
  } catch (error) {
    if (error instanceof NodeError) return `${error.kind} ${error.message}`
    throw error
  }
  return expect.fail('the options were accepted')
}

afterEach(() => vi.unstubAllEnvs())

describe('an option', () => {
  test('comes from the flag, else the environment, else the file, else the default', () => {
    const file = fileOf('{"partitions": 3, "cut-interval": "2m", "log-level": "warn"}')
    vi.stubEnv('PROOFSTREAM_LIMIT_COLUMNS', '2')
    vi.stubEnv('PROOFSTREAM_CUT_INTERVAL', '1h')
    const config = loadConfig({ 'limit-columns': '1' }, file)
    expect([config.limits.columns, config.cut]).toEqual([1, { intervalMs: 3_600_000 }])
    expect(config.logLevel).toBe('warn')
    expect(config.dataDir).toBe('./proofstream-data')
  })

  test.each([
    [{ listne: ':1' }, "InvalidParameter Unknown option 'listne'."],
    [{ 'cut-interval': '5 parsecs' }, /'cut-interval' is '5 parsecs'; expected a duration/],
    [{ partitions: '-1' }, /'partitions' is '-1'; expected a whole number/],
    [{ partitions: 1.5 }, /'partitions' is '1.5'/],
    [{ 'anonymous-read': 'yes' }, /'anonymous-read' is 'yes'; expected true or false/],
    [{ 'log-level': 'loud' }, /'log-level' is 'loud'; expected one of debug, info/],
    [{ listen: 'localhost' }, /'listen' is 'localhost'; expected host:port/],
    [{ listen: '127.0.0.1:65536' }, /'listen' is '127.0.0.1:65536'/],
    [{ data: '' }, /'data' is ''; expected text/],
    [{ roles: 'gateway,reader' }, /'roles' is 'gateway,reader'; expected some of gateway, builder, replica/],
    [{ roles: '' }, /'roles' is ''; expected some of/],
    [{ store: 's3://b/x' }, /'store' is 's3:\/\/b\/x', whose bucket is 'b'; expected one of 3 to 63/],
    [{ store: 's3://Bucket' }, /whose bucket is 'Bucket'; expected one of 3 to 63 small letters/],
    [{ store: 's3://bucket/a//b' }, /whose prefix has the part ''; expected words/],
    [{ store: 's3:bucket/x' }, /'store' is 's3:bucket\/x'; expected a directory, or s3:\/\/…/],
    [{ store: 'file:/srv/store' }, /'store' is 'file:\/srv\/store'; expected a directory, or s3:\/\/…/],
    [{ roles: 'gateway,replica' }, /'roles' is 'gateway,replica', but one process has a file log/],
    [{ roles: 'builder' }, /one process has a file log: gateway and builder go together/],
  ])('that is unknown or malformed is an error that names it: %j', (flags, message) => {
    expect(faultOf(flags)).toMatch(message)
  })

  test('may divide the roles as the log allows', () => {
    const rolesOf = (roles: string, more = {}): unknown => loadConfig({ roles, ...more }).roles
    expect(loadConfig({}).roles).toEqual(['gateway', 'builder', 'replica'])
    expect(rolesOf('replica')).toEqual(['replica'])
    expect(rolesOf('builder,gateway')).toEqual(['gateway', 'builder'])
    expect(rolesOf('gateway', { log: 'kafka', 'kafka-brokers': 'k:9092' })).toEqual(['gateway'])
  })

  test('in a file is checked like a flag', () => {
    expect(faultOf({}, fileOf('{"cut_burst": 3}'))).toMatch(
      /^InvalidParameter The config file '.*' names 'cut_burst', which is not an option; /,
    )
    expect(faultOf({}, fileOf('[]'))).toContain('is not a JSON object')
    expect(faultOf({}, fileOf('{'))).toContain('cannot be read as JSON')
  })

  test('defaults of memory suit a small container, what is set holds', () => {
    onTestFinished(() => void vi.restoreAllMocks())
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(512 * 1024 * 1024)
    const name = 'limit-query-memory-bytes'
    expect(loadConfig({}).limits.queryMemoryBytes).toBe(128 * 1024 * 1024)
    expect(readOptions({}).find(({ row }) => row.name === name)).toMatchObject({
      source: 'default',
      value: 134_217_728,
    })
    expect(loadConfig({ [name]: '1073741824' }).limits).toMatchObject({
      queryMemoryBytes: 1_073_741_824,
      exportSlots: 1,
    })
  })

  test('sets a limit and what is a part of it; the others are as the table says', () => {
    const table = Object.fromEntries(Object.entries(limitTable).map(([name, row]) => [name, row.value]))
    expect(loadConfig({}).limits).toEqual(table)
    const given = { 'limit-body-bytes': '5', 'limit-cache-bytes': 601, 'limit-caller-share': '10' }
    const shares = { mergedFileBytes: 400, sliceFileBytes: 100, answerFileBytes: 100, callerAnswerShare: 5 }
    expect(loadConfig(given).limits).toEqual({
      ...table,
      bodyBytes: 5,
      inflatedBytes: 20,
      columnBytes: 20,
      cacheBytes: 601,
      callerShare: 10,
      ...shares,
    })
    expect(faultOf({ 'limit-sql-bytes': 5 })).toBe("InvalidParameter Unknown option 'limit-sql-bytes'.")
  })
})

test.each([
  ['trusted-signers', 'foo', 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'],
  ['trusted-signers', 'did:web:example.org', undefined],
  ['allowed-hosts', 'https://data.example', 'data.example,10.0.0.7,fd00::1'],
  ['allowed-hosts', 'data.example:8080', undefined],
  ['cors-origins', 'https://app.example/', 'https://app.example,http://localhost:3000'],
  ['cors-origins', 'app.example', '*'],
])('an item of --%s that would never count is refused: %s', (name, bad, good) => {
  expect(faultOf({ [name]: bad })).toMatch(`InvalidParameter Option '${name}' is '${bad}'; expected`)
  if (good !== undefined) loadConfig({ [name]: good })
})

describe('an option that has no effect beside the others', () => {
  test.each([
    [
      { store: 'S3//acc', 's3-endpoint': 'http://s3:7070' },
      "'s3-endpoint' has no effect here (option 'store' is 'S3//acc')",
    ],
    [{ 's3-condition': 'gcs' }, "'s3-condition' has no effect"],
    [{ 'kafka-brokers': 'a:1' }, "'kafka-brokers' has no effect here; it needs the log in Kafka"],
    [{ 'topic-prefix': 'mine' }, "'topic-prefix' has no effect"],
    [{ 'follow-token': 'pst_x' }, "'follow-token' has no effect"],
  ])('%o is refused', (flags, message) => {
    if ('follow-token' in flags && !runsWith('follow')) return
    expect(() => refuseIdleOptions(readOptions(flags))).toThrow(message)
  })

  test('is let through where it has one, and where it is as it would be without', () => {
    refuseIdleOptions(readOptions({}))
    refuseIdleOptions(readOptions({ store: 's3://acc/x', 's3-endpoint': 'http://s3:7070' }))
    refuseIdleOptions(readOptions({ log: 'kafka', 'kafka-brokers': 'a:1', partitions: 3 }))
    const follows = { store: 'https://node.example', 'follow-token': 'pst_x', roles: 'replica', follow: '*' }
    if (runsWith('follow')) refuseIdleOptions(readOptions(follows))
    refuseIdleOptions(readOptions({ 's3-condition': 'aws', partitions: 8 }))
  })

  test('is found in the environment too', () => {
    vi.stubEnv('PROOFSTREAM_S3_ENDPOINT', 'http://s3:7070')
    expect(() => refuseIdleOptions(readOptions({}))).toThrow("'s3-endpoint' has no effect")
  })
})

test.runIf(runsWith('follow'))('a node to follow asks for what is missing, and not for what nobody has said', () => {
  const store = 'https://node.example'
  expect(faultOf({ store })).toMatch(/'store' is 'https:.*needs --roles replica/)
  expect(faultOf({ store, roles: 'replica' })).toMatch(/Name its datasets with --follow/)
})

test.runIf(runsWith('mqtt')).each(['a/b=query/x', 'a/b=a b/x'])(
  'a route to a name that cannot be names its option: %s',
  (route) => {
    expect(faultOf({ mqtt: 'tcp://h', 'mqtt-route': route })).toMatch(/^InvalidParameter Option 'mqtt-route' is/)
  },
)

test('variables that are called like options and are none are found, but not those of a service', () => {
  vi.stubEnv('PROOFSTREAM_LIMIT_SQL_BYTES', '1')
  for (const name of ['SERVER', 'LISTEN', 'SERVICE_HOST', 'PORT_8080_TCP_ADDR', 'KAFKA_SERVICE_PORT_CLIENTS']) {
    vi.stubEnv(`PROOFSTREAM_${name}`, '1')
  }
  expect(strayVariables()).toContain('PROOFSTREAM_LIMIT_SQL_BYTES')
  expect(strayVariables().filter((name) => /SERV|LISTEN|PORT/.test(name))).toEqual([])
})

describe('the address', () => {
  test.each([
    [':9000', '127.0.0.1', 9000, true],
    ['9000', '127.0.0.1', 9000, true],
    ['localhost:0', 'localhost', 0, true],
    ['[::1]:80', '::1', 80, true],
    ['0.0.0.0:80', '0.0.0.0', 80, false],
    ['127.0.0.1.example.org:80', '127.0.0.1.example.org', 80, false],
  ])('%s is host %s, port %i, loopback %s, and decides who may read', (listen, host, port, loopback) => {
    const config = loadConfig({ listen })
    expect([config.listenHost, config.listenPort, config.loopbackOnly]).toEqual([host, port, loopback])
    expect(config.anonymousRead).toBe(loopback)
    expect(loadConfig({ listen, 'anonymous-read': !loopback }).anonymousRead).toBe(!loopback)
  })
})

describe('the environment of commands', () => {
  test('counts what is empty as absent', () => {
    vi.stubEnv('PROOFSTREAM_SERVER', '')
    vi.stubEnv('PROOFSTREAM_TOKEN', 'pst_x')
    vi.stubEnv('PROOFSTREAM_DATA', '')
    expect(clientEnvironment()).toEqual({
      server: undefined,
      token: 'pst_x',
      dataDir: './proofstream-data',
      nodeKeyFile: undefined,
    })
  })
})

describe('the log in Kafka', () => {
  const kafka = { log: 'kafka', 'kafka-brokers': 'a.example:9092, [::1]:9093' }

  test('is asked for by --log and needs brokers; else its options are left alone', () => {
    expect(settingsOf(loadConfig({}).settings, kafkaOptions)).toBeUndefined()
    expect(settingsOf(loadConfig(kafka).settings, kafkaOptions)).toEqual({
      brokers: ['a.example:9092', '[::1]:9093'],
      topicPrefix: 'proofstream',
      partitions: 8,
      tls: undefined,
      sasl: undefined,
    })
  })

  test('takes TLS for meant when a file of it is named, and logs in when a user is', () => {
    vi.stubEnv('PROOFSTREAM_KAFKA_SASL_PASSWORD', 'secret')
    const flags = { ...kafka, 'kafka-tls-ca': 'ca.pem', 'kafka-sasl-username': 'app' }
    expect(settingsOf(loadConfig(flags).settings, kafkaOptions)).toMatchObject({
      tls: { ca: 'ca.pem' },
      sasl: { mechanism: 'plain', username: 'app', password: 'secret' },
    })
    const { settings } = loadConfig({ ...kafka, 'kafka-tls': true, 'kafka-sasl-username': 'app' })
    expect(settingsOf(settings, kafkaOptions)?.tls).toEqual({})
  })

  test.each([
    [{ log: 'kafka' }, /'kafka-brokers' is not given/],
    [{ ...kafka, 'kafka-brokers': 'a.example' }, /'kafka-brokers' holds 'a.example'; expected host:port/],
    [{ ...kafka, partitions: 0 }, /'partitions' is '0'; expected 1 to 1000/],
    [{ ...kafka, 'topic-prefix': 'a b' }, /'topic-prefix' is 'a b'/],
    [{ ...kafka, 'kafka-sasl-username': 'app' }, /'kafka-sasl-username' and 'kafka-sasl-password' belong together/],
    [{ ...kafka, 'kafka-tls-cert': 'c.pem' }, /'kafka-tls-cert' and 'kafka-tls-key' belong together/],
    [{ ...kafka, 'kafka-sasl-mechanism': 'gssapi' }, /'kafka-sasl-mechanism' is 'gssapi'; expected one of plain/],
    [{ log: 'tape' }, /'log' is 'tape'; expected one of file, kafka/],
  ])('is refused by the name of the option that does not fit: %j', (flags, message) => {
    expect(faultOf(flags)).toMatch(message)
  })
})
