// Options: who wins, what is refused and by which name.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientEnvironment, loadConfig, optionTable, readOptions, strayVariables } from '../../src/app/config.ts'
import { runsWith } from '../helpers/features.ts'
import { goneOptions } from '../../src/app/gone-options.ts'
import { kafkaOptions } from '../../src/drivers/kafka/options.ts'
import { bucketOptions } from '../../src/drivers/s3/options.ts'
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
    const file = fileOf('{"limit-result-rows": 3, "cut-interval": "2m", "log-level": "warn"}')
    vi.stubEnv('PROOFSTREAM_LIMIT_RESULT_ROWS', '2')
    vi.stubEnv('PROOFSTREAM_CUT_INTERVAL', '1h')
    const config = loadConfig({ 'limit-result-rows': '1' }, file)
    expect([config.limits.resultRows, config.cut]).toEqual([1, { intervalMs: 3_600_000 }])
    expect(config.logLevel).toBe('warn')
    expect(config.dataDir).toBe('./proofstream-data')
  })

  test.each([
    [{ listne: ':1' }, "InvalidParameter Unknown option 'listne'."],
    [{ 'cut-interval': '5 parsecs' }, /'cut-interval' is '5 parsecs'; expected a duration/],
    [{ 'limit-query-ms': '-1' }, /'limit-query-ms' is '-1'; expected a whole number/],
    [{ 'limit-query-ms': 1.5 }, /'limit-query-ms' is '1.5'/],
    [{ 'anonymous-read': 'yes' }, /'anonymous-read' is 'yes'; expected true or false/],
    [{ 'log-level': 'loud' }, /'log-level' is 'loud'; expected one of debug, info/],
    [{ listen: 'localhost' }, /'listen' is 'localhost'; expected host:port/],
    [{ listen: '127.0.0.1:65536' }, /'listen' is '127.0.0.1:65536'/],
    [{ data: '' }, /'data' is ''; expected text/],
    [{ roles: 'gateway,reader' }, /'roles' is 'gateway,reader'; expected some of gateway, builder, replica/],
    [{ roles: '' }, /'roles' is ''; expected some of/],
    [{ store: 's3://b/x' }, /'store' names the bucket 'b'; expected one of 3 to 63/],
    [{ store: 's3://Bucket' }, /the bucket 'Bucket'; expected one of 3 to 63 small letters/],
    [{ store: 's3://bucket/a//b' }, /a prefix with the part ''; expected words/],
    [{ store: 's3:bucket/x' }, /'store' is 's3:bucket\/x'; expected a directory, or s3:\/\/…/],
    [{ store: 'ftp://me:secret@host/x' }, /'store' is another text; expected a directory/],
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
    expect(rolesOf('gateway', { log: 'kafka://k:9092' })).toEqual(['gateway'])
  })

  test('in a file is checked like a flag', () => {
    expect(faultOf({}, fileOf('{"cut_burst": 3}'))).toMatch(
      /^InvalidParameter The config file '.*' names 'cut_burst', which is not an option; /,
    )
    expect(faultOf({}, fileOf('[]'))).toContain('is not a JSON object')
    expect(faultOf({}, fileOf('{'))).toContain('cannot be read as JSON')
  })

  test('limits of memory suit a small container, and so many queries run as have room', () => {
    onTestFinished(() => void vi.restoreAllMocks())
    const small = vi.spyOn(process, 'constrainedMemory').mockReturnValue(512 * 1024 * 1024)
    const { queryMemoryBytes, concurrentQueries } = loadConfig({}).limits
    expect([queryMemoryBytes, concurrentQueries]).toEqual([134_217_728, 1])
    expect(readOptions({}).find(({ row }) => row.name === 'limit-body-bytes')).toMatchObject({
      source: 'default',
      value: 16_777_216,
    })
    small.mockReturnValue(2304 * 1024 * 1024)
    expect(loadConfig({}).limits.concurrentQueries).toBe(Math.min(availableParallelism(), 4))
  })

  test('sets a limit and what is a part of it; the others are as the table says', () => {
    const table = Object.fromEntries(Object.entries(limitTable).map(([name, row]) => [name, row.value]))
    const { concurrentQueries } = loadConfig({}).limits
    expect(loadConfig({}).limits).toEqual({ ...table, concurrentQueries })
    const given = { 'limit-body-bytes': '5', 'limit-cache-bytes': 601 }
    const shares = { mergedFileBytes: 400, sliceFileBytes: 100, answerFileBytes: 100 }
    const bodies = { bodyBytes: 5, inflatedBytes: 20, columnBytes: 20 }
    const limits = { ...table, concurrentQueries, ...bodies, cacheBytes: 601, ...shares }
    expect(loadConfig(given).limits).toEqual(limits)
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

describe('an option of a feature that has no effect beside the others', () => {
  const follows = { 'follow-token': 'pst_x', roles: 'replica' }

  test.runIf(runsWith('follow')).each([
    [{ ...follows, store: 'HTTPS//node' }, "'follow-token' has no effect here (option 'store' is 'HTTPS//node')"],
    [{ 'follow-token': 'pst_x' }, "'follow-token' has no effect here; it needs a node to follow"],
  ])('%o is refused', (flags, message) => {
    expect(() => refuseIdleOptions(readOptions(flags))).toThrow(message)
  })

  test('is let through where it has one, and where it is as it would be without', () => {
    refuseIdleOptions(readOptions({}))
    if (!runsWith('follow')) return
    refuseIdleOptions(readOptions({ ...follows, store: 'https://node.example', follow: '*' }))
    vi.stubEnv('PROOFSTREAM_FOLLOW_TOKEN', 'pst_x')
    expect(() => refuseIdleOptions(readOptions({}))).toThrow("'follow-token' has no effect")
  })
})

describe('an option that is gone', () => {
  test('is refused with what is written in its place: as a flag, in the environment, in a file', () => {
    const gone =
      "Option 's3-endpoint' is gone: it is a parameter of --store now: 's3://bucket/prefix?endpoint=https://host:9000'."
    expect(faultOf({ 's3-endpoint': 'http://s3' })).toBe(`InvalidParameter ${gone}`)
    expect(faultOf({}, fileOf('{"s3-endpoint": "http://s3:7070"}'))).toContain(gone)
    vi.stubEnv('PROOFSTREAM_S3_ENDPOINT', 'http://s3:7070')
    expect(faultOf({})).toContain(gone)
  })

  test('is no option of a node, and what is written in its place is one', () => {
    const names = new Set(optionTable.map(({ name }) => name))
    expect([...goneOptions.keys()].filter((name) => names.has(name))).toEqual([])
    for (const text of goneOptions.values()) {
      const named = [...text.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name)
      expect(named.filter((name) => !names.has(name))).toEqual([])
      const url = /(?:s3|kafka):\/\/[^ ']*/.exec(text)?.[0].replace('=…', '=x')
      if (url?.includes('user@') === true) vi.stubEnv('PROOFSTREAM_LOG_PASSWORD', 'x')
      if (url?.includes('mechanism') === false) loadConfig({ [url.startsWith('s3') ? 'store' : 'log']: url })
      vi.unstubAllEnvs()
    }
  })
})

describe('the URL of a bucket', () => {
  const bucketOf = (url: string) => settingsOf(loadConfig({ store: url }).settings, bucketOptions)

  test('names the bucket, and what its service is', () => {
    vi.stubEnv('AWS_REGION', 'eu-west-3')
    const [aws, other] = ['s3://lake/a/b/', 's3://lake?endpoint=https://s3.example:9000&region=x&condition=gcs'].map(
      bucketOf,
    )
    expect(aws).toMatchObject({
      bucket: 'lake',
      prefix: 'a/b',
      region: 'eu-west-3',
      pathStyle: false,
      condition: 'aws',
    })
    expect(aws?.endpoint.href).toBe('https://s3.eu-west-3.amazonaws.com/')
    expect(other).toMatchObject({ bucket: 'lake', prefix: '', region: 'x', pathStyle: true, condition: 'gcs' })
    expect(other?.endpoint.href).toBe('https://s3.example:9000/')
    expect(bucketOf('s3://lake?path-style=false&endpoint=http://h')?.pathStyle).toBe(false)
    expect(bucketOf('s3://my.lake')?.pathStyle).toBe(true)
  })

  test.each([
    [
      '?enpoint=https://h',
      /Parameter 'enpoint' of option 'store' is unknown; it takes endpoint, region, path-style, condition/,
    ],
    ['?region=a&region=b', /'region' of option 'store' is given twice/],
    ['?region=', /'region' of option 'store' has no value/],
    ['?path-style=yes', /'path-style' of option 'store' must be one of true, false/],
    ['?condition=azure', /'condition' of option 'store' must be one of aws, gcs/],
    ['?endpoint=s3.example', /an endpoint or a region of no host/],
    ['?endpoint=https://h/path', /an endpoint or a region of no host/],
    ['?endpoint=https://:secret@h', /an endpoint or a region of no host/],
    ['?secret-key=secret', /'secret-key' of option 'store' is unknown/],
    ['?sec?ret@h', /A parameter of option 'store' is unknown/],
    ['#here', /'store' must be s3:/],
  ])('s3://lake/x%s is refused', (rest, message) => {
    const fault = faultOf({ store: `s3://lake/x${rest}` })
    expect(fault).toMatch(message)
    expect(fault.replace('secret-key', '')).not.toMatch(/secret|sec\?ret/)
  })

  test.each(['s3://AKIA@lake', 's3://AKIA:secret@lake', 's3://AKIA:se/cret@lake', 's3://AKIA:secret@lake?region=a'])(
    '%s has what a URL may not have, and it is not repeated',
    (store) => {
      const fault = faultOf({ store })
      expect(fault).toMatch(
        /^InvalidParameter Option 'store' (?:has a user in its URL|must be s3:.*without a password)/,
      )
      expect(fault).not.toMatch(/AKIA|cret/)
    },
  )
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
  const stray = strayVariables({ log: 'file' })
  expect(stray).toContain('PROOFSTREAM_LIMIT_SQL_BYTES')
  expect(stray.filter((name) => /SERV|LISTEN|PORT/.test(name))).toEqual([])
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

describe('the URL of a log in Kafka', () => {
  const url = 'kafka://a.example:9092,[::1]:9093'
  const kafkaOf = (log: string) => settingsOf(loadConfig({ log }).settings, kafkaOptions)

  test('names brokers, and what is as usual needs no word', () => {
    expect(kafkaOf('file')).toBeUndefined()
    const plain = { brokers: ['a.example:9092', '[::1]:9093'], topicPrefix: 'proofstream', partitions: 8 }
    expect(kafkaOf(url)).toEqual({ ...plain, tls: undefined, login: undefined })
    expect(kafkaOf(`${url}/mine?partitions=3&tls=true`)).toMatchObject({ topicPrefix: 'mine', partitions: 3, tls: {} })
    expect(loadConfig({ log: url }).log).toBe('kafka')
  })

  test('takes TLS for meant when a file of it is named; a password comes from the environment or a file', () => {
    const user = 'kafka://node%40lab@k:9092'
    expect(kafkaOf(`${user}?ca=ca.pem&password-file=%2Frun%2Fsecret&mechanism=scram-sha-512`)).toMatchObject({
      tls: { ca: 'ca.pem' },
      login: { mechanism: 'scram-sha-512', username: 'node@lab', password: { file: '/run/secret' } },
    })
    vi.stubEnv('PROOFSTREAM_LOG_PASSWORD', 'secret')
    const login = { mechanism: 'plain', username: 'node@lab', password: { text: 'secret' } }
    expect(kafkaOf(user)?.login).toEqual(login)
    expect(faultOf({ log: `${user}?password-file=x` })).toMatch(/The password of 'log' is given twice/)
    expect(faultOf({ log: url })).toMatch(/'log' has a password or a mechanism, but no user/)
    expect([strayVariables(loadConfig({ log: user })), strayVariables(loadConfig({}))]).toEqual([
      [],
      ['PROOFSTREAM_LOG_PASSWORD'],
    ])
  })

  test.each([
    ['kafka', /'log' is 'kafka'; expected file, or kafka:\/\/…/],
    ['tape', /'log' is 'tape'; expected file/],
    ['kafka://', /'log' must be kafka:\/\/host:9092/],
    ['kafka://a.example', /'log' has a broker that is not host:port/],
    ['kafka://a:9092,', /'log' must be kafka:/],
    ['kafka://a:65536', /'log' must be kafka:/],
    [`${url}?partitions=0`, /partitions=0; expected 1 to 1000/],
    [`${url}?partitions=1001`, /partitions=1001; expected 1 to 1000/],
    [`${url}/a b`, /the prefix 'a b'/],
    [`${url}/a/b`, /the prefix 'a\/b'/],
    [`${url}?mechanism=plain`, /a password or a mechanism, but no user/],
    ['kafka://me@k:9092', /a user without a password: set PROOFSTREAM_LOG_PASSWORD, or password-file=<file>/],
    [
      'kafka://me@k:9092?password-file=x&mechanism=gssapi',
      /'mechanism' of option 'log' must be one of plain, scram-sha-256/,
    ],
    [`${url}?cert=c.pem`, /'cert' or 'key'; they belong together/],
    [`${url}?ca=c.pem&tls=false`, /names files for TLS, and tls=false/],
    [`${url}?acks=1`, /'acks' of option 'log' is unknown; it takes partitions, tls/],
    [`${url}?tls=true&tls=true`, /'tls' of option 'log' is given twice/],
    ['kafka://me:secret@k:9092', /must be kafka:.*without a password/],
    ['kafka://me:sec/ret-secret@k:9092', /must be kafka:.*without a password/],
    ['kafka://me:sec?secret@k:9092', /must be kafka:/],
    ['kafkas://me:secret@k:9092', /'log' is another text; expected file/],
  ])('%s is refused', (log, message) => {
    const fault = faultOf({ log })
    expect(fault).toMatch(message)
    expect(fault).not.toContain('secret')
  })
})
