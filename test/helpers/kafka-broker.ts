// A real Apache Kafka for tests: one process per broker, started from the jars of `kafka-broker-tools.ts`, killed and
// removed at the end. Every fault is made by signals to processes that this file started.

import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { kafkaJars, log4jProperties } from './kafka-broker-tools.ts'

const javaFlags = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData']
const readyLimitMs = 300_000
const run = promisify(execFile)

/** The user that the SASL listeners know. */
export const saslUser = { username: 'app', password: 'app-secret' } as const

export interface BrokerOptions {
  /** Broker of a cluster; 1 of 1 by default. */
  readonly nodeId?: number
  readonly clusterId?: string
  /** `id@host:port` of every controller; by default this broker alone. */
  readonly voters?: string
  readonly replicas?: number
  readonly port?: number
  readonly controllerPort?: number
  /** Adds SASL_PLAINTEXT and TLS listeners. */
  readonly secured?: boolean
  /** Address that clients are told instead of the broker's own, such as that of a proxy. */
  readonly advertised?: string
  /** A second plain listener on `port`, whose clients are told to come to `address`: that of a proxy before it. */
  readonly proxied?: { readonly port: number; readonly address: string }
}

/** Free ports of the loopback address. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports: number[] = []
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const address = server.address()
    if (address !== null && typeof address === 'object') ports.push(address.port)
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** An id of a cluster; never begins with a dash, which the tools would take for an option. */
export function newClusterId(): string {
  return `K${randomBytes(16).toString('base64url').slice(1, 22)}`
}

const started = new Set<Broker>()
process.once('exit', () => {
  for (const broker of started) broker.removeNow()
})

export class Broker {
  readonly nodeId: number
  readonly port: number
  readonly saslPort: number
  readonly tlsPort: number
  /** SASL over TLS. */
  readonly saslTlsPort: number
  readonly directory: string
  clusterId: string
  readonly #jars: string
  readonly #options: BrokerOptions
  readonly #controllerPort: number
  #process: ChildProcess | undefined

  private constructor(jars: string, options: BrokerOptions, ports: readonly number[]) {
    this.#jars = jars
    this.#options = options
    this.nodeId = options.nodeId ?? 1
    this.port = options.port ?? ports[0] ?? 0
    this.#controllerPort = options.controllerPort ?? ports[1] ?? 0
    this.saslPort = ports[2] ?? 0
    this.tlsPort = ports[3] ?? 0
    this.saslTlsPort = ports[4] ?? 0
    this.clusterId = options.clusterId ?? newClusterId()
    this.directory = mkdtempSync(join(tmpdir(), 'proofstream-kafka-'))
    started.add(this)
  }

  /** A formatted broker that does not run yet. */
  static async create(options: BrokerOptions = {}): Promise<Broker> {
    const broker = new Broker(await kafkaJars(), options, await freePorts(5))
    await broker.format()
    return broker
  }

  /** A running broker that answers. */
  static async start(options: BrokerOptions = {}): Promise<Broker> {
    const broker = await Broker.create(options)
    broker.spawn()
    await broker.ready()
    return broker
  }

  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  /** Certificate of the TLS listener, PEM. */
  get certificate(): string {
    return readFileSync(join(this.directory, 'broker.pem'), 'utf8')
  }

  /** Empties the data directory and formats it, with another cluster id if one is given. */
  async format(clusterId: string = this.clusterId): Promise<void> {
    this.clusterId = clusterId
    rmSync(join(this.directory, 'data'), { recursive: true, force: true })
    mkdirSync(join(this.directory, 'data'))
    if (this.#options.secured === true) this.#makeKeys()
    const config = join(this.directory, 'server.properties')
    writeFileSync(config, `${this.#properties().join('\n')}\n`)
    const { username, password } = saslUser
    const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => {
      return this.#options.secured === true
        ? ['--add-scram', `${mechanism}=[name=${username},password=${password}]`]
        : []
    })
    await run('java', [
      ...this.#java(),
      'kafka.tools.StorageTool',
      'format',
      `--cluster-id=${clusterId}`,
      '-c',
      config,
      ...users,
    ])
  }

  spawn(): void {
    const command = ['java', ...this.#java(), 'kafka.Kafka', join(this.directory, 'server.properties')]
    const mortal = spawnSync('setpriv', ['--version']).error === undefined
    const [program = 'java', ...args] = mortal ? ['setpriv', '--pdeathsig', 'KILL', ...command] : command
    const output = openSync(join(this.directory, 'output'), 'a')
    this.#process = spawn(program, args, { stdio: ['ignore', output, output] })
    closeSync(output)
  }

  /** Resolves when the broker answers and knows `brokers` brokers. */
  async ready(brokers = 1): Promise<void> {
    const endMs = performance.now() + readyLimitMs
    while (performance.now() < endMs) {
      if (this.#process?.exitCode !== null || this.#process.signalCode !== null) break
      if ((await countBrokers(this.port)) >= brokers) return
      await sleep(50)
    }
    throw new Error(`Kafka is not ready:\n${this.tail('server.log')}\n${this.tail('output')}`)
  }

  /** Sends a signal and waits for the end of the process. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  pause(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  async remove(): Promise<void> {
    await this.stop('SIGKILL')
    this.removeNow()
  }

  removeNow(): void {
    this.#process?.kill('SIGKILL')
    started.delete(this)
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** The last lines of a file of the broker. */
  tail(name: string): string {
    try {
      return readFileSync(join(this.directory, name), 'utf8').split('\n').slice(-30).join('\n')
    } catch {
      return ''
    }
  }

  #java(): string[] {
    return [
      ...javaFlags,
      `-Dlog4j2.configurationFile=${log4jProperties}`,
      `-Dkafka.logfile=${join(this.directory, 'server.log')}`,
      '-cp',
      join(this.#jars, '*'),
    ]
  }

  #makeKeys(): void {
    const store = join(this.directory, 'broker.p12')
    rmSync(store, { force: true })
    const common = ['-alias', 'b', '-storetype', 'PKCS12', '-keystore', store, '-storepass', 'changeit']
    const names = ['-dname', 'CN=localhost', '-ext', 'SAN=ip:127.0.0.1,dns:localhost', '-validity', '3650']
    const options = { stdio: 'ignore' } as const
    execFileSync('keytool', ['-genkeypair', '-keyalg', 'EC', '-groupname', 'secp256r1', ...names, ...common], options)
    execFileSync('keytool', ['-exportcert', '-rfc', '-file', join(this.directory, 'broker.pem'), ...common], options)
  }

  #properties(): string[] {
    const { voters, replicas = 1, secured = false, advertised, proxied } = this.#options
    const listeners = [`PLAINTEXT://127.0.0.1:${this.port}`]
    const told = [`PLAINTEXT://${advertised ?? this.address}`]
    if (secured) {
      const more = [
        `SASL://127.0.0.1:${this.saslPort}`,
        `TLS://127.0.0.1:${this.tlsPort}`,
        `SASLTLS://127.0.0.1:${this.saslTlsPort}`,
      ]
      listeners.push(...more)
      told.push(...more)
    }
    if (proxied !== undefined) {
      listeners.push(`PROXIED://127.0.0.1:${proxied.port}`)
      told.push(`PROXIED://${proxied.address}`)
    }
    return [
      'process.roles=broker,controller',
      `node.id=${this.nodeId}`,
      `controller.quorum.voters=${voters ?? `${this.nodeId}@127.0.0.1:${this.#controllerPort}`}`,
      `listeners=${listeners.join(',')},CONTROLLER://127.0.0.1:${this.#controllerPort}`,
      `advertised.listeners=${told.join(',')}`,
      'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL,SASLTLS:SASL_SSL',
      'controller.listener.names=CONTROLLER',
      'inter.broker.listener.name=PLAINTEXT',
      `log.dirs=${join(this.directory, 'data')}`,
      'auto.create.topics.enable=false',
      ...replicated(replicas),
      'group.initial.rebalance.delay.ms=0',
      'group.min.session.timeout.ms=1000',
      'broker.session.timeout.ms=2000',
      'broker.heartbeat.interval.ms=250',
      'controller.quorum.election.timeout.ms=500',
      'controller.quorum.fetch.timeout.ms=1000',
      'controller.quorum.election.backoff.max.ms=500',
      'log.cleaner.dedupe.buffer.size=2097152',
      'num.network.threads=2',
      'num.io.threads=4',
      'log.segment.bytes=67108864',
      ...(secured ? this.#securedProperties() : []),
    ]
  }

  #securedProperties(): string[] {
    const { username, password } = saslUser
    const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule'
    return [
      'listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256',
      `listener.name.sasl.plain.sasl.jaas.config=${plain} required user_${username}="${password}";`,
      'listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;',
      'listener.name.sasltls.sasl.enabled.mechanisms=SCRAM-SHA-512',
      'listener.name.sasltls.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;',
      ...['tls', 'sasltls'].flatMap((listener) => [
        `listener.name.${listener}.ssl.keystore.type=PKCS12`,
        `listener.name.${listener}.ssl.keystore.location=${join(this.directory, 'broker.p12')}`,
        `listener.name.${listener}.ssl.keystore.password=changeit`,
        `listener.name.${listener}.ssl.key.password=changeit`,
      ]),
    ]
  }
}

function replicated(replicas: number): string[] {
  return [
    `default.replication.factor=${replicas}`,
    'offsets.topic.num.partitions=1',
    `offsets.topic.replication.factor=${replicas}`,
    'transaction.state.log.num.partitions=1',
    `transaction.state.log.replication.factor=${replicas}`,
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.num.partitions=1',
    `share.coordinator.state.topic.replication.factor=${replicas}`,
    'share.coordinator.state.topic.min.isr=1',
  ]
}

/** How many brokers the one at `port` knows; 0 when it does not answer. A Metadata request of version 4, no topics. */
function countBrokers(port: number): Promise<number> {
  const client = Buffer.from('probe')
  const body = Buffer.alloc(4 + 2 + 2 + 4 + 2 + client.length + 4 + 1)
  body.writeInt32BE(body.length - 4, 0)
  body.writeInt16BE(3, 4)
  body.writeInt16BE(4, 6)
  body.writeInt32BE(1, 8)
  body.writeInt16BE(client.length, 12)
  client.copy(body, 14)
  body.writeInt32BE(0, 14 + client.length)
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(body))
    socket.setTimeout(1000, () => socket.destroy())
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      const answer = Buffer.concat(chunks)
      if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return
      // length, correlation id, throttle time, then the array of brokers
      resolve(answer.readInt32BE(12))
      socket.destroy()
    })
    socket.on('error', () => resolve(0))
    socket.on('close', () => resolve(0))
  })
}
