// The files for operators: what they name exists, and the programs that they are for take them. Events come through the
// proxies as they are told, and so do receipts while a stream of records goes on. Programs that are not here (systemd-analyze, promtool, nginx, caddy) are left out, loudly.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { afterAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { loadConfig, optionTable } from '../../src/app/config.ts'
import { liveNode } from '../helpers/live-node.ts'
import { freePort } from '../helpers/free-port.ts'
import { repository } from '../helpers/sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'proofstream-deploy-'))
const read = (name: string): string => readFileSync(join(repository, 'deploy', name), 'utf8')
const live = await liveNode({ 'allowed-hosts': 'data.example.org' })

function has(program: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
  if (!found) console.warn(`NOT RUN: ${program} is not here`)
  return found
}

/** Runs a program to its end; what it says where it fails. */
function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: folder })
  return status === 0 ? '' : `${status} ${stdout}${stderr}`
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
}
const dashboard = JSON.parse(read('grafana/node.json')) as Dashboard
const questions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

describe('alerts and dashboard', () => {
  it('name metrics that a node has', async () => {
    const told = new Set([...(await live.call('/metrics')).text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    told.add('proofstream_log_open_seconds') // of a log in Kafka
    const named = `${read('prometheus/alerts.yml')} ${questions.join(' ')}`.match(/\bproofstream_\w+/g) ?? []
    const plain = new Set(named.map((name) => name.replace(/_bucket$/, '')))
    expect(plain.size).toBeGreaterThan(15)
    expect([...plain].filter((name) => !told.has(name))).toEqual([])
  })

  it.runIf(has('promtool'))('are taken by Prometheus, and say what they should', () => {
    const rules = join(repository, 'deploy/prometheus/alerts.yml')
    expect(run('promtool', 'check', 'rules', rules)).toBe('')
    expect(
      run('promtool', 'check', 'config', '--syntax-only', join(repository, 'deploy/prometheus/prometheus.yml')),
    ).toBe('')
    const test = readFileSync(join(repository, 'test/deploy/alerts.test.yml'), 'utf8').replace('RULES', rules)
    writeFileSync(join(folder, 'alerts.test.yml'), test)
    expect(run('promtool', 'test', 'rules', 'alerts.test.yml')).toBe('')
    const recorded = questions.map((expr, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    writeFileSync(join(folder, 'panels.yml'), JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] }))
    expect(run('promtool', 'check', 'rules', 'panels.yml')).toBe('')
  })
})

describe('the unit of systemd', () => {
  const unit = read('proofstream.service')

  it('gives options that exist', () => {
    const set = [...unit.matchAll(/^Environment=PROOFSTREAM_([A-Z_]+)=(.*)$/gm)]
    const options = set.map(([, name = '', value]) => [name.toLowerCase().replaceAll('_', '-'), value] as const)
    expect(options.map(([name]) => name).filter((name) => !optionTable.some((row) => row.name === name))).toEqual([])
    expect(loadConfig(Object.fromEntries(options))).toMatchObject({ listenPort: 8080, anonymousRead: false })
  })

  it('goes on where the kernel ends a query process, which systemd takes for a reason to stop', () => {
    expect(unit).toMatch(/^OOMPolicy=continue$/m)
  })

  it.runIf(has('systemd-analyze'))('is one, and well closed', () => {
    const path = join(repository, 'deploy/proofstream.service')
    expect(run('systemd-analyze', 'verify', path)).toBe('')
    expect(run('systemd-analyze', 'security', '--offline=true', '--threshold=20', path)).toBe('')
  })
})

describe('a supervisor', () => {
  const files = ['deploy/proofstream.service', 'deploy/compose.yaml', 'docker-compose.yml', 'Dockerfile']
  const pods = ['builder', 'gateway', 'replica'].map((role) => `deploy/kubernetes/${role}.yaml`)

  it('runs the node itself, because npm and its shell do not pass SIGTERM on', () => {
    for (const path of [...files, ...pods]) {
      const starts = readFileSync(join(repository, path), 'utf8')
        .split('\n')
        .filter((line) => /^(?:ExecStart|ENTRYPOINT|CMD|\s*(?:command|args):)/.test(line))
      expect([path, starts.filter((line) => /\b(?:npx|npm|sh)\b/.test(line))]).toEqual([path, []])
    }
    expect(read('proofstream.service')).toContain('bin/proofstream.js serve')
  })

  it('has the same of malloc in an image, which starts the node without its command', () => {
    const names = (path: string): readonly string[] =>
      [...readFileSync(join(repository, path), 'utf8').matchAll(/\bMALLOC_[A-Z_]+/g)].map(([name]) => name)
    expect(names('Dockerfile')).toEqual(names('bin/proofstream.js'))
  })

  it('ends it with SIGTERM: port and lock are free for the next one', async () => {
    const data = join(folder, 'supervised')
    const program = join(repository, 'bin/proofstream.js')
    const listen = `127.0.0.1:${await freePort()}`
    for (const _ of [1, 2]) {
      const node = spawn(process.execPath, [program, 'serve', '--data', data, '--listen', listen], { stdio: 'ignore' })
      const ended = once(node, 'exit')
      await expect
        .poll(async () =>
          fetch(`http://${listen}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        )
        .toBe(true)
      node.kill('SIGTERM')
      // It may be ready before it listens for signals: then the signal ends it as it is.
      expect([0, null]).toContain(Object((await ended) as unknown)[0])
      await expect(fetch(`http://${listen}/healthz`)).rejects.toThrow('fetch failed')
    }
  })
})

describe('a proxy', () => {
  const started: ChildProcess[] = []
  afterAll(() => {
    for (const child of started) child.kill('SIGTERM')
  })
  const start = (program: string, ...args: string[]): void => {
    started.push(spawn(program, args, { cwd: folder, stdio: 'ignore', env: { ...process.env, HOME: folder } }))
  }
  const makeCertificate = (): string =>
    run(
      'openssl',
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out cert.pem'.split(
        ' ',
      ),
      '-subj',
      '/CN=data.example.org',
      '-addext',
      'subjectAltName=DNS:data.example.org',
    )

  /** What a stream of events says within a second of each block, through the proxy; then the answer to a query. */
  const through = async (port: number): Promise<string[]> => {
    const options = {
      host: '127.0.0.1',
      port,
      servername: 'data.example.org',
      ca: readFileSync(join(folder, 'cert.pem')),
      headers: { host: 'data.example.org', authorization: `Bearer ${live.adminToken}` },
    }
    const heard: string[] = []
    const stream = request({ ...options, path: '/acme/proxied/events?rows=true' }, (response) => {
      heard.push(String(response.statusCode))
      response.setEncoding('utf8').on('data', (text: string) => heard.push(...(text.match(/"n":\d+/g) ?? [])))
      response.on('error', () => {})
    })
    stream.on('error', () => {})
    stream.end()
    await expect.poll(() => heard).toEqual(['200'])
    for (const n of [1, 2]) {
      await live.ingest('acme/proxied', [{ n }])
      await expect.poll(() => heard.at(-1)).toBe(`"n":${n}`)
    }
    stream.destroy()
    return heard
  }

  /** Receipts of a stream over HTTP/2, each before the next record is sent; then the last line. */
  const streamThrough = async (port: number): Promise<unknown[]> => {
    const authority = 'https://data.example.org'
    const ca = readFileSync(join(folder, 'cert.pem'))
    const session = connect(authority, { ca, createConnection: () => tls(port, ca) })
    const stream = session.request({
      ':method': 'POST',
      ':path': '/acme/proxied/stream',
      authorization: `Bearer ${live.adminToken}`,
      'content-type': 'application/x-ndjson',
      'producer-id': `device-${port}`,
      'producer-sequence': '7',
    })
    const lines: { numbers?: { last: number }; ended?: boolean; last?: number }[] = []
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts.map((line) => JSON.parse(line) as (typeof lines)[number]))
    })
    for (const n of [7, 8, 9]) {
      stream.write(`{"n":${n}}\n`)
      await expect.poll(() => lines.at(-1)?.numbers?.last).toBe(n)
    }
    stream.end()
    await expect.poll(() => lines.at(-1)?.ended).toBe(true)
    session.close()
    return [session.alpnProtocol, lines.at(-1)]
  }

  /** The same over WebSocket; then the code it is closed with. */
  const socketThrough = async (port: number): Promise<unknown[]> => {
    const ca = readFileSync(join(folder, 'cert.pem'))
    const socket = new WebSocket('wss://data.example.org/acme/proxied/stream', {
      createConnection: () => connectTls({ host: '127.0.0.1', port, ca, servername: 'data.example.org' }),
      headers: {
        authorization: `Bearer ${live.adminToken}`,
        'producer-id': `socket-${port}`,
        'producer-sequence': '7',
      },
    })
    await once(socket, 'open')
    const lines: { numbers?: { last: number }; ended?: boolean; last?: number }[] = []
    socket.on('message', (data: Buffer) => lines.push(JSON.parse(data.toString()) as (typeof lines)[number]))
    for (const n of [7, 8, 9]) {
      socket.send(`{"n":${n}}`)
      await expect.poll(() => lines.at(-1)?.numbers?.last).toBe(n)
    }
    socket.send('')
    const [code] = (await once(socket, 'close')) as [number]
    return [code, lines.at(-1)]
  }
  const tls = (port: number, ca: Buffer): TLSSocket =>
    connectTls({ host: '127.0.0.1', port, ca, servername: 'data.example.org', ALPNProtocols: ['h2'] })

  const isUp = async (port: number): Promise<void> => {
    const ask = async (): Promise<number> =>
      await new Promise((resolve) => {
        const headers = { host: 'data.example.org' }
        const one = request(
          {
            host: '127.0.0.1',
            port,
            path: '/healthz',
            headers,
            servername: 'data.example.org',
            rejectUnauthorized: false,
          },
          (response) => resolve(response.resume().statusCode ?? 0),
        )
        one.on('error', () => resolve(0))
        one.end()
      })
    await expect.poll(ask).toBe(200)
  }

  it.runIf(has('nginx') && has('openssl'))(
    'nginx passes events, and streams of records over HTTP/2 and WebSocket, on as they come',
    { timeout: 60_000 },
    async () => {
      expect(makeCertificate()).toBe('')
      const port = await freePort()
      const server = read('nginx.conf')
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replace('/etc/nginx/tls/data.example.org.crt', join(folder, 'cert.pem'))
        .replace('/etc/nginx/tls/data.example.org.key', join(folder, 'key.pem'))
        .replace('http://127.0.0.1:8080', live.node.url)
      const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      )
      const main = `pid ${folder}/nginx.pid; error_log ${folder}/error.log; daemon off;`
      const config = `${main} events {} http { access_log off; ${temps.join(' ')} ${server} }`
      writeFileSync(join(folder, 'nginx.conf'), config)
      start('nginx', '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf'))
      await isUp(port)
      await live.ingest('acme/proxied', [{ n: 0 }], '?create=true')
      expect(await through(port)).toEqual(['200', '"n":1', '"n":2'])
      expect(await streamThrough(port)).toEqual(['h2', { ended: true, last: 9 }])
      expect(await socketThrough(port)).toEqual([1000, { ended: true, last: 9 }])
    },
  )

  it.runIf(has('caddy') && has('openssl'))(
    'Caddy passes events, and streams of records over HTTP/2 and WebSocket, on as they come',
    { timeout: 60_000 },
    async () => {
      expect(makeCertificate()).toBe('')
      const port = await freePort()
      const site = read('Caddyfile')
        .replace('data.example.org {', `https://data.example.org:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`)
        .replace('127.0.0.1:8080', live.node.url.replace('http://', ''))
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${site}`)
      start('caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile'))
      await isUp(port)
      await live.ingest('acme/proxied', [{ n: 0 }], '?create=true')
      expect(await through(port)).toEqual(['200', '"n":1', '"n":2'])
      expect(await streamThrough(port)).toEqual(['h2', { ended: true, last: 9 }])
      expect(await socketThrough(port)).toEqual([1000, { ended: true, last: 9 }])
    },
  )
})
