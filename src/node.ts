// The composition root: the only file that names adapters. Opens log, store, roles and server of one process.

import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { TokenRegistry } from './access/tokens.ts'
import { type Builder, startBuilder } from './builder/builder.ts'
import { Catalog } from './catalog/catalog.ts'
import { Outcomes } from './catalog/outcomes.ts'
import { randomBytes } from './codec/native-crypto.ts'
import type { Config, KafkaConfig } from './config.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { Gateway } from './gateway/gateway.ts'
import { createServer } from './http/server.ts'
import { systemClock } from './lib/clock.ts'
import { must } from './lib/assert.ts'
import type { Logger } from './lib/logger.ts'
import type { Announcements } from './log/announcements.ts'
import type { EventLog } from './log/event-log.ts'
import { openFileLog } from './log/file-log.ts'
import type { KafkaConnection } from './log/kafka-client.ts'
import { openLocalAnnouncements } from './log/local-announcements.ts'
import { createLogger } from './ops/create-logger.ts'
import { Health } from './ops/health.ts'
import { Metrics } from './ops/metrics.ts'
import { type NodeKey, generateNodeKey, nodeKeyFromJson, nodeKeyToJson } from './proof/node-key.ts'
import { Objects } from './replica/objects.ts'
import { openDirectoryStore } from './store/directory-store.ts'
import { type DataPaths, dataPaths, secretKey } from './store/layout.ts'
import type { ObjectStore } from './store/object-store.ts'
import { createRoomCheck } from './store/space.ts'
import { packageVersion } from './ops/package-version.ts'

export interface RunningNode {
  /** `http://host:port`. */
  readonly url: string
  readonly did: string
  readonly version: string
  readonly dataDir: string
  readonly tokenFile: string
  readonly logKind: string
  readonly anonymousRead: boolean
  /** Resolves when the node stopped by itself because it cannot go on; the error says why. */
  readonly failed: Promise<unknown>
  /** Refuses new work, finishes what is under way, closes everything. */
  stop(): Promise<void>
}

/** Starts a node; it is ready when this resolves. Throws NodeError, HaltError and what the file system throws. */
export async function startNode(config: Config, logger: Logger = createLogger(config.logLevel)): Promise<RunningNode> {
  const paths = dataPaths(config.dataDir)
  for (const dir of [config.dataDir, paths.keys, paths.cache]) await mkdir(dir, { recursive: true, mode: 0o700 })
  await emptyDirectory(paths.cache)
  const failure = createFailure()
  // The log is opened first; until the builder runs, nothing is known to be open.
  let running: Builder | undefined
  const opened: (() => Promise<void>)[] = []
  const openBytes = (): number => running?.openBytes() ?? 0
  const { log, announcements, logFacts, logFault } = await openLog(
    { config, paths, logger, fail: failure.fail, openBytes },
    opened,
  )
  try {
    const store = await openDirectoryStore(paths.store, undefined, failure.fail)
    opened.push(() => store.close())
    const engine = await openEngine(engineOptions(config, paths, logger))
    opened.push(() => engine.close())
    const catalog = new Catalog({ store, announcements, logger })
    opened.push(async () => catalog.close())
    const builder = await startBuilder({
      log,
      store,
      announcements,
      clock: systemClock,
      logger,
      compressor: {
        name: `zstd ${process.versions['zstd'] ?? 'unknown'}`,
        compress: (bytes) => zstdCompressSync(bytes),
        decompress: (bytes) => zstdDecompressSync(bytes),
      },
      options: config.cut,
    })
    running = builder
    opened.push(() => builder.stop())
    const parts = { config, logger, paths, log, logFacts, logFault, store, engine, announcements, catalog, builder }
    return await serve(parts, { opened, failed: failure.failed })
  } catch (error) {
    await closeAll(opened)
    throw error
  }
}

/** What is told of the log beside its kind. */
interface LogFacts {
  readonly replicas?: number
  readonly caution?: string
}

interface OpenedLog {
  readonly log: EventLog
  readonly announcements: Announcements
  readonly logFacts: LogFacts
  /** Why the log takes nothing, or undefined. */
  readonly logFault: () => string | undefined
}

interface LogNeeds {
  readonly config: Config
  readonly paths: DataPaths
  readonly logger: Logger
  readonly fail: (error: unknown) => void
  readonly openBytes: () => number
}

/** Opens the log that the options name. The client of Kafka is loaded only for a log in Kafka. */
async function openLog(needs: LogNeeds, opened: (() => Promise<void>)[]): Promise<OpenedLog> {
  const { config, paths, logger, fail, openBytes } = needs
  const clock = systemClock
  if (config.kafka === undefined) {
    const log = await openFileLog({ directory: paths.log, clock, logger, onFailure: fail, openBytes })
    opened.push(() => log.close())
    return { log, announcements: openLocalAnnouncements(logger), logFacts: {}, logFault: () => undefined }
  }
  const { openKafkaLog } = await import('./log/kafka-log.ts')
  const { openKafkaAnnouncements } = await import('./log/kafka-announcements.ts')
  const { topicPrefix, partitions } = config.kafka
  const connection = await kafkaConnection(config.kafka)
  const log = await openKafkaLog({ connection, clock, logger, topicPrefix, partitions })
  opened.push(() => log.close())
  const { replicas } = log
  const caution = `with ${replicas} of 3 replicas a loss of power may lose logged rows`
  if (replicas < 3) logger.warn({ replicas }, caution)
  const announcements = openKafkaAnnouncements({ connection, clock, logger, topicPrefix })
  opened.push(() => announcements.close())
  const logFacts = { replicas, ...(replicas < 3 ? { caution } : {}) }
  return { log, announcements, logFacts, logFault: () => log.fault() }
}

async function kafkaConnection({ brokers, sasl, tls }: KafkaConfig): Promise<KafkaConnection> {
  const pem = async (name: 'ca' | 'cert' | 'key'): Promise<Record<string, string>> => {
    const path = tls?.[name]
    return path === undefined ? {} : { [name]: await readFile(path, 'utf8') }
  }
  return {
    brokers,
    ...(sasl === undefined ? {} : { sasl }),
    ...(tls === undefined ? {} : { tls: { ...(await pem('ca')), ...(await pem('cert')), ...(await pem('key')) } }),
  }
}

interface Parts {
  readonly config: Config
  readonly logger: Logger
  readonly paths: DataPaths
  readonly log: EventLog
  readonly logFacts: LogFacts
  readonly logFault: () => string | undefined
  readonly store: ObjectStore
  readonly engine: Engine
  readonly announcements: Announcements
  readonly catalog: Catalog
  readonly builder: Builder
}

async function serve(
  parts: Parts,
  life: { opened: (() => Promise<void>)[]; failed: Promise<unknown> },
): Promise<RunningNode> {
  const { config, logger, paths, log, store, engine, catalog, builder } = parts
  const nodeKey = await loadNodeKey(config.nodeKeyFile ?? paths.nodeKey)
  const tokens = new TokenRegistry({ store, clock: systemClock, logger, anonymousRead: config.anonymousRead })
  await ensureAdminToken(tokens, paths.token)
  const metrics = new Metrics()
  parts.announcements.subscribe(() => metrics.commits.inc())
  const gateway = await createGateway(parts)
  const health = new Health()
  health.add('builder', () =>
    builder.status().ready ? undefined : (builder.status().halted[0]?.message ?? 'the builder is catching up'),
  )
  health.add('log', parts.logFault)
  const app = await createServer({
    facts: {
      did: nodeKey.did,
      version: packageVersion(),
      log: { kind: log.kind, id: log.id, partitions: log.partitions, ...parts.logFacts },
    },
    gateway,
    catalog,
    replica: { catalog, store, engine, nodeKey, limits: config.limits },
    objects: new Objects(store),
    tokens,
    health,
    metrics,
    limits: config.limits,
    clock: systemClock,
    logger,
    anonymousRead: config.anonymousRead,
    loopbackOnly: config.loopbackOnly,
    allowedHosts: config.allowedHosts,
    corsOrigins: config.corsOrigins,
    trustedSigners: config.trustedSigners,
    defaultDataFormat: config.defaultDataFormat,
  })
  life.opened.push(async () => gateway.close())
  const port = await app.listen(config.listenHost, config.listenPort)
  life.opened.push(async () => {
    gateway.drain()
    await app.close()
  })
  if (!config.loopbackOnly) logger.warn({}, 'This node speaks plain HTTP to the network: put it behind TLS')
  return {
    url: `http://${config.listenHost.includes(':') ? `[${config.listenHost}]` : config.listenHost}:${port}`,
    did: nodeKey.did,
    version: packageVersion(),
    dataDir: config.dataDir,
    tokenFile: paths.token,
    logKind: [log.kind, parts.logFacts.caution ?? []].flat().join('; '),
    anonymousRead: config.anonymousRead,
    failed: life.failed,
    stop: () => closeAll(life.opened),
  }
}

async function createGateway(parts: Parts): Promise<Gateway> {
  const { config, logger, paths, log, store, announcements, catalog, builder } = parts
  return new Gateway({
    catalog,
    outcomes: new Outcomes(store),
    log,
    announcements,
    clock: systemClock,
    logger,
    limits: config.limits,
    spoolDir: paths.cache,
    receiptSecret: await sharedSecret(store, 'receipts'),
    haltOf: (dataset) => haltOf(builder, dataset),
    hasRoom: createRoomCheck({
      freeBytes: () => store.freeBytes(),
      openBytes: () => builder.openBytes(),
      clock: systemClock,
    }),
  })
}

/** Why a dataset takes no rows: its own halt, or that of its partition or process. */
function haltOf(builder: Builder, dataset: string): string | undefined {
  const halt = builder.status().halted.find((one) => one.dataset === undefined || one.dataset === dataset)
  return halt === undefined ? undefined : `${halt.reason}: ${halt.message}`
}

function engineOptions(config: Config, paths: DataPaths, logger: Logger): Parameters<typeof openEngine>[0] {
  const { limits } = config
  return {
    processes: limits.concurrentQueries === 0 ? availableParallelism() : limits.concurrentQueries,
    queryMs: limits.queryMs,
    memoryBytes: limits.queryMemoryBytes,
    resultBytes: limits.resultBytes,
    queueLimit: limits.queuedQueries,
    dataRoots: [paths.store],
    logger,
    clock: systemClock,
  }
}

/** Closes in reverse order of opening, each once. */
async function closeAll(opened: (() => Promise<void>)[]): Promise<void> {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close()
}

function createFailure(): { failed: Promise<unknown>; fail: (error: unknown) => void } {
  let fail: (error: unknown) => void = () => {}
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve
  })
  return { failed, fail: (error) => fail(error) }
}

async function loadNodeKey(path: string): Promise<NodeKey> {
  const held = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (held !== undefined) return nodeKeyFromJson(held)
  const key = generateNodeKey()
  await writeFile(path, nodeKeyToJson(key), { mode: 0o600, flag: 'wx', flush: true })
  return key
}

/** The first admin token, made once and written for curl and the local command line. */
async function ensureAdminToken(tokens: TokenRegistry, path: string): Promise<void> {
  const held = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (held !== undefined) return
  const { token } = await tokens.create({ name: 'admin', scopes: ['admin'] })
  await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx', flush: true })
}

/** A secret that all processes of the installation share: the first one puts it. */
async function sharedSecret(store: ObjectStore, name: string): Promise<Uint8Array> {
  await store.put(secretKey(name), randomBytes(32))
  return must(await store.get(secretKey(name)), 'a secret that was put is there')
}

/** What lies in cache/ is derived: spools of a process that died are of no use. */
async function emptyDirectory(dir: string): Promise<void> {
  for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true, force: true })
}
