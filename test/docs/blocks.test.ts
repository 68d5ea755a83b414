// Each block of each page is run by a test as it stands there, or says here why not. A block without an entry fails, and so does an
// entry without its block, or whose test does not name the page in its code.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blocksOf } from '../helpers/page-blocks.ts'
import { filesUnder, repository, withoutComments } from '../helpers/sources.ts'

/** The test that runs a block; what of it is left out, and why; or, without a test, why it is not run. */
type Entry = { readonly test: string; readonly but?: string } | { readonly not: string }

const run = (test: string, but?: string): Entry => ({ test: `test/${test}.test.ts`, ...(but && { but }) })
const not = (reason: string): Entry => ({ not: reason })
/** For all blocks that begin with one of these. */
const all = (entry: Entry, ...beginnings: readonly string[]): Record<string, Entry> =>
  Object.fromEntries(beginnings.map((beginning) => [beginning, entry]))

const readme = run('docs/readme')
const operators = run('docs/operators')
const devices = run('docs/devices')
const drawing = not('a drawing')

/** By page, then by how a block begins. A page with one entry is made as a whole, or the test of the README runs all of it. */
const table: Readonly<Record<string, Entry | Readonly<Record<string, Entry>>>> = {
  'README.md': {
    'docker build': run('package/package', 'docker: it needs a daemon. test/package/image.test.ts runs the image'),
    ...all(readme, 'npm ci && npm start', 'npx proofstream demo', 'TOKEN=', 'curl --fail-with-body "localhost'),
    ...all(readme, '"status":"committed"', 'for try in', 'curl --fail-with-body localhost:8080/query', '"data":'),
    ...all(readme, 'npx proofstream verify', '{"ok":true'),
  },
  'CONTRIBUTING.md': all(not('hours of tests and measurements; below, each script is looked for'), 'npm ci'),
  'examples/README.md': readme,
  'docs/ARCHITECTURE.md': all(drawing, ' producers', 'socket', ' cli/'),
  'docs/backup.md': readme,
  'docs/bi.md': {
    ...all(run('docs/bi'), 'proofstream serve', 'psql', 'SELECT time_bucket', 'import psycopg', 'NOTICE:'),
    'docker run': not('Grafana is in no test; test/deploy/grafana.test.ts asks the statements of its dashboard'),
  },
  'docs/client.md': {
    'npm run packages': run('package/packages'),
    ...all(run('docs/client'), 'import', 'const { signer', 'for await', 'const policy'),
  },
  'docs/deleting.md': all(operators, 'proofstream dataset delete', 'proofstream dataset set'),
  'docs/devices.md': {
    ...all(devices, 'curl -H "Authorization: Bearer $TOKEN" -H \'Content-Type: application/json\' --data'),
    ...all(devices, 'curl -sN', '{"receiptId"', 'curl -H "Authorization: Token'),
    'const stream = new WebSocket': run('node/http/stream-by-socket'),
    ...all(run('clients/telegraf'), '[[outputs.http]]', '[[outputs.influxdb_v2]]', '[[outputs.influxdb]]'),
    '[OUTPUT]': run('docs/devices', 'Fluent Bit: the body of its documentation is sent'),
    '[sinks.proofstream]': run('docs/devices', 'Vector: the body of its documentation is sent'),
    'exporters:': run('docs/devices', 'the collector: the body of its documentation is sent'),
    'rest_command:': run('clients/home-assistant'),
    LoadPlugin: run('clients/collectd'),
    'export OTEL': run('clients/opentelemetry'),
    ...all(devices, 'from influxdb_client', 'import { InfluxDB'),
    ...all(devices, 'export PROOFSTREAM_MQTT', 'listener 1883'),
    'curl -H "Authorization: Bearer $TOKEN" -H \'Content-Type: application/json\' http': devices,
    'proofstream token create': run('docs/devices', '20 devices instead of 5,000'),
    ...all(devices, 'proofstream query', 'awk', 'map $ssl_client_s_dn'),
  },
  'docs/engines.md': {
    'proofstream doctor': run('scenario/engines', 'the command tells which engines are here'),
    'npm pack': run('scenario/engines', 'the archives as files'),
    'npm install': run('features/console/rerun-files', 'it is the version that the page takes'),
  },
  'docs/errors.md': not('made by scripts/generate.ts; test/docs/error-examples.test.ts brings its bodies about'),
  'docs/formats.md': readme,
  'docs/halts.md': all(operators, 'proofstream doctor'),
  'docs/http-api.md': not(
    'made by scripts/generate.ts; test/node/http/document.test.ts holds its bodies against schemas',
  ),
  'docs/keys.md': all(
    operators,
    'proofstream key rotate --data ./node\n',
    'proofstream key rotate --data ./node --leaked',
  ),
  'docs/lake.md': {
    ...all(run('examples/lake'), 'import os\n', 'import os, duckdb', '85 rows', "[('ci'"),
    'spark.jars': run('examples/lake', 'Spark gets these settings from examples/lake/spark.py, which is run'),
    'connector.name': run('features/iceberg/trino'),
    'SELECT net': not('Trino; test/features/iceberg/trino.test.ts asks such statements of another table'),
  },
  'docs/ledger.md': {
    'proofstream serve --ledger-origin': run('features/ledger/live'),
    ...all(
      run('features/ledger/witnessed'),
      'witness',
      'proofstream serve --ledger-policy',
      'proofstream ledger renew',
    ),
    ...all(
      run('features/ledger/time-stamps', 'an authority of OpenSSL'),
      'proofstream serve --tsa',
      'proofstream verify block.json',
      'sed',
    ),
    'curl -sSf': run('features/ledger/beside-answers'),
    'proofstream ledger status': run('features/ledger/commands'),
    'proofstream ledger prove': run('cli/ledger-prove'),
    'HASH=': not('another node is asked; test/features/ledger/receipt-end-to-end.test.ts fetches the same of its own'),
    'curl -s https://data.example.org/ledger/policy': run('features/witness/alone', 'another node is asked'),
    'URL=': run('features/witness/follower', 'another node is asked'),
  },
  'docs/operations.md': {
    useradd: run('package/package', 'users and services of the machine; the archive is installed in a directory'),
    'npm install --prefix': run('docs/operators', 'the service at Amazon; a store that speaks S3 answers instead'),
    'export S3_SECRET_KEY': not(
      'docker needs a daemon; test/kafka/cluster-compose.test.ts runs the services as processes',
    ),
    'proofstream serve --data ./first': run(
      'docs/operators',
      'kubectl needs a cluster; test/deploy reads the manifests',
    ),
    'npx proofstream token create': operators,
  },
  'docs/performance.md': all(not('minutes to hours of measurements, beside programs of others'), 'npm run bench'),
  'docs/privacy.md': all(run('docs/operators', 'cron itself'), '# /etc/cron.d/proofstream'),
  'docs/replicas.md': all(run('docs/replicas'), 'proofstream serve', 'proofstream doctor'),
  'docs/roles.md': {
    ...all(not('docker needs a daemon; test/kafka/roles.test.ts runs the services as processes'), 'docker compose up'),
    ...all(not('docker needs a daemon; test/kafka/roles.test.ts reads the token'), 'docker compose exec'),
    'proofstream serve --roles gateway': run('kafka/roles'),
    'kafka-acls.sh': not('the brokers of the tests have no users'),
    'proofstream serve --data ./node': run('kafka/adopt'),
  },
  'docs/scale.md': {
    'pip install': not('a benchmark of an hour, beside Spark'),
    SELECT: run('docs/operators', 'Spark'),
  },
  'docs/tour.md': readme,
  'docs/you-were-sent-a-file.md': {
    ...all(run('docs/sent-a-file'), 'python3 ask.py', 'npx proofstream-verify', 'curl -fsS'),
    'log data': not('a policy as an example'),
  },
}

const pages = ['README.md', 'CONTRIBUTING.md', ...['examples', 'docs'].flatMap((folder) => filesOf(folder))]

/** The pages of a folder, without those below it. */
function filesOf(folder: string): string[] {
  return filesUnder(folder, ['.md']).flatMap(({ path }) => (path.split('/').length === 2 ? [path] : []))
}

/** The entries of a page, by how their blocks begin. */
function entriesOf(page: string): [beginning: string, entry: Entry][] {
  const entries = table[page] ?? {}
  // An entry has one of these members, and no block begins so.
  return 'test' in entries || 'not' in entries ? [['', entries as Entry]] : Object.entries(entries)
}

test('each block has an entry, and each entry blocks', () => {
  const withBlocks = pages.filter((page) => blocksOf(page).length > 0)
  expect(Object.keys(table).toSorted()).toEqual(withBlocks.toSorted())
  for (const page of pages) {
    const fences = readFileSync(join(repository, page), 'utf8').match(/^\s*(?:```|~~~)/gm) ?? []
    expect([page, fences.length]).toEqual([page, 2 * blocksOf(page).length])
    const entries = entriesOf(page)
    const isOf = (text: string) => entries.filter(([beginning]) => text.startsWith(beginning))
    const lost = blocksOf(page).filter(({ text }) => isOf(text).length !== 1)
    expect([page, lost.map(({ text }) => text.split('\n')[0])]).toEqual([page, []])
    const empty = entries.filter(([beginning]) => !blocksOf(page).some(({ text }) => text.startsWith(beginning)))
    expect([page, empty.map(([beginning]) => beginning)]).toEqual([page, []])
    // That test takes blocks by these languages.
    const languages = blocksOf(page).flatMap(({ language }) => (table[page] === readme ? [language] : []))
    expect(languages.filter((language) => language !== 'sh' && language !== 'text')).toEqual([])
  }
})

test('a test that runs a block reads its page', () => {
  const named = pages.flatMap((page) => entriesOf(page).map(([, entry]) => ({ page, entry })))
  const wrong = named.filter(({ page, entry }) => {
    if ('not' in entry) return entry.not.length === 0
    const path = join(repository, entry.test)
    return !existsSync(path) || !withoutComments(readFileSync(path, 'utf8')).includes(`'${page}'`)
  })
  expect(wrong).toEqual([])
})

test('a script that a page runs is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const text = pages
    .flatMap(blocksOf)
    .map((block) => block.text)
    .join('\n')
  const named = [...text.matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
  const files = [...text.matchAll(/(?:node|vitest run|--) ((?:scripts|bench|test|examples)\/[\w./-]+)/g)]
  expect(files.length).toBeGreaterThan(5)
  expect(files.filter(([, path = '']) => !existsSync(join(repository, path)))).toEqual([])
})
