// The blocks of docs/devices.md that no test of a producer runs, as they stand there: calls with curl, clients of InfluxDB, a
// broker with its node, and a fleet with tokens and certificates.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { presets } from '../../src/libraries/formats/presets.ts'
import { freePort } from '../helpers/free-port.ts'
import { liveNode } from '../helpers/live-node.ts'
import { hasMosquitto } from '../helpers/mosquitto.ts'
import { MqttDevice, reading } from '../helpers/mqtt-device.ts'
import { blockOf } from '../helpers/page-blocks.ts'
import { repository } from '../helpers/sources.ts'
import { type Finished, runProgram, runShell, serveNode } from '../helpers/run-node.ts'

const live = await liveNode()
const folder = await mkdtemp(join(tmpdir(), 'proofstream-devices-page-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const isRoot = process.getuid?.() === 0
const blockThatBegins = (beginning: string): string => here(blockOf('docs/devices.md', beginning))

/** For this node. */
function here(text: string): string {
  return text.replaceAll('http://localhost:8080', live.node.url).replaceAll(/(?<!\$)\bTOKEN\b/g, live.adminToken)
}

function shell(script: string): Promise<Finished> {
  const env = { TOKEN: live.adminToken, PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken }
  return runShell(script, { cwd: folder, env })
}

interface Receipt {
  readonly records: { readonly committed: number }
  readonly numbers: object
  readonly producer: object
}

/** Runs a program until the test ends. */
function start(program: string, ...args: string[]): void {
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGTERM'))
}

async function rowsOf(sql: string): Promise<unknown> {
  return (await live.query(sql)).at('output.data')
}

test('curl asks what a preset would store', async () => {
  await writeFile(join(folder, 'body.json'), presets.ttn.example)
  const { code, stdout } = await shell(blockThatBegins(`curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type`))
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { dryRun: true }])
  expect((await live.call('/acme/uplinks')).status).toBe(404)
})

test('curl sends records without end, and prints what the page shows', async () => {
  await live.ingest('acme/readings', [{ celsius: 1 }], '?create=true')
  const sent = Array.from({ length: 120 }, (_, n) => `{"celsius":${n}}\n`)
  await writeFile(join(folder, 'readings.ndjson'), sent.join(''))
  const { code, stdout } = await shell(blockThatBegins('curl -sN -T -'))
  const [first = '', last = ''] = blockThatBegins('{"receiptId"').replace(',…', '').split('\n')
  const { records, numbers, producer } = JSON.parse(first) as Receipt
  // The rest of a receipt says how far its rows are, which is a matter of time.
  const { committed: _, ...counts } = records
  expect([
    code,
    ...stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ]).toMatchObject([0, { receiptId: expect.any(String), records: counts, numbers, producer }, JSON.parse(last)])
})

test('curl writes a line', async () => {
  const { code, stderr } = await shell(blockThatBegins('curl -H "Authorization: Token').replace('curl', 'curl -fsS'))
  expect([code, stderr]).toEqual([0, ''])
  await expect
    .poll(() => rowsOf('select station, celsius, epoch(event_time)::bigint from acme.metrics'))
    .toEqual([['s1', 21.5, 1_769_860_800]])
})

test.each([
  { program: 'Fluent Bit', beginning: '[OUTPUT]', preset: presets['fluent-bit'] },
  { program: 'Vector', beginning: '[sinks.proofstream]', preset: presets.vector },
  { program: "OpenTelemetry's collector", beginning: 'exporters:', preset: presets['otlp-logs'] },
])('what $program sends by its documentation is taken where it is configured to send it', async (one) => {
  const text = blockThatBegins(one.beginning)
  const [, address = ''] = /(\/acme\/[^"\s]+)/.exec(text) ?? []
  const path = one.preset === presets['otlp-logs'] ? `${address}/v1/logs` : address
  const [, authorization] = /Authorization[": =]*(Bearer \w+)/.exec(text) ?? []
  const headers = { 'content-type': one.preset.mediaType, authorization }
  expect((await live.call(path, { method: 'POST', body: one.preset.example, headers })).status).toBe(200)
})

/** Runs a program of the page, for a dataset that no other test has. */
async function writes(beginning: string, dataset: string, run: (program: string) => Promise<Finished>): Promise<void> {
  const { code, stderr } = await run(blockThatBegins(beginning).replace('acme/metrics', dataset))
  expect([code, stderr]).toEqual([0, ''])
  const sql = `select _measurement, station, celsius from "${dataset}"`
  await expect.poll(() => rowsOf(sql)).toEqual([['weather', 's1', 21.5]])
}

test("InfluxDB's client for JavaScript writes", async () => {
  const node = (program: string) => runProgram(['--input-type=module', '-e', program])
  await writes('import { InfluxDB, Point }', 'acme/javascript', node)
})

const hasClient = spawnSync('python3', ['-c', 'import influxdb_client']).status === 0

test("InfluxDB's client for Python writes", { skip: !hasClient }, async () => {
  const python = (program: string) => runShell('exec python3 -c "$PROGRAM"', { env: { PROGRAM: program } })
  await writes('from influxdb_client import', 'acme/python', python)
})

test.skipIf(!hasMosquitto)('a broker and a node as configured: what is no row is in quarantine', async () => {
  const port = await freePort()
  const settings = blockThatBegins('listener 1883')
    .replace('listener 1883', `listener ${port} 127.0.0.1`)
    .replace('/etc/mosquitto/passwords', join(folder, 'passwords'))
    .replace('/var/lib/mosquitto/', `${folder}/`)
  await writeFile(join(folder, 'mosquitto.conf'), `${isRoot ? 'user root\n' : ''}${settings}`)
  const [, password = ''] = /PASSWORD=(.*)\n/.exec(blockThatBegins('export PROOFSTREAM_MQTT_PASSWORD')) ?? []
  spawnSync('mosquitto_passwd', ['-c', '-b', 'passwords', 'node', password], { cwd: folder })
  start('mosquitto', '-c', 'mosquitto.conf')
  const command = blockThatBegins('export PROOFSTREAM_MQTT_PASSWORD').replace('localhost:1883', `127.0.0.1:${port}`)
  const [, flags = ''] = /proofstream serve ([^]*)/.exec(command.replaceAll('\\\n', '')) ?? []
  const words = flags.trim().replaceAll("'", '').split(/\s+/)
  const data = join(folder, 'node')
  const node = await serveNode(data, words, { PROOFSTREAM_MQTT_PASSWORD: password })
  onTestFinished(async () => void (await node.end('SIGKILL')))
  const token = (await readFile(join(data, 'token'), 'utf8')).trim()
  const device = await MqttDevice.connect(port, 'device', { username: 'node', password: Buffer.from(password) })
  const { topic, payload } = reading('d1', 1)
  await device.publish(topic, payload)
  await device.publish('v3/app/devices/dev1/up', presets.ttn.example)
  await device.publish(topic, 'going offline')
  device.close()
  const asked = blockOf(
    'docs/devices.md',
    'curl -H "Authorization: Bearer $TOKEN" -H \'Content-Type: application/json\' http',
  )
  const ask = async (script: string): Promise<unknown> => {
    const env = { TOKEN: token }
    const { stdout } = await runShell(script.replace('http://localhost:8080', node.url), { env })
    return (JSON.parse(stdout) as { output?: { data: unknown } }).output?.data
  }
  await expect
    .poll(() => ask(asked))
    .toEqual([[expect.any(String), topic, expect.any(String), expect.any(String), 'going offline']])
  const others = asked.replace(
    /select.*20/,
    'select topic from acme.sensors union all select end_device_ids_device_id from acme.uplinks',
  )
  await expect.poll(() => ask(others)).toEqual([[topic], ['dev1']])
})

const hasNginx = spawnSync('nginx', ['-v']).error === undefined
if (!hasNginx) console.warn('NOT RUN: nginx is not here')

/** An authority, and what it has signed: the server's certificate, those of a device and of a stranger. */
const certificates = `
key() { openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:prime256v1 -out $1.key; }
key fleet-ca
openssl req -x509 -key fleet-ca.key -days 2 -subj /CN=fleet -out fleet-ca.pem
for name in server pump-0003 stranger; do
  key $name
  openssl req -new -key $name.key -subj /CN=$name -addext subjectAltName=DNS:data.example.org -out $name.csr
  openssl x509 -req -in $name.csr -CA fleet-ca.pem -CAkey fleet-ca.key -days 2 -copy_extensions copy -out $name.pem
done`

describe('a fleet', () => {
  /** As on the page, but smaller: each token is a request. */
  const fleetOf = (count: number): string =>
    blockThatBegins('proofstream token create pump').replaceAll('--count 5000', `--count ${count}`)
  const csv = async (): Promise<string[][]> =>
    (await readFile(join(folder, 'pumps.csv'), 'utf8'))
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','))

  test('has a token a device, and one of them is revoked', async () => {
    await live.ingest('fleet/pumps', [{ device: 'pump-0000', event_time: '2026-01-31T12:00:00Z' }], '?create=true')
    const [own = '', shared = '', revoke = ''] = fleetOf(20).split('\n')
    expect(await shell(own)).toMatchObject({ code: 0 })
    const [[, first = ''] = [], ...others] = await csv()
    const create = { method: 'POST', json: { celsius: 21.5 }, token: first }
    expect((await live.call('/fleet/pump-0001/ingest?create=true', create)).status).toBe(200)
    expect((await live.call('/fleet/pump-0002/ingest?create=true', create)).status).toBe(403)
    expect(others).toHaveLength(19)
    expect(await shell(shared)).toMatchObject({ code: 0 })
    const [[, text = '', id = ''] = [], [, next = ''] = []] = await csv()
    expect(await shell(revoke.replace('0f3a…', id))).toMatchObject({ code: 0 })
    const post = { method: 'POST', json: { device: 'pump-0002' } }
    expect((await live.call('/fleet/pumps/ingest', { ...post, token: text })).status).toBe(401)
    expect((await live.call('/fleet/pumps/ingest', { ...post, token: next })).status).toBe(200)
  })

  test('shows how far its clocks are off', async () => {
    const { code, stdout } = await shell(`${blockThatBegins('proofstream query "select device').trim()} -o ndjson`)
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { device: string }).device),
    ).toEqual(['pump-0002', 'pump-0000'])
  })
  test.skipIf(!hasNginx)('shows its certificates to nginx, which sends the token of the device', async () => {
    const [, shared = ''] = fleetOf(3).split('\n')
    const map = blockThatBegins('awk -F,').replace('/etc/nginx/', './')
    const made = await shell(`${shared}\n${map}\n${certificates}`)
    expect([made.code, made.code === 0 ? '' : made.stderr]).toEqual([0, ''])
    const port = await freePort()
    const deployed = await readFile(join(repository, 'deploy', 'nginx.conf'), 'utf8')
    const [, lines = ''] = /\nserver \{\n([^]*?)\tlocation/.exec(deployed) ?? []
    const server = blockThatBegins('map $ssl_client_s_dn')
      .replace('# … as in deploy/nginx.conf', lines.replace('listen 443', `listen 127.0.0.1:${port}`))
      .replace(/\/etc\/nginx\/tls\/.*\.crt/, join(folder, 'server.pem'))
      .replace(/\/etc\/nginx\/tls\/.*\.key/, join(folder, 'server.key'))
      .replaceAll('/etc/nginx', folder)
      .replace('http://127.0.0.1:8080', live.node.url)
    const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const main = `pid ${folder}/nginx.pid; daemon off; events {}`
    await writeFile(join(folder, 'nginx.conf'), `${main} http { access_log off; ${temps.join(' ')}\n${server} }\n`)
    start('nginx', '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf'))
    const statusOf = async (device: string): Promise<string> => {
      const sent = `-H 'Content-Type: application/x-ndjson' -d '{"device":"${device}"}'`
      const shownBy = `--cacert fleet-ca.pem --cert ${device}.pem --key ${device}.key`
      const to = `--resolve data.example.org:${port}:127.0.0.1 https://data.example.org:${port}/fleet/pumps/ingest`
      return (
        await shell(
          `curl -s --retry 50 --retry-connrefused --retry-delay 0 ${shownBy} ${sent} -o answer -w '%{http_code}' ${to}`,
        )
      ).stdout
    }
    expect(await statusOf('pump-0003')).toBe('200')
    expect(await statusOf('stranger')).toBe('401')
    expect(await rowsOf("select device from fleet.pumps where device in ('pump-0003', 'stranger')")).toEqual([
      ['pump-0003'],
    ])
  })
})
